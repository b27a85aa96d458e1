/* SPDX-License-Identifier: MIT */
#include "runner/sampling.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <stdlib.h>

static void long_phases_are_sampled_one_in_sixteen_rare_kinds_densely(void **state)
{
    (void)state;
    struct ab_phase phase = {
        .n_ops = {[AB_OP_ALLOC] = 1000000, [AB_OP_RESIZE] = 40000, [AB_OP_FREE] = 100}};
    assert_true(ab_sampling_rate(&phase, AB_OP_ALLOC) == AB_SAMPLE_RATE);
    assert_true(ab_sampling_rate(&phase, AB_OP_RESIZE) == 0.5);
    assert_true(ab_sampling_rate(&phase, AB_OP_FREE) == 1);
    assert_true(ab_sampling_rate(&phase, AB_OP_ALLOC_ZEROED) == 0);
    assert_true(ab_sampling_base(&phase) == AB_SAMPLE_RATE);
}

static void a_phase_of_very_many_ops_is_sampled_up_to_a_bound(void **state)
{
    (void)state;
    struct ab_phase phase = {
        .n_ops = {[AB_OP_ALLOC] = 2000000000, [AB_OP_FREE] = 1000000000, [AB_OP_RESIZE] = 1000}};
    double n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += ab_sampling_rate(&phase, k) * phase.n_ops[k];
    assert_true(n > AB_SAMPLES_MAX && n < AB_SAMPLES_MAX + AB_SAMPLE_WANTED);
    assert_true(ab_sampling_rate(&phase, AB_OP_RESIZE) == 1);
}

static void positions_ascend_lie_in_measured_phases_and_name_requests(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_rng rng;
    test_tape_churn_map(1000, 400000, &tape, &map);
    size_t cap = ab_sampling_capacity(&map);
    uint32_t *at = malloc(cap * sizeof *at);
    ab_rng_init(&rng, 7, 7);
    uint8_t *kinds = malloc(cap);
    uint32_t n = ab_sampling_draw(&map, &rng, at, kinds, cap);
    assert_true(n < cap);
    uint32_t n_churn = 0, n_resize = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(i == 0 || at[i] > at[i - 1]);
        assert_true(at[i] >= map.phases[1].begin);
        int kind = test_tape_op(&map, at[i]).kind;
        assert_true(kind >= 0 && kind == kinds[i]);
        n_churn += at[i] < map.phases[1].end && kind == AB_OP_ALLOC;
        n_resize += kind == AB_OP_RESIZE;
    }
    double allocs = map.phases[1].n_ops[AB_OP_ALLOC];
    assert_true(n_churn > allocs / 16 * 0.95 && n_churn < allocs / 16 * 1.05);
    assert_true(n_resize > 19000 && n_resize < 21000);
    free(at);
    free(kinds);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_phases_are_sampled_one_in_sixteen_rare_kinds_densely),
        cmocka_unit_test(a_phase_of_very_many_ops_is_sampled_up_to_a_bound),
        cmocka_unit_test(positions_ascend_lie_in_measured_phases_and_name_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
