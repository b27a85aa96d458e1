/* SPDX-License-Identifier: MIT
 *
 * The sentence on noise, for one thread, several, and a machine that is never quiet.
 */
#include "answer/answer.h"
#include "result/numbers.h"

#include "support/cmocka.h"

#include <math.h>
#include <string.h>

static struct ab_session session;

static void expect(const char *text)
{
    struct ab_text note = {0};
    ab_view_noise(&session, &note);
    assert_string_equal(note.s != NULL ? note.s : "", text);
    ab_text_fini(&note);
}

static void nothing_known_is_nothing_said(void **state)
{
    (void)state;
    session.noise = (struct ab_noise){0};
    expect("");
}

static void what_neighbours_did_is_left_out_and_said(void **state)
{
    (void)state;
    session.noise = (struct ab_noise){.runs = 30,
                                      .wall_s = 2,
                                      .cpu_s = 1.98,
                                      .slices_s = 2,
                                      .quiet_s = 1.64,
                                      .waited_s = 1.5,
                                      .interruptions = 1,
                                      .switches_involuntary = 12};
    expect(
        "noise: other programs used the CPU core in 18 % of the throughput runs; that part is left out "
        "(waited 1.50 s); 1 interruption; 12 involuntary context switches; CPU time 99.0 % of "
        "wall time");
}

static void never_quiet_is_a_shared_core(void **state)
{
    (void)state;
    session.noise = (struct ab_noise){.runs = 3,
                                      .wall_s = 2,
                                      .cpu_s = 2,
                                      .slices_s = 2,
                                      .quiet_s = 0.02,
                                      .waited_s = 6,
                                      .switches_involuntary = 1};
    expect(
        "noise: other programs used the CPU core all the time, so times are those of a shared core "
        "(waited 6.00 s for an idle one); 0 interruptions; 1 involuntary context switch; CPU time "
        "100.0 % of wall time");
}

/* What the latency pass left out, in one sentence more; an `all` repeats what the kinds say. */
static void what_is_in_no_percentile_is_said_once(void **state)
{
    (void)state;
    static struct ab_result results[] = {
        {.op = AB_OP_ALLOC, .n = 900, .n_left_out = 100, .n_scheduler = 1, .scheduler_max_ns = 4e6},
        {.op = AB_OP_FREE, .n = 1000, .n_left_out = 0, .n_scheduler = 0, .scheduler_max_ns = NAN},
        {.op = AB_OP_ALL,
         .n = 1900,
         .n_left_out = 100,
         .n_scheduler = 1,
         .latency_quiet_percent = 95,
         .scheduler_max_ns = 4e6},
    };
    session = (struct ab_session){
        .noise = {.runs = 3, .wall_s = 2, .cpu_s = 2}, .results = results, .n_results = 3};
    expect(
        "noise: whether other programs used the CPU core is not known (several threads); 0 involuntary "
        "context switches; CPU time 100.0 % of wall time; 5.0 % of the timed ops are left out of "
        "the percentiles; the scheduler ran something else during 1 op, up to 4.00 ms: "
        "percentiles exclude them, max counts their CPU time");
    results[0] = results[1];
    results[2].n_left_out = results[2].n_scheduler = 0;
    results[2].latency_quiet_percent = 12;
    expect(
        "noise: whether other programs used the CPU core is not known (several threads); 0 involuntary "
        "context switches; CPU time 100.0 % of wall time; in 1 of 1 phases the core was hardly "
        "ever free: their percentiles are those of a shared core");
    results[0].n_scheduler = results[1].n_scheduler = NAN; /* of an older result */
    results[2].latency_quiet_percent = results[2].n_scheduler = NAN;
    expect(
        "noise: whether other programs used the CPU core is not known (several threads); 0 involuntary "
        "context switches; CPU time 100.0 % of wall time");
    session = (struct ab_session){0};
}

static void of_several_threads_it_is_not_known(void **state)
{
    (void)state;
    session.noise = (struct ab_noise){.runs = 3, .wall_s = 2, .cpu_s = 1};
    expect(
        "noise: whether other programs used the CPU core is not known (several threads); 0 involuntary "
        "context switches; CPU time 50.0 % of wall time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_known_is_nothing_said),
        cmocka_unit_test(what_neighbours_did_is_left_out_and_said),
        cmocka_unit_test(never_quiet_is_a_shared_core),
        cmocka_unit_test(what_is_in_no_percentile_is_said_once),
        cmocka_unit_test(of_several_threads_it_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
