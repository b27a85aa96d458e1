/* SPDX-License-Identifier: MIT */
#include "support/cmocka.h"
#include "support/tape.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void the_map_holds_the_tape_and_its_padding(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    test_tape_churn_map(100, 1000, &tape, &map);
    assert_int_equal(map.image->n_ops, tape.n_ops);
    assert_int_equal(map.image->n_phases, 3);
    assert_int_equal(map.image->n_slots, 100);
    assert_string_equal(map.phases[1].name, "churn");
    assert_int_equal(test_tape_op(&map, 0).kind, AB_OP_ALLOC);
    assert_int_equal(test_tape_op(&map, 0).size, 64);
    assert_int_equal(test_tape_op(&map, map.phases[2].begin).kind, AB_OP_FREE);
    for (unsigned i = 0; i < AB_TAPE_PAD; i++)
        assert_int_equal(map.ops[map.image->n_ops + i], 0);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

static void a_worker_cannot_write_or_resize_the_tape(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    test_tape_churn_map(10, 100, &tape, &map);
    assert_true(write(map.fd, "x", 1) < 0);
    assert_true(ftruncate(map.fd, 10) < 0);
    assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map.fd, 0) == MAP_FAILED);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

static void sizes_come_from_wide_and_aligned_ops_too(void **state)
{
    (void)state;
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_err err;
    struct ab_request big = {.size = UINT64_C(1) << 40}, aligned = {.size = 100, .align = 256};
    ab_tape_phase(b, "p", true, &err);
    assert_int_equal(ab_tape_alloc(b, 0, &big, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &aligned, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(&tape, &map, &err), AB_OK);
    assert_int_equal(test_tape_op(&map, 0).kind, AB_OP_ALLOC);
    assert_int_equal(test_tape_op(&map, 0).size, UINT64_C(1) << 40);
    assert_int_equal(test_tape_op(&map, 1).kind, AB_OP_ALLOC_ALIGNED);
    assert_int_equal(test_tape_op(&map, 1).size, 100);
    assert_int_equal(test_tape_op(&map, 1).align, 256);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

/* Two lanes whose ops take turns; each block of two pages is touched by an op of its own. */
static void only_operations_count_and_a_touch_belongs_to_its_op(void **state)
{
    enum { BLOCKS = 3000 };
    (void)state;
    const struct ab_request small = {.size = 64, .touch = AB_TOUCH_PAGE};
    const struct ab_request large = {.size = 8192, .touch = AB_TOUCH_PAGE};
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_err err;
    for (unsigned p = 0; p < 2; p++) {
        ab_tape_phase(b, p == 0 ? "up" : "down", true, &err);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            ab_tape_lane(b, (i + p) & 1, &err);
            enum ab_status status = p == 1
                                        ? ab_tape_free(b, i, &err)
                                        : ab_tape_alloc(b, i, i % 3 == 0 ? &large : &small, &err);
            assert_int_equal(status, AB_OK);
        }
    }
    assert_int_equal(ab_tape_end(b, &tape, &err), AB_OK);
    assert_int_equal(ab_tape_ops(&tape), 2 * BLOCKS);
    assert_int_equal(ab_tape_map_open(&tape, &map, &err), AB_OK);
    assert_true(map.image->n_ops >= 2 * BLOCKS + BLOCKS / 3);
    assert_int_equal(map.image->n_counted, 2 * BLOCKS);
    assert_int_equal(ab_tape_ops_before(map.image, 0), 0);
    assert_int_equal(ab_tape_ops_before(map.image, map.phases[1].begin), BLOCKS);
    assert_int_equal(ab_tape_ops_before_as_it_lies(map.image, map.phases[1].begin), BLOCKS);
    assert_int_equal(ab_tape_ops_before_as_it_lies(map.image, map.lane_begin[1]), BLOCKS / 2);
    assert_int_equal(ab_tape_ops_before(map.image, map.image->n_ops), 2 * BLOCKS);
    for (uint32_t n = 1; n <= 2 * BLOCKS; n++) {
        uint32_t at = ab_tape_position_of(map.image, n);
        assert_int_equal(ab_tape_ops_before(map.image, at), n);
        assert_int_equal(ab_tape_ops_before(map.image, at - 1), n - 1);
    }
    /* Lane 0 begins with a large block: its op is done once it has been touched. */
    uint32_t first = map.lane_begin[0];
    while (!ab_op_is_counted(map.ops[first]))
        first++;
    assert_true(ab_op_is_touch(map.ops[first + 1]));
    assert_int_equal(ab_tape_ops_before_as_it_lies(map.image, first + 1), 0);
    assert_int_equal(ab_tape_ops_before_as_it_lies(map.image, first + 2), 1);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_holds_the_tape_and_its_padding),
        cmocka_unit_test(a_worker_cannot_write_or_resize_the_tape),
        cmocka_unit_test(sizes_come_from_wide_and_aligned_ops_too),
        cmocka_unit_test(only_operations_count_and_a_touch_belongs_to_its_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
