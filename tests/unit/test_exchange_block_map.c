/* SPDX-License-Identifier: MIT
 *
 * The map against an array of the same keys, through growth, removal and shrinking.
 */
#include "exchange/intake.h"

#include "base/rng.h"
#include "support/cmocka.h"

enum { KEYS = 5000, STEPS = 400000 };

static uint64_t numbers[KEYS + 1]; /* by key; 0 = not in it */

/* Keys whose low bits are all alike, as those of pages are, and such that differ in the tag alone. */
static uint64_t key_of(uint64_t i)
{
    return i % 2 == 0 ? i << 20 : (i << 56) + i + 1;
}

static void compare(const struct ab_block_map *m)
{
    size_t n = 0;
    for (uint64_t i = 1; i <= KEYS; i++) {
        struct ab_mapped *found = ab_block_map_find(m, key_of(i));
        n += numbers[i] != 0;
        assert_true((found != NULL) == (numbers[i] != 0));
        assert_true(found == NULL || found->number == numbers[i]);
    }
    assert_int_equal(m->n, n);
}

static void it_holds_what_an_array_holds(void **state)
{
    struct ab_block_map m = {0};
    struct ab_rng rng;
    (void)state;
    ab_rng_init(&rng, 1, 1);
    assert_null(ab_block_map_find(&m, 5));
    for (uint32_t step = 1; step <= STEPS; step++) {
        uint64_t i = 1 + ab_rng_below(&rng, KEYS);
        bool is_filling = step / (STEPS / 8) % 2 == 0;
        struct ab_mapped *found = ab_block_map_find(&m, key_of(i));
        if (ab_rng_below(&rng, 10) < (is_filling ? 8u : 1u)) {
            ab_block_map_set(&m, key_of(i), step);
            numbers[i] = step;
        } else if (found != NULL) {
            ab_block_map_remove(&m, found);
            numbers[i] = 0;
        }
        if (step % (STEPS / 16) == 0)
            compare(&m);
    }
    ab_block_map_fini(&m);
    assert_null(ab_block_map_find(&m, key_of(1)));
}

static void it_gives_back_room(void **state)
{
    struct ab_block_map m = {0};
    (void)state;
    for (uint64_t key = 1; key <= KEYS; key++)
        ab_block_map_set(&m, key, key);
    size_t most = m.mask;
    for (uint64_t key = 1; key < KEYS; key++)
        ab_block_map_remove(&m, ab_block_map_find(&m, key));
    assert_int_equal(m.n, 1);
    assert_true(m.mask < most / 64);
    assert_int_equal(ab_block_map_find(&m, KEYS)->number, KEYS);
    ab_block_map_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_an_array_holds),
        cmocka_unit_test(it_gives_back_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
