/* SPDX-License-Identifier: MIT
 *
 * The document against the published schema: by a small walk of our own that wants every key to
 * be described, and by python3-jsonschema and jq where they are installed.
 */
#include "report/sinks/sinks.h"
#include "result/numbers.h"
#include "stats/check.h"

#include "result/result_fields.h"
#include "support/report_depth.h"
#include "support/report_locale.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SCHEMA "results/allocbench-2.schema.json"

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static char *json(const struct fake_session *f)
{
    return fake_capture(write_json, &f->s, NULL);
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (o == NULL)
        fail_msg("line %d: %s", error.line, error.text);
    return o;
}

/* What differs from build to build is not for a golden file. */
static char *normalised(const char *text)
{
    json_t *o = parse(text), *results = json_object_get(o, "results");
    json_t *tool = json_object_get(o, "tool");
    json_object_set_new(tool, "version", json_string("VERSION"));
    json_object_set_new(tool, "compiler", json_string("COMPILER"));
    json_object_set_new(tool, "flags", json_string("FLAGS"));
    json_object_set_new(o, "checksum", json_string("CHECKSUM"));
    for (size_t i = 0; i < json_array_size(results); i++) {
        json_t *r = json_array_get(results, i);
        const char *encoded = json_string_value(json_object_get(r, "hdr_v2"));
        assert_int_equal(strncmp(encoded, "HISTFA", 6), 0);
        json_object_set_new(r, "hdr_v2", json_string("HISTFA"));
    }
    char *dumped = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(o);
    char *with_newline = malloc(strlen(dumped) + 2);
    strcat(strcpy(with_newline, dumped), "\n");
    free(dumped);
    return with_newline;
}

static void looks_as_it_should(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = json(f), *golden = normalised(text);
    fake_assert_golden("session.json", golden);
    free(golden);
    free(text);
    fake_session_free(f);
}

static void assert_settings(const char *settings, const char *expected)
{
    struct fake_session *f = fake_session_new();
    snprintf(f->backends[0].settings, sizeof f->backends[0].settings, "%s", settings);
    char *text = json(f);
    json_t *o = parse(text);
    char *found = json_dumps(
        json_object_get(json_array_get(json_object_get(o, "backends"), 0), "settings"),
        JSON_COMPACT);
    assert_string_equal(found, expected);
    free(found);
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void settings_are_listed_one_by_one(void **state)
{
    (void)state;
    assert_settings("", "[]");
    assert_settings("keep=8", "[\"keep=8\"]");
    assert_settings("keep=8:spare=0", "[\"keep=8\",\"spare=0\"]");
    assert_settings("{M=a:0,b:1;T=x=y}", "[\"M=a:0,b:1\",\"T=x=y\"]");
    assert_settings("keep=8{A={}}", "[\"keep=8\",\"A={}\"]");
    assert_settings("{", "[]"); /* only a forged result has these */
    assert_settings("a=1{B=2", "[\"a=1\"]");
    assert_settings(":::{;}", "[]");
}

/* Every key of `value` is described and every required one is there, all the way down. */
static void assert_described(const json_t *schema, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    assert_non_null(schema);
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member)
        {
            const json_t *of = json_object_get(json_object_get(schema, "properties"), key);
            if (of == NULL)
                fail_msg("%s is not in " SCHEMA, key);
            assert_described(of, member);
        }
        json_array_foreach(json_object_get(schema, "required"), i, member)
        {
            if (json_object_get(value, json_string_value(member)) == NULL)
                fail_msg("%s is missing", json_string_value(member));
        }
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        assert_non_null(json_object_get(schema, "items"));
        json_array_foreach((json_t *)value, i, member)
        {
            assert_described(json_object_get(schema, "items"), member);
        }
    }
}

static void every_key_is_in_the_schema(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = json(f);
    json_error_t error;
    json_t *o = parse(text), *schema = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error);
    if (schema == NULL)
        fail_msg(SCHEMA ":%d: %s", error.line, error.text);
    assert_described(schema, o);
    json_decref(schema);
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void gates_and_claims_have_an_entry_each(void **state)
{
    (void)state;
    static struct ab_checked gates[] = {
        {.text = "steady/alloc/p99 < 2us",
         .place = "web.yaml:31:5",
         .backend = "glibc",
         .verdict = AB_VERDICT_FAIL,
         .effect = {.ratio = 2126.5, .low = NAN},
         .bound = 2000,
         .unit = "ns",
         .status = AB_GATE},
        {.text = "mimalloc:steady/all/p99 < 2us",
         .place = "--gate",
         .verdict = AB_VERDICT_NOT_EVALUATED,
         .effect = {.ratio = NAN, .low = NAN},
         .bound = 2000,
         .unit = "ns",
         .status = AB_CONFIG,
         .reason = "this run has no mimalloc"},
    };
    static struct ab_checked claims[] = {
        {.text = "arena:steady/all/ns_per_op = 0.5x glibc",
         .place = "web.yaml:40:5",
         .says = "",
         .source = "a book",
         .phase = "steady",
         .op = "all",
         .metric = "ns_per_op",
         .backend = "arena",
         .base_backend = "glibc",
         .bound = 0.5,
         .effect = {.ratio = NAN, .low = NAN, .high = NAN},
         .low = NAN,
         .high = NAN,
         .relative = {.ratio = NAN, .low = NAN, .high = NAN},
         .reason = "arena absent"},
    };
    struct fake_session *f = fake_session_new();
    f->s.gates = gates;
    f->s.n_gates = 2;
    f->s.claims = claims;
    f->s.n_claims = 1;
    char *text = json(f);
    json_error_t error;
    json_t *o = parse(text), *schema = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error);
    assert_described(schema, o);
    json_t *one = json_array_get(json_object_get(o, "gates"), 0);
    json_t *two = json_array_get(json_object_get(o, "gates"), 1);
    json_t *claim = json_array_get(json_object_get(o, "claims"), 0);
    assert_string_equal(json_string_value(json_object_get(one, "backend")), "glibc");
    assert_string_equal(json_string_value(json_object_get(one, "verdict")), "fail");
    assert_true(json_real_value(json_object_get(one, "value")) == 2126.5);
    assert_int_equal(json_integer_value(json_object_get(one, "exit_code")), 1);
    assert_true(json_is_null(json_object_get(two, "backend")));
    assert_true(json_is_null(json_object_get(two, "value")));
    assert_int_equal(json_integer_value(json_object_get(two, "exit_code")), 2);
    assert_true(json_is_null(json_object_get(claim, "measured")));
    assert_true(json_is_null(json_object_get(claim, "says")));
    json_decref(schema);
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void the_schema_has_every_field(void **state)
{
    (void)state;
    json_t *schema = json_load_file(SCHEMA, 0, NULL), *results, *result;
    results = json_object_get(json_object_get(schema, "properties"), "results");
    result = json_object_get(json_object_get(results, "items"), "properties");
    json_t *tail = json_object_get(json_object_get(result, "tail"), "properties");
    json_t *program = json_object_get(json_object_get(result, "program"), "properties");
    json_t *inside = json_object_get(json_object_get(result, "inside"), "properties");
    json_t *quantiles = json_object_get(json_object_get(result, "quantiles"), "properties");
    for (size_t i = 0; i < ab_field_count; i++) {
        const struct ab_field *f = &ab_fields[i];
        json_t *where = f->group == AB_FIELD_TAIL       ? tail
                        : f->group == AB_FIELD_PROGRAM  ? program
                        : f->group == AB_FIELD_INSIDE   ? inside
                        : f->group == AB_FIELD_QUANTILE ? quantiles
                                                        : result;
        if (json_object_get(where, f->json_key) == NULL)
            fail_msg("%s is not in " SCHEMA, f->name);
    }
    json_decref(schema);
}

/* `command` finds the document in $AB_TEST_FILE. */
static void run_validator(const char *text, const char *command)
{
    char path[] = "/tmp/allocbench-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    setenv("AB_TEST_FILE", path, 1);
    int status = system(command);
    unlink(path);
    assert_int_equal(status, 0);
}

static void validates_with_python_jsonschema(void **state)
{
    (void)state;
    if (system("python3 -c 'import jsonschema; jsonschema.Draft202012Validator' >/dev/null 2>&1"))
        skip();
    struct fake_session *f = fake_session_new();
    strcpy(f->backends[0].name, "=cmd()\"\033\xff");
    char *text = json(f);
    run_validator(text, "python3 -c 'import json, os, sys, jsonschema\n"
                        "s = json.load(open(\"" SCHEMA "\"))\n"
                        "v = jsonschema.Draft202012Validator\n"
                        "v.check_schema(s)\n"
                        "d = json.load(open(os.environ[\"AB_TEST_FILE\"]))\n"
                        "e = list(v(s).iter_errors(d))\n"
                        "print(*[x.message[:200] for x in e], sep=chr(10))\n"
                        "sys.exit(len(e) > 0)'");
    free(text);
    fake_session_free(f);
}

static void is_one_document_for_jq(void **state)
{
    (void)state;
    if (system("jq --version >/dev/null 2>&1"))
        skip();
    struct fake_session *f = fake_session_new();
    char *text = json(f);
    run_validator(text, "test \"$(jq -s length $AB_TEST_FILE)\" = 1");
    run_validator(text, "jq -e '[.backends[] | select(.status == \"ok\").name] as $ok | "
                        "[.results[].backend] | unique - $ok == [\"pool\"]' "
                        "$AB_TEST_FILE >/dev/null");
    free(text);
    fake_session_free(f);
}

static const json_t *result_of(const json_t *o, const char *backend, const char *phase,
                               const char *op)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(o, "results"), i, r)
    {
        if (strcmp(json_string_value(json_object_get(r, "backend")), backend) == 0 &&
            strcmp(json_string_value(json_object_get(r, "phase")), phase) == 0 &&
            strcmp(json_string_value(json_object_get(r, "op")), op) == 0)
            return r;
    }
    return NULL;
}

static void failed_back_ends_have_a_reason_and_no_results(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = json(f);
    json_t *o = parse(text);
    json_t *broken = json_array_get(json_object_get(o, "backends"), FAKE_BROKEN);
    assert_string_equal(json_string_value(json_object_get(broken, "status")), "crashed");
    assert_non_null(strstr(json_string_value(json_object_get(broken, "reason")), "SIGSEGV"));
    assert_null(result_of(o, "broken", "steady", "all"));
    assert_null(result_of(o, "broken", "drain", "free"));
    assert_non_null(result_of(o, "pool", "drain", "free"));
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void unknown_is_null_and_integers_are_exact(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    double none[3] = {NAN, INFINITY, -INFINITY};
    fake_session_set_ns(f, FAKE_GLIBC, none);
    f->s.facts.total_bytes = UINT64_MAX;
    char *text = json(f);
    assert_non_null(strstr(text, "\"seed\": 9007199254740993,"));
    assert_non_null(strstr(text, "\"governor\": null,"));
    assert_non_null(strstr(text, "\"load_1min\": null"));
    assert_non_null(strstr(text, "\"total_bytes\": null,"));
    json_t *o = parse(text);
    const json_t *all = result_of(o, "glibc", "steady", "all");
    assert_true(json_is_null(json_object_get(all, "ns_per_op")));
    const json_t *drain = result_of(o, "glibc", "drain", "free");
    assert_true(json_is_null(json_object_get(json_object_get(drain, "quantiles"), "p99.9")));
    assert_true(json_is_null(json_object_get(drain, "tail")));
    assert_null(json_object_get(drain, "ns_per_op"));
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void histograms_come_back_as_they_were(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = json(f);
    json_t *o = parse(text);
    struct ab_hdr *back = calloc(1, sizeof *back);
    struct ab_err err;
    const json_t *r = json_array_get(json_object_get(o, "results"), 0);
    const char *encoded = json_string_value(json_object_get(r, "hdr_v2"));
    assert_int_equal(ab_hdr_decode(encoded, back, &err), AB_OK);
    assert_memory_equal(back->counts, f->results[0].hdr->counts, sizeof back->counts);
    free(back);
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void memory_is_described_and_unknown_numbers_are_null(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_timeline_point points[] = {{0, 0, NAN, 4096, NAN}, {7, 1e6, NAN, 2e6, 1e3}};
    struct ab_timeline lines[] = {{FAKE_JEMALLOC, 2, 2, points}, {FAKE_COUNT, 0, 2, points}};
    struct ab_memory records[] = {{.backend = FAKE_JEMALLOC,
                                   .phase = "churn",
                                   .round = 2,
                                   .at = AB_AT_LIVE_PEAK,
                                   .position = 7,
                                   .live_bytes = 1e6,
                                   .internal_bytes = NAN,
                                   .external_ratio = 0.25,
                                   .drained_bytes = {1, 2, NAN, NAN, 0},
                                   .reason = "internal: no usable_size"},
                                  {.backend = FAKE_SCUDO, .phase = "churn"}};
    f->s.memory = records;
    f->s.n_memory = 2; /* scudo is absent: it has no numbers */
    f->s.timelines = lines;
    f->s.n_timelines = 2;
    struct ab_over_time row = {.backend = FAKE_GLIBC,
                               .phase = "churn",
                               .time_ns = 1000000000,
                               .idle = AB_IDLE_END,
                               .live_bytes = 5,
                               .resident_bytes = 9,
                               .external_bytes = NAN,
                               .retained_bytes = NAN,
                               .lazyfree_bytes = NAN};
    f->s.over_time = &row;
    f->s.n_over_time = 1;
    char *text = json(f);
    json_error_t error;
    json_t *o = parse(text), *schema = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error);
    assert_described(schema, o);
    const json_t *memory = json_object_get(o, "memory"), *m = json_array_get(memory, 0);
    assert_int_equal(json_array_size(memory), 1);
    assert_string_equal(json_string_value(json_object_get(m, "at")), "live_peak");
    assert_string_equal(json_string_value(json_object_get(m, "reason")),
                        "internal: no usable_size");
    assert_true(json_is_null(json_object_get(m, "internal_bytes")));
    assert_true(json_real_value(json_object_get(m, "external_ratio")) == 0.25);
    assert_int_equal(json_integer_value(json_object_get(m, "live_bytes")), 1000000);
    const json_t *drained = json_object_get(m, "drained_bytes");
    assert_int_equal(json_integer_value(json_object_get(drained, "0.1s")), 2);
    assert_true(json_is_null(json_object_get(drained, "10s")));
    const json_t *over_time = json_array_get(json_object_get(o, "memory_over_time"), 0);
    assert_string_equal(json_string_value(json_object_get(over_time, "idle")), "end");
    assert_int_equal(json_integer_value(json_object_get(over_time, "resident_bytes")), 9);
    const json_t *growth = json_array_get(json_object_get(o, "growth"), 0);
    assert_string_equal(json_string_value(json_object_get(growth, "backend")), "glibc");
    assert_true(json_is_null(json_object_get(growth, "verdict")));
    assert_string_equal(json_string_value(json_object_get(growth, "reason")),
                        "the work is too short");
    const json_t *timelines = json_object_get(o, "timelines");
    assert_int_equal(json_array_size(timelines), 1);
    const json_t *point = json_array_get(json_object_get(json_array_get(timelines, 0), "points"),
                                         1);
    assert_int_equal(json_integer_value(json_array_get(point, 0)), 7);
    assert_true(json_is_null(json_array_get(point, 2)));
    assert_int_equal(json_integer_value(json_array_get(point, 3)), 2000000);
    json_decref(schema);
    json_decref(o);
    free(text);
    fake_session_free(f);
}

static void size_classes_and_windows_are_described_and_unknown_numbers_are_null(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    json_error_t error;
    char *text = fake_capture(write_json, &d->f->s, NULL);
    json_t *o = parse(text), *schema = json_load_file(SCHEMA, JSON_REJECT_DUPLICATES, &error);
    assert_described(schema, o);
    const json_t *classes = json_object_get(o, "size_classes"), *c = json_array_get(classes, 1);
    assert_int_equal(json_array_size(classes), 3 * 2 * 3); /* the back end that crashed has none */
    assert_string_equal(json_string_value(json_object_get(c, "op")), "alloc");
    assert_int_equal(json_integer_value(json_object_get(c, "le_bytes")), 128);
    assert_int_equal(json_integer_value(json_object_get(c, "n")), 1500);
    assert_int_equal(json_integer_value(json_object_get(c, "p50")), 58);
    assert_true(json_is_null(json_object_get(c, "p99.9")));
    assert_int_equal(json_integer_value(json_object_get(c, "max")), 5061);
    assert_true(json_is_null(json_object_get(json_array_get(classes, 2), "le_bytes"))); /* 2^64 */
    const json_t *windows = json_object_get(o, "windows"), *w = json_array_get(windows, 0);
    assert_int_equal(json_array_size(windows), 3 * 2 * FAKE_WINDOWS);
    assert_true(json_is_null(json_object_get(w, "p99")));
    assert_int_equal(json_integer_value(json_object_get(w, "end")), 1000);
    json_decref(schema);
    json_decref(o);
    free(text);
    fake_depth_free(d);
}

static void hostile_strings_stay_strings(void **state)
{
    static const struct {
        const char *name, *read_back;
    } cases[] = {
        {"=cmd()", "=cmd()"},           {"\"},{\"x\":\"", "\"},{\"x\":\""},
        {"\033[2J\n\\", "\033[2J\n\\"}, {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xff\xfe", "\\xff\\xfe"},     {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_session *f = fake_session_new();
        strcpy(f->backends[0].name, cases[i].name);
        char *text = json(f);
        for (const char *c = text; *c != 0; c++)
            assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
        json_t *o = parse(text);
        assert_non_null(result_of(o, cases[i].read_back, "steady", "all"));
        json_decref(o);
        free(text);
        fake_session_free(f);
    }
}

static void is_the_same_in_every_locale(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *before = json(f);
    if (!fake_german_locale()) {
        print_message("no German locale and no localedef: not tested\n");
        skip();
    }
    char *after = json(f);
    setlocale(LC_ALL, "C");
    assert_string_equal(before, after);
    free(before);
    free(after);
    fake_session_free(f);
}

static void an_empty_session_is_a_document_too(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_session empty = {.cpu = -1};
    f->s = empty;
    char *text = json(f);
    json_t *o = parse(text);
    assert_int_equal(json_array_size(json_object_get(o, "results")), 0);
    assert_true(json_is_false(json_object_get(o, "complete")));
    json_decref(o);
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_as_it_should),
        cmocka_unit_test(settings_are_listed_one_by_one),
        cmocka_unit_test(every_key_is_in_the_schema),
        cmocka_unit_test(gates_and_claims_have_an_entry_each),
        cmocka_unit_test(the_schema_has_every_field),
        cmocka_unit_test(validates_with_python_jsonschema),
        cmocka_unit_test(is_one_document_for_jq),
        cmocka_unit_test(failed_back_ends_have_a_reason_and_no_results),
        cmocka_unit_test(unknown_is_null_and_integers_are_exact),
        cmocka_unit_test(histograms_come_back_as_they_were),
        cmocka_unit_test(memory_is_described_and_unknown_numbers_are_null),
        cmocka_unit_test(size_classes_and_windows_are_described_and_unknown_numbers_are_null),
        cmocka_unit_test(hostile_strings_stay_strings),
        cmocka_unit_test(is_the_same_in_every_locale),
        cmocka_unit_test(an_empty_session_is_a_document_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
