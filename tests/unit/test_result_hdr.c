/* SPDX-License-Identifier: MIT
 *
 * Geometry, quantiles, moments and merge of the histogram, against brute force: a slow bucket
 * search, sorted arrays, and the answers of HdrHistogram for Java in tests/golden/hdr.
 */
#include "result/hdr.h"

#include "base/rng.h"
#include "support/hdr_golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ab_hdr a, b, c;

/* All magnitudes alike, up to a little above the highest value. */
static uint64_t random_value(struct ab_rng *rng)
{
    return ab_rng_next(rng) >> 28 >> ab_rng_below(rng, 36);
}

/* The definition in words: halve v until it fits the sub-buckets, count how often. */
static uint32_t slow_index(uint64_t v)
{
    uint32_t bucket = 0;
    while (v >= AB_HDR_SUB_BUCKETS) {
        v /= 2;
        bucket++;
    }
    return bucket * (AB_HDR_SUB_BUCKETS / 2) + (uint32_t)v;
}

static void check_value(uint64_t v)
{
    uint32_t i = ab_hdr_index(v);
    assert_int_equal(i, slow_index(v));
    assert_true(i < AB_HDR_COUNTS);
    assert_true(ab_hdr_low(i) <= v && v <= ab_hdr_high(i));
}

static void buckets_and_counters_are_those_of_hdrhistogram(void **state)
{
    (void)state;
    int buckets = 1;
    for (uint64_t reach = AB_HDR_SUB_BUCKETS; reach <= AB_HDR_HIGHEST; reach *= 2)
        buckets++;
    assert_int_equal(buckets, AB_HDR_BUCKETS);
    assert_int_equal(AB_HDR_COUNTS, 27648);
    assert_true(AB_HDR_SUB_BUCKETS >= 2000 && AB_HDR_SUB_BUCKETS / 2 < 2000);
}

static void counters_join_without_gap_and_are_narrow_enough(void **state)
{
    (void)state;
    assert_int_equal(ab_hdr_low(0), 0);
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++) {
        uint64_t low = ab_hdr_low(i), high = ab_hdr_high(i);
        assert_int_equal(slow_index(low), i);
        assert_int_equal(ab_hdr_index(low), i);
        assert_int_equal(ab_hdr_index(high), i);
        assert_int_equal(ab_hdr_low(i + 1), high + 1);
        assert_true((high - low) * 1000 <= low);
    }
}

static void every_value_lies_in_its_counter(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 11, 0);
    for (int n = 0; n < 300000; n++) {
        uint64_t v = random_value(&rng);
        check_value(v > AB_HDR_HIGHEST ? AB_HDR_HIGHEST : v);
    }
    for (uint64_t edge = 1; edge <= AB_HDR_HIGHEST; edge *= 2) {
        check_value(edge - 1);
        check_value(edge);
        check_value(edge + 1);
    }
    check_value(AB_HDR_HIGHEST);
}

static void init_clears_what_was_there(void **state)
{
    (void)state;
    memset(&a, 0xa5, sizeof a);
    ab_hdr_init(&a);
    assert_int_equal(ab_hdr_total(&a), 0);
    assert_int_equal(a.overflow, 0);
    assert_true(a.min == UINT64_MAX);
    assert_int_equal(a.max, 0);
}

static void an_empty_histogram_has_no_mean_and_quantile_0(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    assert_true(isnan(ab_hdr_mean(&a)));
    assert_true(isnan(ab_hdr_stddev(&a)));
    assert_int_equal(ab_hdr_quantile(&a, 0.5), 0);
    assert_int_equal(ab_hdr_quantile(&a, 1), 0);
}

static void extremes_are_exact(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    ab_hdr_record(&a, 1000001);
    assert_int_equal(a.min, 1000001);
    assert_int_equal(a.max, 1000001);
    ab_hdr_record(&a, 999999937);
    ab_hdr_record(&a, 30011);
    assert_int_equal(a.min, 30011);
    assert_int_equal(a.max, 999999937);
}

static void values_above_the_highest_are_counted_apart(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    ab_hdr_record(&a, AB_HDR_HIGHEST);
    ab_hdr_record(&a, AB_HDR_HIGHEST + 1);
    ab_hdr_record(&a, UINT64_MAX);
    assert_int_equal(ab_hdr_total(&a), 1);
    assert_int_equal(a.overflow, 2);
    assert_int_equal(a.min, AB_HDR_HIGHEST);
    assert_int_equal(a.max, AB_HDR_HIGHEST);
}

static int by_value(const void *left, const void *right)
{
    uint64_t l, r;
    memcpy(&l, left, sizeof l);
    memcpy(&r, right, sizeof r);
    return l < r ? -1 : l > r;
}

/* Records n values and leaves them sorted. */
static void record_random(struct ab_rng *rng, uint64_t *values, size_t n)
{
    ab_hdr_init(&a);
    for (size_t i = 0; i < n; i++) {
        do
            values[i] = random_value(rng);
        while (values[i] > AB_HDR_HIGHEST);
        ab_hdr_record(&a, values[i]);
    }
    qsort(values, n, sizeof values[0], by_value);
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
    (void)state;
    static uint64_t values[1200];
    struct ab_rng rng;
    ab_rng_init(&rng, 12, 0);
    for (int round = 0; round < 24; round++) {
        size_t n = round < 8 ? (size_t)round + 1 : 1 + ab_rng_below(&rng, 1200);
        record_random(&rng, values, n);
        /* In ten-thousandths the rank is known exactly; the double must lead to the same. */
        for (size_t q = 1; q <= 10000; q += round % 2 == 0 ? 100 : 37) {
            size_t rank = (q * n + 9999) / 10000;
            uint64_t want = ab_hdr_high(ab_hdr_index(values[rank - 1]));
            assert_int_equal(ab_hdr_quantile(&a, (double)q / 10000), want);
        }
        assert_int_equal(ab_hdr_quantile(&a, 1), ab_hdr_high(ab_hdr_index(values[n - 1])));
        assert_int_equal(ab_hdr_quantile(&a, 0), ab_hdr_low(ab_hdr_index(values[0])));
    }
}

static void quantile_k_of_n_is_the_kth_value(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 150; n++) {
        ab_hdr_init(&a);
        for (uint64_t v = 1; v <= n; v++)
            ab_hdr_record(&a, v);
        for (uint64_t k = 1; k <= n; k++)
            assert_int_equal(ab_hdr_quantile(&a, (double)k / (double)n), k);
    }
}

static void quantiles_out_of_range_mean_the_nearest_end(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    ab_hdr_record(&a, 5000);
    ab_hdr_record(&a, 9000);
    assert_int_equal(ab_hdr_quantile(&a, -1), ab_hdr_low(ab_hdr_index(5000)));
    assert_int_equal(ab_hdr_quantile(&a, (double)NAN), ab_hdr_low(ab_hdr_index(5000)));
    assert_int_equal(ab_hdr_quantile(&a, 7), ab_hdr_high(ab_hdr_index(9000)));
    assert_int_equal(ab_hdr_quantile(&a, (double)INFINITY), ab_hdr_high(ab_hdr_index(9000)));
}

static void quantiles_stay_inside_even_when_counts_are_enormous(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    ab_hdr_record(&a, 100);
    ab_hdr_record(&a, 300);
    a.counts[300] = 0;
    a.counts[100] = UINT64_MAX / 2;
    a.counts[200] = UINT64_MAX / 2;
    assert_int_equal(ab_hdr_quantile(&a, 1), 200);
    assert_int_equal(ab_hdr_quantile(&a, 0.25), 100);
    a.counts[300] = 50; /* the sum wraps */
    assert_true(ab_hdr_quantile(&a, 1) <= ab_hdr_high(AB_HDR_COUNTS - 1));
}

static void counters_in_use_are_between_the_extremes(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    assert_int_equal(ab_hdr_first(&a), 0);
    assert_int_equal(ab_hdr_end(&a), 0);
    ab_hdr_record(&a, 0);
    assert_int_equal(ab_hdr_first(&a), 0);
    assert_int_equal(ab_hdr_end(&a), 1);
    ab_hdr_record(&a, AB_HDR_HIGHEST);
    assert_int_equal(ab_hdr_end(&a), ab_hdr_index(AB_HDR_HIGHEST) + 1);
    ab_hdr_init(&a);
    ab_hdr_record(&a, 5000);
    ab_hdr_record(&a, 70);
    assert_int_equal(ab_hdr_first(&a), ab_hdr_index(70));
    assert_int_equal(ab_hdr_end(&a), ab_hdr_index(5000) + 1);
    a.max = UINT64_MAX; /* a hostile one stays within */
    assert_int_equal(ab_hdr_end(&a), AB_HDR_COUNTS);
}

static void mean_and_deviation_are_those_of_the_counters_midpoints(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    double values[] = {10, 10, 4097, 60}; /* 4096 … 4099 share a counter; its middle is 4098 */
    for (size_t i = 0; i < 4; i++)
        ab_hdr_record(&a, (uint64_t)values[i]);
    values[2] = 4098;
    double mean = (values[0] + values[1] + values[2] + values[3]) / 4, squares = 0;
    for (size_t i = 0; i < 4; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    assert_true(fabs(ab_hdr_mean(&a) - mean) < 1e-9);
    assert_true(fabs(ab_hdr_stddev(&a) - sqrt(squares / 4)) < 1e-9);
}

static void merged_parts_equal_the_whole(void **state)
{
    (void)state;
    struct ab_rng rng;
    ab_rng_init(&rng, 13, 0);
    ab_hdr_init(&a);
    ab_hdr_init(&b);
    ab_hdr_init(&c);
    for (int n = 0; n < 50000; n++) {
        uint64_t v = random_value(&rng) + 17;
        ab_hdr_record(&a, v);
        ab_hdr_record(ab_rng_below(&rng, 3) == 0 ? &b : &c, v);
    }
    assert_true(a.overflow > 0);
    ab_hdr_merge(&b, &c);
    assert_memory_equal(&a, &b, sizeof a);
}

static void merging_an_empty_histogram_changes_nothing(void **state)
{
    (void)state;
    ab_hdr_init(&a);
    ab_hdr_record(&a, 77);
    ab_hdr_init(&b);
    c = a;
    ab_hdr_merge(&a, &b);
    assert_memory_equal(&a, &c, sizeof a);
    ab_hdr_merge(&b, &a);
    assert_memory_equal(&b, &c, sizeof a);
}

static void figures_are_those_of_java(void **state)
{
    (void)state;
    size_t n;
    struct hdr_golden *golden = hdr_golden_load(&n);
    assert_true(n >= 11);
    for (size_t i = 0; i < n; i++) {
        const struct hdr_golden *g = &golden[i];
        const struct ab_hdr *h = &g->hdr;
        assert_int_equal(ab_hdr_total(h), g->total);
        assert_int_equal(h->overflow, g->overflow);
        for (int p = 0; p < g->n_percentiles; p++)
            assert_int_equal(ab_hdr_quantile(h, g->percentiles[p].percentile / 100),
                             g->percentiles[p].value);
        if (g->total == 0)
            continue;
        char text[32];
        assert_int_equal(ab_hdr_low(ab_hdr_index(h->min)), g->min);
        assert_int_equal(ab_hdr_high(ab_hdr_index(h->max)), g->max);
        snprintf(text, sizeof text, "%.3f", ab_hdr_mean(h));
        assert_string_equal(text, g->mean);
        snprintf(text, sizeof text, "%.3f", ab_hdr_stddev(h));
        assert_string_equal(text, g->stddev);
    }
    hdr_golden_free(golden, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_and_counters_are_those_of_hdrhistogram),
        cmocka_unit_test(counters_join_without_gap_and_are_narrow_enough),
        cmocka_unit_test(every_value_lies_in_its_counter),
        cmocka_unit_test(init_clears_what_was_there),
        cmocka_unit_test(an_empty_histogram_has_no_mean_and_quantile_0),
        cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(values_above_the_highest_are_counted_apart),
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
        cmocka_unit_test(quantile_k_of_n_is_the_kth_value),
        cmocka_unit_test(quantiles_out_of_range_mean_the_nearest_end),
        cmocka_unit_test(quantiles_stay_inside_even_when_counts_are_enormous),
        cmocka_unit_test(counters_in_use_are_between_the_extremes),
        cmocka_unit_test(mean_and_deviation_are_those_of_the_counters_midpoints),
        cmocka_unit_test(merged_parts_equal_the_whole),
        cmocka_unit_test(merging_an_empty_histogram_changes_nothing),
        cmocka_unit_test(figures_are_those_of_java),
    };
    return cmocka_run_group_tests_name("measure/hdr", tests, NULL, NULL);
}
