/* SPDX-License-Identifier: MIT
 *
 * What pages hold, of blocks at places that this test chooses in memory that it writes itself:
 * every figure is counted a second time, page by page, or on paper.
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "worker/page_walk.h"
#include "worker/residency.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SLOTS = 20000, RUNS = 4096, ROOM_PAGES = 16 << 10 /* 64 MiB */ };
#define STRETCH (UINT64_C(1) << AB_STRETCH_LOG2)

static struct ab_residency residency;
static struct ab_page_run room[RUNS];
static struct ab_page_runs baseline;
static struct ab_page_walk walk;
static struct ab_block_entry entries[SLOTS];
static struct ab_block_book book;
static struct ab_page_tally tally;

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
    book = (struct ab_block_book){.entries = entries, .n_slots = SLOTS};
    baseline = (struct ab_page_runs){room, 0, RUNS};
    return 0;
}

static void put(uint32_t slot, const char *at, uint64_t size, uint64_t usable)
{
    struct ab_given given = {.at = (uintptr_t)at, .size = size, .usable = usable};
    ab_book_put(&book, slot, &given);
}

static void expect(uint64_t live, uint64_t internal, uint64_t external, uint64_t untouched)
{
    ab_page_walk(&walk, &book, &tally);
    assert_int_equal(tally.live, live);
    assert_int_equal(tally.internal, internal);
    assert_int_equal(tally.external, external);
    assert_int_equal(tally.untouched, untouched);
    assert_int_equal(live + internal + external, tally.n_pages * PAGE);
    assert_int_equal(live + untouched + tally.baseline, book.requested_bytes);
    assert_false(tally.is_overlapping || tally.is_unreadable);
}

static void a_page_is_shared_out_to_the_byte(void **state)
{
    (void)state;
    char *p = reserve(STRETCH);
    p[0] = p[PAGE] = 1;
    expect(0, 0, 0, 0);
    put(0, p + 16, 100, 112);
    put(1, p + 144, 50, 64);
    expect(150, 26, PAGE - 176, 0); /* nobody wrote to them, but to their page */
    put(2, p + 4000, 10000, 10008); /* of which pages 0 and 1 are there */
    expect(150 + 96 + PAGE, 26, PAGE - 176 - 96, 10000 - 96 - PAGE);
    put(3, p + 1000000, 77, 80);
    expect(150 + 96 + PAGE, 26, PAGE - 176 - 96, 10000 - 96 - PAGE + 77);
    ab_book_drop(&book, 0);
    ab_book_drop(&book, 1);
    ab_book_drop(&book, 2);
    expect(0, 0, 0, 77); /* pages without a live block are no business of this */
    put(4, p + 64, 0, 24);
    expect(0, 24, PAGE - 24, 77);
    put(4, p + 64, 0, 0); /* has no byte, so it lies nowhere */
    expect(0, 0, 0, 77);
    munmap(p, STRETCH);
}

static void a_rounded_tail_counts_where_it_is_resident(void **state)
{
    (void)state;
    char *p = reserve(4 * STRETCH);
    p[0] = p[2 * PAGE] = p[STRETCH] = 1;
    put(0, p, 100, 3 * STRETCH); /* two stretches of the tail are filled by it alone */
    expect(100, 3 * PAGE - 100, 0, 0);
    assert_int_equal(tally.n_stretches, 2);
    p[2 * STRETCH + 5 * PAGE] = 1;
    expect(100, 4 * PAGE - 100, 0, 0);
    put(0, p, 3 * STRETCH - PAGE, 3 * STRETCH);
    expect(4 * PAGE, 0, 0, 3 * STRETCH - 5 * PAGE);
    munmap(p, 4 * STRETCH);
}

static void pages_that_were_there_before_are_apart(void **state)
{
    (void)state;
    char *p = reserve(STRETCH);
    p[0] = p[PAGE] = 1;
    assert_true(ab_residency_snapshot(&residency, &baseline));
    p[2 * PAGE] = 1;
    put(0, p + PAGE - 10, 20, 32);
    put(1, p + 2 * PAGE, 40, 48);
    expect(40, 8, PAGE - 48, 0);
    assert_int_equal(tally.baseline, 20);
    munmap(p, STRETCH);
}

static void blocks_upon_each_other_are_noticed(void **state)
{
    (void)state;
    char *p = reserve(STRETCH);
    p[0] = 1;
    put(0, p, 4000, 4000);
    put(1, p + 1000, 90, 97);
    ab_page_walk(&walk, &book, &tally);
    assert_true(tally.is_overlapping);
    reset(NULL);
    put(0, p, 8, UINT64_MAX - 7); /* a usable_size that cannot be */
    ab_page_walk(&walk, &book, &tally);
    assert_true(tally.is_overlapping);
    munmap(p, STRETCH);
}

/* ---- random books ---- */

struct page_model {
    uint64_t requested, usable;
    bool is_there, was_before;
};
static struct page_model model[ROOM_PAGES];

static void count(uint64_t begin, uint64_t end, bool is_requested)
{
    for (uint64_t at = begin; at < end;) {
        uint64_t page = at / PAGE, stop = (page + 1) * PAGE < end ? (page + 1) * PAGE : end;
        model[page].usable += stop - at;
        model[page].requested += is_requested ? stop - at : 0;
        at = stop;
    }
}

static uint64_t up_to(struct ab_rng *rng, uint64_t n)
{
    return ab_rng_next(rng) % n;
}

/* Blocks one behind the other with gaps, of sizes from nothing to some stretches. */
static void fill_book(struct ab_rng *rng, const char *p)
{
    uint64_t at = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t size = up_to(rng, UINT64_C(1) << (1 + up_to(rng, slot % 300 == 7 ? 23 : 13)));
        uint64_t slack = up_to(rng, 3) == 0 ? 0 : up_to(rng, 1 + size / 2);
        uint64_t gap = up_to(rng, 4) == 0 ? up_to(rng, 9000) : 16;
        if (at + size + slack + gap > (uint64_t)ROOM_PAGES * PAGE)
            break;
        if (up_to(rng, 5) != 0) {
            put(slot, p + at, size, size + slack);
            count(at, at + size, true);
            count(at + size, at + size + slack, false);
        }
        at += size + slack + gap;
    }
}

static void touch(struct ab_rng *rng, char *p, bool is_before)
{
    for (unsigned i = 0; i < ROOM_PAGES / 3; i++) {
        uint64_t page = is_before ? up_to(rng, ROOM_PAGES) & ~UINT64_C(15) : up_to(rng, ROOM_PAGES);
        p[page * PAGE + up_to(rng, PAGE)] = 1;
        model[page].is_there = true;
        model[page].was_before = model[page].was_before || is_before;
    }
}

static void any_book_is_shared_out_as_a_count_by_page_does(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 77, 1);
    for (unsigned round = 0; round < 12; round++) {
        char *p = reserve((size_t)ROOM_PAGES * PAGE);
        uint64_t live = 0, internal = 0, external = 0, untouched = 0, before = 0;
        memset(model, 0, sizeof model);
        reset(NULL);
        touch(&rng, p, true);
        assert_true(ab_residency_snapshot(&residency, &baseline));
        touch(&rng, p, false);
        fill_book(&rng, p);
        for (unsigned i = 0; i < ROOM_PAGES; i++) {
            const struct page_model *m = &model[i];
            bool counts = m->is_there && !m->was_before && m->usable > 0;
            live += counts ? m->requested : 0;
            internal += counts ? m->usable - m->requested : 0;
            external += counts ? PAGE - m->usable : 0;
            untouched += m->is_there ? 0 : m->requested;
            before += m->was_before ? m->requested : 0;
        }
        assert_true(live > 0 && internal > 0 && external > 0 && untouched > 0 && before > 0);
        expect(live, internal, external, untouched);
        assert_int_equal(tally.baseline, before);
        munmap(p, (size_t)ROOM_PAGES * PAGE);
    }
}

static void more_stretches_than_the_table_holds_take_more_walks(void **state)
{
    (void)state;
    enum { FAR = 9000 };
    char *p = reserve(FAR * STRETCH);
    for (uint32_t i = 0; i < FAR; i++) {
        put(i, p + i * STRETCH + 64, 100, 128);
        if (i % 2 == 0)
            p[i * STRETCH] = 1;
    }
    expect(FAR / 2 * 100, FAR / 2 * 28, FAR / 2 * (PAGE - 128), FAR / 2 * 100);
    assert_int_equal(tally.n_stretches, FAR / 2);
    assert_true(walk.n_passes > 1);
    reset(NULL);
    put(0, p, 50, 50);
    expect(50, 0, PAGE - 50, 0); /* nothing is left in the table */
    munmap(p, FAR * STRETCH);
}

static void page_tables_that_cannot_be_read_are_no_zero(void **state)
{
    (void)state;
    struct ab_residency closed = {.pagemap_fd = -1, .smaps_fd = -1, .page_log2 = 12};
    walk.residency = &closed;
    put(0, (const char *)(uintptr_t)0x7f0000000000, 50, 50);
    ab_page_walk(&walk, &book, &tally);
    assert_true(tally.is_unreadable);
    walk.residency = &residency;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_page_is_shared_out_to_the_byte, reset),
        cmocka_unit_test_setup(a_rounded_tail_counts_where_it_is_resident, reset),
        cmocka_unit_test_setup(pages_that_were_there_before_are_apart, reset),
        cmocka_unit_test_setup(blocks_upon_each_other_are_noticed, reset),
        cmocka_unit_test_setup(any_book_is_shared_out_as_a_count_by_page_does, reset),
        cmocka_unit_test_setup(more_stretches_than_the_table_holds_take_more_walks, reset),
        cmocka_unit_test_setup(page_tables_that_cannot_be_read_are_no_zero, reset),
    };
    test_with_small_pages();
    ab_residency_open(&residency);
    if (residency.page_log2 != 12)
        return 0; /* the figures are those of pages of 4096 bytes */
    void *memory = calloc(1, ab_page_walk_bytes());
    ab_page_walk_init(&walk, memory, &residency, &baseline);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(memory);
    return failed;
}
