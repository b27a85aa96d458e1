/* SPDX-License-Identifier: MIT
 *
 * The virtual clock in the memory pass, with mallocs that give memory back after a time: rows must
 * show it when the work's time has come so far, and in real time as well.
 * tests: memory_read.c memory_time.c virtual_clock.c steady_clock.c
 */
#include "core/alloc.h"
#include "runner/run.h"
#include "support/cmocka.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
enum { BLOCKS = 64, BLOCK_BYTES = 1 << 20 };
#define ALL_BYTES ((uint64_t)BLOCKS * BLOCK_BYTES)

static char worker[PATH_MAX], clock_library[PATH_MAX], decays[PATH_MAX];
static struct ab_err err;

static void pass(struct ab_tape_builder *b, uint64_t ns, unsigned flags)
{
    assert_int_equal(ab_tape_time(b, ns, flags, &err), AB_OK);
}

/* "burst" makes all blocks and frees them, "idle" is nothing but time, and in "steady" a block comes
 * and goes at each of so many seconds. */
static void make_tape(uint64_t idle_ns, uint32_t steady_s, struct ab_tape *tape)
{
    struct ab_tape_builder *b = ab_tape_begin();
    const struct ab_request r = {.size = BLOCK_BYTES - 64, .touch = AB_TOUCH_ALL};
    assert_int_equal(ab_tape_phase(b, "burst", true, &err), AB_OK);
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_phase(b, "idle", true, &err), AB_OK);
    if (idle_ns > 0)
        pass(b, idle_ns, AB_STEP_IDLE);
    assert_int_equal(ab_tape_phase(b, "steady", true, &err), AB_OK);
    for (uint32_t i = 0; i < steady_s; i++) {
        pass(b, idle_ns + (i + 1) * SECOND, 0);
        assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
        assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    }
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
}

/* Setting of the environment; NULL as `library`: the C library's malloc. */
struct trial {
    const char *library, *setting, *after;
    uint64_t idle_ns;
    uint32_t steady_s, pace;
};

static void run(const struct trial *t, struct ab_outcome *out)
{
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_rng rng;
    struct stat st;
    struct ab_memory_marks marks;
    memset(&marks, 0xff, sizeof marks);
    make_tape(t->idle_ns, t->steady_s, &tape);
    assert_int_equal(ab_tape_map_open(&tape, &map, &err), AB_OK);
    struct ab_run_context context = {.tape = &map,
                                     .worker_path = worker,
                                     .clock_path = clock_library,
                                     .memory_limit_bytes = UINT64_C(1) << 40,
                                     .pace = t->pace,
                                     .marks = &marks};
    context.clock.ns_per_tick = 1;
    struct ab_case c = {.source = AB_SOURCE_LIBC, .boundary = AB_BOUNDARY_MALLOC};
    if (t->library != NULL) {
        assert_int_equal(stat(t->library, &st), 0);
        c.source = AB_SOURCE_PRELOAD;
        c.path = t->library;
        c.dev = st.st_dev;
        c.ino = st.st_ino;
        c.env[0] = t->setting;
        c.env[1] = t->after;
    }
    ab_rng_init(&rng, 1, 1);
    assert_int_equal(ab_run(&context, &c, AB_PASS_MEMORY, &rng, out, &err), AB_OK);
    if (out->status != AB_BACKEND_OK)
        fail_msg("%s", out->reason);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

/* Footprint at the last row that is not after a time of the work. */
static uint64_t resident_at(const struct ab_outcome *o, uint64_t time_ns)
{
    uint32_t i = o->memory->n_rows;
    while (i > 0 && o->rows[i - 1].time_ns > time_ns)
        i--;
    assert_true(i > 0);
    return o->rows[i - 1].footprint_bytes;
}

static void assert_clock(const struct ab_outcome *o, enum ab_clock_kind kind, const char *reason)
{
    assert_int_equal(o->memory->clock, kind);
    assert_string_equal(o->memory->clock_reason, reason);
}

static void rows_are_where_they_are_due(void **state)
{
    (void)state;
    struct ab_outcome o;
    run(&(struct trial){.idle_ns = 90 * SECOND, .steady_s = 3}, &o);
    const uint32_t n = o.memory->n_rows;
    const struct ab_memory_row *rows = o.rows;
    uint32_t n_begin = 0, n_marked = 0, n_end = 0;
    assert_int_equal(o.memory->spaced_ns, SECOND / 2);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t before = i > 0 ? rows[i - 1].time_ns : 0;
        assert_in_range(rows[i].time_ns - before, 0, SECOND / 2);
        n_begin += (rows[i].flags & AB_ROW_IDLE_BEGIN) != 0;
        n_end += (rows[i].flags & AB_ROW_IDLE_END) != 0;
        n_marked += (rows[i].flags & AB_ROW_IDLE) != 0;
        if (rows[i].flags != 0)
            assert_int_equal(rows[i].phase, 1);
        if (rows[i].flags == AB_ROW_IDLE)
            assert_true(rows[i].time_ns == SECOND || rows[i].time_ns == 10 * SECOND ||
                        rows[i].time_ns == 60 * SECOND);
    }
    assert_int_equal(n_begin, 1);
    assert_int_equal(n_marked, 3);
    assert_int_equal(n_end, 1);
    assert_int_equal(rows[n - 1].time_ns, 93 * SECOND);
    assert_int_equal(rows[n - 1].phase, 2);
    assert_clock(&o, AB_CLOCK_NONE, "");
    ab_outcome_fini(&o);
}

static void a_thread_that_waits_sees_the_time_pass(void **state)
{
    (void)state;
    struct ab_outcome o;
    run(&(struct trial){decays, "DECAYS=thread", NULL, 30 * SECOND, 0, 0}, &o);
    assert_clock(&o, AB_CLOCK_VIRTUAL, "");
    assert_in_range(resident_at(&o, 10 * SECOND), ALL_BYTES, ALL_BYTES * 2 + (8 << 20));
    assert_in_range(resident_at(&o, 10 * SECOND + SECOND / 10), 0, 4 << 20);
    ab_outcome_fini(&o);
}

static void what_needs_a_call_waits_for_it(void **state)
{
    (void)state;
    struct ab_outcome o, again;
    const struct trial t = {decays, NULL, NULL, 20 * SECOND, 5, 0};
    run(&t, &o);
    run(&t, &again);
    assert_clock(&o, AB_CLOCK_VIRTUAL, "");
    assert_in_range(resident_at(&o, 21 * SECOND - 1), ALL_BYTES, UINT64_MAX);
    assert_in_range(resident_at(&o, 22 * SECOND), 0, 6 << 20);
    assert_int_equal(o.memory->n_rows, again.memory->n_rows);
    for (uint32_t i = 0; i < o.memory->n_rows; i++)
        assert_memory_equal(&o.rows[i], &again.rows[i], sizeof o.rows[i]);
    ab_outcome_fini(&o);
    ab_outcome_fini(&again);
}

/* A busy machine takes its time for the blocks, and wakes late: when they go is not compared. */
static void real_time_agrees(void **state)
{
    (void)state;
    struct ab_outcome o[2];
    for (uint32_t pace = 0; pace < 2; pace++) {
        run(&(struct trial){decays, "DECAYS=thread", "AFTER=1", 4 * SECOND, 0, pace}, &o[pace]);
        assert_in_range(resident_at(&o[pace], SECOND - 1), ALL_BYTES, UINT64_MAX);
        assert_in_range(resident_at(&o[pace], 4 * SECOND), 0, 4 << 20);
    }
    assert_clock(&o[0], AB_CLOCK_VIRTUAL, "");
    assert_clock(&o[1], AB_CLOCK_REAL, "--pace");
    assert_int_equal(o[0].memory->n_rows, o[1].memory->n_rows);
    for (uint32_t i = 0; i < o[0].memory->n_rows; i++)
        assert_int_equal(o[0].rows[i].time_ns, o[1].rows[i].time_ns);
    ab_outcome_fini(&o[0]);
    ab_outcome_fini(&o[1]);
}

/* It gives back half of what it holds in the time that it is told, and all in twice that. */
static void jemalloc_decays_while_it_idles(void **state)
{
    (void)state;
    static const char jemalloc[] = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
    struct ab_outcome o;
    if (access(jemalloc, R_OK) != 0)
        skip();
    run(&(struct trial){jemalloc, "MALLOC_CONF=background_thread:true,dirty_decay_ms:5000", NULL,
                        30 * SECOND, 0, 0},
        &o);
    assert_clock(&o, AB_CLOCK_VIRTUAL, "");
    const uint64_t begin = resident_at(&o, 0);
    assert_in_range(begin, 16 << 20, ALL_BYTES * 2);
    assert_in_range(resident_at(&o, SECOND), begin / 10 * 9, begin);
    assert_in_range(resident_at(&o, 20 * SECOND), 0, begin / 10);
    ab_outcome_fini(&o);
}

static void a_thread_that_goes_on_is_not_waited_for(void **state)
{
    (void)state;
    struct ab_outcome o;
    run(&(struct trial){decays, "DECAYS=busy", NULL, 3600 * SECOND, 0, 0}, &o);
    assert_clock(&o, AB_CLOCK_REAL, "a thread that it started was not asleep after 1 s");
    ab_outcome_fini(&o);
}

extern int ab_steady_clock(clockid_t id,
                           struct timespec *out) __asm__("_vgr00000ZU_libcZdsoZa_clock_gettime");

static void while_instructions_are_counted_a_reading_takes_a_microsecond(void **state)
{
    (void)state;
    struct timespec a, b;
    assert_int_equal(ab_steady_clock(CLOCK_REALTIME, &a), 0);
    assert_int_equal(ab_steady_clock(CLOCK_MONOTONIC, &b), 0);
    assert_int_equal(b.tv_sec, a.tv_sec);
    assert_int_equal(b.tv_nsec, a.tv_nsec + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_where_they_are_due),
        cmocka_unit_test(a_thread_that_waits_sees_the_time_pass),
        cmocka_unit_test(what_needs_a_call_waits_for_it),
        cmocka_unit_test(real_time_agrees),
        cmocka_unit_test(jemalloc_decays_while_it_idles),
        cmocka_unit_test(while_instructions_are_counted_a_reading_takes_a_microsecond),
        cmocka_unit_test(a_thread_that_goes_on_is_not_waited_for),
    };
    const char *build = getenv("AB_BUILD");
    char base[PATH_MAX];
    if (realpath(build != NULL ? build : "build/release", base) == NULL)
        return 1;
    snprintf(worker, sizeof worker, "%.4000s/allocbench-worker", base);
    snprintf(clock_library, sizeof clock_library, "%.4000s/liballocbench-clock.so", base);
    snprintf(decays, sizeof decays, "%.4000s/guests/libdecays.so", base);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
