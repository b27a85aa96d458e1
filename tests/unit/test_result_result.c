/* SPDX-License-Identifier: MIT */
/* tests: result_fields.c */
#include "result/numbers.h"
#include "result/result.h"

#include "base/bits.h"
#include "result/result_fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ab_hdr *counting_hdr(uint64_t n)
{
    struct ab_hdr *h = calloc(1, sizeof *h);
    assert_non_null(h);
    ab_hdr_init(h);
    for (uint64_t i = 1; i <= n; i++)
        ab_hdr_record(h, i * 1000 / n);
    return h;
}

static void a_percentile_needs_ten_samples_behind_it(void **state)
{
    static const struct {
        uint64_t n;
        double q;
        bool exists;
    } cases[] = {
        {0, 0.5, false},        {19, 0.5, false},     {20, 0.5, true},      {99, 0.9, false},
        {100, 0.9, true},       {999, 0.99, false},   {1000, 0.99, true},   {1999, 0.995, false},
        {2000, 0.995, true},    {9999, 0.999, false}, {10000, 0.999, true}, {99999, 0.9999, false},
        {100000, 0.9999, true},
    };
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        struct ab_hdr *h = counting_hdr(cases[i].n);
        double value = ab_result_quantile(h, cases[i].q);
        if (isnan(value) == cases[i].exists)
            fail_msg("n = %u, q = %g: %g", (unsigned)cases[i].n, cases[i].q, value);
        free(h);
    }
}

static void quantiles_are_those_of_the_histogram(void **state)
{
    (void)state;
    struct ab_hdr *h = counting_hdr(100000);
    for (size_t i = 0; i < AB_QUANTILE_COUNT; i++)
        assert_true(ab_result_quantile(h, ab_quantile_values[i]) ==
                    (double)ab_hdr_quantile(h, ab_quantile_values[i]));
    free(h);
}

static void what_overflowed_is_above_every_percentile(void **state)
{
    (void)state;
    struct ab_hdr *h = counting_hdr(1000);
    h->overflow = 1000; /* half of all: the median is now the slowest that was recorded */
    assert_true(ab_result_quantile(h, 0.5) == 1000);
    assert_true(ab_result_quantile(h, 0.25) == 500);
    assert_true(isnan(ab_result_quantile(h, 0.9)));
    free(h);
}

static void names_are_frozen(void **state)
{
    static const char *const statuses[] = {
        "ok",           "partial", "crashed",       "timeout",  "oom", "wrong_library",
        "failed_check", "absent",  "nonconforming", "decorated"};
    static const char *const ops[] = {"alloc", "alloc_zeroed", "alloc_aligned", "resize",
                                      "free",  "reset",        "access",        "all"};
    (void)state;
    for (unsigned i = 0; i < AB_ARRAY_LEN(statuses); i++)
        assert_string_equal(ab_backend_status_name((enum ab_backend_status)i), statuses[i]);
    for (unsigned i = 0; i < AB_ARRAY_LEN(ops); i++)
        assert_string_equal(ab_result_op_name(i), ops[i]);
    assert_int_equal(AB_OP_ALL, AB_ARRAY_LEN(ops) - 1);
}

static void only_ok_and_what_stands_aside_have_numbers(void **state)
{
    (void)state;
    for (unsigned i = AB_BACKEND_OK; i <= AB_BACKEND_DECORATED; i++) {
        bool is_aside = i == AB_BACKEND_PARTIAL || i >= AB_BACKEND_NONCONFORMING;
        assert_int_equal(ab_backend_status_is_aside((enum ab_backend_status)i), is_aside);
        assert_int_equal(ab_backend_status_has_numbers((enum ab_backend_status)i),
                         is_aside || i == AB_BACKEND_OK);
    }
}

static const struct ab_field *field_named(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    fail_msg("no field %s", name);
    return NULL;
}

static void fields_have_names_of_their_own_and_all_quantiles(void **state)
{
    (void)state;
    struct ab_result r = {.op = AB_OP_ALL};
    for (size_t i = 0; i < ab_field_count; i++) {
        assert_ptr_equal(field_named(ab_fields[i].name), &ab_fields[i]);
        assert_true(ab_fields[i].doc[0] != 0 && ab_fields[i].unit[0] != 0);
    }
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++) {
        r.quantiles[q] = 100.0 + q;
        assert_true(ab_field_f64(field_named(ab_quantile_names[q]), &r) == 100.0 + q);
    }
    assert_string_equal(field_named("tail_over_1us")->json_key, "over_1us");
}

static void names_of_the_user_are_one_field_each_in_all_results(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
    } of[] = {{"p99_ms", "ms"},
              {"heap_bytes", "bytes"},
              {"requests_per_s", "number"},
              {"missed_percent_", "number"},
              {"s", "number"},
              {"took_s", "s"}};
    struct ab_result r = {.op = AB_OP_ALL, .wall_ns = 1};
    ab_fields_forget_all(&r);
    assert_null(ab_named_field("9", AB_FIELD_LOWER));
    assert_null(ab_named_field("a\033b", AB_FIELD_LOWER));
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const struct ab_field *f = ab_named_field(of[i].name, AB_FIELD_LOWER);
        assert_string_equal(f->unit, of[i].unit);
        assert_ptr_equal(ab_named_field(of[i].name, AB_FIELD_LOWER), f);
        assert_false(ab_field_exists(f, &r));
        r.named[ab_named_slot(f)] = 5 + (double)i;
        assert_true(ab_field_f64(f, &r) == 5 + (double)i);
    }
    const struct ab_field *other = ab_named_field("p99_ms", AB_FIELD_HIGHER);
    assert_true(other != ab_named_field("p99_ms", AB_FIELD_LOWER));
    char name[] = "x0";
    for (size_t n = sizeof of / sizeof of[0] + 1; n < AB_NAMED_MAX; n++, name[1]++)
        assert_non_null(ab_named_field(name, AB_FIELD_LOWER));
    assert_null(ab_named_field("one_too_many", AB_FIELD_LOWER));
    assert_non_null(ab_named_field("took_s", AB_FIELD_LOWER));
    assert_null(ab_named_field("", AB_FIELD_LOWER));
}

static void fields_exist_where_they_were_measured(void **state)
{
    (void)state;
    struct ab_result r = {.op = AB_OP_FREE, .ns_per_op = 3, .max = NAN};
    assert_false(ab_field_exists(field_named("ns_per_op"), &r));
    assert_false(ab_field_exists(field_named("max"), &r));
    assert_false(ab_field_exists(field_named("tail_n"), &r));
    r.op = AB_OP_ALL;
    r.tail_n = 7;
    assert_true(ab_field_exists(field_named("ns_per_op"), &r));
    assert_true(ab_field_exists(field_named("tail_over_100us"), &r));
    assert_int_equal(ab_field_u64(field_named("tail_n"), &r), 7);
    assert_true(ab_field_exists(field_named("faults_minor"), &r));
    r.faults_minor = UINT64_MAX; /* null in a stored result */
    assert_false(ab_field_exists(field_named("faults_minor"), &r));
}

/* Bins meet, and a value is in the bin whose ends are around it. */
static void bins_of_a_window_cover_all_times(void **state)
{
    (void)state;
    static const uint64_t ns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 1000, AB_HDR_HIGHEST};
    for (size_t i = 0; i < AB_ARRAY_LEN(ns); i++) {
        unsigned bin = ab_window_bin(ns[i]);
        assert_true(ab_window_bin_low(bin) <= ns[i] && ns[i] < ab_window_bin_low(bin + 1));
    }
    assert_int_equal(ab_window_bin_low(9), 24);
    assert_int_equal(ab_window_bin(47), 10);
    assert_int_equal(ab_window_bin(UINT64_MAX), AB_WINDOW_BINS - 1);
    assert_true(ab_window_bin_low(AB_WINDOW_BINS) > AB_HDR_HIGHEST);
}

static void more_than_a_fifth_of_waits_is_waiting(void **state)
{
    static const struct {
        double percent;
        bool is_waiting;
    } cases[] = {{0, false}, {19.9, false}, {20, false}, {20.1, true}, {83.5, true}, {NAN, false}};
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        const struct ab_result r = {.op = AB_OP_ALL, .wait_percent = cases[i].percent};
        if (ab_result_is_waiting(&r) != cases[i].is_waiting)
            fail_msg("%g %%", cases[i].percent);
    }
}

/* The labels of rows with these names, one line each. */
static const char *labels_of(const char *const *names)
{
    static char text[1000];
    struct ab_backend_info list[8] = {0};
    uint32_t n = 0;
    text[0] = 0;
    for (; names[n] != NULL; n++)
        strcpy(list[n].name, names[n]);
    ab_backends_set_labels(list, n);
    for (uint32_t i = 0; i < n; i++)
        sprintf(text + strlen(text), "%s%s", i > 0 ? " " : "", ab_backend_label(&list[i]));
    return text;
}
#define LABELS(...) labels_of((const char *const[]){__VA_ARGS__, NULL})

static void long_settings_have_short_labels(void **state)
{
    (void)state;
    assert_string_equal(LABELS("glibc", "slab:keep=8:spare=0", "jemalloc{A=1}"),
                        "glibc slab:keep=8:spare=0 jemalloc{A=1}");
    assert_string_equal(
        LABELS("jemalloc", "jemalloc{MALLOC_CONF=narenas:1}", "jemalloc{MALLOC_CONF=tcache:false}"),
        "jemalloc jemalloc{narenas:1} jemalloc{tcache:false}");
    assert_string_equal(LABELS("glibc{GLIBC_TUNABLES=glibc.malloc.mxfast=0}",
                               "glibc{GLIBC_TUNABLES=glibc.malloc.arena_max=1}"),
                        "glibc{mxfast=0} glibc{arena_max=1}");
    assert_string_equal(LABELS("jemalloc{MALLOC_CONF=dirty_decay_ms:0,narenas:1}",
                               "jemalloc{MALLOC_CONF=dirty_decay_ms:0,narenas:2}"),
                        "jemalloc{1} jemalloc{2}");
    /* A value alone says nothing, and a decimal point ends no name. */
    assert_string_equal(
        LABELS("jemalloc{MALLOC_CONF_OF_IT=0.5}", "jemalloc{MALLOC_CONF_OF_IT=0.25}"),
        "jemalloc{1} jemalloc{2}");
    /* What would be the same text is numbered. */
    assert_string_equal(LABELS("jemalloc{A_LONG_VARIABLE=x:1}", "scudo{A_LONG_VARIABLE=x:1}"),
                        "jemalloc{x:1} scudo{x:1}");
    assert_string_equal(
        LABELS("arena:reserve=1GiB:commit=64KiB:x=1", "arena:reserve=2GiB:commit=64KiB"),
        "arena{1} arena{2}");
}

static void a_label_keeps_the_values_of_its_row(void **state)
{
    (void)state;
    struct ab_backend_info list[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        strcpy(list[i].name, "jemalloc{MALLOC_CONF=narenas:1}");
        ab_backend_set_values(&list[i], i == 0 ? "n=1" : "n=2");
    }
    ab_backends_set_labels(list, 2);
    assert_string_equal(ab_backend_label(&list[1]), "jemalloc{narenas:1} n=2");
    assert_string_equal(AB_OWN_LABEL(&list[1]), "jemalloc{narenas:1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentile_needs_ten_samples_behind_it),
        cmocka_unit_test(quantiles_are_those_of_the_histogram),
        cmocka_unit_test(what_overflowed_is_above_every_percentile),
        cmocka_unit_test(names_are_frozen),
        cmocka_unit_test(only_ok_and_what_stands_aside_have_numbers),
        cmocka_unit_test(fields_have_names_of_their_own_and_all_quantiles),
        cmocka_unit_test(names_of_the_user_are_one_field_each_in_all_results),
        cmocka_unit_test(fields_exist_where_they_were_measured),
        cmocka_unit_test(bins_of_a_window_cover_all_times),
        cmocka_unit_test(more_than_a_fifth_of_waits_is_waiting),
        cmocka_unit_test(long_settings_have_short_labels),
        cmocka_unit_test(a_label_keeps_the_values_of_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
