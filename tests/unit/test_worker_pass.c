/* SPDX-License-Identifier: MIT
 *
 * The loops of both boundaries over a counting allocator, in this process: every op of the tape
 * reaches the allocator once, with the right arguments, in every pass.
 * tests: pass_handle.c pass_heap.c pass_malloc.c slices.c
 */
#include "support/cmocka.h"
#include "support/tape.h"
#include "support/worker.h"
#include "worker/preflight.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint64_t allocs, frees, resizes, zeroed, aligned, bytes, freed_bytes;
    uint64_t fail_at; /* this alloc gives NULL; 0 = none */
} seen;

static void *count_malloc(size_t n)
{
    seen.bytes += n;
    if (++seen.allocs == seen.fail_at || n > UINT64_C(1) << 40)
        return NULL;
    return malloc(n);
}

static void count_free(void *p)
{
    seen.frees++;
    free(p);
}

static void *count_realloc(void *p, size_t n)
{
    seen.resizes++;
    seen.bytes += n;
    return realloc(p, n);
}

static void *count_calloc(size_t n, size_t size)
{
    seen.zeroed++;
    seen.bytes += n * size;
    return calloc(n, size);
}

static void *count_memalign(size_t align, size_t n)
{
    seen.aligned++;
    seen.bytes += n;
    return memalign(align, n);
}

static void count_free_sized(void *p, size_t n, int flags)
{
    assert_int_equal(flags, 0);
    seen.freed_bytes += n;
    count_free(p);
}

static ab_ref heap_alloc(struct ab_heap *heap, size_t n)
{
    (void)heap;
    return (ab_ref)count_malloc(n);
}

static void heap_free(struct ab_heap *heap, ab_ref ref, size_t n)
{
    (void)heap;
    seen.freed_bytes += n;
    count_free((void *)ref);
}

static ab_ref heap_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t n)
{
    (void)heap;
    assert_true(malloc_usable_size((void *)ref) >= old_size);
    return (ab_ref)count_realloc((void *)ref, n);
}

static struct ab_malloc_calls malloc_face = {.malloc = count_malloc,
                                             .free = count_free,
                                             .realloc = count_realloc,
                                             .calloc = count_calloc,
                                             .memalign = count_memalign,
                                             .usable_size = malloc_usable_size,
                                             .free_sized = count_free_sized};
static struct ab_heap_face heap_face = {
    .alloc = heap_alloc, .free = heap_free, .resize = heap_resize};

struct fixture {
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_worker w;
    uint32_t positions[4096], ticks[4096];
    uint8_t classes[4096];
    struct ab_slice slices[512]; /* as many behind the page */
};

/* 900 blocks of 1, 2 … bytes that are freed by size. */
static void make_sized(struct fixture *f)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    assert_int_equal(ab_tape_phase(b, "sized", true, &err), AB_OK);
    for (uint32_t i = 0; i < 900; i++)
        assert_int_equal(ab_tape_alloc(b, i, &(struct ab_request){.size = i + 1}, &err), AB_OK);
    for (uint32_t i = 0; i < 900; i++)
        assert_int_equal(ab_tape_free_sized(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &f->tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(&f->tape, &f->map, &err), AB_OK);
}

static struct fixture *open_fixture_of(enum ab_pass pass, bool is_sized)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (is_sized)
        make_sized(f);
    else
        test_tape_churn_map(100, 20000, &f->tape, &f->map);
    f->w = (struct ab_worker){.page = calloc(1, sizeof(struct ab_run_page) + sizeof f->slices),
                              .positions = f->positions,
                              .ticks = f->ticks,
                              .classes = f->classes};
    f->w.page->request.pass = pass;
    f->w.page->request.verify_ops = UINT32_MAX;
    test_worker_open(&f->w, &f->map);
    memset(&seen, 0, sizeof seen);
    return f;
}

static struct fixture *open_fixture(enum ab_pass pass)
{
    return open_fixture_of(pass, false);
}

static void close_fixture(struct fixture *f)
{
    test_worker_close(&f->w);
    ab_tape_map_close(&f->map);
    ab_tape_fini(&f->tape);
    free(f->w.page);
    free(f);
}

static void expect_whole_tape(const struct fixture *f)
{
    assert_int_equal(seen.allocs, 100 + 18000);
    assert_int_equal(seen.resizes, 2000);
    assert_int_equal(seen.frees, 18000 + 100);
    assert_int_equal(seen.bytes, f->map.image->facts.total_bytes);
    assert_int_equal(f->w.lanes[0].first_null_op, UINT32_MAX);
}

static void every_pass_does_every_op_at_both_boundaries(void **state)
{
    (void)state;
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (int boundary = 0; boundary < 2; boundary++) {
            struct fixture *f = open_fixture((enum ab_pass)pass);
            if (boundary == 0)
                ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
            else
                ab_lanes_run(&f->w, ab_pass_heap, &heap_face, true);
            expect_whole_tape(f);
            assert_true(f->w.page->report.phases[1].wall_ticks > 0);
            if (boundary == 1)
                assert_true(seen.freed_bytes > 100 * 16);
            close_fixture(f);
        }
}

static void frees_by_size_tell_it_in_every_pass(void **state)
{
    (void)state;
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (int boundary = 0; boundary < 2; boundary++) {
            struct fixture *f = open_fixture_of((enum ab_pass)pass, true);
            f->positions[0] = 900;
            f->w.page->request.n_samples = pass == AB_PASS_LATENCY;
            if (boundary == 0)
                ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
            else
                ab_lanes_run(&f->w, ab_pass_heap, &heap_face, true);
            assert_int_equal(seen.frees, 900);
            assert_int_equal(seen.freed_bytes, 900 * 901 / 2);
            assert_true(pass != AB_PASS_LATENCY || (f->ticks[0] > 0 && f->classes[0] == 0));
            assert_true(pass != AB_PASS_TAIL ||
                        f->w.page->report.phases[0].tail[AB_OP_FREE].n == 900);
            close_fixture(f);
        }
}

/* 20,000 ops in slices of 128: each op once, and between the slices nothing that counts. */
static void in_slices_every_op_is_done_and_timed_once(void **state)
{
    (void)state;
    for (int boundary = 0; boundary < 2; boundary++) {
        struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
        struct ab_run_report *report = &f->w.page->report;
        const struct ab_slice *slices = (const struct ab_slice *)(f->w.page + 1);
        const struct ab_phase *phases = f->map.phases;
        uint64_t ticks[2] = {0};
        uint32_t n[2] = {0};
        f->w.page->request.slices = (struct ab_slice_request){
            .offset = sizeof(struct ab_run_page), .cap = 500, .ops = 128, .quiet = 1};
        if (boundary == 0)
            ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
        else
            ab_lanes_run(&f->w, ab_pass_heap, &heap_face, true);
        expect_whole_tape(f);
        for (uint32_t i = 0; i < report->slices.n; i++) {
            assert_in_range(slices[i].phase, 1, 2); /* those that are measured */
            assert_true(slices[i].ticks > 0 && slices[i].before > 0 && slices[i].after > 0);
            assert_true(i == 0 || slices[i].phase != slices[i - 1].phase ||
                        slices[i].before == slices[i - 1].after); /* it may not wait */
            ticks[slices[i].phase - 1] += slices[i].ticks;
            n[slices[i].phase - 1]++;
        }
        for (uint32_t p = 1; p <= 2; p++) {
            const struct ab_phase_report *r = &report->phases[p];
            assert_int_equal(n[p - 1], (phases[p].end - phases[p].begin + 127) / 128);
            assert_true(r->outside_ticks > 0 && r->canary_ticks <= r->outside_ticks);
            uint64_t rest = r->wall_ticks - r->outside_ticks;
            assert_true(rest == ticks[p - 1]);
        }
        assert_int_equal(report->slices.waited_ticks, 0);
        close_fixture(f);
    }
}

/* There is no quiet below one tick, so it waits, as long as it may and no longer. */
static void it_waits_for_quiet_within_its_budget(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
    f->w.page->request.slices = (struct ab_slice_request){.offset = sizeof(struct ab_run_page),
                                                          .cap = 500,
                                                          .ops = 128,
                                                          .quiet = 1,
                                                          .wait_max_ticks = 1000000,
                                                          .wait_times = 1000};
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    expect_whole_tape(f);
    assert_true(f->w.page->report.slices.waited_ticks >= 1000000);
    assert_true(f->w.page->report.phases[1].outside_ticks >= 900000);
    close_fixture(f);
}

static void the_latency_pass_fills_a_tick_count_for_each_position(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_LATENCY);
    uint32_t n = 0;
    for (uint32_t i = f->map.phases[1].begin; i < f->map.phases[1].end && n < 4096; i += 7)
        f->positions[n++] = i;
    f->w.page->request.n_samples = n;
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    expect_whole_tape(f);
    for (uint32_t i = 0; i < n; i++)
        assert_true(f->ticks[i] > 0);
    close_fixture(f);
}

/* 20,000 ops in slices of 128: each sample is of one slice, and that is where its position is. */
static void in_slices_the_latency_pass_times_the_same_samples(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_LATENCY);
    const struct ab_slice *slices = (const struct ab_slice *)(f->w.page + 1);
    const struct ab_phase *phase = &f->map.phases[1];
    struct ab_run_report *report = &f->w.page->report;
    uint32_t n = 0, from = 0, begin = phase->begin;
    for (uint32_t i = phase->begin; i < phase->end && n < 4096; i += 13)
        f->positions[n++] = i;
    f->w.page->request.n_samples = n;
    f->w.page->request.slices = (struct ab_slice_request){
        .offset = sizeof(struct ab_run_page), .cap = 500, .ops = 128, .quiet = 1};
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    expect_whole_tape(f);
    for (uint32_t i = 0; i < n; i++)
        assert_true(f->ticks[i] > 0);
    for (uint32_t i = 0; i < report->slices.n && slices[i].phase == 1; i++, begin += 128) {
        for (; from < slices[i].samples_end; from++)
            assert_in_range(f->positions[from], begin, begin + 127);
        assert_true(from == n || f->positions[from] >= begin + 128);
        assert_true(slices[i].ticks > 0 && slices[i].before > 0 && slices[i].after > 0);
    }
    assert_int_equal(from, n);
    assert_true(report->phases[1].outside_ticks > 0);
    close_fixture(f);
}

/* Sizes as the tape has them: slot by slot, what lives there. */
static uint64_t *sizes_of_ops(const struct fixture *f)
{
    uint64_t *sizes = calloc(f->map.image->n_ops, sizeof sizes[0]);
    uint64_t *live = calloc(f->map.image->n_slots, sizeof live[0]);
    for (uint32_t i = 0; i < f->map.image->n_ops; i++) {
        struct ab_op_view op = test_tape_op(&f->map, i);
        sizes[i] = op.kind == AB_OP_FREE ? live[op.slot] : op.size;
        if (op.kind >= 0)
            live[op.slot] = sizes[i];
    }
    free(live);
    return sizes;
}

static void each_sample_has_the_class_of_its_size_also_a_free(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_LATENCY);
    uint64_t *sizes = sizes_of_ops(f);
    uint32_t n = 0, n_frees = 0;
    for (uint32_t i = f->map.phases[1].begin; i < f->map.phases[1].end && n < 4096; i += 7)
        if (test_tape_op(&f->map, i).kind >= 0)
            f->positions[n++] = i;
    f->w.page->request.n_samples = n;
    ab_lanes_run(&f->w, ab_pass_heap, &heap_face, true);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = f->positions[i];
        assert_int_equal(f->classes[i], ab_size_class_log2(sizes[at]));
        n_frees += test_tape_op(&f->map, at).kind == AB_OP_FREE;
    }
    assert_true(n_frees > 1000);
    free(sizes);
    close_fixture(f);
}

static void the_worst_frees_tell_the_size_of_their_blocks(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_TAIL);
    uint64_t *sizes = sizes_of_ops(f);
    f->w.page->request.tail_ticks = 1;
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    for (unsigned kind = 0; kind < AB_OP_KIND_COUNT; kind++) {
        const struct ab_tail *tail = &f->w.page->report.phases[1].tail[kind];
        for (unsigned i = 0; i < tail->n_worst; i++)
            assert_int_equal(tail->worst[i].size, sizes[tail->worst[i].position]);
    }
    assert_int_equal(f->w.page->report.phases[1].tail[AB_OP_FREE].n_worst, AB_WORST_MAX);
    free(sizes);
    close_fixture(f);
}

static void classes_are_powers_of_two_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(ab_size_class_log2(0), 0);
    assert_int_equal(ab_size_class_log2(1), 0);
    assert_int_equal(ab_size_class_log2(2), 1);
    assert_int_equal(ab_size_class_log2(3), 2);
    for (unsigned k = 2; k < 64; k++) {
        assert_int_equal(ab_size_class_log2((UINT64_C(1) << k) - 1), k);
        assert_int_equal(ab_size_class_log2(UINT64_C(1) << k), k);
        assert_int_equal(ab_size_class_log2((UINT64_C(1) << k) + 1), k + 1);
    }
}

static void the_tail_pass_counts_all_and_keeps_the_worst(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_TAIL);
    f->w.page->request.tail_ticks = 1; /* everything is slow */
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    const struct ab_tail *tail = &f->w.page->report.phases[1].tail[AB_OP_ALLOC];
    assert_int_equal(tail->n, 18000);
    assert_true(tail->n_slow > 17000);
    assert_int_equal(tail->n_worst, AB_WORST_MAX);
    uint64_t max = 0;
    for (unsigned i = 0; i < AB_WORST_MAX; i++) {
        assert_int_equal(test_tape_op(&f->map, tail->worst[i].position).kind, AB_OP_ALLOC);
        max = tail->worst[i].ticks > max ? tail->worst[i].ticks : max;
    }
    assert_int_equal(max, tail->max_ticks);
    assert_int_equal(f->w.page->report.phases[0].tail[AB_OP_ALLOC].n, 0); /* not measured */
    close_fixture(f);
}

static void a_null_is_noted_with_its_size(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_TAIL);
    seen.fail_at = 500;
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    assert_int_not_equal(f->w.lanes[0].first_null_op, UINT32_MAX);
    assert_true(f->w.lanes[0].first_null_size >= 16);
    for (uint32_t i = 0; i < f->map.image->n_slots; i++)
        free((void *)f->w.slots[i].ref); /* the run ended before they were freed */
    close_fixture(f);
}

static void the_preflight_passes_a_sound_allocator(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_VERIFY);
    struct ab_target target;
    ab_target_of_malloc(&malloc_face, &target);
    ab_pass_verify(&f->w, &target);
    expect_whole_tape(f);
    close_fixture(f);
}

static void missing_hooks_are_skipped_not_called(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
    struct ab_heap_face face = heap_face;
    face.resize = NULL;
    ab_lanes_run(&f->w, ab_pass_heap, &face, true);
    assert_int_equal(seen.resizes, 0);
    assert_int_equal(seen.frees, 18100);
    close_fixture(f);
}

/* From here on the worker has this tape. */
static void change_tape(struct fixture *f, struct ab_tape_builder *b)
{
    struct ab_err err;
    test_worker_close(&f->w);
    ab_tape_map_close(&f->map);
    ab_tape_fini(&f->tape);
    assert_int_equal(ab_tape_end(b, &f->tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(&f->tape, &f->map, &err), AB_OK);
    test_worker_open(&f->w, &f->map);
}

static void wide_zeroed_and_aligned_ops_reach_their_functions(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    const struct ab_request requests[] = {
        {.size = 100, .is_zeroed = true, .touch = AB_TOUCH_ALL},
        {.size = 5000, .align = 4096, .touch = AB_TOUCH_PAGE},
        {.size = 10, .align = 64, .touch = AB_TOUCH_PAGE},
        {.size = UINT64_C(1) << 28, .align = 128, .touch = AB_TOUCH_NONE},
        {.size = UINT64_C(1) << 62, .may_fail = true, .touch = AB_TOUCH_PAGE},
    };
    ab_tape_phase(b, "p", true, &err);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(ab_tape_alloc(b, i, &requests[i], &err), AB_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    change_tape(f, b);
    ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
    assert_int_equal(seen.zeroed, 1);
    assert_int_equal(seen.aligned, 3);
    assert_int_equal(seen.allocs, 1);
    assert_int_equal(seen.frees, 4);
    assert_int_equal(f->w.lanes[0].first_null_op, UINT32_MAX); /* the program saw that NULL too */
    close_fixture(f);
}

/* Blocks of a mapping of their own each, so that there is much to write to. */
static void push_large_blocks(struct fixture *f, enum ab_touch touch)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    const struct ab_request r = {.size = 1 << 20, .touch = touch};
    ab_tape_phase(b, "p", true, &err);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
        assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    }
    change_tape(f, b);
}

static void what_is_written_apart_is_in_no_time(void **state)
{
    (void)state;
    for (int is_sliced = 0; is_sliced < 2; is_sliced++)
        for (int is_apart = 0; is_apart < 2; is_apart++) {
            struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
            const struct ab_slice *slices = (const struct ab_slice *)(f->w.page + 1);
            const struct ab_run_report *report = &f->w.page->report;
            uint64_t ticks = 0;
            push_large_blocks(f, is_apart ? AB_TOUCH_APART : AB_TOUCH_PAGE);
            if (is_sliced)
                f->w.page->request.slices = (struct ab_slice_request){
                    .offset = sizeof(struct ab_run_page), .cap = 500, .ops = 16, .quiet = 1};
            ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
            const struct ab_phase_report *r = &report->phases[0];
            uint64_t apart = f->w.lanes[0].apart_ticks;
            for (uint32_t i = 0; i < report->slices.n; i++)
                ticks += slices[i].ticks;
            assert_int_equal(apart > 0, is_apart);
            assert_int_equal(report->slices.n > 0, is_sliced);
            assert_true(is_sliced ? r->outside_ticks > apart : r->outside_ticks == apart);
            assert_true(is_sliced ? r->canary_ticks > apart : r->canary_ticks == apart);
            uint64_t rest = r->wall_ticks - r->outside_ticks;
            assert_true(!is_sliced || rest == ticks);
            close_fixture(f);
        }
}

/* Ticks of a lane that has no CPU of its own may be another one's. */
static void a_crowded_lane_writes_apart_by_its_cpu_time(void **state)
{
    (void)state;
    for (unsigned n_cpus = 0; n_cpus < 2; n_cpus++) {
        struct fixture *f = open_fixture(AB_PASS_THROUGHPUT);
        push_large_blocks(f, AB_TOUCH_APART);
        f->w.n_cpus = n_cpus;
        ab_lanes_run(&f->w, ab_pass_malloc, &malloc_face, false);
        const struct ab_phase_report *r = &f->w.page->report.phases[0];
        assert_int_equal(r->is_crowded, n_cpus == 0);
        assert_true(r->outside_ticks > 0);
        assert_int_equal(r->canary_ticks, n_cpus == 0 ? 0 : r->outside_ticks);
        assert_int_equal(r->outside_cpu_ns > 0, n_cpus == 0);
        assert_true(r->outside_cpu_ns < r->thread_cpu_ns);
        close_fixture(f);
    }
}

/* A handle is the address of a pointer to the block. */
static ab_ref handle_alloc(struct ab_heap *heap, size_t n)
{
    (void)heap;
    char **handle = malloc(sizeof *handle);
    *handle = count_malloc(n);
    memset(*handle, 7, n);
    return (ab_ref)handle;
}

static void handle_free(struct ab_heap *heap, ab_ref ref, size_t n)
{
    heap_free(heap, *(ab_ref *)ref, n);
    free((void *)ref);
}

static unsigned n_resolved;

static void *handle_resolve(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    n_resolved++;
    return *(char **)ref;
}

enum { N_BLOCKS = 10, N_ACCESSES = 100 }; /* of these, a quarter write, to the first block */

static void push_accesses(struct fixture *f)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request r = {.size = 48};
    struct ab_err err;
    ab_tape_phase(b, "p", true, &err);
    for (uint32_t i = 0; i < N_BLOCKS; i++)
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    for (uint32_t i = 0; i < N_ACCESSES; i++) {
        bool writes = i % 4 == 0;
        assert_int_equal(ab_tape_access(b, writes ? 0 : i % N_BLOCKS,
                                        writes ? AB_ACCESS_WRITE : AB_ACCESS_READ, &err),
                         AB_OK);
    }
    for (uint32_t i = 1; i < N_BLOCKS; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    change_tape(f, b);
}

static void an_access_resolves_reads_or_writes_and_is_timed_in_every_pass(void **state)
{
    (void)state;
    static const struct ab_heap_face handles = {
        .alloc = handle_alloc, .free = handle_free, .resolve = handle_resolve};
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++) {
        struct fixture *f = open_fixture((enum ab_pass)pass);
        struct ab_heap_face face = handles;
        push_accesses(f);
        for (uint32_t i = 0; i < N_ACCESSES; i++)
            f->positions[i] = N_BLOCKS + i;
        f->w.page->request.n_samples = N_ACCESSES;
        n_resolved = 0;
        ab_lanes_run(&f->w, ab_pass_handle, &face, true);
        assert_int_equal(n_resolved, N_ACCESSES);
        assert_int_equal(seen.frees, N_BLOCKS - 1);
        char **left = (char **)f->w.slots[0].ref;
        assert_true((*left)[0] == 1 && (*left)[1] == 7); /* one byte was written */
        for (uint32_t i = 0; i < N_ACCESSES && pass == AB_PASS_LATENCY; i++)
            assert_true(f->ticks[i] > 0 && f->classes[i] == ab_size_class_log2(48));
        if (pass == AB_PASS_TAIL)
            assert_int_equal(f->w.page->report.phases[0].tail[AB_OP_ACCESS].n, N_ACCESSES);
        handle_free(NULL, (ab_ref)left, 48);
        close_fixture(f);
    }
}

static void an_access_to_a_block_that_was_never_served_is_passed_over(void **state)
{
    (void)state;
    struct fixture *f = open_fixture(AB_PASS_LATENCY);
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request r = {.size = 48, .is_zeroed = true};
    struct ab_err err;
    ab_tape_phase(b, "p", true, &err);
    assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
    assert_int_equal(ab_tape_access(b, 0, AB_ACCESS_READ, &err), AB_OK);
    change_tape(f, b);
    f->positions[0] = 1;
    f->w.page->request.n_samples = 1;
    ab_lanes_run(&f->w, ab_pass_heap, &heap_face, true); /* it has no alloc_zeroed */
    assert_int_equal(f->ticks[0], 0);                    /* not timed */
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_does_every_op_at_both_boundaries),
        cmocka_unit_test(frees_by_size_tell_it_in_every_pass),
        cmocka_unit_test(in_slices_every_op_is_done_and_timed_once),
        cmocka_unit_test(it_waits_for_quiet_within_its_budget),
        cmocka_unit_test(in_slices_the_latency_pass_times_the_same_samples),
        cmocka_unit_test(the_latency_pass_fills_a_tick_count_for_each_position),
        cmocka_unit_test(each_sample_has_the_class_of_its_size_also_a_free),
        cmocka_unit_test(the_worst_frees_tell_the_size_of_their_blocks),
        cmocka_unit_test(classes_are_powers_of_two_rounded_up),
        cmocka_unit_test(the_tail_pass_counts_all_and_keeps_the_worst),
        cmocka_unit_test(a_null_is_noted_with_its_size),
        cmocka_unit_test(the_preflight_passes_a_sound_allocator),
        cmocka_unit_test(missing_hooks_are_skipped_not_called),
        cmocka_unit_test(wide_zeroed_and_aligned_ops_reach_their_functions),
        cmocka_unit_test(what_is_written_apart_is_in_no_time),
        cmocka_unit_test(a_crowded_lane_writes_apart_by_its_cpu_time),
        cmocka_unit_test(an_access_resolves_reads_or_writes_and_is_timed_in_every_pass),
        cmocka_unit_test(an_access_to_a_block_that_was_never_served_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
