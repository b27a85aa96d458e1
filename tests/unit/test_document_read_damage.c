/* SPDX-License-Identifier: MIT
 *
 * Results that were changed since they were written: what is no result is refused with its place;
 * keys that are not known, or that came later, do no harm.
 * tests: stored_reader.c
 */
#include "document/read_result.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "core/text.h"
#include "report/sinks/sinks.h"
#include "support/report_depth.h"
#include "support/stored_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static char *fake_document(void)
{
    struct fake_session *f = fake_session_new();
    char *json = fake_capture(write_json, &f->s, NULL);
    fake_session_free(f);
    return json;
}

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
    {"config.kind", "\"library\"",
     "config.kind: is unknown: \"library\"; one of workload, trace, exec"},
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
     "timer.null[0].boundary: is unknown: \"heep\"; one of malloc, heap, inline, cursor, routed; did you mean heap?"},
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

static void time_of_the_work_does_not_run_back(void **state)
{
    (void)state;
#define ROW(time, idle) \
    "{\"backend\": \"glibc\", \"phase\": \"drain\", \"round\": 2, \"time_ns\": " time \
    ", \"position\": null, \"idle\": " idle ", \"live_bytes\": 1, \"resident_bytes\": null, " \
    "\"external_bytes\": null, \"retained_bytes\": null, \"lazyfree_bytes\": null}"
    static const struct damage rows[] = {
        {"memory_over_time", "[" ROW("9", "null") ", " ROW("8", "\"begin\"") "]",
         "memory_over_time[1].time_ns: is before that of the row above it"},
        {"memory_over_time", "[" ROW("9", "\"middle\"") "]", "memory_over_time[0].idle"},
        {"memory_over_time", "[" ROW("-1", "null") "]", "memory_over_time[0].time_ns"},
    };
    char *document = fake_document();
    for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
        struct ab_err err = {.text = ""};
        struct ab_stored stored;
        char *text = damaged(document, &rows[i]);
        assert_int_equal(read_text(text, strlen(text), &stored, &err), AB_INPUT);
        if (strstr(err.text, rows[i].message) == NULL)
            fail_msg("no \"%s\" in: %s", rows[i].message, err.text);
        free(text);
    }
    free(document);
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
        cmocka_unit_test(each_damage_is_named_with_its_place),
        cmocka_unit_test(keys_that_are_not_known_are_passed_over),
        cmocka_unit_test(what_the_memory_pass_wrote_is_read),
        cmocka_unit_test(time_of_the_work_does_not_run_back),
        cmocka_unit_test(damaged_size_classes_and_windows_are_named_with_their_place),
        cmocka_unit_test(keys_that_came_later_may_be_missing),
        cmocka_unit_test(what_is_not_json_is_refused_with_line_and_column),
        cmocka_unit_test(depth_bombs_are_refused),
        cmocka_unit_test(every_cut_is_refused_or_whole),
        cmocka_unit_test(what_is_no_regular_file_or_too_long_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
