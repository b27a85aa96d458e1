/* SPDX-License-Identifier: MIT
 *
 * The live set against a plain model: an array of ages.
 */
#include "workload/generate/live_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

enum { N = 17, STEPS = 20000 };

static uint64_t age[N]; /* 0 = empty */

static void check_ages(struct ab_live_set *s)
{
    uint32_t out[N], back[N], n = s->n_live;
    ab_live_set_oldest(s, out, n, 1);
    ab_live_set_youngest(s, back, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(age[out[i]] != 0);
        assert_true(i == 0 || age[out[i - 1]] < age[out[i]]);
        assert_int_equal(out[i], back[n - 1 - i]);
    }
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(ab_live_set_has(s, i), age[i] != 0);
}

static void it_agrees_with_a_plain_model_through_random_steps(void **state)
{
    (void)state;
    struct ab_live_set s;
    struct ab_rng rng;
    memset(age, 0, sizeof age);
    ab_rng_init(&rng, 1, 1);
    ab_live_set_init(&s, N);
    for (uint64_t i = 1; i <= STEPS; i++) {
        uint32_t p = (uint32_t)ab_rng_below(&rng, N);
        if (age[p] != 0)
            ab_live_set_remove(&s, p);
        else
            ab_live_set_add(&s, p);
        age[p] = age[p] != 0 ? 0 : i;
        check_ages(&s);
    }
    ab_live_set_fini(&s);
}

static void a_shuffle_takes_each_live_position_once(void **state)
{
    (void)state;
    struct ab_live_set s;
    struct ab_rng rng;
    uint32_t out[N], seen = 0, first[N] = {0};
    ab_rng_init(&rng, 1, 1);
    ab_live_set_init(&s, N);
    for (uint32_t i = 0; i < 8; i++)
        ab_live_set_add(&s, i * 2);
    for (int i = 0; i < 8000; i++) {
        ab_live_set_shuffled(&s, out, 8, &rng);
        first[out[0]]++;
    }
    for (uint32_t i = 0; i < 8; i++) {
        seen |= 1u << out[i];
        assert_in_range(first[i * 2], 850, 1150); /* 1000 expected */
    }
    assert_int_equal(seen, 0x5555);
    ab_live_set_fini(&s);
}

static void the_position_vacated_last_is_the_first_empty_one(void **state)
{
    (void)state;
    struct ab_live_set s;
    ab_live_set_init(&s, N);
    for (uint32_t i = 0; i < N; i++)
        ab_live_set_add(&s, s.members[s.n_live]);
    ab_live_set_remove(&s, 3);
    ab_live_set_remove(&s, 9);
    assert_int_equal(s.members[s.n_live], 9);
    ab_live_set_add(&s, 9);
    assert_int_equal(s.members[s.n_live], 3);
    ab_live_set_fini(&s);
}

static void it_keeps_what_it_has_when_it_grows(void **state)
{
    (void)state;
    struct ab_live_set s;
    uint32_t out[3];
    ab_live_set_init(&s, 0);
    ab_live_set_grow(&s, 4);
    ab_live_set_add(&s, 2);
    ab_live_set_add(&s, 0);
    ab_live_set_grow(&s, 9);
    assert_int_equal(s.n, 9);
    ab_live_set_add(&s, 8);
    ab_live_set_oldest(&s, out, 3, 1);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 8);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(ab_live_set_has(&s, i), i == 0 || i == 2 || i == 8);
    ab_live_set_fini(&s);
}

static void every_kth_is_the_same_by_the_index_as_along_the_list(void **state)
{
    enum { MANY = 3000, TURNS = 30000 };
    static uint32_t all[MANY + 500], out[MANY];
    (void)state;
    struct ab_live_set s;
    struct ab_rng rng;
    ab_rng_init(&rng, 2, 1);
    ab_live_set_init(&s, MANY);
    for (int i = 0; i < TURNS; i++) {
        uint32_t p = (uint32_t)ab_rng_below(&rng, s.n);
        if (ab_live_set_has(&s, p))
            ab_live_set_remove(&s, p);
        else
            ab_live_set_add(&s, p);
        if (i == TURNS / 2)
            ab_live_set_grow(&s, MANY + 500);
        if (i % 97 != 0 && s.n_live > 0)
            continue;
        uint32_t step = 32 + (uint32_t)ab_rng_below(&rng, 400), n = (s.n_live + step - 1) / step;
        ab_live_set_oldest(&s, all, s.n_live, 1);
        ab_live_set_oldest(&s, out, n, step);
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(out[k], all[k * step]);
    }
    ab_live_set_fini(&s);
}

/* CPU time of picks of the first and the last live position, which takes up a fresh one each time. */
static double seconds_of_picks(uint32_t n)
{
    enum { PICKS = 2000 };
    struct ab_live_set s;
    uint32_t out[2];
    ab_live_set_init(&s, n);
    for (uint32_t i = 0; i < n; i++)
        ab_live_set_add(&s, i);
    ab_live_set_oldest(&s, out, 2, n - 1);
    clock_t begin = clock();
    for (int i = 0; i < PICKS; i++) {
        ab_live_set_oldest(&s, out, 2, n - 1);
        assert_true(out[0] != out[1]);
        ab_live_set_remove(&s, out[0]);
        ab_live_set_add(&s, out[0]);
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ab_live_set_fini(&s);
    return seconds;
}

static void a_pick_of_every_kth_does_not_walk_the_set(void **state)
{
    (void)state;
    double small = seconds_of_picks(1 << 10), large = seconds_of_picks(1 << 20);
    assert_true(large < 100 * (small + 0.0005)); /* 1,000 times where it walks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_plain_model_through_random_steps),
        cmocka_unit_test(a_shuffle_takes_each_live_position_once),
        cmocka_unit_test(the_position_vacated_last_is_the_first_empty_one),
        cmocka_unit_test(it_keeps_what_it_has_when_it_grows),
        cmocka_unit_test(every_kth_is_the_same_by_the_index_as_along_the_list),
        cmocka_unit_test(a_pick_of_every_kth_does_not_walk_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
