/* SPDX-License-Identifier: MIT
 *
 * The map finds what lives and nothing else, young or old, whatever dies first.
 */
#include "trace/live_state.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <stdlib.h>

enum { N = 200000 };

static void assert_lives(const struct ab_live_map *m, uint64_t number)
{
    const struct ab_live *found = ab_live_map_find(m, number);
    assert_non_null(found);
    assert_int_equal(found->number, number + 1);
    assert_int_equal(found->size, number * 3);
    assert_int_equal(found->slot, number % 1000);
}

static void add(struct ab_live_map *m, uint64_t number)
{
    assert_null(ab_live_map_find(m, number));
    ab_live_map_prefetch(m, number);
    assert_true(ab_live_map_add(m, number, number * 3, (uint32_t)(number % 1000)));
    assert_lives(m, number);
}

static void drop(struct ab_live_map *m, uint64_t number)
{
    assert_lives(m, number);
    ab_live_map_remove(m, ab_live_map_find(m, number));
    assert_null(ab_live_map_find(m, number));
}

static void an_empty_map_finds_nothing(void **state)
{
    (void)state;
    struct ab_live_map m = {0};
    ab_live_map_prefetch(&m, 7);
    assert_null(ab_live_map_find(&m, 0));
    add(&m, 0);
    assert_null(ab_live_map_find(&m, UINT64_MAX));
    assert_null(ab_live_map_find(&m, AB_LIVE_NUMBERS));
    drop(&m, 0);
    ab_live_map_fini(&m);
}

/* Live ones at random ages, about `most` at once: many of them become old. */
static void whatever_dies_first_the_others_are_found(void **state)
{
    (void)state;
    struct ab_live_map m = {0};
    struct ab_rng rng;
    uint64_t *live = calloc(N, sizeof live[0]), n_live = 0;
    ab_rng_init(&rng, 1, 1);
    for (uint64_t number = 0; number < N; number++) {
        uint64_t most = number < N / 2 ? 20000 : 100; /* it shrinks, too */
        add(&m, number);
        live[n_live++] = number;
        while (n_live > most) {
            uint64_t at = ab_rng_below(&rng, n_live);
            drop(&m, live[at]);
            live[at] = live[--n_live];
        }
    }
    assert_int_equal(m.young.n, n_live);
    for (uint64_t i = 0; i < n_live; i++)
        assert_lives(&m, live[i]);
    while (n_live > 0)
        drop(&m, live[--n_live]);
    assert_int_equal(m.old.n, 0);
    free(live);
    ab_live_map_fini(&m);
}

/* A few that live on while very many come and go: all of them get old, and memory stays theirs. */
static void the_old_are_found_behind_many_young(void **state)
{
    (void)state;
    enum { EACH = 997 };
    struct ab_live_map m = {0};
    for (uint64_t number = 0; number < N; number++) {
        add(&m, number);
        if (number % EACH != 0)
            drop(&m, number);
        else if (number > 0)
            assert_lives(&m, number - EACH);
    }
    assert_true(m.old.n > N / EACH / 2);
    assert_true(m.young.mask < 4096 && m.old.mask < 4096);
    for (uint64_t number = 0; number < N; number += EACH)
        drop(&m, number);
    assert_int_equal(m.young.n, 0);
    ab_live_map_fini(&m);
}

static void numbers_end_where_the_format_of_an_entry_does(void **state)
{
    (void)state;
    struct ab_live_map m = {0};
    assert_true(ab_live_map_add(&m, AB_LIVE_NUMBERS - 1, 5, 6));
    assert_int_equal(ab_live_map_find(&m, AB_LIVE_NUMBERS - 1)->size, 5);
    assert_false(ab_live_map_add(&m, AB_LIVE_NUMBERS, 5, 6));
    ab_live_map_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_finds_nothing),
        cmocka_unit_test(whatever_dies_first_the_others_are_found),
        cmocka_unit_test(the_old_are_found_behind_many_young),
        cmocka_unit_test(numbers_end_where_the_format_of_an_entry_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
