/* SPDX-License-Identifier: MIT
 *
 * A library is told to give memory back before the same ops in each pass, on the lane that runs them.
 * tests: purges.c
 */
#include "base/bits.h"
#include "support/cmocka.h"
#include "support/worker.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { N_OPS = 200, IDLE_AT = 150, PURGED = 1 << 20 };

static uint32_t journal[2 * N_OPS], n_journal; /* sizes of allocations as they came, and PURGED */

static void note(uint32_t what)
{
    uint32_t i = __atomic_fetch_add(&n_journal, 1, __ATOMIC_SEQ_CST);
    if (i < AB_ARRAY_LEN(journal))
        journal[i] = what;
}

/* The library: found by these names in the object that serves malloc, which is this program. */
struct mallinfo2 mallinfo2(void)
{
    return (struct mallinfo2){0};
}

int malloc_trim(size_t pad)
{
    (void)pad;
    note(PURGED);
    return 0;
}

static ab_ref allocate(struct ab_heap *h, size_t n)
{
    static _Alignas(16) char block[1 << 16];
    (void)h;
    note((uint32_t)n);
    return (ab_ref)block;
}

static void give_back(struct ab_heap *h, ab_ref ref, size_t n)
{
    (void)h;
    (void)ref;
    (void)n;
}

static struct ab_heap_face face = {.alloc = allocate, .free = give_back};

/* An op each 10 ms on lane i % n_lanes, and 10 s of idleness before one. */
static void make_tape(uint32_t n_lanes, struct ab_tape *tape)
{
    struct ab_err err;
    struct ab_tape_builder *b = ab_tape_begin();
    uint64_t ns = 0;
    for (uint32_t i = 0; i < N_OPS; i++) {
        struct ab_request r = {.size = i + 1, .touch = AB_TOUCH_NONE};
        if (i == 0 || i == N_OPS / 2)
            assert_int_equal(ab_tape_phase(b, i == 0 ? "one" : "two", true, &err), AB_OK);
        if (i == IDLE_AT) {
            ns += UINT64_C(10000000000);
            assert_int_equal(ab_tape_time(b, ns, AB_STEP_IDLE, &err), AB_OK);
        } else if (i > 0) {
            ns += UINT64_C(10000000);
            assert_int_equal(ab_tape_time(b, ns, 0, &err), AB_OK);
        }
        assert_int_equal(ab_tape_lane(b, i % n_lanes, &err), AB_OK);
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
}

static void run(uint32_t n_lanes, enum ab_pass pass, bool is_strict)
{
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_err err;
    struct ab_worker w = {.page = calloc(1, sizeof(struct ab_run_page))};
    n_journal = 0;
    w.page->request.pass = pass;
    w.page->request.is_strict = is_strict;
    w.page->request.tail_ticks = w.page->request.look_ticks = UINT64_MAX;
    w.page->request.purge_ns = UINT64_C(100000000);
    make_tape(n_lanes, &tape);
    assert_int_equal(ab_tape_map_open(&tape, &map, &err), AB_OK);
    test_worker_open(&w, &map);
    ab_purges_open(&w, (const void *)malloc_trim);
    ab_lanes_run(&w, ab_pass_heap, &face, true);
    test_worker_close(&w);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    free(w.page);
}

/* Each 10th op, the one behind the idle stretch, and then those behind the next periods. */
static bool is_due_before(uint32_t op)
{
    return op > 0 && (op > IDLE_AT ? (op - IDLE_AT) % 10 == 1 : op % 10 == 0);
}

static void it_is_told_before_the_same_op_in_each_pass(void **state)
{
    (void)state;
    for (uint32_t n_lanes = 1; n_lanes <= 3; n_lanes += 2)
        for (int pass = AB_PASS_THROUGHPUT; pass <= AB_PASS_TAIL; pass++) {
            uint32_t at = 0;
            run(n_lanes, (enum ab_pass)pass, true);
            for (uint32_t i = 0; i < N_OPS; i++) {
                if (is_due_before(i))
                    assert_int_equal(journal[at++], PURGED);
                assert_int_equal(journal[at++], i + 1);
            }
            assert_int_equal(at, n_journal);
        }
}

static void lanes_that_run_freely_tell_it_as_often(void **state)
{
    (void)state;
    uint32_t n_due = 0, n_told = 0;
    run(3, AB_PASS_THROUGHPUT, false);
    for (uint32_t i = 0; i < N_OPS; i++)
        n_due += is_due_before(i);
    for (uint32_t i = 0; i < n_journal; i++)
        n_told += journal[i] == PURGED;
    assert_true(n_due > 10);
    assert_int_equal(n_told, n_due);
    assert_int_equal(n_journal, N_OPS + n_due);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_before_the_same_op_in_each_pass),
        cmocka_unit_test(lanes_that_run_freely_tell_it_as_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
