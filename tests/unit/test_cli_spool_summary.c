/* SPDX-License-Identifier: MIT
 *
 * What is said of the cost of a recording, by figures that are known: a tick is a nanosecond, an
 * event 10 of them.
 *
 * tests: spool_facts.c
 */
#include "cli/spool_summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RESULTS_MOST = 4, MS = 1000000 };

static struct ab_spool_entry entry;
static struct ab_spool_result results[RESULTS_MOST];

static struct ab_spool_traces begin(double wall_ns)
{
    memset(results, 0, sizeof results);
    return (struct ab_spool_traces){
        .folder = "/nowhere",
        .path = "t.abt",
        .ns_per_tick = 1,
        .wall_ns = wall_ns,
        .results = results,
    };
}

static struct ab_convert_report *add(struct ab_spool_traces *t, uint64_t events, uint64_t threads)
{
    struct ab_spool_result *r = &results[t->n_results++];
    t->n_written++;
    r->entry = &entry;
    r->path = (char *)"t.abt";
    r->report.info.events = events;
    r->report.info.threads = threads;
    r->report.noting_ticks = 10 * (double)events;
    return &r->report;
}

/* The line on the cost, in memory of its own. */
static char *cost(struct ab_spool_traces *t)
{
    char *text = NULL, *line = NULL;
    size_t size = 0;
    struct ab_spool_facts facts;
    FILE *saved = stderr;
    stderr = open_memstream(&text, &size);
    assert_non_null(stderr);
    ab_spool_facts_find(t, &facts);
    ab_spool_summary_print(t, &facts);
    ab_spool_facts_fini(&facts);
    fclose(stderr);
    stderr = saved;
    if ((line = strstr(text, "recording overhead: ")) != NULL) {
        *strchr(line, '\n') = 0;
        line = strdup(line + strlen("recording overhead: "));
    }
    free(text);
    return line;
}

static void expect_cost(struct ab_spool_traces *t, const char *expected)
{
    char *line = cost(t);
    assert_non_null(line);
    assert_string_equal(line, expected);
    free(line);
}

static void the_cost_is_that_of_events_and_of_writing(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(100 * MS);
    add(&t, 1000000, 1)->turn_ticks = 5 * MS;
    expect_cost(&t, "about 15.0 ms of 100 ms (15.0 %), estimated as 10 ns per event and 5.00 ms "
                    "for writing");
}

static void the_cost_of_several_processes_is_their_sum(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(100 * MS);
    add(&t, 1000, 1);
    t.main = &entry;
    add(&t, 1000000, 1)->turn_ticks = 5 * MS;
    add(&t, 1999500, 1)->n_inherited = 500; /* calls of its parent */
    results[2].report.noting_ticks = 19990000;
    expect_cost(&t, "about 35.0 ms of 100 ms (35.0 %, sum of all processes), estimated as 10 ns "
                    "per event and 5.00 ms for writing");
}

static void of_several_threads_it_is_of_the_cpu_time(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(10 * MS);
    t.cpu_ns = 20 * MS;
    add(&t, 1500000, 2);
    expect_cost(&t, "about 15.0 ms of 20.0 ms CPU time (75.0 %, sum of all threads), estimated as "
                    "10 ns per event and 0 ns for writing");
}

static void an_estimate_that_is_more_than_the_whole_is_none(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(113 * MS);
    add(&t, 1000, 1)->turn_ticks = 114 * MS;
    expect_cost(&t, "n/a: the estimate exceeds the program's whole time, 113 ms; the run was too "
                    "short, or the machine too busy, to estimate it");
    t = begin(113 * MS);
    t.cpu_ns = 100 * MS;
    add(&t, 1000, 500)->turn_ticks = 101 * MS;
    expect_cost(&t, "n/a: the estimate exceeds the program's whole time, 100 ms CPU time; the run "
                    "was too short, or the machine too busy, to estimate it");
}

/* 500 threads did not run on 500 CPUs. */
static void without_the_cpu_time_there_is_no_more_than_that_of_all_cpus(void **state)
{
    (void)state;
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    struct ab_spool_traces t = begin(10 * MS);
    add(&t, 1000, 500)->turn_ticks = (uint64_t)(11 * MS * cpus);
    char *line = cost(&t);
    assert_non_null(line);
    assert_non_null(strstr(line, "n/a: the estimate exceeds the program's whole time"));
    free(line);
}

static void of_a_daemon_that_outlives_the_command_its_own_time_counts(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(5 * MS);
    add(&t, 1000, 1)->span_ticks = 4 * MS;
    add(&t, 999000, 1)->span_ticks = 400 * MS;
    expect_cost(&t, "about 10.0 ms of 400 ms (2.5 %, sum of all processes), estimated as 10 ns per "
                    "event and 0 ns for writing");
}

static void without_the_time_of_the_command_that_between_its_calls_counts(void **state)
{
    (void)state;
    struct ab_spool_traces t = begin(0);
    add(&t, 1000000, 1)->span_ticks = 40 * MS;
    expect_cost(&t, "about 10.0 ms of 40.0 ms (25.0 %), estimated as 10 ns per event and 0 ns "
                    "for writing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cost_is_that_of_events_and_of_writing),
        cmocka_unit_test(the_cost_of_several_processes_is_their_sum),
        cmocka_unit_test(of_several_threads_it_is_of_the_cpu_time),
        cmocka_unit_test(without_the_cpu_time_there_is_no_more_than_that_of_all_cpus),
        cmocka_unit_test(an_estimate_that_is_more_than_the_whole_is_none),
        cmocka_unit_test(of_a_daemon_that_outlives_the_command_its_own_time_counts),
        cmocka_unit_test(without_the_time_of_the_command_that_between_its_calls_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
