/* SPDX-License-Identifier: MIT
 *
 * Results read back: the same document and the same tables come out that went in.
 * tests: json_in.c read_result.c
 * tests: session_record.c
 */
#include "document/checks_json.h"
#include "document/read_result.h"
#include "document/session_record.h"
#include "result/merge/merge_rounds.h"
#include "result/numbers.h"
#include "result/session.h"

#include "base/bits.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/result_fields.h"
#include "support/report_depth.h"
#include "support/stored_text.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static void write_table(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_table(to, s, (struct ab_table_style){.width = 100, .utf8 = true});
}

static void write_csv(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_csv(to, s);
}

static void write_hist(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_hist(to, s);
}

static void write_timeline(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_timeline(to, s);
}

static void (*const writers[])(FILE *, const struct ab_session *, void *) = {
    write_json, write_table, write_csv, write_hist, write_timeline};

/* A copy must have the same tables and document as its session. */
static void assert_copy_is_same(const struct ab_session *s)
{
    struct ab_stored copy;
    ab_stored_copy(s, AB_CHECKSUM_GOOD, &copy);
    for (size_t i = 0; i < AB_ARRAY_LEN(writers); i++) {
        char *of_session = fake_capture(writers[i], s, NULL);
        char *of_copy = fake_capture(writers[i], &copy.session, NULL);
        assert_string_equal(of_session, of_copy);
        free(of_session);
        free(of_copy);
    }
    ab_stored_fini(&copy);
}

/* session → JSON → session → JSON; the first document must be the second, and tables made of both
 * sessions the same. */
static void assert_round_trip(struct ab_session *s)
{
    struct ab_err err = {.text = ""};
    struct ab_stored stored;
    ab_session_settle(s);
    char *json = fake_capture(write_json, s, NULL);
    if (read_text(json, strlen(json), &stored, &err) != AB_OK)
        fail_msg("refused: %s", err.text);
    for (size_t i = 0; i < AB_ARRAY_LEN(writers); i++) {
        char *before = fake_capture(writers[i], s, NULL);
        char *after = fake_capture(writers[i], &stored.session, NULL);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    free(json);
    ab_stored_fini(&stored);
    assert_copy_is_same(s);
}

static void settings_come_back_with_the_name(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    strcpy(f->backends[FAKE_GLIBC].name, "glibc{A=1;B=x:y}");
    strcpy(f->backends[FAKE_GLIBC].settings, "{A=1;B=x:y}");
    strcpy(f->backends[FAKE_ARENA].name, "arena:commit=4KiB");
    strcpy(f->backends[FAKE_ARENA].settings, "commit=4KiB");
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void a_session_comes_back_as_the_same_document_and_table(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void an_interrupted_and_resumed_session_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.is_complete = false;
    f->s.n_rounds_planned = 1000;
    static const int cpus[] = {3, 0};
    f->s.resumed_from = "results/web-cache-20260101T000000-3f9c1a2b.json";
    f->s.n_rounds_resumed = 2;
    f->s.cpu = -1;
    f->s.cpus = cpus;
    f->s.n_cpus = 2;
    f->s.is_strict = true;
    f->s.window = 4096;
    f->s.n_edges = 12345;
    f->s.n_remote = 7;
    f->backends[0].has_reset = true;
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void a_shard_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.shard = (struct ab_run_shard){2, 10000};
    strcpy(f->s.host.name, "node2");
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void a_session_of_several_machines_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_host hosts[2] = {f->s.host, f->s.host};
    struct ab_part parts[2] = {{.file = "a.json", .shard = {1, 2}, .n_rounds = 2},
                               {.file = "b.json", .shard = {2, 2}, .n_rounds = 1, .host = 1}};
    memset(parts[0].sha256, 'a', 64);
    strcpy(hosts[0].name, "node1");
    hosts[1].load_1min = 0.5;
    f->s.host = hosts[0];
    f->s.hosts = hosts;
    f->s.parts = parts;
    f->s.n_hosts = f->s.n_parts = 2;
    f->rounds[1].host = 1;
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void a_session_without_rounds_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    uint32_t n_results = f->s.n_results;
    f->s.n_rounds = f->s.n_results = f->s.n_nulls = 0;
    f->s.timer.floor_ns = NAN;
    assert_round_trip(&f->s);
    f->s.n_results = n_results;
    fake_session_free(f);
}

static void what_is_not_known_and_what_no_file_can_hold_comes_back(void **state)
{
    (void)state;
    static const double odd[] = {
        NAN,     INFINITY,         -INFINITY,          0,   5e-324, 1.7976931348623157e308, 0.1,
        1 / 3.0, 21.0000000000001, 9007199254740993.0, 1e21};
    static const uint64_t whole[] = {
        0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
    struct fake_session *f = fake_session_new();
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        double x = odd[i % AB_ARRAY_LEN(odd)];
        uint64_t n = whole[i % AB_ARRAY_LEN(whole)];
        r->min = r->max = r->mean = r->quantiles[i % AB_QUANTILE_COUNT] = x;
        if (r->op != AB_OP_ALL)
            continue;
        r->ns_per_op = r->ops_per_s = r->cpu_ns_per_op = r->latency_pass_ns_per_op = x;
        r->n_ops = n <= INT64_MAX ? n : UINT64_MAX; /* times are reckoned from it */
        r->faults_minor = r->switches_involuntary = r->n_unsupported = n;
        r->tail_over_100ns = n;
        r->worst[0] = (struct ab_worst_op){x, UINT32_MAX, n, 0};
    }
    f->s.facts.largest_bytes = f->s.facts.total_bytes = UINT64_MAX;
    f->s.n_tape_ops = UINT64_MAX;
    f->s.seed = UINT64_MAX;
    f->s.host.memory_bytes = UINT64_MAX;
    f->s.timer.ns_per_tick = INFINITY;
    ab_session_settle(&f->s); /* as every session that is written: ratios are of what it leaves */
    struct ab_err err = {.text = ""};
    struct ab_stored stored;
    char *json = fake_capture(write_json, &f->s, NULL);
    if (read_text(json, strlen(json), &stored, &err) != AB_OK)
        fail_msg("refused: %s", err.text);
    char *again = fake_capture(write_json, &stored.session, NULL);
    assert_string_equal(json, again);
    assert_true(stored.session.seed == UINT64_MAX);
    free(again);
    free(json);
    ab_stored_fini(&stored);
    fake_session_free(f);
}

static void hostile_names_come_back_and_print_harmlessly(void **state)
{
    (void)state;
    static const char *const phases[] = {"st\x1b[31mdy\n\"\\\xe2\x80\xae", "drain"};
    struct fake_session *f = fake_session_new();
    for (uint32_t i = 0; i < f->s.n_results; i++)
        f->results[i].phase = phases[strcmp(f->results[i].phase, "drain") == 0];
    for (uint32_t i = 0; i < f->s.n_nulls; i++)
        f->nulls[i].phase = phases[strcmp(f->nulls[i].phase, "drain") == 0];
    f->s.phases = phases;
    strcpy(f->backends[0].name, "gl\x1b]0;x\x07ibc");
    f->s.about = "\x1b[2J";
    assert_round_trip(&f->s);
    char *table = fake_capture(write_table, &f->s, NULL);
    for (const char *c = table; *c != 0; c++)
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    free(table);
    fake_session_free(f);
}

static void overflow_counts_behind_the_percentiles_after_reading_too(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->results[0].overflow = f->results[0].hdr->overflow = 500;
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void a_session_with_memory_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_memory memory[2] = {{.phase = f->s.phases[0], .at = AB_AT_END, .position = 5},
                                  {.phase = f->s.phases[1],
                                   .backend = 1,
                                   .round = 2,
                                   .at = AB_AT_FOOTPRINT_PEAK,
                                   .reason = "no \"usable_size\""}};
    struct ab_timeline_point points[] = {{0, 0, 0, 0, 0}, {7, 1 / 3.0, NAN, 1e15, NAN}};
    struct ab_timeline line = {.backend = 2, .round = 1, .n = 2, .points = points};
    for (size_t i = 0; i < ab_memory_field_count; i++) {
        *(double *)((char *)&memory[0] + ab_memory_fields[i].offset) = (double)i / 3;
        *(double *)((char *)&memory[1] + ab_memory_fields[i].offset) = NAN;
    }
    f->s.memory = memory;
    f->s.n_memory = 2;
    f->s.timelines = &line;
    f->s.n_timelines = 1;
    assert_round_trip(&f->s);
    fake_session_free(f);
}

static void memory_over_time_comes_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_over_time rows[] = {{.backend = 1,
                                   .round = 1,
                                   .phase = f->s.phases[0],
                                   .time_ns = UINT64_C(86400000000000),
                                   .position = 7,
                                   .idle = AB_IDLE_BEGIN,
                                   .live_bytes = 1 / 3.0,
                                   .resident_bytes = 1e15,
                                   .external_bytes = NAN,
                                   .retained_bytes = 5,
                                   .lazyfree_bytes = NAN},
                                  {.backend = 1,
                                   .round = 1,
                                   .phase = f->s.phases[1],
                                   .time_ns = UINT64_C(86400000000001),
                                   .position = AB_NO_POSITION,
                                   .live_bytes = NAN,
                                   .resident_bytes = 7,
                                   .external_bytes = NAN,
                                   .retained_bytes = NAN,
                                   .lazyfree_bytes = 4096}};
    f->s.over_time = rows;
    f->s.n_over_time = 2;
    assert_round_trip(&f->s);
    f->s.over_time = NULL;
    f->s.n_over_time = 0;
    fake_session_free(f);
}

static void size_classes_and_windows_come_back(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    assert_round_trip(&d->f->s);
    fake_depth_free(d);
}

static void iterations_come_back(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_iterations x[2] = {{.phase = f->s.phases[0], .name = "frame", .budget_ns = 16.67e6},
                                 {.phase = f->s.phases[0], .backend = 1, .round = 1, .name = "i"}};
    for (unsigned i = 0; i < 2; i++)
        assert_non_null(x[i].hdr = ab_hdr_new());
    for (uint64_t ns = 1; ns <= 2000; ns++)
        ab_hdr_record(x[0].hdr, ns * 1001);
    x[0].n = 2000;
    x[0].n_over_budget = 7;
    x[0].n_scheduler = 3;
    x[0].n_calls = 2000 * 1200;
    x[0].call_ns = 20.25;
    x[0].n_worst = 2;
    x[0].worst[0] = (struct ab_iteration_time){2002000, 2000, 0};
    x[0].worst[1] = (struct ab_iteration_time){2000999, 7, 3};
    x[0].stretch = 700;
    x[0].n_stretches = 3;
    x[0].stretches[0] = 2000999;
    x[0].stretches[1] = AB_NO_TIME;
    x[0].stretches[2] = 2002000;
    f->results[0].worst[0].iteration = 9;
    x[1].budget_ns = x[1].call_ns = NAN;
    strcpy(x[1].reason, "what timing a call takes is not known");
    ab_iterations_summarise(&x[0]);
    ab_iterations_summarise(&x[1]);
    f->s.iterations = x;
    f->s.n_iterations = 2;
    assert_round_trip(&f->s);
    x[0].hdr->overflow = x[1].hdr->overflow = 30; /* more than 60 s, in no counter */
    x[0].n += 30;
    x[1].n = 30;
    ab_iterations_summarise(&x[0]);
    assert_true(isnan(x[0].max) && isnan(x[0].p99) && x[0].p50 > 1e6);
    assert_round_trip(&f->s);
    f->s.n_iterations = 0;
    free(x[0].hdr);
    free(x[1].hdr);
    fake_session_free(f);
}

/* Frees the original before the copy is written a second time. */
static void copy_golden(const char *path)
{
    struct ab_err err = {.text = ""};
    struct ab_stored stored, copy;
    if (ab_stored_read(path, &stored, &err) != AB_OK ||
        ab_stored_read_checks(path, &stored, &err) != AB_OK)
        fail_msg("%s", err.text);
    char *original = fake_capture(write_json, &stored.session, NULL);
    ab_stored_copy(&stored.session, stored.checksum, &copy);
    char *first = fake_capture(write_json, &copy.session, NULL);
    assert_string_equal(original, first);
    for (uint32_t i = 0; i < stored.session.n_results; i++)
        ab_hdr_record(stored.session.results[i].hdr, 7);
    for (uint32_t i = 0; i < stored.session.n_gates; i++)
        stored.session.gates[i].bound = -1;
    for (uint32_t i = 0; i < stored.session.n_backends; i++)
        stored.session.backends[i] = (struct ab_backend_info){.name = ""};
    ab_stored_fini(&stored);
    char *second = fake_capture(write_json, &copy.session, NULL);
    assert_string_equal(original, second);
    ab_stored_fini(&copy);
    free(original);
    free(first);
    free(second);
}

static void copies_of_stored_results_outlive_them(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/golden/results/good/*", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 6);
    for (size_t i = 0; i < found.gl_pathc; i++)
        copy_golden(found.gl_pathv[i]);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_comes_back_as_the_same_document_and_table),
        cmocka_unit_test(settings_come_back_with_the_name),
        cmocka_unit_test(an_interrupted_and_resumed_session_comes_back),
        cmocka_unit_test(a_shard_comes_back),
        cmocka_unit_test(a_session_of_several_machines_comes_back),
        cmocka_unit_test(a_session_without_rounds_comes_back),
        cmocka_unit_test(what_is_not_known_and_what_no_file_can_hold_comes_back),
        cmocka_unit_test(hostile_names_come_back_and_print_harmlessly),
        cmocka_unit_test(overflow_counts_behind_the_percentiles_after_reading_too),
        cmocka_unit_test(a_session_with_memory_comes_back),
        cmocka_unit_test(memory_over_time_comes_back),
        cmocka_unit_test(size_classes_and_windows_come_back),
        cmocka_unit_test(iterations_come_back),
        cmocka_unit_test(copies_of_stored_results_outlive_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
