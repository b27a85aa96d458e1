/* SPDX-License-Identifier: MIT
 *
 * Counts by ops, less the null's; what was not counted stays unknown.
 * tests: runner/run.c worker/counts.c
 */
#include "result/numbers.h"
#include "runner/fold.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static struct ab_tape tape;
static struct ab_tape_map map;
static struct ab_run_page page;
static const struct ab_clock clock_one = {.ns_per_tick = 1, .quantum_ns = 1};

static struct ab_result *find(struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == AB_OP_ALL && strcmp(s->results[i].phase, phase) == 0)
            return &s->results[i];
    fail_msg("no result of %s", phase);
    return NULL;
}

static uint64_t ops_of(unsigned phase)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += map.phases[phase].n_ops[k];
    return n;
}

static struct ab_result results[2];

/* As the throughput pass leaves them. */
static void begin(struct ab_session *s, struct ab_fold *f, struct ab_outcome *run)
{
    *s = (struct ab_session){.n_phases = 2, .results = results, .n_results = 2};
    *f = (struct ab_fold){s, &map, &clock_one, 0, 3};
    *run = (struct ab_outcome){.page = &page};
    page.report.hooks = ~0u;
    for (unsigned i = 0; i < 2; i++) {
        results[i] = (struct ab_result){
            .phase = map.phases[i + 1].name, .op = AB_OP_ALL, .round = 3};
        results[i].n_ops = ops_of(i + 1);
        results[i].instr_per_op = results[i].instr_n_ops = results[i].syscalls_mmap = NAN;
    }
}

static void the_nulls_instructions_are_subtracted(void **state)
{
    (void)state;
    struct ab_session s;
    struct ab_fold f;
    struct ab_outcome run;
    begin(&s, &f, &run);
    struct ab_phase_counts counts, null;
    memset(&counts, 0xff, sizeof counts);
    memset(&null, 0xff, sizeof null);
    counts.n[1] = ops_of(1) * 75;
    null.n[1] = ops_of(1) * 25;
    null.n[2] = 1;
    struct ab_null_cost cost = {.phase = "churn", .boundary = "heap", .round = 3};
    cost.instr_per_op = NAN;
    struct ab_backend_info backends[2] = {{.boundary = "malloc"}, {.boundary = "heap"}};
    s.nulls = &cost;
    s.n_nulls = 1;
    s.backends = backends;
    s.n_backends = 2;
    assert_false(ab_fold_instructions(&f, &map, &run, &counts, &null)); /* of drain there is none */
    assert_true(find(&s, "churn")->instr_per_op == 50);
    assert_true(find(&s, "churn")->instr_n_ops == (double)ops_of(1));
    assert_true(isnan(find(&s, "drain")->instr_per_op));
    ab_fold_null_instructions(&f, &map, &null);
    assert_true(isnan(cost.instr_per_op));
    f.backend = 1;
    ab_fold_null_instructions(&f, &map, &null);
    assert_true(cost.instr_per_op == 25);
    f.backend = 0;
    counts.n[2] = 1;
    assert_true(ab_fold_instructions(&f, &map, &run, &counts, &null));
    assert_true(find(&s, "drain")->instr_per_op == 0);
}

static void system_calls_go_to_their_phase_and_kind(void **state)
{
    (void)state;
    struct ab_session s;
    struct ab_fold f;
    struct ab_outcome run;
    struct ab_call_counts *calls = calloc(1, sizeof *calls);
    begin(&s, &f, &run);
    assert_true(isnan(find(&s, "churn")->syscalls_mmap));
    calls->n[1][AB_CALL_mmap] = 3;
    calls->n[2][AB_CALL_futex] = 4;
    ab_fold_calls(&f, calls);
    assert_true(find(&s, "churn")->syscalls_mmap == 3);
    assert_true(find(&s, "churn")->syscalls_futex == 0);
    assert_true(find(&s, "drain")->syscalls_futex == 4);
    free(calls);
}

static void kinds_of_system_calls(void **state)
{
    (void)state;
    assert_int_equal(ab_call_kind_of(SYS_mmap), AB_CALL_mmap);
    assert_int_equal(ab_call_kind_of(SYS_munmap), AB_CALL_munmap);
    assert_int_equal(ab_call_kind_of(SYS_mremap), AB_CALL_mremap);
    assert_int_equal(ab_call_kind_of(SYS_brk), AB_CALL_brk);
    assert_int_equal(ab_call_kind_of(SYS_madvise), AB_CALL_madvise);
    assert_int_equal(ab_call_kind_of(SYS_futex), AB_CALL_futex);
    assert_int_equal(ab_call_kind_of(SYS_mprotect), AB_CALL_other);
    assert_int_equal(ab_call_kind_of(SYS_clock_gettime), AB_CALL_KIND_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nulls_instructions_are_subtracted),
        cmocka_unit_test(system_calls_go_to_their_phase_and_kind),
        cmocka_unit_test(kinds_of_system_calls),
    };
    test_tape_churn_map(100, 50, &tape, &map);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return failed;
}
