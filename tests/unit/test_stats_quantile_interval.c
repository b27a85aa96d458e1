/* SPDX-License-Identifier: MIT
 *
 * Intervals of quantiles on values that are their own ranks, and how often they hold the truth.
 */
#include "stats/rank/quantile_interval.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct ab_hdr hdr;

static void bounds_are_the_samples_of_the_ranks(void **state)
{
    (void)state;
    ab_hdr_init(&hdr);
    for (uint64_t v = 1; v <= 1000; v++)
        ab_hdr_record(&hdr, v);
    struct ab_quantile_interval i = ab_quantile_interval(&hdr, 0.5);
    /* 500 -+ 1.645 · 15.81 */
    assert_true(i.low == 473 && i.high == 528);
    i = ab_quantile_interval(&hdr, 0.99); /* 990 -+ 5.18 */
    assert_true(i.low == 984 && i.high == 997);
}

static void what_is_not_there_is_not_known(void **state)
{
    (void)state;
    ab_hdr_init(&hdr);
    assert_true(isnan(ab_quantile_interval(&hdr, 0.5).low));
    for (uint64_t v = 1; v <= 1000; v++)
        ab_hdr_record(&hdr, v);
    struct ab_quantile_interval i = ab_quantile_interval(&hdr, 0.999); /* 999 -+ 1.64, and one */
    assert_true(i.low == 997 && isnan(i.high));
    hdr.overflow = 30; /* these are the slowest of 1,030 */
    i = ab_quantile_interval(&hdr, 0.99);
    assert_true(isnan(i.low) && isnan(i.high));
    i = ab_quantile_interval(&hdr, 0.5);
    assert_true(i.low == 488 && i.high == 543);
}

/* 400 runs of 400 independent samples: 90 % is promised, and ranks are whole. */
static void nine_of_ten_hold_the_truth(void **state)
{
    static const double qs[] = {0.5, 0.9, 0.95};
    struct ab_rng rng;
    (void)state;
    ab_rng_init(&rng, 7, 0);
    for (unsigned k = 0; k < 3; k++) {
        unsigned hits = 0;
        for (unsigned run = 0; run < 400; run++) {
            ab_hdr_init(&hdr);
            for (unsigned i = 0; i < 400; i++)
                ab_hdr_record(&hdr, ab_rng_below(&rng, 2000) + 1);
            struct ab_quantile_interval i = ab_quantile_interval(&hdr, qs[k]);
            hits += i.low <= 2000 * qs[k] && i.high >= 2000 * qs[k];
        }
        assert_in_range(hits, 0.88 * 400, 0.975 * 400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_the_samples_of_the_ranks),
        cmocka_unit_test(what_is_not_there_is_not_known),
        cmocka_unit_test(nine_of_ten_hold_the_truth),
    };
    return cmocka_run_group_tests_name("quantile_interval", tests, NULL, NULL);
}
