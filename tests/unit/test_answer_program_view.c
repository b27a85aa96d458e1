/* SPDX-License-Identifier: MIT
 *
 * What follows from the rounds of a real program: medians, ratios, what the replay predicted; and
 * the page of the report about it.
 * tests: page_program.c
 */
#include "answer/answer.h"
#include "answer/program_view.h"
#include "report/html/report.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLIBC, JEMALLOC, TCMALLOC, MIMALLOC };

static struct ab_result *result(struct screen *x, uint32_t backend, uint32_t round)
{
    for (uint32_t i = 0; i < x->s.n_results; i++)
        if (x->results[i].backend == backend && x->results[i].round == round)
            return &x->results[i];
    return NULL;
}

static struct ab_program_value value_of(const struct screen *x, uint32_t backend, const char *field)
{
    struct ab_program_value v;
    ab_program_value_of(&x->s, backend, GLIBC, ab_field_find(field), &v);
    return v;
}

static void a_ratio_is_that_of_the_medians(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    struct ab_program_value glibc = value_of(x, GLIBC, "cpu_ns");
    struct ab_program_value tcmalloc = value_of(x, TCMALLOC, "cpu_ns");
    assert_true(isnan(glibc.ratio.ratio));
    assert_true(fabs(tcmalloc.ratio.ratio / (tcmalloc.median / glibc.median) - 1) < 1e-12);
    assert_true(tcmalloc.ratio.low <= tcmalloc.ratio.ratio);
    assert_true(tcmalloc.ratio.high >= tcmalloc.ratio.ratio);
    x->results[0].resident_mean_bytes = NAN; /* too short a run: the other rounds have it */
    assert_true(value_of(x, GLIBC, "resident_mean_bytes").median > 0);
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].resident_mean_bytes = NAN;
    assert_true(isnan(value_of(x, GLIBC, "resident_mean_bytes").median));
    assert_true(isnan(value_of(x, TCMALLOC, "resident_mean_bytes").ratio.ratio));
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].faults_minor = x->results[i].backend == GLIBC ? 0 : 7;
    assert_true(value_of(x, TCMALLOC, "faults_minor").median ==
                7); /* of none there is no multiple */
    assert_true(isnan(value_of(x, TCMALLOC, "faults_minor").ratio.ratio));
    assert_null(ab_field_find("no_such_field"));
    screen_free(x);
}

static void set_faults(struct screen *x, uint32_t backend, const uint64_t faults[SCREEN_ROUNDS])
{
    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++)
        result(x, backend, round)->faults_minor = faults[round];
}

/* A round in which the base has none counts, as it does in the median beside the ratio. */
static void rounds_of_nothing_count_in_the_ratio(void **state)
{
    static const uint64_t rare[] = {0, 0, 0, 0, 0, 0, 0, 2}, rarer[] = {0, 0, 0, 0, 0, 0, 0, 1};
    static const uint64_t some[] = {0, 0, 0, 4, 4, 4, 4, 4}, more[] = {8, 8, 8, 8, 8, 8, 8, 8};
    (void)state;
    struct screen *x = screen_new_exec();
    set_faults(x, GLIBC, rare);
    set_faults(x, JEMALLOC, rarer);
    set_faults(x, TCMALLOC, more);
    assert_true(value_of(x, JEMALLOC, "faults_minor").median == 0);
    assert_true(isnan(value_of(x, JEMALLOC, "faults_minor").ratio.ratio));
    assert_true(isnan(value_of(x, TCMALLOC, "faults_minor").ratio.ratio));
    set_faults(x, GLIBC, some);
    assert_true(value_of(x, TCMALLOC, "faults_minor").ratio.ratio == 2);
    assert_true(isnan(value_of(x, JEMALLOC, "faults_minor").ratio.ratio)); /* not 0 times */
    for (uint32_t round = 0; round < 6; round++)
        result(x, GLIBC, round)->faults_minor = UINT64_MAX;
    set_faults(x, TCMALLOC, (const uint64_t[]){1, 1, 1, 1, 1, 1, 8, 8});
    assert_true(value_of(x, TCMALLOC, "faults_minor").ratio.ratio == 0.25); /* 1 by 4 */
    screen_free(x);
}

/* jemalloc's call costs 4 ns less in the warm replay, 7 in the cold one, and `measured` ns more in the program. */
static void set_prediction(struct screen *x, double measured)
{
    for (uint32_t b = GLIBC; b <= JEMALLOC; b++)
        for (uint32_t round = 0; round < SCREEN_ROUNDS; round++) {
            struct ab_result *r = result(x, b, round);
            double noise = 0.01 * ((round * 3 + b) % 5);
            r->calls = 1e6;
            r->replay_ns_per_call = 25 - 4.0 * b + noise;
            r->replay_warm_ns_per_call = 20 - 4.0 * b + noise;
            r->replay_cold_ns_per_call = 40 - 7.0 * b + noise;
            r->cpu_ns = 1e6 * (300 + measured * b + noise);
            r->inside_ns_per_call = 30 + measured * b + noise;
            r->outside_ns = 1e6 * (200 + 2 * b + noise);
        }
}

static void predictions_and_measurements_are_set_side_by_side(void **state)
{
    static const struct {
        double measured;
        const char *word;
    } cases[] = {{-4, "agrees"},  {-3.3, "agrees"},       {-6, "agrees"},
                 {-9, "agrees"},  {-2, "same direction"}, {-10, "same direction"},
                 {5, "opposite"}, {0, "not measurable"}};
    (void)state;
    struct screen *x = screen_new_exec();
    struct ab_program_prediction w;
    assert_false(ab_program_has_prediction(&x->s));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_prediction(x, cases[i].measured);
        assert_true(ab_program_has_prediction(&x->s));
        ab_program_prediction_of(&x->s, JEMALLOC, GLIBC, &w);
        assert_true(fabs(w.warm.ratio + 4) < 0.1 && fabs(w.cold.ratio + 7) < 0.1);
        assert_true(fabs(w.measured.ratio - cases[i].measured) < 0.1);
        assert_true(fabs(w.inside.ratio - cases[i].measured) < 0.1);
        assert_true(fabs(w.outside.ratio - 2) < 0.1);
        assert_string_equal(ab_program_prediction_word(&w, &w.measured), cases[i].word);
    }
    set_prediction(x, -9);
    for (uint32_t i = 0; i < x->s.n_results; i++) /* of an earlier version: one replay, by the op */
        x->results[i].replay_warm_ns_per_call = x->results[i].replay_cold_ns_per_call = NAN;
    assert_true(ab_program_has_prediction(&x->s));
    ab_program_prediction_of(&x->s, JEMALLOC, GLIBC, &w);
    assert_string_equal(ab_program_prediction_word(&w, &w.measured), "same direction");
    ab_program_prediction_of(&x->s, MIMALLOC, GLIBC, &w); /* was not replayed */
    assert_string_equal(ab_program_prediction_word(&w, &w.measured), "-");
    screen_free(x);
}

static char *report_of(const struct ab_session *s)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    ab_report_write(to, s, NULL, 0);
    assert_int_equal(fclose(to), 0);
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void the_page_has_memory_over_time_and_every_round(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    struct ab_timeline_point points[3] = {
        {10, NAN, NAN, 1 << 20, NAN}, {20, NAN, NAN, 3 << 20, NAN}, {30, NAN, NAN, 2 << 20, NAN}};
    struct ab_timeline lines[2] = {{GLIBC, 0, 3, points}, {JEMALLOC, 0, 3, points}};
    snprintf(x->backends[TCMALLOC].path, sizeof x->backends[0].path, "/lib/<b>.so");
    x->backends[MIMALLOC].status = AB_BACKEND_CRASHED;
    snprintf(x->backends[MIMALLOC].reason, sizeof x->backends[0].reason,
             "the program was ended by signal 11 (Segmentation fault)");
    char *text = report_of(&x->s);
    assert_non_null(strstr(text, "<section id=\"program\">"));
    assert_null(strstr(text, "Resident memory over time"));
    assert_null(strstr(text, "Compared with the replay"));
    assert_non_null(strstr(text, "Ranking by CPU time"));
    char *data = strstr(text, "id=\"allocbench-result\""); /* base64, in which any word may be */
    assert_non_null(data);
    assert_true(strstr(text, "p99") == NULL || strstr(text, "p99") > data); /* nothing is timed */
    assert_non_null(strstr(text, "<td>0 in all 8 runs</td>"));
    assert_non_null(strstr(text, "crashed: the program was ended by signal 11"));
    assert_non_null(strstr(text, "/lib/&lt;b&gt;.so"));
    unsigned n_dots = count(text, "<circle");
    /* of three allocators a dot a round in four pictures, and one each in the scatter */
    assert_true(n_dots >= 3 * SCREEN_ROUNDS * 4);
    free(text);
    x->s.timelines = lines;
    x->s.n_timelines = 2;
    set_prediction(x, -4);
    text = report_of(&x->s);
    assert_non_null(strstr(text, "Resident memory over time"));
    assert_non_null(strstr(text, "Compared with the replay"));
    assert_non_null(strstr(text, "<td>agrees</td>"));
    assert_null(strstr(text, "<section id=\"memory\">")); /* that one is over operations */
    free(text);
    x->s.timelines = NULL;
    x->s.n_timelines = 0;
    screen_free(x);
}

/* The first n runs: 100 ms of CPU time, and so much more until the end. */
static void set_switches(struct screen *x, uint32_t n, double more_ns, double voluntary,
                         uint64_t involuntary)
{
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        struct ab_result *r = &x->results[i];
        r->cpu_ns = 100e6;
        r->wall_ns = 100e6 + (i < n ? more_ns : 1e6);
        r->switches_voluntary = voluntary;
        r->switches_involuntary = involuntary;
        r->run_delay_ns = NAN;
    }
}

static bool is_said_to_be_held_up(const struct screen *x, const char *wanted)
{
    struct ab_view v;
    ab_view_make(&x->s, &v);
    const struct ab_view_warning *w = ab_view_warnings_find(&ab_view_sentences(&v)->warnings,
                                                            "preempted");
    bool is_said = w != NULL;
    assert_true(is_said == ab_view_sentences(&v)->warnings.is_noisy);
    if (is_said && strncmp(w->text, wanted, strlen(wanted)) != 0)
        fail_msg("'%s' does not begin: %s", w->text, wanted);
    ab_view_fini(&v);
    return is_said;
}

static void a_program_that_waited_for_the_cpu_is_warned_of(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    uint32_t n = x->s.n_results, few = n / 10, most = n - SCREEN_BACKENDS; /* not the last round */
    char wanted[160];
    snprintf(wanted, sizeof wanted,
             "%u of %u runs were preempted (wall time up to 1.5x the CPU time and", most, n);
    set_switches(x, most, 50e6, 150, 100);
    assert_true(is_said_to_be_held_up(x, wanted));
    set_switches(x, most, 9e6, 150, 100); /* not for long */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, few, 50e6, 150, 100); /* in too few runs */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, few + 1, 50e6, 150, 100);
    assert_true(is_said_to_be_held_up(x, ""));
    screen_free(x);
}

/* The first n runs of 100 ms of CPU time: waits for a CPU, and of their own. */
static void set_waits(struct screen *x, uint32_t n, double delay_ns, double own_ns)
{
    set_switches(x, 0, 0, 3, 3);
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        struct ab_result *r = &x->results[i];
        r->run_delay_ns = i < n ? delay_ns : 0;
        r->wall_ns = r->cpu_ns + r->run_delay_ns + own_ns;
    }
}

static void what_the_kernel_counted_is_no_guess(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    uint32_t n = x->s.n_results;
    char wanted[160];
    snprintf(wanted, sizeof wanted,
             "%u of %u runs waited for a CPU that something else used (up to 20 %% of the wall", n,
             n);
    set_waits(x, n, 25e6, 0);
    assert_true(is_said_to_be_held_up(x, wanted));
    set_waits(x, n, 25e6, 200e6); /* not much of what it takes */
    assert_false(is_said_to_be_held_up(x, ""));
    set_waits(x, n / 10, 25e6, 0);
    assert_false(is_said_to_be_held_up(x, ""));
    set_waits(x, n, 25e6, -20e6); /* several threads, which wait side by side */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, n - SCREEN_BACKENDS, 50e6, 150, 100); /* what looks preempted, and was not */
    for (uint32_t i = 0; i < n; i++)
        x->results[i].run_delay_ns = 1e3;
    assert_false(is_said_to_be_held_up(x, ""));
    screen_free(x);
}

static void waits_of_its_own_are_no_noise(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    uint32_t n = x->s.n_results, most = n - SCREEN_BACKENDS;
    set_switches(x, most, 50e6, 1500, 100); /* for a pipe */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, n, 50e6, 3, 3); /* it sleeps, as long in every run */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, most, 900e6, 3, 2); /* it sleeps: two time slices are not that long */
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, most, 50e6, 150, UINT64_MAX);
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, most, 50e6, NAN, 100);
    assert_false(is_said_to_be_held_up(x, ""));
    set_switches(x, most, -80e6, 0, 100); /* several CPUs at once */
    assert_false(is_said_to_be_held_up(x, ""));
    screen_free(x);
}

/* ---- the first sentence ---- */

static void assert_says(const struct screen *x, const char *wanted)
{
    struct ab_view v;
    char all[4000] = "";
    ab_view_make(&x->s, &v);
    for (unsigned i = 0; i < ab_view_sentences(&v)->headline.n_sentences; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i > 0 ? " " : "",
                 ab_view_sentences(&v)->headline.sentences[i]);
    }
    if (strstr(all, wanted) == NULL)
        fail_msg("'%s' is not in: %s", wanted, all);
    ab_view_fini(&v);
}

/* A program that waits for something else than a CPU is judged by its wall time. */
static void a_program_is_judged_by_cpu_time_where_it_has_little_else(void **state)
{
    (void)state;
    struct screen *x = screen_new_exec();
    assert_says(x, "faster than glibc in CPU time, but takes 8 % more memory at the peak.");
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].cpu_ns = 0.8 * x->results[i].wall_ns;
    assert_says(x, "faster than glibc in wall time, but takes 8 % more memory at the peak.");
    for (uint32_t i = 0; i < x->s.n_results; i++) /* other programs had the CPU meanwhile */
        x->results[i].run_delay_ns = 0.15 * x->results[i].wall_ns;
    assert_says(x, "faster than glibc in CPU time");
    result(x, JEMALLOC, 0)->cpu_ns = NAN;
    assert_says(x, "faster than glibc in CPU time"); /* seven rounds know it */
    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++)
        result(x, JEMALLOC, round)->cpu_ns = NAN;
    assert_says(x, "faster than glibc in wall time");
    screen_free(x);
}

/* A load of fixed time: the wall time of all is 2 s. jemalloc answers 1.5 times as many requests. */
static struct screen *new_server(const char *metric, enum ab_field_better better)
{
    static const char *const settings[] = {"server=1", NULL};
    struct screen *x = screen_new_exec();
    x->s.settings = settings;
    x->s.n_named = metric != NULL;
    if (metric != NULL)
        x->s.named[0] = ab_named_field(metric, better);
    for (uint32_t i = 0; i < x->s.n_results; i++) {
        struct ab_result *r = &x->results[i];
        double noise = 1 + 0.001 * ((r->round * 3 + r->backend) % 5);
        r->wall_ns = 2e9 * noise;
        r->cpu_ns = 1.9e9 * noise;
        if (metric != NULL)
            r->named[ab_named_slot(x->s.named[0])] = (r->backend != JEMALLOC      ? 1000
                                                      : better == AB_FIELD_HIGHER ? 1500
                                                                                  : 1000 / 1.5) *
                                                     noise;
        r->resident_loaded_bytes = (r->backend == GLIBC ? 43.9 : 49.8) * (1 << 20);
        r->resident_rested_bytes = (r->backend == JEMALLOC ? 11.4 : 43.6) * (1 << 20);
    }
    return x;
}

/* The user fixed the time of the load, so that the sentence speaks of the metric. */
static void a_server_is_judged_by_the_metric_of_its_load(void **state)
{
    (void)state;
    struct screen *x = new_server("requests_per_s", AB_FIELD_HIGHER);
    struct ab_view v;
    assert_says(x, "jemalloc's requests_per_s is 1.50x");
    assert_says(x, "higher than that of glibc.");
    ab_view_make(&x->s, &v);
    assert_int_equal(v.ranking.rows[0].backend, JEMALLOC);
    assert_string_equal(v.ranking.subject.title, "requests_per_s");
    ab_view_fini(&v);
    screen_free(x);
    x = new_server("p99_us", AB_FIELD_LOWER);
    assert_says(x, "jemalloc's p99_us is 1.50x");
    assert_says(x, "lower than that of glibc.");
    screen_free(x);
    x = new_server(NULL, AB_FIELD_LOWER);
    assert_says(x, "No clear difference in the time of the load between ");
    screen_free(x);
}

static void memory_of_a_server_is_named_by_its_moment(void **state)
{
    (void)state;
    struct screen *x = new_server("requests_per_s", AB_FIELD_HIGHER);
    assert_says(x, "Least memory at the end of the load: glibc (43.9 MiB; ");
    assert_says(x, "Least memory after the rest: jemalloc (11.4 MiB; glibc 43.6 MiB).");
    for (uint32_t i = 0; i < x->s.n_results; i++)
        x->results[i].resident_rested_bytes = 11 << 20;
    assert_says(x, "Memory after the rest is about the same under all (11.0 MiB to 11.0 MiB).");
    screen_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_that_of_the_medians),
        cmocka_unit_test(rounds_of_nothing_count_in_the_ratio),
        cmocka_unit_test(predictions_and_measurements_are_set_side_by_side),
        cmocka_unit_test(a_program_that_waited_for_the_cpu_is_warned_of),
        cmocka_unit_test(what_the_kernel_counted_is_no_guess),
        cmocka_unit_test(waits_of_its_own_are_no_noise),
        cmocka_unit_test(a_program_is_judged_by_cpu_time_where_it_has_little_else),
        cmocka_unit_test(a_server_is_judged_by_the_metric_of_its_load),
        cmocka_unit_test(memory_of_a_server_is_named_by_its_moment),
        cmocka_unit_test(the_page_has_memory_over_time_and_every_round),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
