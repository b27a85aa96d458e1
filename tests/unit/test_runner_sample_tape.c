/* SPDX-License-Identifier: MIT
 *
 * The beginning of a tape as a tape: the same ops, cut where no reset is torn from its frees.
 */
#include "runner/sample_tape.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <string.h>

enum { FILL = 100, ROUNDS = 50 };

static struct ab_tape tape;
static struct ab_tape_map whole;

static int open_whole(void **state)
{
    (void)state;
    test_tape_churn_map(FILL, ROUNDS, &tape, &whole);
    return 0;
}

static int close_whole(void **state)
{
    (void)state;
    ab_tape_map_close(&whole);
    ab_tape_fini(&tape);
    return 0;
}

static void sample(uint32_t n, struct ab_tape_map *out)
{
    struct ab_err err = {.text = ""};
    if (ab_sample_tape(&whole, n, out, &err) != AB_OK)
        fail_msg("%s", err.text);
}

static uint64_t count(const struct ab_phase *phase)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += phase->n_ops[k];
    return n;
}

static void phases_that_do_not_fit_are_cut_or_empty(void **state)
{
    (void)state;
    struct ab_tape_map part;
    sample(FILL + 10, &part);
    assert_int_equal(part.image->n_ops, FILL + 10);
    assert_int_equal(part.image->n_phases, 3);
    assert_int_equal(count(&part.phases[0]), FILL);
    assert_int_equal(part.phases[1].end - part.phases[1].begin, 10);
    assert_true(count(&part.phases[1]) <= 10 && count(&part.phases[1]) > 0);
    assert_int_equal(count(&part.phases[2]), 0);
    assert_int_equal(part.phases[2].begin, part.phases[2].end);
    assert_int_equal(part.lane_begin[3], FILL + 10);
    assert_memory_equal(part.ops, whole.ops, (FILL + 10) * sizeof whole.ops[0]);
    assert_memory_equal(&part.image->facts, &whole.image->facts, sizeof part.image->facts);
    ab_tape_map_close(&part);
}

static void a_tape_that_is_short_is_taken_whole(void **state)
{
    (void)state;
    struct ab_tape_map part;
    sample(UINT32_MAX, &part);
    assert_int_equal(part.image->n_ops, whole.image->n_ops);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(part.phases[i].end, whole.phases[i].end);
        assert_memory_equal(part.phases[i].n_ops, whole.phases[i].n_ops,
                            sizeof part.phases[i].n_ops);
    }
    ab_tape_map_close(&part);
}

static void check(enum ab_status status, const struct ab_err *err)
{
    if (status != AB_OK)
        fail_msg("%s", err->text);
}

static void a_reset_keeps_its_frees(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request request = {.size = 64};
    struct ab_tape made = {0};
    struct ab_tape_map all, part;
    uint32_t slots[20];
    check(ab_tape_phase(b, "all", true, &err), &err);
    for (uint32_t i = 0; i < 20; i++) {
        slots[i] = i;
        check(ab_tape_alloc(b, i, &request, &err), &err);
    }
    check(ab_tape_reset(b, slots, 20, &err), &err);
    check(ab_tape_alloc(b, 3, &request, &err), &err);
    check(ab_tape_end(b, &made, &err), &err);
    check(ab_tape_map_open(&made, &all, &err), &err);
    check(ab_sample_tape(&all, 25, &part, &err), &err); /* after the fifth free */
    assert_int_equal(part.image->n_ops, 41);
    assert_int_equal(part.phases[0].n_ops[AB_OP_FREE], 20);
    ab_tape_map_close(&part);
    check(ab_sample_tape(&all, 20, &part, &err), &err); /* before the reset */
    assert_int_equal(part.image->n_ops, 20);
    ab_tape_map_close(&part);
    ab_tape_map_close(&all);
    ab_tape_fini(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_that_do_not_fit_are_cut_or_empty),
        cmocka_unit_test(a_tape_that_is_short_is_taken_whole),
        cmocka_unit_test(a_reset_keeps_its_frees),
    };
    return cmocka_run_group_tests(tests, open_whole, close_whole);
}
