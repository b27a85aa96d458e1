/* SPDX-License-Identifier: MIT
 *
 * The page ledger. For each page, it keeps the bytes of the live blocks on it. The pages are
 * grouped by stretches of 2 MiB, which are found through two levels of tables.
 */
#include "worker/page_ledger.h"

#include "worker/page_walk.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
    ADDRESS_LOG2 = 48,
    LEAF_LOG2 = 13, /* a leaf has 2^13 stretches of 2 MiB: 16 GiB of addresses */
    ROOT_LOG2 = ADDRESS_LOG2 - AB_STRETCH_LOG2 - LEAF_LOG2,
    LEAVES_MAX = 256,
    LEAVES_AT_ONCE = 4,
    STRETCHES_MAX = 1 << 17, /* 256 GiB of addresses, if the stretches are contiguous */
    STRETCHES_AT_ONCE = 64,
    STRETCHES_SPARE = 128, /* room for stretches beyond twice the number that the live bytes fill */
    WORDS = AB_LEDGER_WORDS,
    OWN_PAGE = 4096, /* least memory that a first write makes resident */
    SAMPLE_CREDIT = 96,
    FIRST_CREDIT = 1 << 16,
    MOST_CREDIT = 1 << 20,
};
#define STRETCH_BYTES (UINT64_C(1) << AB_STRETCH_LOG2)
#define BLOCK_BYTES_MAX (UINT64_C(1) << 40) /* larger blocks are invalid */

_Static_assert(sizeof(struct ab_ledger_stretch) * STRETCHES_AT_ONCE % OWN_PAGE == 0,
               "a group of stretches is whole pages");
_Static_assert(AB_LEDGER_STRETCH_LOG2 == AB_STRETCH_LOG2, "stretches are those of the walk");

/* ---- looking up pages ----
 *
 * The functions below look up those pages of the ledger in the page tables that may have
 * changed. Page faults and the size of the resident set show that the other pages did not
 * change. */

enum {
    CALL_COST = 16, /* cost of a system call, in pages */
    WIDE_SPAN = 64, /* pages */
};

/* not on the stack, where it would count in a footprint */
static bool is_there[AB_RESIDENCY_PAGES_MAX];

/* Makes the buffer resident, before the baseline is taken. */
static void open_lookup(void)
{
    memset(is_there, 0, sizeof is_there); /* resident from here on */
}

static uint32_t pages_of_stretch(const struct ab_page_ledger *l)
{
    return UINT32_C(1) << (AB_LEDGER_STRETCH_LOG2 - l->page_log2);
}

/* Finds the pages of a new stretch that are not resident, so that page faults on them are expected.
 * It is no error if the page tables cannot be read. */
static void find_absent(struct ab_page_ledger *l, struct ab_ledger_stretch *s)
{
    uint32_t n = pages_of_stretch(l);
    if (!ab_residency_read(l->residency, s->number << (AB_LEDGER_STRETCH_LOG2 - l->page_log2), n,
                           is_there))
        return;
    s->epoch = l->epoch;
    for (uint32_t i = 0; i < n; i++)
        s->absent[i >> 6] |= (uint64_t)!is_there[i] << (i & 63);
}

/* Moves a page from the pending ones to the resident ones, or to those of the baseline. */
static void settle_page(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i)
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

/* Makes the presumed pages of a stretch pending again, because some page of the process may have
 * been given back. */
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

/* Finds the range [*first, *last] of pages of the stretch that must be looked up. Returns false if
 * there are none. */
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
    /* a wide range becomes the whole stretch, so that page faults on its other pages are expected
     * too */
    if (is_new && *last - *first >= WIDE_SPAN) {
        *first = 0;
        *last = pages_of_stretch(l) - 1;
    }
    return true;
}

/* Looks up the pending pages of a stretch. Returns false if the page tables cannot be read, or if
 * the credit is used up; with `must`, the credit does not count. */
static bool look_up_stretch(struct ab_page_ledger *l, struct ab_ledger_stretch *s, bool must)
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
            settle_page(l, s, i);
        }
    }
    return true;
}

/* Reads the page faults and begins a new epoch if other pages may have become resident: there were
 * faults besides those expected from writes, or the resident set grew by more than the expected
 * pages. Begins a new era if the resident set did not grow by one page for each fault, because
 * pages may then have been given back. Returns true for a new era. */
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

/* Looks up the pending pages of all listed stretches. A stretch stays listed while a page of it is
 * pending. Returns false if pages stay unknown: the credit is used up (never with `must`), or the
 * page tables cannot be read. In the second case the ledger is lost. */
static bool look_up_pages(struct ab_page_ledger *l, uint64_t resident_bytes, bool must)
{
    const bool is_less = enter_epoch(l, resident_bytes);
    struct ab_ledger_stretch **link = &l->listed, *s;
    bool is_known = true;
    while ((s = *link) != NULL) {
        uint64_t left = 0;
        if (is_less)
            doubt_presumed(l, s);
        memset(s->presumed, 0, sizeof s->presumed);
        if (!look_up_stretch(l, s, must))
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

/* ---- the ledger's own memory ---- */

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void write_leaves(struct ab_page_ledger *l)
{
    const size_t bytes = sizeof l->leaves[0] << LEAF_LOG2;
    memset((char *)l->leaves + l->n_leaves_written * bytes, 0, LEAVES_AT_ONCE * bytes);
    l->n_leaves_written += LEAVES_AT_ONCE;
    l->n_grown += LEAVES_AT_ONCE * bytes / OWN_PAGE;
}

static void write_stretches(struct ab_page_ledger *l)
{
    memset(&l->pool[l->n_stretches_written], 0, STRETCHES_AT_ONCE * sizeof l->pool[0]);
    l->n_stretches_written += STRETCHES_AT_ONCE;
    l->n_grown += STRETCHES_AT_ONCE * sizeof l->pool[0] / OWN_PAGE;
}

bool ab_page_ledger_open(struct ab_page_ledger *l, const struct ab_residency *residency,
                         const struct ab_page_runs *baseline, uint64_t live_peak_bytes)
{
    uint64_t wanted = live_peak_bytes / STRETCH_BYTES * 2 + STRETCHES_SPARE;
    wanted = ab_align_up(wanted < STRETCHES_MAX ? wanted : STRETCHES_MAX, STRETCHES_AT_ONCE);
    *l = (struct ab_page_ledger){.residency = residency,
                                 .baseline = baseline,
                                 .page_bytes = UINT64_C(1) << residency->page_log2,
                                 .page_log2 = residency->page_log2,
                                 .credit = FIRST_CREDIT};
    l->cap_stretches = STRETCHES_MAX;
    l->root = reserve(sizeof l->root[0] << ROOT_LOG2);
    l->leaves = reserve((LEAVES_MAX * sizeof l->leaves[0]) << LEAF_LOG2);
    l->pool = reserve(STRETCHES_MAX * sizeof l->pool[0]);
    if (l->pool == NULL) { /* without overcommit, reserves only what is needed */
        l->cap_stretches = (uint32_t)wanted;
        l->pool = reserve(wanted * sizeof l->pool[0]);
    }
    if (l->root == NULL || l->leaves == NULL || l->pool == NULL)
        return false;
    open_lookup();
    memset(l->root, 0, sizeof l->root[0] << ROOT_LOG2);
    write_leaves(l);
    while (l->n_stretches_written < wanted)
        write_stretches(l);
    /* this stretch is unused; it fills `recent`, so that no entry is NULL */
    l->pool[0].number = UINT64_MAX;
    for (unsigned i = 0; i < AB_LEDGER_RECENT; i++)
        l->recent[i] = &l->pool[0];
    l->n_stretches = 1;
    l->n_grown = 0;
    return true;
}

static uint32_t add_leaf(struct ab_page_ledger *l)
{
    if (l->n_leaves == LEAVES_MAX)
        return 0;
    if (l->n_leaves == l->n_leaves_written)
        write_leaves(l);
    return ++l->n_leaves;
}

static uint32_t add_stretch(struct ab_page_ledger *l, uint64_t number)
{
    if (l->n_stretches == l->cap_stretches)
        return 0;
    if (l->n_stretches == l->n_stretches_written)
        write_stretches(l);
    l->pool[l->n_stretches].number = number;
    find_absent(l, &l->pool[l->n_stretches]);
    return ++l->n_stretches;
}

/* Returns the stretch with this number, adding it if needed. Returns NULL if there is no room; the
 * caller then marks the ledger as lost. */
static struct ab_ledger_stretch *find(struct ab_page_ledger *l, uint64_t number)
{
    struct ab_ledger_stretch **recent = &l->recent[number & (AB_LEDGER_RECENT - 1)];
    if ((*recent)->number == number)
        return *recent;
    uint32_t *leaf = &l->root[number >> LEAF_LOG2];
    if (*leaf == 0 && (*leaf = add_leaf(l)) == 0)
        return NULL;
    uint32_t *place = &l->leaves[((uint64_t)(*leaf - 1) << LEAF_LOG2) +
                                 (number & ((UINT64_C(1) << LEAF_LOG2) - 1))];
    if (*place == 0 && (*place = add_stretch(l, number)) == 0)
        return NULL;
    *recent = &l->pool[*place - 1];
    return *recent;
}

/* ---- a page ---- */

static void list(struct ab_page_ledger *l, struct ab_ledger_stretch *s)
{
    if (s->is_listed)
        return;
    s->is_listed = 1;
    s->next = l->listed;
    l->listed = s;
}

/* Enters a page when its first block comes. If the page was resident when its last block was freed,
 * it is presumed resident, unless a later reading finds that some page was given back. */
static void enter_page(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint64_t word,
                       uint64_t bit)
{
    if (s->era != l->era)
        memset(s->present, 0, sizeof s->present);
    s->era = l->era;
    list(l, s);
    if ((s->present[word] & bit) == 0) {
        s->pending[word] |= bit;
        return;
    }
    s->presumed[word] |= bit;
    s->resident[word] |= bit;
    l->n_pages++;
}

static void load_page(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i,
                      uint32_t requested, uint32_t usable)
{
    const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
    if (AB_LEDGER_USABLE(s->loads[i]) == 0) {
        s->n_loaded++;
        if (s->whole == 0)
            enter_page(l, s, word, bit);
    }
    s->loads[i] += AB_LEDGER_LOAD(requested, usable);
    if (AB_LEDGER_USABLE(s->loads[i]) > l->page_bytes && !l->is_resizing)
        l->is_lost = true;
    if ((s->resident[word] & bit) != 0)
        return;
    bool is_pending = (s->pending[word] & bit) != 0;
    *(is_pending ? &l->pending.requested : &l->before.requested) += requested;
    *(is_pending ? &l->pending.usable : &l->before.usable) += usable;
}

/* Removes a page from the sums when its last live block is freed. */
static void leave_page(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i)
{
    const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
    if (s->era != l->era)
        memset(s->present, 0, sizeof s->present);
    s->era = l->era;
    if ((s->resident[word] & bit) != 0) {
        l->n_pages--;
        s->present[word] |= bit;
    }
    s->presumed[word] &= ~bit;
    s->pending[word] &= ~bit;
    s->resident[word] &= ~bit;
    s->before[word] &= ~bit;
}

static void unload_page(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint32_t i,
                        uint32_t requested, uint32_t usable)
{
    const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
    s->loads[i] -= AB_LEDGER_LOAD(requested, usable);
    if ((s->resident[word] & bit) == 0) {
        bool is_pending = (s->pending[word] & bit) != 0;
        *(is_pending ? &l->pending.requested : &l->before.requested) -= requested;
        *(is_pending ? &l->pending.usable : &l->before.usable) -= usable;
    }
    if (AB_LEDGER_USABLE(s->loads[i]) > 0)
        return;
    s->n_loaded--;
    if (s->whole == 0)
        leave_page(l, s, i);
}

/* ---- a stretch that one block covers ---- */

static uint64_t count_bits(const uint64_t *words)
{
    uint64_t n = 0;
    for (unsigned w = 0; w < WORDS; w++)
        n += (uint64_t)__builtin_popcountll(words[w]);
    return n;
}

/* Adds the pages of a covered stretch to the sums, or subtracts them; `sign` is 1, or -1 modulo
 * 2^64. */
static void move_whole(struct ab_page_ledger *l, const struct ab_ledger_stretch *s,
                       bool is_requested, uint64_t sign)
{
    uint64_t pending = count_bits(s->pending) * l->page_bytes * sign;
    uint64_t before = count_bits(s->before) * l->page_bytes * sign;
    l->pending.usable += pending;
    l->before.usable += before;
    l->pending.requested += is_requested ? pending : 0;
    l->before.requested += is_requested ? before : 0;
}

static void load_whole(struct ab_page_ledger *l, struct ab_ledger_stretch *s, bool is_requested)
{
    uint32_t n = UINT32_C(1) << (AB_STRETCH_LOG2 - l->page_log2);
    if ((s->whole > 0 || s->n_loaded > 0) && !l->is_resizing)
        l->is_lost = true;
    for (uint32_t w = 0; w < WORDS && s->whole == 0 && w * 64 < n; w++) {
        uint64_t all = n - w * 64 >= 64 ? UINT64_MAX : (UINT64_C(1) << (n - w * 64)) - 1;
        s->pending[w] |= all & ~(s->resident[w] | s->before[w]);
    }
    s->whole++;
    s->whole_requested += is_requested;
    move_whole(l, s, is_requested, 1);
    list(l, s);
}

static void unload_whole(struct ab_page_ledger *l, struct ab_ledger_stretch *s, bool is_requested)
{
    uint32_t n = UINT32_C(1) << (AB_STRETCH_LOG2 - l->page_log2);
    move_whole(l, s, is_requested, UINT64_MAX);
    s->whole_requested -= is_requested;
    if (--s->whole > 0)
        return;
    if (s->n_loaded == 0) {
        l->n_pages -= count_bits(s->resident);
        memset(s->pending, 0, sizeof s->pending);
        memset(s->resident, 0, sizeof s->resident);
        memset(s->before, 0, sizeof s->before);
        memset(s->presumed, 0, sizeof s->presumed);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        if (AB_LEDGER_USABLE(s->loads[i]) == 0)
            leave_page(l, s, i);
}

/* ---- a block ---- */

struct extent {
    /* `middle` is the end of the requested bytes, `end` that of the usable bytes */
    uint64_t at, middle, end;
    bool is_put;
};

/* Adds the part of a block below `stop`, which lies in one stretch, to its pages; without is_put,
 * subtracts it. */
static void move_pages(struct ab_page_ledger *l, struct ab_ledger_stretch *s,
                       const struct extent *x, uint64_t stop)
{
    const unsigned log2 = (unsigned)l->page_log2;
    const uint64_t mask = (UINT64_C(1) << (AB_STRETCH_LOG2 - log2)) - 1;
    for (uint64_t at = x->at; at < stop;) {
        uint64_t next = ((at >> log2) + 1) << log2;
        next = next < stop ? next : stop;
        uint64_t middle = x->middle < next ? x->middle : next;
        uint32_t usable = (uint32_t)(next - at), i = (uint32_t)(at >> log2 & mask);
        uint32_t requested = middle > at ? (uint32_t)(middle - at) : 0;
        if (x->is_put)
            load_page(l, s, i, requested, usable);
        else
            unload_page(l, s, i, requested, usable);
        at = next;
    }
}

static void move_block(struct ab_page_ledger *l, struct extent x)
{
    while (x.at < x.end && !l->is_lost) {
        uint64_t stop = ((x.at >> AB_STRETCH_LOG2) + 1) << AB_STRETCH_LOG2;
        stop = stop < x.end ? stop : x.end;
        struct ab_ledger_stretch *s = find(l, x.at >> AB_STRETCH_LOG2);
        bool is_one_kind = x.middle <= x.at || x.middle >= stop;
        if (s == NULL)
            l->is_lost = true;
        else if (stop - x.at < STRETCH_BYTES || !is_one_kind)
            move_pages(l, s, &x, stop);
        else if (x.is_put)
            load_whole(l, s, x.middle > x.at);
        else
            unload_whole(l, s, x.middle > x.at);
        x.at = stop;
    }
}

static bool is_nonsense(uintptr_t at, uint64_t size, uint64_t usable)
{
    return size > BLOCK_BYTES_MAX || usable > BLOCK_BYTES_MAX || at >> ADDRESS_LOG2 != 0 ||
           (at + usable) >> ADDRESS_LOG2 != 0;
}

/* Subtracts the block that was freed last from its pages. This was postponed when the block was
 * freed. */
static void clear_gone(struct ab_page_ledger *l)
{
    const struct ab_ledger_block b = l->gone;
    l->gone.usable = 0;
    if (b.usable == 0)
        return;
    l->requested -= b.size;
    l->usable -= b.usable;
    move_block(l, (struct extent){b.at, b.at + b.size, b.at + b.usable, false});
}

/* Moves the end of the requested bytes of a block from `from` to `to`; the block keeps its
 * pages. */
static void move_middle(struct ab_page_ledger *l, struct ab_ledger_stretch *s, uint64_t from,
                        uint64_t to)
{
    const uint64_t end = from < to ? to : from;
    for (uint64_t at = from < to ? from : to; at < end;) {
        uint64_t next = ((at >> l->page_log2) + 1) << l->page_log2;
        next = next < end ? next : end;
        const uint32_t i = ab_page_ledger_index(l, at);
        const uint64_t bytes = from < to ? next - at : at - next; /* modulo 2^64 */
        s->loads[i] += bytes;
        if ((s->pending[i >> 6] >> (i & 63) & 1) != 0)
            l->pending.requested += bytes;
        at = next;
    }
}

/* Handles a block that replaces the last freed one at the same address with the same usable size.
 * The block has the same pages. Only the pages between the old and the new end of the requested
 * bytes change. The pages may have been given back in between, so they are only presumed resident.
 * Returns false if the case is not this simple. */
static bool replace_gone(struct ab_page_ledger *l, uintptr_t at, uint64_t size, uint64_t usable)
{
    const struct ab_ledger_block *b = &l->gone;
    const uint64_t last = at + usable - 1;
    if (b->usable != usable || b->at != at || usable == 0 ||
        at >> (l->page_log2 + 6) != last >> (l->page_log2 + 6) ||
        at >> AB_STRETCH_LOG2 != last >> AB_STRETCH_LOG2)
        return false;
    const uint32_t first = ab_page_ledger_index(l, at), word = first >> 6;
    const uint32_t n = ab_page_ledger_index(l, last) - first + 1;
    const uint64_t mask = UINT64_MAX >> (64 - n) << (first & 63);
    /* if this is not the block's stretch, the block is old */
    struct ab_ledger_stretch *s = ab_page_ledger_recent(l, at);
    if (s->number != at >> AB_STRETCH_LOG2 || s->whole > 0 || (s->before[word] & mask) != 0)
        return false;
    s->presumed[word] |= s->resident[word] & mask;
    list(l, s);
    l->requested += size - b->size;
    move_middle(l, s, at + b->size, at + size);
    l->gone.usable = 0;
    return true;
}

void ab_page_ledger_put_slow(struct ab_page_ledger *l, uintptr_t at, uint64_t size, uint64_t usable)
{
    if (l->is_lost || is_nonsense(at, size, usable)) {
        l->is_lost = true;
        return;
    }
    if (replace_gone(l, at, size, usable))
        return;
    clear_gone(l);
    l->requested += size;
    l->usable += usable;
    move_block(l, (struct extent){at, at + size, at + usable, true});
}

/* Marks a page of the freed block as presumed. If no other block is on the page, the page may be
 * given back before the next block comes. (If another block is on it, it is looked up
 * needlessly.) */
static void presume_page(struct ab_page_ledger *l, uint64_t at)
{
    struct ab_ledger_stretch *s = find(l, at >> AB_STRETCH_LOG2);
    const uint32_t i = ab_page_ledger_index(l, at), word = i >> 6;
    if (s == NULL)
        return;
    s->presumed[word] |= s->resident[word] & UINT64_C(1) << (i & 63);
    list(l, s);
}

/* Drops a block. Only the first and the last page of a block have room for a smaller block, which
 * ab_page_ledger_put() adds without a look at the page. So these two are marked. */
void ab_page_ledger_drop_slow(struct ab_page_ledger *l, uintptr_t at, uint64_t size,
                              uint64_t usable)
{
    if (l->is_lost)
        return;
    clear_gone(l);
    l->gone = (struct ab_ledger_block){at, size, usable};
    if (usable == 0)
        return;
    presume_page(l, at);
    if ((at + usable - 1) >> l->page_log2 != at >> l->page_log2)
        presume_page(l, at + usable - 1);
}

/* ---- knowledge about the pages ---- */

void ab_page_ledger_touch_slow(struct ab_page_ledger *l, uintptr_t first, uintptr_t last)
{
    const uint64_t to_word_end = ((UINT64_C(1) << (AB_STRETCH_LOG2 - l->page_log2)) - 1) & 63;
    for (uint64_t page = first >> l->page_log2; page <= last >> l->page_log2 && !l->is_lost;
         page++) {
        struct ab_ledger_stretch *s = find(l, page >> (AB_STRETCH_LOG2 - l->page_log2));
        uint32_t i = ab_page_ledger_index(l, page << l->page_log2);
        const uint64_t bit = UINT64_C(1) << (i & 63), word = i >> 6;
        if (s != NULL && s->pending[word] == 0)
            page |= to_word_end; /* skips the pages of this word, because none is pending */
        if (s == NULL || (s->pending[word] & bit) == 0)
            continue;
        if (s->epoch == l->epoch && (s->absent[word] & bit) != 0)
            l->n_known++;
        s->absent[word] &= ~bit;
        settle_page(l, s, i);
    }
}

bool ab_page_ledger_read(struct ab_page_ledger *l, uint64_t n_ops, uint64_t resident_bytes,
                         bool must, struct ab_page_split *out)
{
    l->credit += (int64_t)n_ops / 2 + SAMPLE_CREDIT;
    l->credit = l->credit < MOST_CREDIT ? l->credit : MOST_CREDIT;
    if (!l->is_lost)
        clear_gone(l);
    if (l->is_lost)
        return false;
    if (l->listed != NULL && !look_up_pages(l, resident_bytes, must))
        return false;
    uint64_t on_pages = l->usable - l->pending.usable - l->before.usable;
    out->live = l->requested - l->pending.requested - l->before.requested;
    out->internal = on_pages - out->live;
    out->external = l->n_pages * l->page_bytes - on_pages;
    out->untouched = l->pending.requested;
    out->baseline = l->before.requested;
    return true;
}
