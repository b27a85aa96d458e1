/* SPDX-License-Identifier: MIT
 *
 * Lanes on real threads over made-up tapes in which blocks cross them: every op is done once, no
 * free comes before its alloc, lanes never part further than the window says, and a strict order
 * is the order of the pushes. Run under TSan this proves the guards of the tape.
 * tests: lanes.c
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/worker.h"
#include "worker/preflight.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* A heap that knows how many blocks live, and remembers the order of the calls in strict runs. */
static struct {
    int64_t live, peak;                              /* atomic */
    uint64_t allocs, frees, resets, marks, releases; /* atomic */
    uint32_t n_log;
    uint64_t log[1 << 16];      /* sizes of allocs and frees as they came; strict runs only */
    bool is_logging, is_filled; /* blocks are: the pre-flight writes all over them */
} heap;

static void note(uint64_t what)
{
    if (heap.is_logging && heap.n_log < 1 << 16)
        heap.log[heap.n_log++] = what;
}

static ab_ref count_alloc(struct ab_heap *h, size_t n)
{
    (void)h;
    __atomic_add_fetch(&heap.allocs, 1, __ATOMIC_RELAXED);
    int64_t live = __atomic_add_fetch(&heap.live, 1, __ATOMIC_RELAXED);
    int64_t peak = __atomic_load_n(&heap.peak, __ATOMIC_RELAXED);
    while (live > peak && !__atomic_compare_exchange_n(&heap.peak, &peak, live, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    note(n);
    if (__lsan_disable != NULL) /* what a tape leaves live is no leak */
        __lsan_disable();
    uint64_t *p = malloc(n < 8 ? 8 : n);
    if (__lsan_enable != NULL)
        __lsan_enable();
    *p = n; /* plain: a free in another lane reads it, so TSan sees whether the guards hold */
    return (ab_ref)p;
}

static void count_free(struct ab_heap *h, ab_ref ref, size_t n)
{
    (void)h;
    uint64_t *p = (uint64_t *)ref;
    assert_non_null(p);
    if (!heap.is_filled) /* the first byte is touched */
        assert_int_equal(*p & 0xffffffffffffff00, n & 0xffffffffffffff00);
    note(n | UINT64_C(1) << 63);
    __atomic_add_fetch(&heap.frees, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&heap.live, 1, __ATOMIC_RELAXED);
    *p = 0;
    free(p);
}

static void count_reset(struct ab_heap *h)
{
    (void)h;
    heap.resets++;
}

/* For resets: blocks that nobody has to free. */
static ab_ref bump_alloc(struct ab_heap *h, size_t n)
{
    static _Alignas(16) char space[1 << 16];
    static size_t used;
    (void)h;
    heap.allocs++;
    used = used + 16 < sizeof space ? used + 16 : 0;
    assert_true(n <= 16);
    return (ab_ref)(space + used);
}

static void bump_free(struct ab_heap *h, ab_ref ref, size_t n)
{
    (void)h;
    assert_true(ref != 0 && n == 16);
    heap.frees++;
}

static struct ab_heap_face face = {.alloc = count_alloc, .free = count_free};

struct fixture {
    struct ab_tape_builder *b;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_worker w;
    struct ab_err err;
};

static struct fixture *begin(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    memset(&heap, 0, sizeof heap);
    f->b = ab_tape_begin();
    assert_non_null(f->b);
    f->w.page = calloc(1, sizeof(struct ab_run_page));
    f->w.page->request.pass = AB_PASS_THROUGHPUT;
    return f;
}

static void push(struct fixture *f, uint32_t lane, uint32_t slot, uint64_t size)
{
    struct ab_request r = {.size = size, .touch = AB_TOUCH_PAGE};
    assert_int_equal(ab_tape_lane(f->b, lane, &f->err), AB_OK);
    assert_int_equal(size != 0 ? ab_tape_alloc(f->b, slot, &r, &f->err)
                               : ab_tape_free(f->b, slot, &f->err),
                     AB_OK);
}

static void open_tape(struct fixture *f)
{
    assert_int_equal(ab_tape_end(f->b, &f->tape, &f->err), AB_OK);
    assert_int_equal(ab_tape_map_open(&f->tape, &f->map, &f->err), AB_OK);
    test_worker_open(&f->w, &f->map);
}

static void end(struct fixture *f)
{
    test_worker_close(&f->w);
    ab_tape_map_close(&f->map);
    ab_tape_fini(&f->tape);
    free(f->w.page);
    free(f);
}

/* Lane 0 allocates, lane 1 frees, `peak` blocks apart in the order of the pushes. */
static void push_pipeline(struct fixture *f, uint32_t n, uint32_t peak)
{
    assert_int_equal(ab_tape_phase(f->b, "run", true, &f->err), AB_OK);
    for (uint32_t i = 0; i < n + peak; i++) {
        if (i < n)
            push(f, 0, i % (peak + 1), 300 + i % 7);
        if (i >= peak)
            push(f, 1, (i - peak) % (peak + 1), 0);
    }
}

/* Random lanes, random slots, all shared: the guards have to do everything. */
static void push_chaos(struct fixture *f, uint32_t n_lanes, uint32_t n_slots, uint32_t n)
{
    struct ab_rng rng;
    bool *live = calloc(n_slots, sizeof live[0]);
    ab_rng_init(&rng, 7, n_lanes);
    for (uint32_t p = 0; p < 3; p++) {
        char name[8];
        snprintf(name, sizeof name, "p%u", p);
        assert_int_equal(ab_tape_phase(f->b, name, true, &f->err), AB_OK);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t slot = (uint32_t)ab_rng_below(&rng, n_slots);
            push(f, (uint32_t)ab_rng_below(&rng, n_lanes), slot,
                 live[slot] ? 0 : 300 + 256 * ab_rng_below(&rng, 4));
            live[slot] = !live[slot];
        }
    }
    for (uint32_t i = 0; i < n_slots; i++)
        if (live[i])
            push(f, 0, i, 0);
    free(live);
}

static void a_pipeline_stays_within_a_tenth_of_its_recorded_peak(void **state)
{
    (void)state;
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass += 2) {
        struct fixture *f = begin();
        f->w.page->request.pass = (uint32_t)pass;
        f->w.page->request.tail_ticks = UINT64_MAX;
        push_pipeline(f, 300000, 5000);
        open_tape(f);
        assert_int_equal(f->map.image->facts.live_peak_blocks, 5001);
        assert_int_equal(f->map.image->window, 512);
        ab_lanes_run(&f->w, ab_pass_heap, &face, true);
        assert_int_equal(heap.allocs, 300000);
        assert_int_equal(heap.frees, 300000);
        assert_int_equal(heap.live, 0);
        assert_in_range(heap.peak, 4500, 5501);
        const struct ab_phase_report *r = &f->w.page->report.phases[0];
        assert_true(r->wall_ticks > 0 && r->lane_ticks >= r->wall_ticks);
        assert_true(r->wait_ticks <= r->lane_ticks);
        if (pass == AB_PASS_TAIL) /* counted behind the call: a few more or less */
            assert_in_range(r->live_peak_blocks, heap.peak - 4, heap.peak + 4);
        end(f);
    }
}

static void eight_lanes_in_chaos_do_everything_once(void **state)
{
    (void)state;
    for (uint32_t n_slots = 3; n_slots <= 3000; n_slots *= 10)
        for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++) {
            struct fixture *f = begin();
            f->w.page->request.pass = (uint32_t)pass;
            f->w.page->request.tail_ticks = 1;
            push_chaos(f, 8, n_slots, 20000);
            open_tape(f);
            assert_true(f->map.image->n_edges > 0);
            ab_lanes_run(&f->w, ab_pass_heap, &face, true);
            assert_int_equal(heap.allocs, heap.frees);
            assert_int_equal(heap.allocs, f->map.image->facts.total_blocks);
            if (pass == AB_PASS_TAIL) {
                uint64_t seen = 0;
                for (unsigned p = 0; p < 3; p++)
                    seen += f->w.page->report.phases[p].tail[AB_OP_ALLOC].n;
                assert_int_equal(seen, heap.allocs);
            }
            end(f);
        }
}

static void end_thread(struct fixture *f, uint32_t lane)
{
    assert_int_equal(ab_tape_lane(f->b, lane, &f->err), AB_OK);
    assert_int_equal(ab_tape_thread_end(f->b, &f->err), AB_OK);
}

/* 12 iterations of three lanes over shared slots; each third ends a thread. */
static void push_renewed(struct fixture *f)
{
    struct ab_rng rng;
    bool live[60] = {false};
    ab_rng_init(&rng, 11, 3);
    assert_int_equal(ab_tape_phase(f->b, "run", true, &f->err), AB_OK);
    ab_tape_renew(f->b, 3);
    for (uint32_t i = 0; i < 12 * 3 * 500; i++) {
        uint32_t slot = (uint32_t)ab_rng_below(&rng, 60), lane = i % 3;
        push(f, lane, slot, live[slot] ? 0 : 300 + 256 * ab_rng_below(&rng, 4));
        live[slot] = !live[slot];
        if (i >= 11 * 1500 || (i / 3) % 1500 != 1499)
            continue;
        assert_int_equal(ab_tape_thread_end(f->b, &f->err), AB_OK);
    }
    for (uint32_t i = 0; i < 60; i++)
        if (live[i])
            push(f, 0, i, 0);
}

static __thread bool has_asked;
static uint32_t n_asked; /* atomic */

static ab_ref known_alloc(struct ab_heap *h, size_t n)
{
    if (!has_asked)
        __atomic_add_fetch(&n_asked, 1, __ATOMIC_RELAXED);
    has_asked = true;
    return count_alloc(h, n);
}

static void fresh_threads_take_over_the_lanes_and_lose_no_op(void **state)
{
    (void)state;
    struct ab_heap_face known = {.alloc = known_alloc, .free = count_free};
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (uint32_t is_strict = 0; is_strict < 2; is_strict++) {
            struct fixture *f = begin();
            f->w.page->request.pass = (uint32_t)pass;
            f->w.page->request.tail_ticks = 1;
            f->w.page->request.is_strict = is_strict;
            has_asked = false;
            n_asked = 0;
            push_renewed(f);
            open_tape(f);
            ab_lanes_run(&f->w, ab_pass_heap, &known, true);
            const struct ab_phase_report *r = &f->w.page->report.phases[0];
            assert_int_equal(heap.allocs, f->map.image->facts.total_blocks);
            assert_int_equal(heap.allocs, heap.frees);
            assert_int_equal(r->n_thread_ends, 3 * 3);
            assert_int_equal(n_asked, 3 + r->n_thread_ends);
            assert_in_range(r->thread_end_ticks, 1, r->lane_ticks);
            end(f);
        }
}

enum { TRIMMED = 1 << 20 }; /* and how many bytes are to stay, in heap.log */

static int note_trim(size_t bytes)
{
    note(TRIMMED + bytes);
    return 1;
}

static void push_trims(struct fixture *f)
{
    assert_int_equal(ab_tape_phase(f->b, "replay", true, &f->err), AB_OK);
    for (uint32_t lane = 0; lane < 2; lane++) {
        assert_int_equal(ab_tape_lane(f->b, lane, &f->err), AB_OK);
        assert_int_equal(ab_tape_trim(f->b, lane * 8192, &f->err), AB_OK);
        push(f, lane, lane, 300 + lane);
        assert_int_equal(ab_tape_trim(f->b, 0, &f->err), AB_OK);
    }
}

/* Slot 0 is empty at the first one, and holds another lane's block at the others. */
static void a_trim_is_made_where_the_library_has_it_and_counted_in_any_case(void **state)
{
    (void)state;
    struct ab_heap_face known = {.alloc = count_alloc, .free = count_free};
    const uint64_t expected[] = {TRIMMED, 300, TRIMMED, TRIMMED + 8192, 301, TRIMMED};
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (int has_it = 0; has_it < 2; has_it++) {
            struct fixture *f = begin();
            f->w.page->request.pass = (uint32_t)pass;
            f->w.page->request.tail_ticks = 1;
            f->w.page->request.is_strict = heap.is_logging = true;
            f->w.trim = has_it ? note_trim : NULL;
            push_trims(f);
            open_tape(f);
            assert_int_equal(f->map.image->n_trims, 4);
            ab_lanes_run(&f->w, ab_pass_heap, &known, true);
            const struct ab_phase_report *r = &f->w.page->report.phases[0];
            assert_int_equal(r->n_trims, 4);
            assert_int_equal(r->n_trims_done, has_it ? 4 : 0);
            assert_int_equal(heap.n_log, has_it ? 6 : 2);
            if (has_it)
                assert_memory_equal(heap.log, expected, sizeof expected);
            end(f);
        }
}

enum { ENDED = 77 }; /* in heap.log */
static pthread_key_t ended_key;

static void note_ended(void *user)
{
    (void)user;
    note(ENDED);
}

static ab_ref keyed_alloc(struct ab_heap *h, size_t n)
{
    pthread_setspecific(ended_key, &heap);
    return count_alloc(h, n);
}

/* Lane 1 has two threads, the first of which ends after lane 0's second block is allocated, and the
 * second before lane 0 frees the last one; lane 0's own thread ends between the frees. */
static void recorded_threads_end_in_the_order_of_the_trace(void **state)
{
    (void)state;
    struct ab_heap_face keyed = {.alloc = keyed_alloc, .free = count_free};
    const uint64_t freed = UINT64_C(1) << 63;
    const uint64_t expected[] = {300,   301,         302,   ENDED,       303,
                                 ENDED, freed | 300, ENDED, freed | 301, freed | 303};
    assert_int_equal(pthread_key_create(&ended_key, note_ended), 0);
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (uint32_t is_strict = 0; is_strict < 2; is_strict++) {
            struct fixture *f = begin();
            f->w.page->request.pass = (uint32_t)pass;
            f->w.page->request.tail_ticks = 1;
            f->w.page->request.is_strict = is_strict;
            heap.is_logging = is_strict != 0;
            assert_int_equal(ab_tape_phase(f->b, "replay", true, &f->err), AB_OK);
            push(f, 0, 0, 300);
            push(f, 1, 1, 301);
            push(f, 0, 2, 302);
            end_thread(f, 1);
            push(f, 1, 3, 303);
            end_thread(f, 1);
            push(f, 0, 0, 0);
            end_thread(f, 0);
            push(f, 0, 1, 0);
            push(f, 0, 3, 0);
            open_tape(f);
            assert_int_equal(f->map.image->n_thread_ends, 3);
            ab_lanes_run(&f->w, ab_pass_heap, &keyed, true);
            const struct ab_phase_report *r = &f->w.page->report.phases[0];
            assert_int_equal(heap.allocs, 4);
            assert_int_equal(heap.frees, 3);
            assert_int_equal(r->n_thread_ends, 3);
            assert_in_range(r->thread_end_ticks, 1, r->outside_ticks);
            assert_in_range(r->outside_ticks, 1, r->lane_ticks);
            if (is_strict != 0) {
                assert_int_equal(heap.n_log, AB_ARRAY_LEN(expected));
                assert_memory_equal(heap.log, expected, sizeof expected);
            }
            end(f);
        }
    pthread_key_delete(ended_key);
}

static void renewals_are_in_the_digest_where_there_are_any(void **state)
{
    (void)state;
    char digest[3][65];
    for (uint32_t i = 0; i < 3; i++) {
        struct fixture *f = begin();
        f->w.page->request.pass = AB_PASS_VERIFY; /* no threads */
        assert_int_equal(ab_tape_phase(f->b, "run", true, &f->err), AB_OK);
        if (i > 0)
            ab_tape_renew(f->b, i);
        for (uint32_t n = 0; n < 4; n++) {
            push(f, 0, 0, 64);
            push(f, 0, 0, 0);
            if (i > 0 && n % i == i - 1)
                assert_int_equal(ab_tape_thread_end(f->b, &f->err), AB_OK);
        }
        open_tape(f);
        memcpy(digest[i], f->tape.sha256, 65);
        end(f);
    }
    assert_string_not_equal(digest[0], digest[1]);
    assert_string_not_equal(digest[1], digest[2]);
}

static void lanes_without_a_window_still_keep_every_edge(void **state)
{
    (void)state;
    struct fixture *f = begin();
    ab_tape_set_window(f->b, 0, true);
    push_chaos(f, 4, 50, 20000);
    open_tape(f);
    assert_int_equal(f->map.image->window, 0);
    ab_lanes_run(&f->w, ab_pass_heap, &face, true);
    assert_int_equal(heap.allocs, heap.frees);
    end(f);
}

static void a_strict_order_is_the_order_of_the_pushes(void **state)
{
    (void)state;
    uint64_t *first = NULL;
    uint32_t n_first = 0;
    for (int round = 0; round < 3; round++) { /* 0: verify, in one thread; then strict lanes */
        struct fixture *f = begin();
        f->w.page->request.is_strict = 1;
        f->w.page->request.verify_ops = UINT32_MAX;
        heap.is_logging = true;
        heap.is_filled = round == 0;
        f->w.page->request.pass = round == 0 ? AB_PASS_VERIFY : AB_PASS_THROUGHPUT;
        push_chaos(f, 5, 40, 3000);
        open_tape(f);
        struct ab_backend hooks;
        struct ab_target target = test_target_of_face(&face, &hooks);
        if (round == 0)
            ab_pass_verify(&f->w, &target);
        else
            ab_lanes_run(&f->w, ab_pass_heap, &face, true);
        assert_int_equal(heap.n_log, heap.allocs + heap.frees);
        if (round == 0) {
            n_first = heap.n_log;
            first = malloc(n_first * sizeof first[0]);
            memcpy(first, heap.log, n_first * sizeof first[0]);
        } else {
            assert_int_equal(heap.n_log, n_first);
            assert_memory_equal(heap.log, first, n_first * sizeof first[0]);
        }
        end(f);
    }
    free(first);
}

static void the_window_changes_the_guards_and_not_the_digest(void **state)
{
    (void)state;
    char digest[2][65];
    uint64_t n_ops[2];
    for (int i = 0; i < 2; i++) {
        struct fixture *f = begin();
        ab_tape_set_window(f->b, i == 0 ? 256 : 4096, false);
        f->w.page->request.pass = AB_PASS_VERIFY; /* no threads */
        push_pipeline(f, 50000, 1000);
        open_tape(f);
        memcpy(digest[i], f->tape.sha256, 65);
        n_ops[i] = f->map.image->n_ops;
        end(f);
    }
    assert_string_equal(digest[0], digest[1]);
    assert_int_not_equal(n_ops[0], n_ops[1]);
}

/* What lane 0 writes to while the clock stands still, block after block; the free is lane 1's, which
 * has to wait for it. */
static void push_written_apart(struct fixture *f, uint32_t n)
{
    const struct ab_request r = {.size = 1 << 20, .touch = AB_TOUCH_APART};
    assert_int_equal(ab_tape_phase(f->b, "run", true, &f->err), AB_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(ab_tape_lane(f->b, 0, &f->err), AB_OK);
        assert_int_equal(ab_tape_alloc(f->b, 0, &r, &f->err), AB_OK);
        push(f, 1, 0, 0);
    }
}

static void what_one_writes_apart_is_on_the_path_of_who_waits_for_it(void **state)
{
    (void)state;
    for (uint32_t is_strict = 0; is_strict < 2; is_strict++) {
        struct fixture *f = begin();
        const struct ab_phase_report *r = &f->w.page->report.phases[0];
        f->w.page->request.is_strict = is_strict;
        push_written_apart(f, 200);
        open_tape(f);
        assert_int_equal(f->map.image->n_lanes, 2);
        bool is_known = is_strict || f->w.n_cpus > 1; /* not of lanes that share a CPU */
        ab_lanes_run(&f->w, ab_pass_heap, &face, true);
        assert_true(f->w.lanes[0].apart_ticks > 0 && f->w.lanes[1].apart_ticks == 0);
        assert_int_equal(r->outside_ticks, f->w.lanes[0].apart_ticks);
        assert_in_range(f->w.lanes[1].path_ticks, 1, r->outside_ticks);
        assert_in_range(r->path_ticks, is_known, is_known ? r->outside_ticks : 0);
        assert_true(!is_strict || r->path_ticks == r->outside_ticks); /* turns: one path */
        end(f);
    }
}

/* A region of n blocks, freed at once; `other` keeps a block of its own alive meanwhile. */
static void push_region(struct fixture *f, uint32_t n, bool other)
{
    uint32_t slots[1000];
    assert_int_equal(ab_tape_phase(f->b, "region", true, &f->err), AB_OK);
    if (other)
        push(f, 0, n, 16);
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < n; i++) {
            push(f, 0, i, 16);
            slots[i] = i;
        }
        assert_int_equal(ab_tape_reset(f->b, slots, n, &f->err), AB_OK);
    }
    if (other)
        push(f, 0, n, 0);
}

static void a_reset_spares_the_frees_where_nothing_else_lives(void **state)
{
    (void)state;
    struct ab_heap_face plain = {.alloc = bump_alloc, .free = bump_free}, resetting = plain;
    resetting.reset = count_reset;
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (int other = 0; other < 2; other++)
            for (int has_reset = 0; has_reset < 2; has_reset++) {
                struct fixture *f = begin();
                f->w.page->request.pass = (uint32_t)pass;
                push_region(f, 1000, other != 0);
                open_tape(f);
                ab_lanes_run(&f->w, ab_pass_heap, has_reset ? &resetting : &plain, true);
                bool is_bulk = !other && has_reset;
                assert_int_equal(heap.resets, is_bulk ? 10 : 0);
                assert_int_equal(heap.frees, is_bulk ? 0 : 10000 + other);
                assert_int_equal(f->map.phases[0].n_ops[AB_OP_RESET], other ? 0 : 10);
                end(f);
            }
}

static uint64_t note_mark(struct ab_heap *h)
{
    (void)h;
    return ++heap.marks;
}

static void note_release(struct ab_heap *h, uint64_t mark)
{
    (void)h;
    assert_int_equal(mark, heap.marks);
    heap.releases++;
}

/* As push_region, in a scope; `stays`: a block of the scope lives on; `singly`: freed before its end. */
static void push_scope(struct fixture *f, uint32_t n, bool stays, bool singly)
{
    uint32_t slots[1000], depth;
    bool is_one;
    assert_int_equal(ab_tape_phase(f->b, "scope", true, &f->err), AB_OK);
    push(f, 0, n, 16);
    for (uint32_t round = 0; round < 10; round++) {
        assert_int_equal(ab_tape_mark(f->b, &depth, &f->err), AB_OK);
        for (uint32_t i = 0; i < n; i++) {
            push(f, 0, i, 16);
            slots[i] = i;
        }
        if (stays)
            push(f, 0, n + 1 + round, 16);
        for (uint32_t i = 0; i < n && singly; i++)
            assert_int_equal(ab_tape_free(f->b, i, &f->err), AB_OK);
        assert_int_equal(ab_tape_release(f->b, depth, slots, singly ? 0 : n, &is_one, &f->err),
                         AB_OK);
        assert_int_equal(is_one, !stays);
        ab_tape_forget_mark(f->b, depth);
    }
}

/* What was freed singly before is freed all the same. */
static void a_release_spares_the_frees_of_its_scope_in_each_pass(void **state)
{
    (void)state;
    const struct ab_backend with = {.mark = note_mark, .release = note_release}, without = {0};
    for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++)
        for (int how = 0; how < 4; how++)
            for (int has_marks = 0; has_marks < 2; has_marks++) {
                bool stays = (how & 1) != 0, singly = (how & 2) != 0;
                struct fixture *f = begin();
                struct ab_heap_face scoped = {.alloc = bump_alloc,
                                              .free = bump_free,
                                              .backend = has_marks ? &with : &without};
                f->w.page->request.pass = (uint32_t)pass;
                push_scope(f, 1000, stays, singly);
                open_tape(f);
                ab_lanes_run(&f->w, ab_pass_heap, &scoped, true);
                bool is_one = !stays && has_marks;
                assert_int_equal(heap.marks, is_one ? 10 : 0);
                assert_int_equal(heap.releases, is_one ? 10 : 0);
                assert_int_equal(heap.frees, is_one && !singly ? 0 : 10000);
                assert_int_equal(f->map.phases[0].n_ops[AB_OP_RESET], stays ? 0 : 10);
                end(f);
            }
}

static void an_access_makes_no_block_live(void **state)
{
    (void)state;
    struct ab_heap_face plain = {.alloc = bump_alloc, .free = bump_free};
    struct fixture *f = begin();
    f->w.page->request.pass = AB_PASS_TAIL;
    assert_int_equal(ab_tape_phase(f->b, "p", true, &f->err), AB_OK);
    push(f, 0, 0, 16);
    push(f, 0, 1, 16);
    for (uint32_t i = 0; i < 50; i++) { /* blocks of another lane's, turn and turn about */
        assert_int_equal(ab_tape_lane(f->b, 1 - i / 10 % 2, &f->err), AB_OK);
        assert_int_equal(ab_tape_access(f->b, i % 2, AB_ACCESS_WRITE, &f->err), AB_OK);
    }
    push(f, 0, 0, 0);
    push(f, 0, 1, 0);
    open_tape(f);
    ab_lanes_run(&f->w, ab_pass_heap, &plain, true);
    assert_in_range(f->w.page->report.phases[0].live_peak_blocks, 2, 2);
    assert_int_equal(f->w.page->report.phases[0].tail[AB_OP_ACCESS].n, 50);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_stays_within_a_tenth_of_its_recorded_peak),
        cmocka_unit_test(eight_lanes_in_chaos_do_everything_once),
        cmocka_unit_test(fresh_threads_take_over_the_lanes_and_lose_no_op),
        cmocka_unit_test(a_trim_is_made_where_the_library_has_it_and_counted_in_any_case),
        cmocka_unit_test(recorded_threads_end_in_the_order_of_the_trace),
        cmocka_unit_test(renewals_are_in_the_digest_where_there_are_any),
        cmocka_unit_test(lanes_without_a_window_still_keep_every_edge),
        cmocka_unit_test(a_strict_order_is_the_order_of_the_pushes),
        cmocka_unit_test(the_window_changes_the_guards_and_not_the_digest),
        cmocka_unit_test(a_release_spares_the_frees_of_its_scope_in_each_pass),
        cmocka_unit_test(a_reset_spares_the_frees_where_nothing_else_lives),
        cmocka_unit_test(what_one_writes_apart_is_on_the_path_of_who_waits_for_it),
        cmocka_unit_test(an_access_makes_no_block_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
