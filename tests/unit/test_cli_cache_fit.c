/* SPDX-License-Identifier: MIT
 *
 * The size of the buffer for an allocator: by the others, by those that show a difference, and by
 * the surest of them most.
 */
#include "cli/exec/cache_fit.h"

#include "support/cmocka.h"

#include <math.h>

static struct ab_effect measured(double x, double half)
{
    return (struct ab_effect){.ratio = x, .low = x - half, .high = x + half};
}

static void the_size_comes_from_the_others(void **state)
{
    (void)state;
    const struct ab_cache_fit fits[] = {
        {measured(0, 0), {0, 0, 0, 0}},          /* the base */
        {measured(-20, 1), {-8, -14, -20, -30}}, /* as with the third */
        {measured(-9, 1), {-4, -9, -12, -15}},   /* as with the second */
    };
    assert_int_equal(ab_cache_fit_choose(fits, 3, 1), 1);
    assert_int_equal(ab_cache_fit_choose(fits, 3, 2), 2);
}

static void who_shows_no_difference_has_no_say(void **state)
{
    (void)state;
    const struct ab_cache_fit fits[] = {
        {measured(-20, 1), {-8, -14, -20, -30}},
        {measured(-1, 2), {-8, -1, -7, -7}},
        {measured(NAN, NAN), {-8, -1, -7, -7}},
    };
    assert_int_equal(ab_cache_fit_choose(fits, 3, 3), 2);
    assert_int_equal(ab_cache_fit_choose(fits, 3, 0), AB_CACHE_FIT_SIZES);
    assert_false(ab_cache_fit_is_measurable(&fits[1].measured));
    assert_false(ab_cache_fit_is_measurable(&fits[2].measured));
    assert_true(ab_cache_fit_is_measurable(&fits[0].measured));
}

static void the_surest_counts_most_and_what_was_not_replayed_is_left_out(void **state)
{
    (void)state;
    struct ab_cache_fit fits[] = {
        {measured(-20, 0.5), {-8, -20, -22, -30}},
        {measured(-30, 20), {-8, -20, -22, -30}},
    };
    assert_int_equal(ab_cache_fit_choose(fits, 2, 2), 1);
    fits[0].predicted[1] = NAN;
    assert_int_equal(ab_cache_fit_choose(fits, 2, 2), 2);
}

static void where_none_is_better_there_is_no_buffer(void **state)
{
    (void)state;
    const struct ab_cache_fit fit = {measured(-5, 1), {-5, -5, -5, -5}};
    assert_int_equal(ab_cache_fit_choose(&fit, 1, 1), 0);
    assert_int_equal(ab_cache_fit_sizes[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_comes_from_the_others),
        cmocka_unit_test(who_shows_no_difference_has_no_say),
        cmocka_unit_test(the_surest_counts_most_and_what_was_not_replayed_is_left_out),
        cmocka_unit_test(where_none_is_better_there_is_no_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
