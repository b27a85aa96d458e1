/* SPDX-License-Identifier: MIT */
/* tests: op.c */
#include "support/cmocka.h"
#include "support/tape.h"
#include "tape/tape.h"

#include <string.h>

static struct ab_err err;

static struct ab_tape_builder *begin(void)
{
    struct ab_tape_builder *b = ab_tape_begin();
    assert_non_null(b);
    assert_int_equal(ab_tape_phase(b, "p", true, &err), AB_OK);
    return b;
}

static void facts_are_those_of_the_ops(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_tape t;
    struct ab_request small = {.size = 100}, large = {.size = 5000, .align = 64},
                      more = {.size = 300};
    assert_int_equal(ab_tape_alloc(b, 0, &small, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &large, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 1, &err), AB_OK);
    assert_int_equal(ab_tape_resize(b, 0, &more, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.facts.largest_bytes, 5000);
    assert_int_equal(t.facts.largest_align, 64);
    assert_int_equal(t.facts.live_peak_blocks, 2);
    assert_int_equal(t.facts.live_peak_bytes, 5100);
    assert_int_equal(t.facts.total_bytes, 5400);
    assert_int_equal(t.facts.total_blocks, 3);
    assert_int_equal(t.facts.kinds, 1u << AB_OP_ALLOC | 1u << AB_OP_ALLOC_ALIGNED |
                                        1u << AB_OP_FREE | 1u << AB_OP_RESIZE);
    assert_int_equal(t.live_end_blocks, 1);
    assert_int_equal(t.live_end_bytes, 300);
    assert_int_equal(t.n_slots, 2);
    ab_tape_fini(&t);
}

static void a_free_by_size_knows_the_alignment_and_leaves_resized_blocks_alone(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_tape t;
    struct ab_request natural = {.size = 100}, aligned = {.size = 100, .align = 64};
    const struct ab_request *requests[] = {&natural, &aligned, &natural, &natural};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ab_tape_alloc(b, i, requests[i], &err), AB_OK);
    assert_int_equal(ab_tape_resize(b, 2, &natural, &err), AB_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(ab_tape_free_sized(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 3, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &natural, &err), AB_OK); /* the slot's next block */
    assert_int_equal(ab_tape_free_sized(b, 1, &err), AB_OK);
    assert_int_equal(ab_tape_free_sized(b, 1, &err), AB_INPUT);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.ops[5], AB_OP_MAKE(AB_CODE_FREE_SIZED, 0, 0));
    assert_int_equal(t.ops[6], AB_OP_MAKE(AB_CODE_FREE_SIZED, 1, 6));
    assert_int_equal(t.ops[7], AB_OP_MAKE(AB_CODE_FREE, 2, 0));
    assert_int_equal(t.ops[8], AB_OP_MAKE(AB_CODE_FREE, 3, 0));
    assert_int_equal(t.ops[10], AB_OP_MAKE(AB_CODE_FREE_SIZED, 1, 0));
    assert_int_equal(t.n_sized_frees, 3);
    assert_int_equal(t.phases[0].n_ops[AB_OP_FREE], 5);
    assert_int_equal(t.live_end_blocks, 0);
    ab_tape_fini(&t);
}

/* No operation, no touch, no use of a slot; part of the work, so that the digest is another one. */
static void a_trim_is_an_op_of_no_block_in_whole_pages(void **state)
{
    (void)state;
    struct ab_request r = {.size = 100, .touch = AB_TOUCH_PAGE};
    struct ab_tape t, plain;
    for (int is_plain = 0; is_plain < 2; is_plain++) {
        struct ab_tape_builder *b = begin();
        assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
        for (int i = 0; i < 3 && is_plain == 0; i++)
            assert_int_equal(ab_tape_trim(b, (uint64_t[]){0, 4097, UINT64_MAX}[i], &err), AB_OK);
        assert_int_equal(ab_tape_count(b), 1);
        assert_int_equal(ab_tape_end(b, is_plain ? &plain : &t, &err), AB_OK);
    }
    assert_int_equal(t.n_ops, 4);
    assert_int_equal(t.n_trims, 3);
    assert_int_equal(plain.n_trims, 0);
    assert_int_equal(ab_tape_ops(&t), ab_tape_ops(&plain));
    assert_int_equal(t.phases[0].n_touches, plain.phases[0].n_touches);
    assert_string_not_equal(t.sha256, plain.sha256);
    const uint32_t pages[] = {0, 2, AB_TRIM_MOST};
    for (int i = 0; i < 3; i++) {
        uint64_t op = t.ops[1 + i];
        assert_true(ab_op_is_trim(op) && !ab_op_is_counted(op) && !ab_op_is_touch(op));
        assert_int_equal(AB_TRIM_PAGES(AB_OP_SIZE(op)), pages[i]);
    }
    assert_false(ab_op_is_trim(AB_OP_MAKE(AB_CODE_TOUCH, 0, AB_LEADING_MAKE(2))));
    ab_tape_fini(&t);
    ab_tape_fini(&plain);
}

static void the_longest_stretch_between_bulk_resets_is_kept(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_tape t;
    struct ab_request small = {.size = 100}, large = {.size = 5000};
    const uint32_t slots[] = {0, 1};
    assert_int_equal(ab_tape_alloc(b, 0, &small, &err), AB_OK);
    assert_int_equal(ab_tape_reset(b, slots, 1, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 0, &large, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &small, &err), AB_OK);
    assert_int_equal(ab_tape_reset(b, slots, 1, &err), AB_OK); /* not of all: no bulk reset */
    assert_int_equal(ab_tape_resize(b, 1, &small, &err), AB_OK);
    assert_int_equal(ab_tape_reset(b, slots + 1, 1, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 0, &large, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.stretch_bytes, 5200);
    assert_int_equal(t.facts.total_bytes, 10300);
    ab_tape_fini(&t);
}

static void impossible_ops_are_refused(void **state)
{
    (void)state;
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_request r = {.size = 1}, none = {.size = 0};
    assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_CONFIG); /* no phase yet */
    ab_tape_abandon(b);
    b = begin();
    assert_int_equal(ab_tape_free(b, 0, &err), AB_INPUT);
    assert_int_equal(ab_tape_resize(b, 0, &r, &err), AB_INPUT);
    assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "slot 0 is live already"));
    assert_int_equal(ab_tape_resize(b, 0, &none, &err), AB_CONFIG);
    assert_int_equal(ab_tape_alloc(b, AB_SLOT_MAX + 1, &r, &err), AB_INPUT);
    ab_tape_abandon(b);
    struct ab_tape t;
    assert_int_equal(ab_tape_end(begin(), &t, &err), AB_INPUT); /* not a single op */
}

static void an_access_is_an_op_of_a_live_block_that_has_a_byte(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_request full = {.size = 100}, empty = {.size = 0};
    struct ab_tape t;
    assert_int_equal(ab_tape_access(b, 0, AB_ACCESS_READ, &err), AB_INPUT);
    assert_int_equal(ab_tape_alloc(b, 0, &full, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &empty, &err), AB_OK);
    assert_int_equal(ab_tape_access(b, 1, AB_ACCESS_READ, &err), AB_INPUT);
    assert_int_equal(ab_tape_access(b, 0, AB_ACCESS_READ, &err), AB_OK);
    assert_int_equal(ab_tape_access(b, 0, AB_ACCESS_WRITE, &err), AB_OK);
    assert_int_equal(ab_tape_count(b), 4);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.ops[2], AB_OP_MAKE(AB_CODE_ACCESS, 0, AB_ACCESS_READ));
    assert_int_equal(t.ops[3], AB_OP_MAKE(AB_CODE_ACCESS, 0, AB_ACCESS_WRITE));
    assert_int_equal(t.phases[0].n_ops[AB_OP_ACCESS], 2);
    assert_int_equal(t.phases[0].n_touches, 1); /* a write is one */
    assert_int_equal(t.facts.kinds, 1u << AB_OP_ALLOC | 1u << AB_OP_ACCESS);
    assert_int_equal(t.facts.total_blocks, 2);
    ab_tape_fini(&t);
}

/* A lane must not read a block that another one is still to allocate, nor free what is read. */
static void an_access_by_another_lane_is_guarded_and_no_remote_free(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_request r = {.size = 16};
    struct ab_tape t;
    assert_int_equal(ab_tape_alloc(b, 0, &r, &err), AB_OK);
    assert_int_equal(ab_tape_lane(b, 1, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 1, &r, &err), AB_OK);
    assert_int_equal(ab_tape_access(b, 0, AB_ACCESS_READ, &err), AB_OK);
    assert_int_equal(ab_tape_lane(b, 0, &err), AB_OK);
    assert_int_equal(ab_tape_free(b, 0, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.n_edges, 2);
    assert_int_equal(AB_OP_SIZE(t.ops[2]), 2); /* behind the access, lane 1's second op */
    assert_int_equal(t.n_remote, 0);
    ab_tape_fini(&t);
}

static void small_touched_blocks_need_one_op_large_ones_two(void **state)
{
    (void)state;
    static const struct {
        struct ab_request request;
        uint32_t n_ops;
        unsigned code;
        uint64_t pages;
    } cases[] = {
        {{.size = 100, .touch = AB_TOUCH_PAGE}, 1, AB_CODE_ALLOC | AB_CODE_TOUCHED, 1},
        {{.size = 4096, .touch = AB_TOUCH_PAGE}, 1, AB_CODE_ALLOC | AB_CODE_TOUCHED, 1},
        {{.size = 4097, .touch = AB_TOUCH_PAGE}, 2, AB_CODE_ALLOC, 2},
        {{.size = 100, .touch = AB_TOUCH_ALL}, 2, AB_CODE_ALLOC, 1},
        {{.size = 100, .touch = AB_TOUCH_NONE}, 1, AB_CODE_ALLOC, 0},
        {{.size = 0, .touch = AB_TOUCH_PAGE}, 1, AB_CODE_ALLOC, 0},
        {{.size = 4095, .touch = AB_TOUCH_APART}, 1, AB_CODE_ALLOC, 0},
        {{.size = 4096, .touch = AB_TOUCH_APART}, 2, AB_CODE_ALLOC, 1},
        {{.size = 4097, .touch = AB_TOUCH_APART}, 2, AB_CODE_ALLOC, 2},
        {{.size = 4097, .may_fail = true, .touch = AB_TOUCH_APART}, 1, AB_CODE_WIDE, 0},
        {{.size = 100, .is_zeroed = true, .touch = AB_TOUCH_PAGE},
         1,
         AB_CODE_ALLOC_ZEROED | AB_CODE_TOUCHED,
         1},
        {{.size = 100, .align = 64, .touch = AB_TOUCH_PAGE},
         1,
         AB_CODE_ALLOC_ALIGNED | AB_CODE_TOUCHED,
         1},
        {{.size = UINT64_C(1) << 32, .touch = AB_TOUCH_NONE}, 1, AB_CODE_WIDE, 0},
        {{.size = 1 << 27, .align = 64, .touch = AB_TOUCH_NONE}, 1, AB_CODE_WIDE, 0},
        {{.size = 100, .may_fail = true, .touch = AB_TOUCH_PAGE}, 1, AB_CODE_WIDE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_tape_builder *b = begin();
        struct ab_tape t;
        assert_int_equal(ab_tape_alloc(b, 3, &cases[i].request, &err), AB_OK);
        assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
        assert_int_equal(t.n_ops, cases[i].n_ops);
        assert_int_equal(AB_OP_CODE(t.ops[0]), cases[i].code);
        if (!cases[i].request.may_fail) {
            assert_int_equal(AB_OP_SLOT(t.ops[0]), 3);
            assert_int_equal(t.phases[0].touched_pages, cases[i].pages);
        }
        ab_tape_fini(&t);
    }
}

/* One for each 4096 bytes of them, in a lane; and never within the op of a resize. */
static void of_small_blocks_few_are_touched_apart(void **state)
{
    (void)state;
    const struct ab_request small = {.size = 1024, .touch = AB_TOUCH_APART},
                            large = {.size = 9000, .touch = AB_TOUCH_APART};
    struct ab_tape_builder *b = begin();
    struct ab_tape t;
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(ab_tape_alloc(b, i, &small, &err), AB_OK);
    assert_int_equal(ab_tape_resize(b, 0, &small, &err), AB_OK);
    assert_int_equal(ab_tape_resize(b, 1, &large, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.n_ops, 11 + 2 + 2 + 1 + 1);
    for (uint32_t i = 0; i < t.n_ops; i++) {
        bool is_touch = i == 4 || i == 9 || i == 14 || i == 16;
        assert_int_equal(AB_OP_CODE(t.ops[i]) == AB_CODE_TOUCH, is_touch);
        assert_int_equal(AB_OP_CODE(t.ops[i]) & AB_CODE_TOUCHED && !is_touch, 0);
    }
    assert_int_equal(AB_OP_CODE(t.ops[13]), AB_CODE_RESIZE);
    assert_int_equal(AB_OP_SLOT(t.ops[9]), 7);
    assert_int_equal(t.phases[0].n_touches, 4);
    assert_int_equal(t.phases[0].touched_pages, 3 + 3);
    ab_tape_fini(&t);
}

static void a_request_that_failed_leaves_no_block(void **state)
{
    (void)state;
    struct ab_tape_builder *b = begin();
    struct ab_tape t;
    struct ab_request r = {.size = UINT64_MAX - 7, .may_fail = true}, ok = {.size = 8};
    assert_int_equal(ab_tape_alloc(b, 9, &r, &err), AB_OK);
    assert_int_equal(ab_tape_alloc(b, 0, &ok, &err), AB_OK);
    assert_int_equal(ab_tape_resize(b, 0, &r, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, &t, &err), AB_OK);
    assert_int_equal(t.facts.largest_bytes, 8);
    assert_int_equal(t.facts.total_bytes, 8);
    assert_int_equal(t.live_end_bytes, 8);
    assert_int_equal(t.n_wide, 2);
    ab_tape_fini(&t);
}

static void the_digest_names_the_work(void **state)
{
    (void)state;
    struct ab_tape a, b, c;
    test_tape_churn(50, 1000, &a);
    test_tape_churn(50, 1000, &b);
    test_tape_churn(50, 1001, &c);
    assert_string_equal(a.sha256, b.sha256);
    assert_string_not_equal(a.sha256, c.sha256);
    assert_int_equal(strlen(a.sha256), 64);
    ab_tape_fini(&a);
    ab_tape_fini(&b);
    ab_tape_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_those_of_the_ops),
        cmocka_unit_test(a_free_by_size_knows_the_alignment_and_leaves_resized_blocks_alone),
        cmocka_unit_test(a_trim_is_an_op_of_no_block_in_whole_pages),
        cmocka_unit_test(the_longest_stretch_between_bulk_resets_is_kept),
        cmocka_unit_test(impossible_ops_are_refused),
        cmocka_unit_test(an_access_is_an_op_of_a_live_block_that_has_a_byte),
        cmocka_unit_test(an_access_by_another_lane_is_guarded_and_no_remote_free),
        cmocka_unit_test(small_touched_blocks_need_one_op_large_ones_two),
        cmocka_unit_test(of_small_blocks_few_are_touched_apart),
        cmocka_unit_test(a_request_that_failed_leaves_no_block),
        cmocka_unit_test(the_digest_names_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
