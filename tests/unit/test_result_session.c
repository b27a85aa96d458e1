/* SPDX-License-Identifier: MIT */
#include "document/session_record.h"
#include "result/numbers.h"
#include "result/result.h"
#include "result/session.h"

#include "base/bits.h"
#include "result/result_fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_settle_at_what_files_tell(void **state)
{
    (void)state;
    static const struct {
        double x, settled;
    } numbers[] = {
        {21.0000000000001, 21},
        {1 / 3.0, 0.333333333333},
        {-1 / 3.0, -0.333333333333},
        {123456789012345, 123456789012345},
        {0.5, 0.5},
        {123456789.0123456, 123456789.012},
        {0, 0},
        {9007199254740993.0, 9.00719925474e15},
        {5e-324, 5e-324},
        {INFINITY, INFINITY},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(numbers); i++) {
        double settled = ab_number_settle(numbers[i].x);
        assert_true(settled == numbers[i].settled);
        assert_true(ab_number_settle(settled) == settled);
    }
    assert_true(isnan(ab_number_settle(NAN)));
}

/* Every double of a record that is listed in the tables. */
static void every_number_of_a_session_settles(void **state)
{
    (void)state;
    struct ab_result result = {.n_worst = 1, .worst = {{.ns = 1 / 3.0}}};
    struct ab_memory memory = {.drained_bytes = {1 / 3.0}};
    struct ab_null_cost null = {.ns_per_op = 1 / 3.0, .floor_ns = 1 / 3.0};
    struct ab_session s = {.results = &result,
                           .n_results = 1,
                           .memory = &memory,
                           .n_memory = 1,
                           .nulls = &null,
                           .n_nulls = 1};
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].type == AB_FIELD_F64)
            *(double *)((char *)&result + ab_fields[i].offset) = 1 / 3.0;
    for (size_t i = 0; i < ab_memory_field_count; i++)
        *(double *)((char *)&memory + ab_memory_fields[i].offset) = 1 / 3.0;
    ab_session_settle(&s);
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].type == AB_FIELD_F64)
            assert_true(ab_field_f64(&ab_fields[i], &result) == 0.333333333333);
    for (size_t i = 0; i < ab_memory_field_count; i++)
        assert_true(ab_memory_value(&ab_memory_fields[i], &memory) == 0.333333333333);
    assert_true(result.worst[0].ns == 0.333333333333);
    assert_true(memory.drained_bytes[0] == 0.333333333333);
    assert_true(null.ns_per_op == 0.333333333333 && null.floor_ns == 0.333333333333);
}

/* One boundary, but two placements; the last row shares the first one's. */
static void a_null_is_that_of_boundary_and_placement(void **state)
{
    (void)state;
    struct ab_backend_info backends[] = {{.boundary = "malloc"},
                                         {.boundary = "routed", .rules.placement = "aa"},
                                         {.boundary = "routed", .rules.placement = "bb"},
                                         {.boundary = "routed", .rules.placement = "aa"},
                                         {.boundary = NULL}};
    struct ab_null_cost nulls[] = {{.phase = "p", .boundary = "malloc", .round = 1},
                                   {.phase = "p", .boundary = "routed", .round = 1},
                                   {.phase = "p", .boundary = "routed", .round = 1}};
    strcpy(nulls[1].placement, "bb");
    strcpy(nulls[2].placement, "aa");
    const struct ab_session s = {
        .backends = backends, .n_backends = 5, .nulls = nulls, .n_nulls = 3};
    assert_ptr_equal(ab_session_null(&s, 0, "p", 1), &nulls[0]);
    assert_ptr_equal(ab_session_null(&s, 1, "p", 1), &nulls[2]);
    assert_ptr_equal(ab_session_null(&s, 2, "p", 1), &nulls[1]);
    assert_ptr_equal(ab_session_null(&s, 3, "p", 1), &nulls[2]);
    assert_null(ab_session_null(&s, 4, "p", 1));
    assert_null(ab_session_null(&s, 1, "p", 0));
    assert_null(ab_session_null(&s, 1, "q", 1));
    const uint32_t stands[] = {0, 1, 2, 1, 4};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(ab_session_harness(&s, i), stands[i]);
    assert_false(ab_null_is_like(&nulls[1], &nulls[2]));
    assert_false(ab_null_is_like(&nulls[0], &nulls[1]));
    nulls[1].placement[0] = 0; /* an older result: of the boundary */
    assert_ptr_equal(ab_session_null(&s, 1, "p", 1), &nulls[1]);
    assert_ptr_equal(ab_session_null(&s, 2, "p", 1), &nulls[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_is_that_of_boundary_and_placement),
        cmocka_unit_test(numbers_settle_at_what_files_tell),
        cmocka_unit_test(every_number_of_a_session_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
