/* SPDX-License-Identifier: MIT
 *
 * The memory pass over a heap whose every page is known: 1 KiB cells in one mapping, nothing given
 * back before a purge, books of its own in shared memory. What is counted must be that, exactly.
 * tests: memory_drain.c memory_introspect.c worker/memory.c
 */
#include "support/cmocka.h"
#include "support/small_pages.h"
#include "support/worker.h"
#include "worker/memory.h"
#include "worker/memory_pass.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 4000, KEPT = 400, CELL = 1024, SIZE = 1000, PAGE = 4096, SAMPLES = 20000 };
#define REPORT_BYTES (sizeof(struct ab_memory_report) + SAMPLES * sizeof(struct ab_memory_sample))

static uint32_t eager_pages; /* the heap touches so many when it opens */
static bool is_accessing;    /* blocks are touched by accesses alone, one that writes each */
static bool is_losing;       /* its first free throws away the page of a live block */
static bool is_returning;    /* a page without a live block is given back at once */

struct ab_heap {
    char *cells, *eager;
    uint32_t n_free, free_cells[BLOCKS];
    bool is_live[BLOCKS];
};

static void *map(size_t bytes, int kind)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

static struct ab_heap *heap_open(void)
{
    struct ab_heap *h = map(sizeof *h, MAP_SHARED);
    memset(h, 0, sizeof *h);
    h->cells = map((size_t)BLOCKS * CELL, MAP_PRIVATE);
    h->eager = map((size_t)BLOCKS * PAGE, MAP_PRIVATE);
    for (uint32_t i = 0; i < eager_pages; i++)
        h->eager[(size_t)i * PAGE] = 1;
    for (uint32_t i = BLOCKS; i > 0; i--)
        h->free_cells[h->n_free++] = i - 1;
    return h;
}

static void heap_close(struct ab_heap *h)
{
    munmap(h->cells, (size_t)BLOCKS * CELL);
    munmap(h->eager, (size_t)BLOCKS * PAGE);
    munmap(h, sizeof *h);
}

static ab_ref heap_alloc(struct ab_heap *h, size_t size)
{
    assert_true(size <= CELL && h->n_free > 0);
    uint32_t cell = h->free_cells[--h->n_free];
    h->is_live[cell] = true;
    return (ab_ref)(h->cells + (size_t)cell * CELL);
}

static void heap_free(struct ab_heap *h, ab_ref ref, size_t size)
{
    uint32_t cell = (uint32_t)(((char *)ref - h->cells) / CELL);
    assert_int_equal(size, SIZE);
    assert_true(h->is_live[cell]);
    if (is_losing)
        madvise(h->cells, PAGE, MADV_DONTNEED);
    h->is_live[cell] = false;
    h->free_cells[h->n_free++] = cell;
    const uint32_t first = cell / (PAGE / CELL) * (PAGE / CELL);
    if (is_returning && memchr(&h->is_live[first], true, PAGE / CELL) == NULL)
        madvise(h->cells + (size_t)first * CELL, PAGE, MADV_DONTNEED);
}

static size_t heap_usable(struct ab_heap *h, ab_ref ref)
{
    (void)h;
    (void)ref;
    return CELL;
}

static void heap_purge(struct ab_heap *h)
{
    for (uint32_t i = 0; i < BLOCKS; i += PAGE / CELL)
        if (!h->is_live[i] && !h->is_live[i + 1] && !h->is_live[i + 2] && !h->is_live[i + 3])
            madvise(h->cells + (size_t)i * CELL, PAGE, MADV_DONTNEED);
}

static int heap_stats(struct ab_heap *h, struct ab_heap_stats *out)
{
    *out = (struct ab_heap_stats){AB_UNKNOWN, (uint64_t)BLOCKS * CELL,
                                  (uint64_t)(BLOCKS - h->n_free) * CELL, 0, 1};
    return 0;
}

static const struct ab_backend backend = {.abi = AB_BACKEND_ABI,
                                          .size = sizeof backend,
                                          .name = "cells",
                                          .alloc = heap_alloc,
                                          .free = heap_free,
                                          .usable_size = heap_usable,
                                          .purge = heap_purge,
                                          .stats = heap_stats};

struct fixture {
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_worker w;
    struct ab_heap *heap;
    struct ab_memory_report *report;
};

/* "fill" all cells, then "thin": 90 % are freed, newest first or every tenth kept. */
static void make_tape(struct ab_tape *out, bool is_scattered)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request r = {.size = SIZE, .touch = is_accessing ? AB_TOUCH_NONE : AB_TOUCH_ALL};
    assert_int_equal(ab_tape_phase(b, "fill", true, NULL), AB_OK);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        assert_int_equal(ab_tape_alloc(b, i, &r, NULL), AB_OK);
        if (is_accessing)
            assert_int_equal(ab_tape_access(b, i, AB_ACCESS_WRITE, NULL), AB_OK);
    }
    assert_int_equal(ab_tape_phase(b, "thin", true, NULL), AB_OK);
    for (uint32_t i = BLOCKS; i-- > 0;)
        if (is_scattered ? i % (BLOCKS / KEPT) != 0 : i >= KEPT)
            assert_int_equal(ab_tape_free(b, i, NULL), AB_OK);
    assert_int_equal(ab_tape_phase(b, "nothing", true, NULL), AB_OK);
    assert_int_equal(ab_tape_end(b, out, NULL), AB_OK);
}

/* A checkpoint goes deeper into the stack than what came before: a page of it is no heap's. */
static __attribute__((noinline)) void touch_stack(void)
{
    volatile char deep[64 << 10];
    for (size_t i = 0; i < sizeof deep; i += PAGE)
        deep[i] = 1;
}

static struct fixture *run(bool is_scattered, const struct ab_memory_marks *marks)
{
    touch_stack();
    struct fixture *f = calloc(1, sizeof *f);
    size_t bytes = sizeof(struct ab_run_page) + 64 + REPORT_BYTES;
    make_tape(&f->tape, is_scattered);
    assert_int_equal(ab_tape_map_open(&f->tape, &f->map, NULL), AB_OK);
    f->w.page = map(bytes, MAP_SHARED);
    struct ab_run_request *request = &f->w.page->request;
    request->pass = AB_PASS_MEMORY;
    request->boundary = AB_BOUNDARY_HEAP;
    request->is_strict = 1;
    request->memory_offset = (sizeof(struct ab_run_page) + 63) & ~(uint64_t)63;
    f->report = (struct ab_memory_report *)((char *)f->w.page + request->memory_offset);
    f->report->is_scout = marks == NULL;
    f->report->cap_samples = SAMPLES;
    memset(&f->report->marks, 0xff, sizeof f->report->marks);
    if (marks != NULL)
        f->report->marks = *marks;
    test_worker_open(&f->w, &f->map);
    ab_memory_open(&f->w);
    ab_memory_before_open(&f->w);
    f->heap = heap_open();
    ab_memory_after_open(&f->w, &backend, f->heap);
    static struct ab_heap_face face;
    face = (struct ab_heap_face){
        .heap = f->heap, .alloc = heap_alloc, .free = heap_free, .usable_size = heap_usable};
    ab_lanes_run(&f->w, ab_pass_heap, &face, true);
    assert_int_equal(f->report->flags, 0);
    return f;
}

static void finish(struct fixture *f)
{
    size_t bytes = sizeof(struct ab_run_page) + 64 + REPORT_BYTES;
    heap_close(f->heap);
    ab_footprint_close(&f->w.memory->footprint);
    test_worker_close(&f->w);
    ab_tape_map_close(&f->map);
    ab_tape_fini(&f->tape);
    munmap(f->w.page, bytes);
    free(f);
}

static void get_marks(const struct fixture *f, struct ab_memory_marks *marks)
{
    memset(marks, 0xff, sizeof *marks);
    for (uint32_t i = 0; i < 3; i++) {
        marks->live_peak[i] = f->report->phases[i].live_peak_at;
        marks->footprint_peak[i] = f->report->phases[i].at[AB_AT_FOOTPRINT_PEAK].position;
        marks->footprint_bytes[i] = f->report->phases[i].rss_peak_bytes;
    }
}

/* With the marks of a scout, as every run that counts is. */
static struct fixture *run_marked(bool is_scattered)
{
    struct ab_memory_marks marks;
    struct fixture *f = run(is_scattered, NULL);
    get_marks(f, &marks);
    finish(f);
    return run(is_scattered, &marks);
}

static const struct ab_memory_state *state_at(const struct fixture *f, uint32_t phase,
                                              enum ab_memory_at at)
{
    return &f->report->phases[phase].at[at];
}

/* `pages` of `resident` hold a live block, and all is written to that is asked for. */
static void expect_state(const struct ab_memory_state *s, uint64_t blocks, uint64_t pages,
                         uint64_t resident)
{
    assert_int_equal(s->requested_bytes, blocks * SIZE);
    assert_int_equal(s->usable_bytes, blocks * CELL);
    assert_int_equal(s->footprint_bytes, resident * PAGE);
    if (!s->is_checked) {
        assert_true(s->live_bytes == AB_MEMORY_UNKNOWN);
        return;
    }
    assert_int_equal(s->exact_bytes, resident * PAGE);
    assert_int_equal(s->live_bytes, blocks * SIZE);
    assert_int_equal(s->internal_bytes, blocks * (CELL - SIZE));
    assert_int_equal(s->external_bytes, pages * PAGE - blocks * CELL);
    assert_int_equal(s->untouched_bytes + s->baseline_bytes, 0);
    assert_int_equal(s->allocated_bytes, blocks * CELL);
    assert_int_equal(s->mapped_bytes, (uint64_t)BLOCKS * CELL);
}

static void the_footprint_and_the_pages_are_exact(void **state)
{
    (void)state;
    struct fixture *f = run_marked(false);
    if (f->report->granularity_pages != 0)
        skip();
    assert_int_equal(f->report->phases[0].live_peak_at, 2 * BLOCKS); /* behind the last touch */
    const uint64_t all = (uint64_t)BLOCKS * CELL / PAGE, kept = (uint64_t)KEPT * CELL / PAGE;
    for (unsigned at = 0; at < AB_AT_COUNT; at++)
        assert_true(state_at(f, 0, at)->is_checked);
    /* the last page is reached before the last block: of equal footprints the one with most live */
    expect_state(state_at(f, 0, AB_AT_FOOTPRINT_PEAK), BLOCKS, all, all);
    expect_state(state_at(f, 0, AB_AT_LIVE_PEAK), BLOCKS, all, all);
    expect_state(state_at(f, 0, AB_AT_END), BLOCKS, all, all);
    expect_state(state_at(f, 1, AB_AT_LIVE_PEAK), BLOCKS, all, all); /* where it begins */
    expect_state(state_at(f, 1, AB_AT_END), KEPT, kept, all);
    expect_state(state_at(f, 2, AB_AT_END), KEPT, kept, all); /* a phase without an op */
    assert_int_equal(f->report->phases[0].rss_peak_bytes, all * PAGE);
    assert_int_equal(f->report->phases[0].live_peak_bytes, BLOCKS * SIZE);
    assert_int_equal(f->report->phases[1].live_peak_bytes, BLOCKS * SIZE);
    assert_int_equal(f->report->phases[2].live_peak_bytes, KEPT * SIZE);
    finish(f);
}

static void an_access_that_writes_is_a_touch(void **state)
{
    (void)state;
    is_accessing = true;
    struct fixture *f = run_marked(false);
    is_accessing = false;
    if (f->report->granularity_pages != 0)
        skip();
    const uint64_t all = (uint64_t)BLOCKS * CELL / PAGE, kept = (uint64_t)KEPT * CELL / PAGE;
    expect_state(state_at(f, 0, AB_AT_END), BLOCKS, all, all);
    expect_state(state_at(f, 1, AB_AT_END), KEPT, kept, all);
    finish(f);
}

static void scattered_survivors_keep_their_pages(void **state)
{
    (void)state;
    struct fixture *f = run_marked(true);
    expect_state(state_at(f, 1, AB_AT_END), KEPT, KEPT, BLOCKS * CELL / PAGE); /* a page each */
    finish(f);
}

static void what_a_heap_touches_when_it_opens_is_its_footprint(void **state)
{
    (void)state;
    eager_pages = 37;
    struct fixture *f = run_marked(false);
    eager_pages = 0;
    if (f->report->granularity_pages != 0)
        skip();
    assert_int_equal(f->report->points[0].footprint_bytes, 37 * PAGE);
    expect_state(state_at(f, 1, AB_AT_END), KEPT, KEPT * CELL / PAGE, BLOCKS * CELL / PAGE + 37);
    finish(f);
}

/* Where the run before saw its peak is nowhere here, but how high it was is known: the first place
 * that comes near is looked up, here where "thin" begins. What is looked up elsewhere is no peak. */
static void a_peak_elsewhere_than_in_the_run_before_is_looked_up(void **state)
{
    (void)state;
    struct ab_memory_marks marks;
    const uint64_t all = (uint64_t)BLOCKS * CELL;
    is_returning = true;
    struct fixture *f = run(false, NULL);
    get_marks(f, &marks);
    finish(f);
    for (unsigned i = 0; i < 3; i++)
        marks.footprint_peak[i] = marks.live_peak[i] = AB_MEMORY_NEVER;
    f = run(false, &marks);
    if (f->report->granularity_pages != 0)
        skip();
    const struct ab_memory_state *peak = state_at(f, 0, AB_AT_FOOTPRINT_PEAK);
    assert_true(peak->is_checked && peak->footprint_bytes >= all - all / 100);
    assert_int_equal(f->report->phases[0].rss_peak_bytes, all);
    peak = state_at(f, 1, AB_AT_FOOTPRINT_PEAK);
    assert_true(peak->is_checked && peak->footprint_bytes == all);
    assert_int_equal(peak->position, f->map.image->n_ops - (BLOCKS - KEPT));
    finish(f);
    marks.footprint_bytes[1] = 2 * all; /* nothing comes near that */
    f = run(false, &marks);
    peak = state_at(f, 1, AB_AT_FOOTPRINT_PEAK);
    assert_true(!peak->is_checked && peak->footprint_bytes == all);
    assert_true(state_at(f, 1, AB_AT_END)->is_checked);
    finish(f);
    is_returning = false;
}

static void pages_that_vanish_under_live_blocks_are_untouched(void **state)
{
    (void)state;
    is_losing = true;
    struct fixture *f = run_marked(false);
    is_losing = false;
    assert_int_equal(state_at(f, 0, AB_AT_END)->untouched_bytes, 0);
    assert_int_equal(state_at(f, 1, AB_AT_END)->untouched_bytes, PAGE / CELL * SIZE);
    /* The ledger took it for granted that they stay, and was found out. */
    assert_int_equal(f->report->phases[0].n_disputed, 0);
    assert_true(f->report->phases[1].n_disputed > 0);
    finish(f);
}

/* At each sample of "fill" all pages hold live blocks; of "thin", whose newest blocks go first, those
 * of the blocks that are left. The heap gives nothing back. */
static void samples_split_the_pages_exactly(void **state)
{
    (void)state;
    struct fixture *f = run_marked(false);
    if (f->report->granularity_pages != 0)
        skip();
    const uint64_t all = (uint64_t)BLOCKS * CELL;
    for (uint32_t p = 0; p < 3; p++) {
        const struct ab_memory_phase *phase = &f->report->phases[p];
        uint32_t at = f->map.phases[p].begin;
        assert_int_equal(phase->n_disputed, 0);
        assert_in_range(phase->n_samples, p == 2 ? 0 : 1000, p == 2 ? 0 : 2000);
        for (uint32_t i = 0; i < phase->n_samples; i++) {
            const struct ab_memory_sample *s = &f->report->samples[phase->first_sample + i];
            uint64_t done = s->position - f->map.phases[p].begin;
            uint64_t blocks = p == 0 ? done / 2 : BLOCKS - done; /* those that were written to */
            uint64_t pages = (blocks * CELL + PAGE - 1) / PAGE;
            uint64_t live = s->live_bytes / SIZE; /* an unwritten one is, on a page that is there */
            assert_true(live == blocks || (p == 0 && done % 2 == 1 && live == blocks + 1));
            assert_int_equal(s->live_bytes, live * SIZE);
            assert_int_equal(s->internal_bytes, live * (CELL - SIZE));
            assert_int_equal(s->live_bytes + s->internal_bytes + s->external_bytes, pages * PAGE);
            assert_int_equal(s->footprint_bytes, p == 0 ? pages * PAGE : all);
            assert_int_equal(s->n_ops, s->position - at);
            at = s->position;
        }
        assert_int_equal(at, f->map.phases[p].end);
    }
    finish(f);
}

/* What was resident before the first op and goes does not hide what came. */
static void pages_of_the_baseline_that_go_are_put_back(void **state)
{
    (void)state;
    char *before = map(100 * PAGE, MAP_PRIVATE);
    memset(before, 1, 100 * PAGE);
    struct fixture *f = run_marked(false);
    if (f->report->granularity_pages != 0)
        skip();
    munmap(before, 100 * PAGE);
    struct ab_memory_pass *m = f->w.memory;
    assert_int_equal(ab_memory_footprint(m), (uint64_t)BLOCKS * CELL - 100 * PAGE);
    assert_int_equal(ab_memory_footprint_exact(m), (uint64_t)BLOCKS * CELL);
    assert_int_equal(ab_memory_footprint(m), (uint64_t)BLOCKS * CELL);
    finish(f);
}

static void a_purge_moves_the_footprint_and_nothing_else(void **state)
{
    (void)state;
    struct fixture *f = run_marked(false);
    if (f->report->granularity_pages != 0)
        skip();
    struct ab_memory_pass *m = f->w.memory;
    struct ab_block_book before = m->book;
    assert_int_equal(ab_memory_footprint(m), (uint64_t)BLOCKS * CELL);
    assert_true(ab_introspect_purge(&m->introspect));
    assert_int_equal(ab_memory_footprint(m), (uint64_t)KEPT * CELL);
    assert_memory_equal(&before, &m->book, sizeof before);
    ab_memory_drain(&f->w);
    assert_int_equal(f->report->drained_bytes[0], (uint64_t)KEPT * CELL);
    assert_int_equal(f->report->drained_bytes[1], AB_MEMORY_UNKNOWN); /* drain_ns is 0 */
    assert_int_equal(f->report->drained_bytes[AB_DRAIN_COUNT - 1], 0);
    assert_int_equal(f->heap->n_free, BLOCKS);
    assert_int_equal(m->book.requested_bytes + m->book.usable_bytes, 0);
    finish(f);
}

static void the_time_line_ascends_and_ends_with_the_tape(void **state)
{
    (void)state;
    struct fixture *f = run(true, NULL);
    const struct ab_memory_report *r = f->report;
    assert_in_range(r->n_points, 300, AB_MEMORY_POINTS_SPACED);
    assert_int_equal(r->points[0].position, 0);
    assert_int_equal(r->points[0].requested_bytes, 0);
    for (uint32_t i = 1; i < r->n_points; i++)
        assert_true(r->points[i].position > r->points[i - 1].position);
    assert_int_equal(r->points[r->n_points - 1].position, f->map.image->n_ops);
    assert_int_equal(r->points[r->n_points - 1].requested_bytes, KEPT * SIZE);
    finish(f);
}

static void a_scout_looks_at_nothing_dear_and_drains_nothing(void **state)
{
    (void)state;
    struct fixture *f = run(true, NULL);
    for (unsigned p = 0; p < 3; p++)
        for (unsigned at = 0; at < AB_AT_COUNT; at++)
            assert_int_equal(state_at(f, p, at)->is_checked, 0);
    ab_memory_drain(&f->w);
    assert_int_equal(f->report->drained_bytes[0], AB_MEMORY_UNKNOWN);
    assert_int_equal(f->heap->n_free, BLOCKS - KEPT);
    finish(f);
}

static void descriptors_that_are_closed_make_it_unreadable(void **state)
{
    (void)state;
    struct fixture *f = run(true, NULL);
    struct ab_memory_pass *m = f->w.memory;
    int fd = m->footprint.statm_fd;
    m->footprint.statm_fd = -1;
    assert_true(ab_memory_footprint(m) == AB_MEMORY_UNKNOWN);
    assert_int_equal(f->report->flags, AB_MEMORY_UNREADABLE);
    m->footprint.statm_fd = fd;
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_footprint_and_the_pages_are_exact),
        cmocka_unit_test(an_access_that_writes_is_a_touch),
        cmocka_unit_test(scattered_survivors_keep_their_pages),
        cmocka_unit_test(what_a_heap_touches_when_it_opens_is_its_footprint),
        cmocka_unit_test(a_peak_elsewhere_than_in_the_run_before_is_looked_up),
        cmocka_unit_test(pages_that_vanish_under_live_blocks_are_untouched),
        cmocka_unit_test(samples_split_the_pages_exactly),
        cmocka_unit_test(pages_of_the_baseline_that_go_are_put_back),
        cmocka_unit_test(a_purge_moves_the_footprint_and_nothing_else),
        cmocka_unit_test(the_time_line_ascends_and_ends_with_the_tape),
        cmocka_unit_test(a_scout_looks_at_nothing_dear_and_drains_nothing),
        cmocka_unit_test(descriptors_that_are_closed_make_it_unreadable),
    };
    test_with_small_pages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
