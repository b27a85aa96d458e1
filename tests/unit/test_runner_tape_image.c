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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_holds_the_tape_and_its_padding),
        cmocka_unit_test(a_worker_cannot_write_or_resize_the_tape),
        cmocka_unit_test(sizes_come_from_wide_and_aligned_ops_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
