/* SPDX-License-Identifier: MIT
 *
 * What the memory pass says of a back end's pages, while it serves random work: the ledger, the walk
 * over all blocks and a count page by page, block by block, have to agree to the byte, and with
 * what is retained they have to make up the footprint.
 */
#ifndef AB_TESTS_CONTRACT_PAGES_H
#define AB_TESTS_CONTRACT_PAGES_H

#include "contract/subject.h"

#include "base/rng.h"
#include "worker/page_ledger.h"
#include "worker/page_walk.h"
#include "worker/residency.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum {
    PAGES_SLOTS = 300,
    PAGES_OPS = 4000,
    PAGES_OPS_FAST = 1600,
    PAGES_RUNS = 1 << 15,
    PAGES_SAMPLE = 3,
    PAGES_COUNT = 400
};

static struct pages_state { /* all of it written before the baseline is taken */
    struct ab_residency residency;
    struct ab_footprint footprint;
    struct ab_page_run base_room[PAGES_RUNS], now_room[PAGES_RUNS];
    struct ab_page_runs base, now;
    struct ab_block_entry entries[PAGES_SLOTS];
    ab_ref refs[PAGES_SLOTS];
    struct ab_block_book book;
    struct ab_page_ledger ledger;
    struct ab_page_walk walk;
    void *walk_memory;
    uint64_t base_bytes;
} at_pages;

/* Does a usable byte of a live block lie on it? */
static bool pages_is_used(uint64_t page)
{
    uint64_t begin = page << at_pages.residency.page_log2,
             end = begin + (UINT64_C(1) << at_pages.residency.page_log2);
    for (unsigned i = 0; i < PAGES_SLOTS; i++) {
        const struct ab_block_entry *e = &at_pages.entries[i];
        uint64_t bytes = e->usable > e->size ? e->usable : e->size;
        if (e->is_live && e->at < end && e->at + bytes > begin)
            return true;
    }
    return false;
}

/* Of all resident pages that came since the baseline, those with a live block and the rest. */
static void pages_count(const struct ab_page_split *split)
{
    const uint64_t page = UINT64_C(1) << at_pages.residency.page_log2;
    uint64_t used = 0, unused = 0, bytes = 0;
    assert_true(ab_residency_snapshot(&at_pages.residency, &at_pages.now));
    for (size_t i = 0; i < at_pages.now.n; i++)
        for (uint64_t p = at_pages.now.runs[i].begin; p < at_pages.now.runs[i].end; p++)
            if (!ab_page_runs_have(&at_pages.base, p))
                *(pages_is_used(p) ? &used : &unused) += page;
    assert_int_equal(split->live + split->internal + split->external, used);
#ifndef __SANITIZE_ADDRESS__ /* whose own memory comes and goes */
    uint64_t lost = ab_residency_lost(&at_pages.residency, &at_pages.base) * page;
    assert_true(ab_footprint_read(&at_pages.footprint, &bytes));
    if (ab_footprint_granularity(&at_pages.footprint) == 0)
        assert_int_equal(used + unused, bytes + lost - at_pages.base_bytes);
#endif
    (void)bytes;
}

static void pages_sample(bool is_counted)
{
    struct ab_page_split split;
    struct ab_page_tally tally;
    assert_true(ab_page_ledger_read(&at_pages.ledger, PAGES_SAMPLE, UINT64_MAX, true, &split));
    ab_page_walk(&at_pages.walk, &at_pages.book, &tally);
    assert_false(tally.is_overlapping || tally.is_unreadable);
    assert_int_equal(split.live, tally.live);
    assert_int_equal(split.internal, tally.internal);
    assert_int_equal(split.external, tally.external);
    assert_int_equal(split.untouched, tally.untouched);
    assert_int_equal(split.baseline, tally.baseline);
    assert_int_equal(split.live + split.untouched + split.baseline, at_pages.book.requested_bytes);
    if (is_counted)
        pages_count(&split);
}

static void pages_put(const struct heap *x, uint32_t slot, size_t size)
{
    void *p = address(x, at_pages.refs[slot]);
    bool has_usable = x->b->usable_size != NULL;
    struct ab_given given = {.at = (uintptr_t)p,
                             .size = size,
                             .usable = has_usable ? x->b->usable_size(x->h, at_pages.refs[slot])
                                                  : size};
    ab_book_put(&at_pages.book, slot, &given);
}

/* Replaces, resizes or frees the block of a slot; of what it asks for it writes all, half or nothing. */
static void pages_act(const struct heap *x, struct ab_rng *rng, const size_t *few, unsigned n)
{
    uint32_t slot = (uint32_t)(ab_rng_next(rng) % PAGES_SLOTS);
    struct ab_block_entry *e = &at_pages.entries[slot];
    size_t size = few[ab_rng_next(rng) % n];
    if (e->is_live && x->b->resize != NULL && ab_rng_next(rng) % 3 == 0) {
        ab_ref moved = x->b->resize(x->h, at_pages.refs[slot], e->size, size);
        if (moved == 0)
            return;
        at_pages.refs[slot] = moved;
    } else {
        if (e->is_live) {
            drop(x, at_pages.refs[slot], e->size);
            ab_book_drop(&at_pages.book, slot);
        }
        if (x->b->free != NULL && ab_rng_next(rng) % 4 == 0)
            return;
        at_pages.refs[slot] = alloc(x, size);
    }
    memset(address(x, at_pages.refs[slot]), 1, size / 2 * (ab_rng_next(rng) % 3));
    pages_put(x, slot, size);
}

static void pages_open(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    if (at_pages.walk_memory == NULL) {
        memset(&at_pages, 0, sizeof at_pages);
        ab_residency_open(&at_pages.residency);
        ab_footprint_open(&at_pages.footprint);
        at_pages.walk_memory = calloc(1, ab_page_walk_bytes());
        assert_non_null(at_pages.walk_memory);
        memset(at_pages.walk_memory, 0, ab_page_walk_bytes());
        ab_page_walk_init(&at_pages.walk, at_pages.walk_memory, &at_pages.residency,
                          &at_pages.base);
        assert_true(ab_page_ledger_open(&at_pages.ledger, &at_pages.residency, &at_pages.base, 0));
    }
    memset(at_pages.entries, 0, sizeof at_pages.entries);
    at_pages.base = (struct ab_page_runs){at_pages.base_room, 0, PAGES_RUNS};
    at_pages.now = (struct ab_page_runs){at_pages.now_room, 0, PAGES_RUNS};
    assert_true(ab_residency_snapshot(&at_pages.residency, &at_pages.base));
    assert_true(
        ab_residency_snapshot(&at_pages.residency, &at_pages.base)); /* with what reading wrote */
    assert_true(ab_footprint_read(&at_pages.footprint, &at_pages.base_bytes));
}

static void pages_add_up_at_every_sample(const struct subject *s)
{
    static const size_t few[] = {1, 16, 24, 100, 255, 1000, 4096, 5000, 20000, 131072};
    struct ab_rng rng;
    ab_rng_init(&rng, 99, 1);
    if ((s->b->traits & AB_TRAIT_MOVES) != 0)
        return;
    pages_open();
    at_pages.book = (struct ab_block_book){
        .entries = at_pages.entries, .n_slots = PAGES_SLOTS, .pages = &at_pages.ledger};
    struct heap x = heap_open(s);
    unsigned n_ops = repeats(PAGES_OPS, PAGES_OPS_FAST);
    for (unsigned i = 0; i < n_ops; i++) {
        pages_act(&x, &rng, few, AB_ARRAY_LEN(few));
        if (i % PAGES_SAMPLE == 0)
            pages_sample(i % PAGES_COUNT == 0);
    }
    for (uint32_t slot = 0; slot < PAGES_SLOTS; slot++)
        if (at_pages.entries[slot].is_live) {
            drop(&x, at_pages.refs[slot], at_pages.entries[slot].size);
            ab_book_drop(&at_pages.book, slot);
        }
    pages_sample(true);
    assert_false(at_pages.ledger.is_lost);
    s->b->close(x.h);
}

#endif
