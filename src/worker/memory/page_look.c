/* SPDX-License-Identifier: MIT
 *
 * Asks page tables for the pages of the ledger that may have changed, and knows of the others from
 * page faults and from the size of the resident set that they did not.
 */
#include "worker/memory/page_look.h"

#include "base/bits.h"

#include <string.h>
#include <sys/resource.h>

enum {
    WORDS = AB_LEDGER_WORDS,
    CALL_COST = 16, /* of a system call, in pages */
    WIDE_SPAN = 64, /* pages */
};

static bool is_there[AB_RESIDENCY_PAGES_MAX]; /* on the stack it would be somebody's footprint */

void ab_page_look_open(void)
{
    memset(is_there, 0, sizeof is_there); /* resident from here on */
}

static uint32_t pages_of_stretch(const struct ab_page_ledger *l)
{
    return UINT32_C(1) << (AB_LEDGER_STRETCH_LOG2 - l->page_log2);
}

void ab_page_look_first(struct ab_page_ledger *l, struct ab_ledger_stretch *s)
{
    uint32_t n = pages_of_stretch(l);
    if (!ab_residency_read(l->residency, s->number << (AB_LEDGER_STRETCH_LOG2 - l->page_log2), n,
                           is_there))
        return;
    s->epoch = l->epoch;
    for (uint32_t i = 0; i < n; i++)
        s->absent[i >> 6] |= (uint64_t)!is_there[i] << (i & 63);
}

void ab_page_look_settle(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i)
{
    const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
    const uint64_t page = (s->number << (AB_LEDGER_STRETCH_LOG2 - l->page_log2)) + i;
    const uint64_t requested = AB_LEDGER_REQUESTED(s->loads[i]) +
                               s->whole_requested * l->page_bytes;
    const uint64_t usable = AB_LEDGER_USABLE(s->loads[i]) + s->whole * l->page_bytes;
    bool was_before = ab_page_runs_have(l->baseline, page);
    s->pending[word] &= ~bit;
    l->pending.requested -= requested;
    l->pending.usable -= usable;
    if (was_before) {
        s->before[word] |= bit;
        l->before.requested += requested;
        l->before.usable += usable;
    } else {
        s->resident[word] |= bit;
        l->n_pages++;
    }
}

/* Some page was given back: those that were taken to be there have to be looked at. */
static void doubt_presumed(struct ab_page_ledger *l, struct ab_ledger_stretch *s)
{
    for (uint32_t w = 0; w < WORDS; w++)
        while (s->presumed[w] != 0) {
            const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(s->presumed[w]);
            const uint64_t bit = UINT64_C(1) << (i & 63);
            s->presumed[w] &= ~bit;
            s->resident[w] &= ~bit;
            s->pending[w] |= bit;
            s->absent[w] &= ~bit;
            l->n_pages--;
            l->pending.requested += AB_LEDGER_REQUESTED(s->loads[i]) +
                                    s->whole_requested * l->page_bytes;
            l->pending.usable += AB_LEDGER_USABLE(s->loads[i]) + s->whole * l->page_bytes;
        }
}

/* Pages of a stretch that have to be looked at: [*first, *last]; false when there are none. */
static bool find_unknown(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t *first,
                         uint32_t *last)
{
    bool is_new = s->epoch != l->epoch;
    if (is_new)
        memset(s->absent, 0, sizeof s->absent);
    s->epoch = l->epoch;
    *first = UINT32_MAX;
    for (uint32_t w = 0; w < WORDS; w++) {
        uint64_t unknown = s->pending[w] & ~s->absent[w];
        if (unknown == 0)
            continue;
        uint32_t low = w * 64 + (uint32_t)__builtin_ctzll(unknown);
        *first = *first == UINT32_MAX ? low : *first;
        *last = w * 64 + (uint32_t)ab_log2(unknown);
    }
    if (*first == UINT32_MAX)
        return false;
    if (is_new && *last - *first >= WIDE_SPAN) { /* the rest as well: then its faults are known */
        *first = 0;
        *last = pages_of_stretch(l) - 1;
    }
    return true;
}

/* Looks at what is pending of a stretch; false when it cannot be read, or is too dear. */
static bool look(struct ab_page_ledger *l, struct ab_ledger_stretch *s, bool must)
{
    uint32_t first, last;
    if (!find_unknown(l, s, &first, &last))
        return true;
    if (l->credit <= 0 && !must)
        return false;
    uint64_t begin = (s->number << (AB_LEDGER_STRETCH_LOG2 - l->page_log2)) + first;
    if (!ab_residency_read(l->residency, begin, last - first + 1, is_there)) {
        l->is_lost = true;
        return false;
    }
    l->credit -= CALL_COST + last - first + 1;
    for (uint32_t i = first; i <= last; i++) {
        const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
        if (!is_there[i - first]) {
            s->absent[word] |= bit;
        } else if ((s->pending[word] & bit) != 0) {
            ab_page_look_settle(l, s, i);
        }
    }
    return true;
}

/* What is known of faults is so only while each brings a single page, and nothing was given back if
 * there are as many pages more as there were faults. Returns whether any may have been. */
static bool enter_epoch(struct ab_page_ledger *l, uint64_t resident_bytes)
{
    struct rusage usage;
    uint64_t known = (l->n_known - l->known_before) * l->page_bytes, before = l->resident_bytes;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t n_faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    bool is_exact = resident_bytes != UINT64_MAX && before != UINT64_MAX;
    bool is_less = !is_exact || resident_bytes != before + (n_faults - l->n_faults) * l->page_bytes;
    if (!is_exact || (known > 0 && resident_bytes > before + known))
        l->n_moves++;
    l->era += is_less;
    l->known_before = l->n_known;
    l->resident_bytes = resident_bytes;
    l->n_faults = n_faults;
    l->epoch = n_faults + l->n_moves - l->n_known + 1;
    return is_less;
}

/* Stretches stay listed while something of them is pending. */
bool ab_page_look(struct ab_page_ledger *l, uint64_t resident_bytes, bool must)
{
    const bool is_less = enter_epoch(l, resident_bytes);
    struct ab_ledger_stretch **link = &l->listed, *s;
    bool is_known = true;
    while ((s = *link) != NULL) {
        uint64_t left = 0;
        if (is_less)
            doubt_presumed(l, s);
        memset(s->presumed, 0, sizeof s->presumed);
        if (!look(l, s, must))
            is_known = false;
        for (unsigned w = 0; w < WORDS; w++)
            left |= s->pending[w];
        if (left == 0) {
            s->is_listed = 0;
            *link = s->next;
        } else {
            link = &s->next;
        }
    }
    return is_known;
}
