/* SPDX-License-Identifier: MIT */
#include "support/tape.h"

#include "base/rng.h"
#include "support/cmocka.h"

static void churn(struct ab_tape_builder *b, uint32_t n, uint32_t rounds)
{
    struct ab_rng rng;
    struct ab_err err;
    ab_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t slot = (uint32_t)ab_rng_below(&rng, n);
        struct ab_request r = {.size = 16 + ab_rng_below(&rng, 256), .touch = AB_TOUCH_PAGE};
        if (i % 10 == 0) {
            assert_int_equal(ab_tape_resize(b, slot, &r, &err), AB_OK);
            continue;
        }
        assert_int_equal(ab_tape_free(b, slot, &err), AB_OK);
        assert_int_equal(ab_tape_alloc(b, slot, &r, &err), AB_OK);
    }
}

void test_tape_churn(uint32_t n, uint32_t rounds, struct ab_tape *out)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    assert_non_null(b);
    assert_int_equal(ab_tape_phase(b, "fill", false, &err), AB_OK);
    for (uint32_t i = 0; i < n; i++) {
        struct ab_request r = {.size = 64, .touch = AB_TOUCH_PAGE};
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    assert_int_equal(ab_tape_phase(b, "churn", true, &err), AB_OK);
    churn(b, n, rounds);
    assert_int_equal(ab_tape_phase(b, "drain", true, &err), AB_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, out, &err), AB_OK);
}

void test_tape_churn_map(uint32_t n, uint32_t rounds, struct ab_tape *tape, struct ab_tape_map *out)
{
    struct ab_err err;
    test_tape_churn(n, rounds, tape);
    assert_int_equal(ab_tape_map_open(tape, out, &err), AB_OK);
}

struct ab_op_view test_tape_op(const struct ab_tape_map *map, uint32_t position)
{
    struct ab_tape_part part = ab_tape_part(map->image, ab_tape_map_find(map, position));
    return ab_op_decode(part.ops[position - part.first], part.wide);
}
