/* SPDX-License-Identifier: MIT
 *
 * The ledger of pages against the walk over all blocks, which shares no code with it: blocks come,
 * grow, shrink, move and go at random in memory that this test writes to and gives back page by
 * page. Wherever both are asked they must say the same, to the byte.
 * tests: page_ledger.c
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "worker/page_ledger.h"
#include "worker/page_walk.h"
#include "worker/residency.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SLOTS = 600, RUNS = 4096, CELLS = 64, CELL_PAGES = 1024 };
#define STRETCH (UINT64_C(1) << AB_STRETCH_LOG2)
#define CELL_BYTES ((uint64_t)CELL_PAGES * PAGE)

static struct ab_residency residency;
static struct ab_footprint footprint;
static struct ab_page_run room[RUNS];
static struct ab_page_runs baseline;
static struct ab_page_walk walk;
static struct ab_page_ledger ledger;
static struct ab_block_entry entries[SLOTS];
static struct ab_block_book book;

static char *reserve(size_t bytes)
{
    char *p = mmap(NULL, bytes + STRETCH, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, bytes + STRETCH, MADV_NOHUGEPAGE);
    return (char *)(((uintptr_t)p + STRETCH - 1) & ~(STRETCH - 1));
}

static int reset(void **state)
{
    (void)state;
    memset(entries, 0, sizeof entries);
    baseline = (struct ab_page_runs){room, 0, RUNS};
    assert_true(ab_page_ledger_open(&ledger, &residency, &baseline, 1 << 20));
    book = (struct ab_block_book){.entries = entries, .n_slots = SLOTS, .pages = &ledger};
    return 0;
}

static uint64_t resident(void)
{
    uint64_t bytes;
    return ab_footprint_read(&footprint, &bytes) ? bytes : UINT64_MAX;
}

static void put(uint32_t slot, const char *at, uint64_t size, uint64_t usable)
{
    struct ab_given given = {.at = (uintptr_t)at, .size = size, .usable = usable};
    ab_book_put(&book, slot, &given);
}

static struct ab_page_split read_both(void)
{
    struct ab_page_split s;
    struct ab_page_tally t;
    assert_true(ab_page_ledger_read(&ledger, 1, resident(), true, &s));
    ab_page_walk(&walk, &book, &t);
    assert_false(t.is_overlapping || t.is_unreadable);
    assert_int_equal(s.live, t.live);
    assert_int_equal(s.internal, t.internal);
    assert_int_equal(s.external, t.external);
    assert_int_equal(s.untouched, t.untouched);
    assert_int_equal(s.baseline, t.baseline);
    return s;
}

static void a_page_is_followed_from_its_first_block_to_its_last(void **state)
{
    (void)state;
    char *p = reserve(STRETCH);
    put(0, p + 100, 1000, 1008);
    assert_int_equal(read_both().untouched, 1000); /* it was not written to */
    p[100] = 1;
    struct ab_page_split s = read_both();
    assert_true(s.live == 1000 && s.internal == 8 && s.external == PAGE - 1008);
    put(1, p + 4000, 200, 200); /* over the edge to the next page */
    s = read_both();
    assert_true(s.live == 1096 && s.external == PAGE - 1104 && s.untouched == 104);
    ab_book_drop(&book, 0);
    ab_book_drop(&book, 1);
    s = read_both();
    assert_true(s.live == 0 && s.external == 0 && s.untouched == 0);
    madvise(p, PAGE, MADV_DONTNEED); /* given back while it was empty, and under a block again */
    put(2, p, 50, 50);
    assert_int_equal(read_both().untouched, 50);
    munmap(p, STRETCH);
}

static void a_block_that_grows_where_it_lies_keeps_its_pages(void **state)
{
    (void)state;
    char *p = reserve(4 * STRETCH);
    for (uint64_t size = 5000; size < 3 * STRETCH; size += size / 2) {
        put(0, p, size, size + 24);
        memset(p, 1, size);
        read_both();
    }
    put(0, p, 2 * STRETCH, 2 * STRETCH); /* from whole stretches and a part to whole ones alone */
    read_both();
    put(0, p, STRETCH + 10, 2 * STRETCH);
    read_both();
    assert_false(ledger.is_lost);
    for (uint64_t size = STRETCH; size > 10; size -= size / 3) {
        put(0, p, size, size);
        read_both();
    }
    munmap(p, 4 * STRETCH);
}

/* Cells of one size, each given out again as soon as it is free: for a request of another size,
 * written to in part, given back to the system in between now and then. */
static void a_cell_that_is_given_out_again_is_split_anew(void **state)
{
    (void)state;
    enum { BYTES = 16400, N = 40 };
    char *p = reserve(2 * STRETCH);
    struct ab_rng rng;
    ab_rng_init(&rng, 5, 1);
    for (uint32_t i = 0; i < N; i++)
        put(i, p + i * BYTES, 1 + ab_rng_below(&rng, BYTES), BYTES);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t slot = (uint32_t)ab_rng_below(&rng, N);
        uint64_t size = 1 + ab_rng_below(&rng, BYTES), at = slot * BYTES;
        ab_book_drop(&book, slot);
        if (i % 7 == 0) /* pages that it had alone */
            madvise(p + (at / PAGE + 1) * PAGE, 3 * PAGE, MADV_DONTNEED);
        if (i % 11 == 0) /* with the cell free */
            read_both();
        put(slot, p + at, size, BYTES);
        for (uint64_t k = 0; k < size && i % 3 != 0; k += PAGE)
            p[at + k] = 1;
        if (i % 5 == 0)
            read_both();
    }
    assert_false(ledger.is_lost);
    for (uint32_t i = 0; i < N; i++)
        ab_book_drop(&book, i);
    struct ab_page_split s = read_both();
    assert_true(s.live == 0 && s.internal == 0 && s.external == 0 && s.untouched == 0);
    munmap(p, 2 * STRETCH);
}

/* A block goes, its page is given back, and a smaller one comes there that is not written to. */
static void a_page_that_was_given_back_is_not_there_for_a_smaller_block(void **state)
{
    (void)state;
    enum { N = 4 };
    char *p = reserve(STRETCH);
    memset(p, 1, (size_t)N * 3 * PAGE);
    for (uint32_t i = 0; i < N; i++) /* with 500 bytes on a page of their own, before and after */
        put(i, p + i * 3 * PAGE + PAGE - 500, PAGE + 1000, PAGE + 1000);
    read_both();
    for (uint32_t i = 0; i < N; i++) {
        char *q = p + i * 3 * PAGE;
        ab_book_drop(&book, i);
        madvise(q, 3 * PAGE, MADV_DONTNEED);
        put(i, i % 2 == 0 ? q + PAGE - 400 : q + 2 * PAGE + 40, 100, 112);
        assert_int_equal(read_both().untouched, 100 * (i + 1));
    }
    munmap(p, STRETCH);
}

static void pages_of_the_baseline_stay_apart(void **state)
{
    (void)state;
    char *p = reserve(STRETCH);
    p[0] = p[PAGE] = 1;
    assert_true(ab_residency_snapshot(&residency, &baseline));
    p[2 * PAGE] = 1;
    put(0, p, 3 * PAGE - 10, 3 * PAGE);
    assert_int_equal(read_both().baseline, 2 * PAGE);
    put(0, p, PAGE, PAGE + 5);
    assert_int_equal(read_both().baseline, PAGE);
    ab_book_drop(&book, 0);
    assert_int_equal(read_both().baseline, 0);
    munmap(p, STRETCH);
}

/* ---- at random ---- */

static uint64_t up_to(struct ab_rng *rng, uint64_t n)
{
    return ab_rng_next(rng) % n;
}

/* The place of a slot: small ones share a cell of 4 MiB, the last CELLS have one each, most of it
 * covers whole stretches. */
static char *place_of(char *p, uint32_t slot, uint64_t *room_bytes)
{
    if (slot >= SLOTS - CELLS) {
        *room_bytes = CELL_BYTES;
        return p + (slot - (SLOTS - CELLS) + 1) * CELL_BYTES;
    }
    *room_bytes = CELL_BYTES / (SLOTS - CELLS);
    return p + slot * *room_bytes;
}

static void act(struct ab_rng *rng, char *p)
{
    uint32_t slot = (uint32_t)up_to(rng, SLOTS);
    uint64_t left;
    char *at = place_of(p, slot, &left);
    if (up_to(rng, 3) == 0) {
        ab_book_drop(&book, slot);
        return;
    }
    uint64_t gap = up_to(rng, 2) == 0 ? 0 : up_to(rng, left / 2); /* 0: resizes stay in place */
    uint64_t size = up_to(rng, 4) == 0 ? up_to(rng, 40) : up_to(rng, left - gap);
    uint64_t slack = up_to(rng, 2) == 0 ? 0 : up_to(rng, left - gap - size + 1);
    put(slot, at + gap, size, up_to(rng, 9) == 0 ? size / 2 : size + slack);
    for (uint64_t n = up_to(rng, 20); n > 0; n--)
        at[up_to(rng, left)] = 1;
    if (size > 0 && up_to(rng, 2) == 0) {
        uint64_t first = up_to(rng, size), last = first + up_to(rng, size - first);
        memset(at + gap + first, 1, last - first + 1);
        ab_page_ledger_touch(&ledger, (uintptr_t)at + gap + first, (uintptr_t)at + gap + last);
    }
}

/* As a correct allocator does: never a page with a byte of a live block. */
static void give_back(struct ab_rng *rng, char *p)
{
    char *page = p + up_to(rng, CELL_PAGES * (CELLS + 1)) * PAGE;
    uintptr_t begin = (uintptr_t)page, end = begin + PAGE;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct ab_block_entry *e = &entries[i];
        uint64_t usable = e->usable > e->size ? e->usable : e->size;
        if (e->is_live && e->at < end && e->at + usable > begin)
            return;
    }
    madvise(page, PAGE, MADV_DONTNEED);
}

static void any_history_ends_as_the_walk_says(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 4711, 1);
    uint64_t seen[5] = {0};
    for (unsigned round = 0; round < 6; round++) {
        char *p = reserve(CELL_BYTES * (CELLS + 1));
        reset(NULL);
        for (unsigned i = 0; i < 200; i++)
            p[up_to(&rng, CELL_BYTES * (CELLS + 1))] = 1;
        assert_true(ab_residency_snapshot(&residency, &baseline));
        for (unsigned i = 0; i < 3000; i++) {
            act(&rng, p);
            give_back(&rng, p);
            if (up_to(&rng, 25) != 0)
                continue;
            struct ab_page_split s = read_both();
            uint64_t part[] = {s.live, s.internal, s.external, s.untouched, s.baseline};
            for (unsigned k = 0; k < 5; k++)
                seen[k] += part[k] > 0;
        }
        assert_false(ledger.is_lost);
        munmap(p, CELL_BYTES * (CELLS + 1));
    }
    for (unsigned k = 0; k < 5; k++)
        assert_true(seen[k] > 500);
}

/* ---- limits ---- */

static void its_own_memory_is_counted_when_it_grows(void **state)
{
    (void)state;
    enum { FAR = 500 }; /* more than it wrote at the start */
    struct ab_page_split s;
    for (uint32_t i = 0; i < FAR; i++)
        put(i, (char *)(UINT64_C(0x100000000000) + i * STRETCH), 10, 10);
    assert_true(ledger.n_grown > 0 && ledger.n_stretches == FAR + 1);
    assert_true(ab_page_ledger_read(&ledger, 1, resident(), true, &s));
    assert_int_equal(s.untouched, FAR * 10);
}

/* What is not written to is not looked at again and again: never while no page comes at all, and else
 * as far as the ops allow. */
static void looking_in_vain_is_limited_and_then_not_known(void **state)
{
    (void)state;
    enum { READS = 2000 };
    struct ab_page_split s;
    unsigned n_known = 0;
    char *p = reserve(64 * STRETCH), *elsewhere = reserve(READS * PAGE);
    put(0, p, 64 * STRETCH, 64 * STRETCH);
    for (unsigned i = 0; i < READS; i++)
        n_known += ab_page_ledger_read(&ledger, 100, resident(), false, &s);
    assert_int_equal(n_known, READS);
    n_known = 0;
    for (unsigned i = 0; i < READS; i++) {
        elsewhere[i * PAGE] = 1;
        n_known += ab_page_ledger_read(&ledger, 100, resident(), false, &s);
    }
    assert_in_range(n_known, 5, 20); /* 33,792 pages a time, 146 earned */
    memset(p, 1, 64 * STRETCH);
    assert_true(ab_page_ledger_read(&ledger, 1, resident(), true, &s)); /* at the end of a phase */
    assert_int_equal(s.live, 64 * STRETCH);
    ab_book_drop(&book, 0);
    munmap(p, 64 * STRETCH);
    munmap(elsewhere, READS * PAGE);
}

/* What the program writes to is known without a look, and so is what else it cannot have been. */
static void writes_that_are_told_explain_their_faults(void **state)
{
    (void)state;
    enum { BLOCKS = 400 };
    struct ab_page_split s;
    char *p = reserve(4 * STRETCH);
    put(0, p, 10, 4 * PAGE);
    read_both(); /* now it is known what of the stretch is absent */
    read_both();
    int64_t credit = ledger.credit;
    for (uint32_t i = 1; i < BLOCKS / 4; i++) {
        put(i, p + i * 4 * PAGE, 10, 4 * PAGE);
        p[i * 4 * PAGE] = 1;
        ab_page_ledger_touch(&ledger, (uintptr_t)p + i * 4 * PAGE, (uintptr_t)p + i * 4 * PAGE);
        assert_true(ab_page_ledger_read(&ledger, 0, resident(), false, &s));
        assert_int_equal(s.live, i * 10);
    }
    assert_true(ledger.credit > credit); /* nothing was looked at */
    p[7 * PAGE] = 1;                     /* a write that is not told */
    struct ab_page_split seen = read_both();
    assert_int_equal(seen.internal, s.internal + PAGE);
    munmap(p, 4 * STRETCH);
}

/* Pages that move under a block without a fault. */
static void a_large_block_that_moves_brings_its_pages(void **state)
{
    (void)state;
    char *p = reserve(STRETCH), *q = reserve(STRETCH);
    put(1, q + STRETCH / 2, 40 * PAGE, 40 * PAGE); /* seen absent */
    read_both();
    ab_book_drop(&book, 1);
    put(0, p, 40 * PAGE, 40 * PAGE);
    memset(p, 1, 40 * PAGE);
    read_both();
    put(1, q + STRETCH / 2, 40 * PAGE, 40 * PAGE);
    read_both();
    ab_book_drop(&book, 1);
    assert_ptr_equal(
        mremap(p, 40 * PAGE, 40 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + STRETCH / 2),
        q + STRETCH / 2);
    put(0, q + STRETCH / 2, 40 * PAGE, 40 * PAGE);
    assert_int_equal(read_both().live, 40 * PAGE);
    munmap(q, STRETCH);
}

static void what_cannot_be_followed_is_lost_and_not_guessed(void **state)
{
    (void)state;
    struct ab_page_split s;
    put(0, (char *)UINT64_C(0x7f0000000000), UINT64_C(1) << 50, 0);
    assert_true(ledger.is_lost);
    assert_false(ab_page_ledger_read(&ledger, 1000, resident(), true, &s));
    reset(NULL);
    put(0, (char *)UINT64_C(0x7f0000000000), 3000, 3000);
    assert_false(ledger.is_lost);
    put(1, (char *)UINT64_C(0x7f0000000800), 3000, 3000); /* upon the other */
    assert_true(ledger.is_lost);
    reset(NULL);
    struct ab_residency closed = {.pagemap_fd = -1, .smaps_fd = -1, .page_log2 = 12};
    ledger.residency = &closed;
    put(0, (char *)UINT64_C(0x7f0000000000), 3000, 3000);
    assert_false(ab_page_ledger_read(&ledger, 1000, resident(), true, &s));
    assert_true(ledger.is_lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_page_is_followed_from_its_first_block_to_its_last, reset),
        cmocka_unit_test_setup(a_block_that_grows_where_it_lies_keeps_its_pages, reset),
        cmocka_unit_test_setup(a_cell_that_is_given_out_again_is_split_anew, reset),
        cmocka_unit_test_setup(a_page_that_was_given_back_is_not_there_for_a_smaller_block, reset),
        cmocka_unit_test_setup(pages_of_the_baseline_stay_apart, reset),
        cmocka_unit_test_setup(any_history_ends_as_the_walk_says, reset),
        cmocka_unit_test_setup(its_own_memory_is_counted_when_it_grows, reset),
        cmocka_unit_test_setup(looking_in_vain_is_limited_and_then_not_known, reset),
        cmocka_unit_test_setup(writes_that_are_told_explain_their_faults, reset),
        cmocka_unit_test_setup(a_large_block_that_moves_brings_its_pages, reset),
        cmocka_unit_test_setup(what_cannot_be_followed_is_lost_and_not_guessed, reset),
    };
    test_with_small_pages();
    ab_residency_open(&residency);
    ab_footprint_open(&footprint);
    if (residency.page_log2 != 12)
        return 0; /* the figures are those of pages of 4096 bytes */
    void *memory = calloc(1, ab_page_walk_bytes());
    ab_page_walk_init(&walk, memory, &residency, &baseline);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(memory);
    return failed;
}
