/* SPDX-License-Identifier: MIT
 *
 * The map against an array that is searched: every address is found while it is held and only
 * then, whatever was added and removed around it.
 */
#include "record/address_map.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <stdlib.h>

enum { ADDRESSES = 4096, STEPS = 300000 };

/* Near each other, far from each other, and equal in all bits that the place is made of but one. */
static uint64_t address_of(uint32_t i)
{
    return i % 3 == 0   ? 0x5500000000 + 16 * (uint64_t)i
           : i % 3 == 1 ? (uint64_t)(i + 1) << 40
                        : 0x7f0000000000 + 8192 * (uint64_t)i;
}

static void what_is_held_is_found(void **state)
{
    (void)state;
    static struct ab_held model[ADDRESSES];
    struct ab_address_map m;
    struct ab_rng rng;
    size_t n = 0;
    ab_rng_init(&rng, 5, 1);
    ab_address_map_init(&m);
    for (uint32_t step = 0; step < STEPS; step++) {
        /* the whole fills and empties in turn */
        uint32_t i = (uint32_t)ab_rng_below(&rng, step / 50000 % 2 == 0 ? ADDRESSES : 20);
        struct ab_held *found = ab_address_map_find(&m, address_of(i));
        if ((found != NULL) != (model[i].key != 0))
            fail_msg("step %u: address %u", step, i);
        if (found == NULL) {
            model[i] = ab_held_of(address_of(i), i % 64, step, i % 3, i);
            ab_address_map_add(&m, &model[i]);
            n++;
        } else {
            assert_int_equal(found->number, model[i].number);
            assert_int_equal(found->size, i);
            ab_address_map_remove(&m, found);
            model[i].key = 0;
            n--;
        }
        assert_int_equal(m.n, n);
    }
    for (uint32_t i = 0; i < ADDRESSES; i++)
        assert_int_equal(ab_address_map_find(&m, address_of(i)) != NULL, model[i].key != 0);
    ab_address_map_fini(&m);
}

static void many_blocks_come_back_in_the_order_of_their_allocations(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct ab_address_map m;
    ab_address_map_init(&m);
    for (uint64_t i = 0; i < N; i++) {
        struct ab_held held = ab_held_of(0x1000 + 48 * (i * 7919 % N), 4, i, 2, i);
        ab_address_map_add(&m, &held);
    }
    struct ab_held *all = ab_address_map_sorted(&m);
    assert_non_null(all);
    assert_int_equal(m.n, N);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(ab_held_number(&all[i]), i);
        assert_int_equal(ab_held_address(&all[i]), 0x1000 + 48 * (i * 7919 % N));
    }
    for (uint64_t i = 0; i < N; i++)
        ab_address_map_remove(&m, ab_address_map_find(&m, ab_held_address(&all[i])));
    assert_int_equal(m.n, 0);
    assert_true(m.mask < N / 8); /* its memory went back */
    free(all);
    ab_address_map_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_is_found),
        cmocka_unit_test(many_blocks_come_back_in_the_order_of_their_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
