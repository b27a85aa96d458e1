/* SPDX-License-Identifier: MIT
 *
 * Results read back: the same document comes out that went in; and what is no result is refused
 * with its place.
 */
#include "report/read/read_result.h"
#include "result/session.h"

#include "base/bits.h"
#include "core/text.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/result_fields.h"
#include "support/report_depth.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    assert_true(ab_sink_json(to, s));
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

/* Reads `text` as a file. */
static enum ab_status read_text(const char *text, size_t n, struct ab_stored *out,
                                struct ab_err *err)
{
    char path[64];
    int fd = memfd_create("result", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum ab_status status = ab_stored_read(path, out, err);
    close(fd);
    return status;
}

/* session → JSON → session → JSON; the first document must be the second, and tables made of both
 * sessions the same. */
static void assert_round_trip(struct ab_session *s)
{
    static void (*const writers[])(FILE *, const struct ab_session *, void *) = {
        write_json, write_table, write_csv, write_hist, write_timeline};
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
        r->worst[0] = (struct ab_worst_op){x, UINT32_MAX, n};
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

static char *fake_document(void)
{
    struct fake_session *f = fake_session_new();
    char *json = fake_capture(write_json, &f->s, NULL);
    fake_session_free(f);
    return json;
}

/* ---- what is refused ---- */

struct damage {
    const char *path;  /* dots and numbers: "results.0.hdr_v2" */
    const char *value; /* JSON; NULL = taken out */
    const char *message;
};

static const struct damage damages[] = {
    {"schema", "\"allocbench/1\"", "schema: is \"allocbench/1\", of an older allocbench"},
    {"schema", "\"allocbench/3\"", "schema: is \"allocbench/3\", this build"},
    {"schema", "\"other/1\"", "schema: is \"other/1\", must be allocbench/2"},
    {"schema", "1", "is not an allocbench result"},
    {"schema", NULL, "is not an allocbench result"},
    {"complete", NULL, "complete: is missing"},
    {"complete", "1", "complete: is a whole number, must be true or false"},
    {"seed", "-1", "seed: is -1, must be between 0 and 9223372036854775807"},
    {"seed", "1.5", "seed: is a number, must be a whole number or null"},
    {"tool", "[]", "tool: is an array, must be an object"},
    {"tool.version", "5", "tool.version: is a whole number, must be a string or null"},
    {"config", NULL, "config: is missing"},
    {"config.tape_sha256", NULL, "config.tape_sha256: is missing"},
    {"config.phases", "{}", "config.phases: is an object, must be an array"},
    {"config.phases.1", "7", "config.phases[1]: must be a string"},
    {"config.phases.1", "\"else\"", "\"drain\" is not among config.phases"},
    {"config.tape.kinds.0", "\"mallok\"", "config.tape.kinds[0]: must be the name of an op"},
    {"config.cpu", "4294967296", "config.cpu: is 4294967296, must be between 0 and 2147483647"},
    {"config.cpus", "[0, -1]", "config.cpus[1]: must be the number of a CPU"},
    {"config.order", "\"loose\"", "config.order: is unknown: \"loose\"; one of free, strict"},
    {"config.shard", "\"5/4\"", "config.shard: must be a part of a number, such as \"1/4\""},
    {"config.shard", "\"1/4 \"", "config.shard: must be a part of a number"},
    {"config.shard", "\"0/4\"", "config.shard: must be a part of a number"},
    {"config.shard", "\"1/10001\"", "config.shard: must be a part of a number"},
    {"config.shard", "4", "config.shard: is a whole number, must be a string or null"},
    {"config.parts", "[{}]", "config.parts[0].file: is missing"},
    {"config.parts",
     "[{\"file\": \"a\", \"sha256\": null, \"shard\": null, \"host\": 1, \"n_rounds\": 1}]",
     "config.parts[0].host is not among the hosts"},
    {"hosts", "{}", "hosts: is an object, must be an array"},
    {"hosts", "[{}]", "hosts[0].fingerprint: is missing"},
    {"rounds.1.host", "1", "rounds[1].host: is not among the hosts"},
    {"host.name", "7", "host.name: is a whole number, must be a string or null"},
    {"host.fingerprint", NULL, "host.fingerprint: is missing"},
    {"host.load_1min", "\"nan\"", "host.load_1min: is a string, must be a number or null"},
    {"host.aslr", "\"0123456789012345\"", "host.aslr: has 16 bytes, at most 15 are allowed"},
    {"timer.null.0.boundary", "\"heep\"",
     "timer.null[0].boundary: is unknown: \"heep\"; one of malloc, heap, inline; did you mean heap?"},
    {"timer.null.3.round", "3", "timer.null[3].round: no round has this index"},
    {"backends.1.name", "\"glibc\"", "backends[1]: has the name of backends[0]"},
    {"backends.1.name", "null", "backends[1]: has no name"},
    {"backends.2.status", "\"fine\"", "backends[2].status: is unknown: \"fine\""},
    {"backends.2.never_frees", "null", "backends[2].never_frees: is null, must be true or false"},
    {"backends.3", "null", "backends[3]: is null, must be an object"},
    {"rounds.1.index", "0", "rounds[1]: index 0 is not ascending"},
    {"rounds.0.order.1", "\"glibc\"", "rounds[0].order[1]: ran twice in its round"},
    {"rounds.0.order.1", "\"gl\\u001bibc\"",
     "rounds[0].order[1]: \"gl\\x1bibc\" is not among the back ends"},
    {"results", NULL, "results: is missing"},
    {"results.4", "[]", "results[4]: is an array, must be an object"},
    {"results.0.backend", "\"jemallok\"", "results[0].backend: \"jemallok\" is not among the back"},
    {"results.0.backend", "0", "results[0].backend: is a whole number, must be a string or null"},
    {"results.0.op", "\"malloc\"", "results[0].op: is unknown: \"malloc\"; one of alloc, "},
    {"results.0.round", "99", "results[0].round: no round has this index"},
    {"results.0.round", "1", "is a second result for glibc, phase steady, op alloc, round 1"},
    {"results.0.n", "19999", "results[0].n: is 19999, but hdr_v2 holds 20000 values"},
    {"results.0.hdr_v2", "\"HISTFAAA\"", "results[0].hdr_v2: "},
    {"results.0.hdr_v2", "null", "results[0].hdr_v2: "},
    {"results.0.quantiles.p50", "[]", "results[0].quantiles.p50: is an array"},
    {"results.0.quantiles.p99", NULL, "results[0].quantiles.p99: is missing"},
    {"results.3.ns_per_op", NULL, "results[3].ns_per_op: is missing"},
    {"memory", NULL, "memory: is missing"},
    {"memory", "[{}]", "memory[0].backend: is missing"},
    {"timelines", "[{\"backend\": \"glibc\", \"round\": 0, \"points\": [[0, 1, 2]]}]",
     "timelines[0].points[0]: must be a position and three numbers"},
    {"timelines", "[{\"backend\": \"glibc\", \"round\": 0, \"points\": [[-1, 1, 2, 3]]}]",
     "timelines[0].points[0]: must be a position and three numbers"},
    {"timelines", "[{\"backend\": \"glibc\", \"round\": 0, \"points\": [[0, 1, 2, \"3\"]]}]",
     "timelines[0].points[0]: must be a position and three numbers"},
    {"timelines",
     "[{\"backend\": \"glibc\", \"round\": 0, \"points\": [[5, 1, 2, 3], [4, 1, 2, 3]]}]",
     "timelines[0].points[1]: position 4 is not ascending"},
    {"results.3.tail.n", "0", "results[3].tail: has no ops"},
    {"results.3.tail.worst", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
     "results[3].tail.worst: has 17 entries, at most 16 are allowed"},
};

/* The parent of what `path` names; its last step goes to `last`. */
static json_t *walk(json_t *o, const char *path, char last[64])
{
    for (;;) {
        size_t n = strcspn(path, ".");
        snprintf(last, 64, "%.*s", (int)n, path);
        if (path[n] == 0)
            return o;
        o = json_is_array(o) ? json_array_get(o, strtoul(last, NULL, 10))
                             : json_object_get(o, last);
        assert_non_null(o);
        path += n + 1;
    }
}

static char *damaged(const char *document, const struct damage *d)
{
    char last[64];
    json_t *root = json_loads(document, 0, NULL), *parent = walk(root, d->path, last);
    json_t *value = d->value == NULL ? NULL : json_loads(d->value, JSON_DECODE_ANY, NULL);
    if (d->value == NULL)
        assert_int_equal(json_object_del(parent, last), 0);
    else if (json_is_array(parent))
        assert_int_equal(json_array_set_new(parent, strtoul(last, NULL, 10), value), 0);
    else
        assert_int_equal(json_object_set_new(parent, last, value), 0);
    char *text = json_dumps(root, 0);
    json_decref(root);
    return text;
}

static void each_damage_is_named_with_its_place(void **state)
{
    (void)state;
    char *document = fake_document();
    for (size_t i = 0; i < AB_ARRAY_LEN(damages); i++) {
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        char *text = damaged(document, &damages[i]);
        assert_int_equal(read_text(text, strlen(text), &stored, &err), AB_INPUT);
        if (strstr(err.text, damages[i].message) == NULL)
            fail_msg("%s: no \"%s\" in: %s", damages[i].path, damages[i].message, err.text);
        free(text);
    }
    free(document);
}

static void keys_that_are_not_known_are_passed_over(void **state)
{
    (void)state;
    static const struct damage more[] = {{"future", "{\"a\": [1]}", ""},
                                         {"results.0.future", "1e300", ""},
                                         {"backends.0.future", "null", ""}};
    char *document = fake_document();
    for (size_t i = 0; i < AB_ARRAY_LEN(more); i++) {
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        char *text = damaged(document, &more[i]);
        if (read_text(text, strlen(text), &stored, &err) != AB_OK)
            fail_msg("%s", err.text);
        ab_stored_fini(&stored);
        free(text);
    }
    free(document);
}

#define MEMORY \
    "{\"backend\": \"arena\", \"phase\": \"drain\", \"round\": 1, \"at\": \"live_peak\", " \
    "\"position\": 77, \"live_bytes\": 4096, \"internal_bytes\": null, " \
    "\"external_bytes\": 4000, \"retained_bytes\": 4192, \"footprint_bytes\": 12288, " \
    "\"discrepancy_bytes\": 0, \"requested_bytes\": 3, \"untouched_bytes\": 3, " \
    "\"baseline_bytes\": 3, \"usable_bytes\": 3, \"external_2m_bytes\": null, " \
    "\"live_peak_bytes\": 4096, \"rss_peak_bytes\": 3, \"overhead_peak\": 3, " \
    "\"overhead\": 3, \"overhead_mean\": 3, \"internal_ratio\": 3, \"external_ratio\": 0.25, " \
    "\"retained_ratio\": 3, \"external_2m_ratio\": 3, \"faults_minor\": 3, " \
    "\"faults_major\": 3, \"allocated_bytes\": 3, \"mapped_bytes\": 3, " \
    "\"drained_bytes\": {\"0s\": 4096, \"0.1s\": 0, \"1s\": null, \"10s\": null, \"purge\": 0}, " \
    "\"reason\": \"internal: no usable_size\"}"

static void what_the_memory_pass_wrote_is_read(void **state)
{
    (void)state;
    const struct damage memory = {"memory", "[" MEMORY "]", ""};
    const struct damage lines = {
        "timelines",
        "[{\"backend\": \"glibc\", \"round\": 2, \"points\": [[0, 1, null, 4096], [9, 2, 3, 8192]]}]",
        ""};
    struct ab_err err = {.text = ""};
    struct ab_stored stored;
    char *document = fake_document(), *half = damaged(document, &memory);
    char *text = damaged(half, &lines);
    if (read_text(text, strlen(text), &stored, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(stored.session.n_memory, 1);
    const struct ab_memory *m = stored.session.memory;
    assert_int_equal(m->backend, FAKE_ARENA);
    assert_string_equal(m->phase, "drain");
    assert_int_equal(m->at, AB_AT_LIVE_PEAK);
    assert_int_equal(m->position, 77);
    assert_true(m->footprint_bytes == 12288 && m->external_ratio == 0.25 &&
                isnan(m->internal_bytes));
    assert_true(m->drained_bytes[0] == 4096 && isnan(m->drained_bytes[2]));
    assert_string_equal(m->reason, "internal: no usable_size");
    assert_int_equal(stored.session.n_timelines, 1);
    const struct ab_timeline *t = stored.session.timelines;
    assert_int_equal(t->n, 2);
    assert_int_equal(t->points[1].position, 9);
    assert_true(isnan(t->points[0].usable_bytes) && t->points[1].footprint_bytes == 8192);
    ab_stored_fini(&stored);
    free(document);
    free(half);
    free(text);
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

static void size_classes_and_windows_come_back(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    assert_round_trip(&d->f->s);
    fake_depth_free(d);
}

static void damaged_size_classes_and_windows_are_named_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } wrong[] = {
        {"\"le_bytes\": 16,", "\"le_bytes\": 17,", "size_classes[0].le_bytes: must be a power of"},
        {"\"n\": 1500,", "\"n\": 1501,", "size_classes[0].n: is 1501, but hdr_v2 holds 1500"},
        {"\"begin\": 1000,", "\"begin\": 9000,", "windows[1].end: is before its begin"},
        {"\"begin\": 0,", "\"begin\": -1,", "windows[0].begin: "},
        {"\"metric\": \"overhead\",", "\"metric\": \"overheat\",",
         "memory_distributions[0].metric: "},
        {"\"n_samples\": 1000,", "\"n_samples\": 4001,",
         "memory_distributions[0].n: does not go with"},
        {"\"n_ops\": 4000,", "\"n_ops\": 3999,", "memory_distributions[0].n: does not go with"},
        {"\"n\": 4000,", "\"n\": 3990,",
         "memory_distributions[0].n: is 3990, but hdr_v2 holds 4000"},
        {"\"9:600,200,0", "\"9:601,200,0", "windows[0].counts: add up to 901, but n is 900"},
        {"\"9:600,", "\"9,600,", "windows[0].counts: must be BIN:COUNT"},
        {"\"9:600,", "\"59:600,", "windows[0].counts: must be BIN:COUNT"},
        {"\"9:600,", "\"9:-600,", "windows[0].counts: must be BIN:COUNT"},
        {"\"9:600,", "\"9:9999999999,", "windows[0].counts: must be BIN:COUNT"},
        {"\"le_bytes\": 16,\n        \"le_calls\": null", "\"le_bytes\": 1, \"le_calls\": 1",
         "trace_overview.blocks[1]: is of a class that was there before"},
        {"\"le_calls\": null", "\"le_calls\": 3",
         "trace_overview.blocks[1].le_calls: must be a power of two"},
        {"\"le_calls\": 1,", "\"le_calls\": 281474976710656,",
         "trace_overview.blocks[0].le_calls: must be a power of two up to 2^47"},
        {"\"high\": [", "\"high\": [1, ", "trace_overview.live.high"},
        {"\"freed_by\": [", "\"freed_by\": [-1, ", "trace_overview.threads[0].freed_by"},
        {"\"thread\": 0,", "\"thread\": null,", "trace_overview.threads[0]: has no thread"},
        {"\"external\": [", "\"external\": [1, ",
         "timelines[0].external: must be one number a point"},
        {"\"external\": [", "\"external\": [\"\", ",
         "timelines[0].external: must be one number a point"},
    };
    struct fake_depth *d = fake_depth_new();
    char *text = fake_capture(write_json, &d->f->s, NULL);
    for (size_t i = 0; i < AB_ARRAY_LEN(wrong); i++) {
        struct ab_text whole = {0};
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        char *at = strstr(text, wrong[i].from);
        assert_non_null(at);
        ab_text_addf(&whole, "%.*s%s%s", (int)(at - text), text, wrong[i].to,
                     at + strlen(wrong[i].from));
        assert_int_equal(read_text(whole.s, whole.n, &stored, &err), AB_INPUT);
        if (strstr(err.text, wrong[i].message) == NULL)
            fail_msg("no \"%s\" in: %s", wrong[i].message, err.text);
        ab_text_fini(&whole);
    }
    free(text);
    fake_depth_free(d);
}

/* What the first version of allocbench/2 did not write. */
static void keys_that_came_later_may_be_missing(void **state)
{
    (void)state;
    static const char *const later[] = {
        "config.resumed_from",    "config.cpus",
        "backends.0.has_reset",   "results.3.background_cpu_ns_per_op",
        "results.3.wait_percent", "memory_distributions",
        "config.shard",           "host.name",
        "trace_overview"};
    char *document = fake_document();
    for (size_t i = 0; i < AB_ARRAY_LEN(later); i++) {
        struct damage without = {later[i], NULL, ""};
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        char *text = damaged(document, &without);
        if (read_text(text, strlen(text), &stored, &err) != AB_OK)
            fail_msg("%s", err.text);
        ab_stored_fini(&stored);
        free(text);
    }
    free(document);
}

static void assert_refused(const char *text, size_t n, const char *message)
{
    struct ab_err err = {.text = ""};
    struct ab_stored stored;
    assert_int_equal(read_text(text, n, &stored, &err), AB_INPUT);
    if (strstr(err.text, message) == NULL)
        fail_msg("no \"%s\" in: %s", message, err.text);
}

static void what_is_not_json_is_refused_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } texts[] = {
        {"", ":1:0: not valid JSON"},
        {"{\"schema\": \"allocbench/2\",\n \"seed\": NaN}", ":2:1"},
        {"{\"schema\": \"allocbench/2\",\n \"seed\": inf}", ":2:1"},
        {"{\"seed\": 1e999}", "not valid JSON: real number overflow"},
        {"{\"seed\": 99999999999999999999}", "not valid JSON: too big integer"},
        {"{\"seed\": 1, \"seed\": 2}", "not valid JSON: duplicate object key"},
        {"{\"a\": \"\\u0000\"}", "not valid JSON: \\u0000 is not allowed"},
        {"{\"a\": \"\x1b\"}", "not valid JSON: control character 0x1b"},
        {"{\"a\": \"\xff\"}", "not valid JSON: unable to decode byte 0xff"},
        {"{} {}", "not valid JSON: end of file expected"},
        {"run,round,order,backend", "not valid JSON"},
        {"[]", "is not an allocbench result: not an object"},
        {"{}", "is not an allocbench result: it has no \"schema\": \"allocbench/2\""},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++)
        assert_refused(texts[i].text, strlen(texts[i].text), texts[i].message);
}

static void depth_bombs_are_refused(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    char *text = malloc(DEPTH);
    memset(text, '[', DEPTH);
    assert_refused(text, DEPTH, "maximum parsing depth reached");
    free(text);
}

static void every_cut_is_refused_or_whole(void **state)
{
    (void)state;
    char *document = fake_document();
    size_t n = strlen(document);
    for (size_t cut = 0; cut + 2 < n; cut += n / 200 + 1)
        assert_refused(document, cut, "not valid JSON");
    free(document);
}

static void what_is_no_regular_file_or_too_long_is_refused_at_once(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_stored stored;
    char path[64];
    assert_int_equal(ab_stored_read("/nowhere/at all", &stored, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "cannot read '/nowhere/at all': No such file"));
    assert_int_equal(ab_stored_read("/", &stored, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(ab_stored_read("/dev/zero", &stored, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "not a regular file"));
    int fd = memfd_create("huge", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 1 << 30), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(ab_stored_read(path, &stored, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "is larger than 256 MiB, the most that can be read"));
    close(fd);
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
        cmocka_unit_test(each_damage_is_named_with_its_place),
        cmocka_unit_test(keys_that_are_not_known_are_passed_over),
        cmocka_unit_test(what_the_memory_pass_wrote_is_read),
        cmocka_unit_test(a_session_with_memory_comes_back),
        cmocka_unit_test(size_classes_and_windows_come_back),
        cmocka_unit_test(damaged_size_classes_and_windows_are_named_with_their_place),
        cmocka_unit_test(keys_that_came_later_may_be_missing),
        cmocka_unit_test(what_is_not_json_is_refused_with_line_and_column),
        cmocka_unit_test(depth_bombs_are_refused),
        cmocka_unit_test(every_cut_is_refused_or_whole),
        cmocka_unit_test(what_is_no_regular_file_or_too_long_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
