/* SPDX-License-Identifier: MIT
 *
 * The checker over a heap whose every answer the test chooses: what it tells, in which words, and
 * that it tells nothing of what is right or what it is not asked to prove.
 * tests: target.c
 */
#include "support/cmocka.h"
#include "worker/checks/checker.h"

#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

static _Alignas(4096) unsigned char memory[1 << 16];
static struct {
    size_t give, resize_to; /* offset in memory; SIZE_MAX = NULL */
    size_t usable;          /* SIZE_MAX = as asked for: 64 */
} answer;
static struct ab_checker checker;
static struct ab_target target;
static char told[512];
static jmp_buf back;

static ab_ref ref_of(size_t offset)
{
    return offset == SIZE_MAX ? 0 : (ab_ref)memory + offset;
}

static ab_ref give(struct ab_heap *heap, size_t size)
{
    (void)heap;
    (void)size;
    return ref_of(answer.give);
}

static ab_ref give_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)align;
    return give(heap, size);
}

static ab_ref resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)heap;
    (void)ref;
    (void)old_size;
    (void)new_size;
    return ref_of(answer.resize_to);
}

static void take(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
}

static size_t usable(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    (void)ref;
    return answer.usable == SIZE_MAX ? 64 : answer.usable;
}

static const struct ab_backend hooks = {.alloc = give,
                                        .alloc_zeroed = give,
                                        .alloc_aligned = give_aligned,
                                        .resize = resize,
                                        .free = take,
                                        .usable_size = usable};

static __attribute__((noreturn)) void note(void *user, const char *text)
{
    (void)user;
    strncpy(told, text, sizeof told - 1);
    longjmp(back, 1);
}

static int begin(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(told, 0, sizeof told);
    answer.give = 0;
    answer.resize_to = answer.usable = SIZE_MAX;
    target = (struct ab_target){.hooks = &hooks};
    if (!ab_checker_open(&checker, &target))
        return -1;
    checker.fail = note;
    return 0;
}

static int end(void **state)
{
    (void)state;
    ab_shadow_close(&checker.shadow);
    return 0;
}

/* "" = nothing was told. */
static const char *ask(enum ab_call call, size_t align, size_t size, size_t offset)
{
    told[0] = 0;
    answer.give = offset;
    struct ab_ask what = {call, align, size};
    if (setjmp(back) == 0)
        ab_checker_ask(&checker, NULL, &what);
    return told;
}

static const char *drop(size_t offset, size_t size)
{
    told[0] = 0;
    if (setjmp(back) == 0)
        ab_checker_free(&checker, NULL, ref_of(offset), size);
    return told;
}

static const char *change(size_t offset, size_t old_size, size_t new_size, size_t to)
{
    const size_t sizes[2] = {old_size, new_size};
    told[0] = 0;
    answer.resize_to = to;
    if (setjmp(back) == 0)
        ab_checker_resize(&checker, NULL, ref_of(offset), sizes);
    return told;
}

static void expect(const char *text, const char *wanted)
{
    if (*wanted == 0 ? *text != 0 : strstr(text, wanted) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", text, wanted);
}

static void what_is_right_is_not_told(void **state)
{
    (void)state;
    expect(ask(AB_CALL_ALLOC, 0, 64, 0), "");
    expect(ask(AB_CALL_ALIGNED, 256, 64, 256), "");
    expect(ask(AB_CALL_ALLOC, 0, 8, 72), ""); /* 8 bytes need no more than 8 */
    expect(ask(AB_CALL_ALLOC, 0, 1, 81), "");
    expect(change(0, 64, 32, 0), "");
    expect(drop(0, 32), "");
    expect(drop(256, 64), "");
    ab_checker_sweep(&checker);
}

static void alignment_is_told_with_the_call(void **state)
{
    (void)state;
    expect(ask(AB_CALL_ALLOC, 0, 16, 8), "alloc(16) returned 0x");
    expect(told, ", not aligned to 16");
    expect(ask(AB_CALL_ALLOC, 0, 8, 4), "not aligned to 8");
    expect(ask(AB_CALL_ALLOC, 0, 2, 1), "not aligned to 2");
    expect(ask(AB_CALL_ALIGNED, 256, 10, 128), "alloc_aligned(256, 10) returned 0x");
    expect(told, "not aligned to 256");
}

static void an_overlap_names_both_blocks(void **state)
{
    (void)state;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    answer.usable = 100;
    expect(ask(AB_CALL_ALLOC, 0, 100, 48), "alloc(100) returned 0x");
    expect(told, ", inside a live block: alloc(64) at 0x");
}

static void memory_of_others_and_no_memory_are_told(void **state)
{
    (void)state;
    ab_checker_forbid(&checker, memory + 512, 512);
    expect(ask(AB_CALL_ALLOC, 0, 32, 496), "not owned by the allocator");
    expect(ask(AB_CALL_ALLOC, 0, 16, 496), "");
    checker.proves = AB_PROVE_PLACE;
    expect(ask(AB_CALL_ALLOC, 0, 16, (uintptr_t)MAP_FAILED - (uintptr_t)memory), "MAP_FAILED");
}

static void a_changed_byte_is_told_at_the_free_and_by_a_sweep(void **state)
{
    (void)state;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    ask(AB_CALL_ALLOC, 0, 64, 64);
    memory[63] ^= 1;
    expect(drop(64, 64), "");
    expect(drop(0, 64), "contents of a live block changed: alloc(64), byte 63");
    ask(AB_CALL_ALLOC, 0, 64, 128);
    memory[128] ^= 1;
    told[0] = 0;
    if (setjmp(back) == 0)
        ab_checker_sweep(&checker);
    expect(told, "changed: alloc(64), byte 0");
}

static void the_contents_of_another_block_are_no_contents(void **state)
{
    (void)state;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    ask(AB_CALL_ALLOC, 0, 64, 64);
    memcpy(memory, memory + 64, 64);
    expect(drop(0, 64), "contents of a live block changed: alloc(64), byte 0");
}

static void of_large_blocks_both_ends_are_read(void **state)
{
    (void)state;
    answer.usable = 65536;
    checker.edge_bytes = 16;
    ask(AB_CALL_ALLOC, 0, 1000, 0);
    memory[500] ^= 1; /* the middle is nobody's concern */
    expect(drop(0, 1000), "");
    ask(AB_CALL_ALLOC, 0, 1000, 0);
    memory[984] ^= 1;
    expect(drop(0, 1000), "byte 984");
}

static void zeroed_memory_must_be_zero(void **state)
{
    (void)state;
    expect(ask(AB_CALL_ZEROED, 0, 64, 0), "");
    memory[64 + 40] = 1;
    expect(ask(AB_CALL_ZEROED, 0, 64, 64), "not zero: alloc_zeroed(64), byte 40");
}

static void a_resize_must_keep_the_prefix(void **state)
{
    (void)state;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    answer.usable = 128;
    memcpy(memory + 256, memory, 64);
    expect(change(0, 64, 128, 256), "");
    memcpy(memory + 1024, memory + 256, 50); /* what lies behind the new end is free to change */
    expect(change(256, 128, 50, 1024), "");
    memcpy(memory + 2048, memory + 1024, 30);
    expect(change(1024, 50, 60, 2048), "resize(50 -> 60) did not preserve byte 30");
}

static void a_resize_that_fails_must_leave_the_block(void **state)
{
    (void)state;
    checker.is_null_failure = false;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    expect(change(0, 64, 128, SIZE_MAX), "");
    expect(drop(0, 64), "");
    checker.is_null_failure = true;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    expect(change(0, 64, 128, SIZE_MAX), "resize(64 -> 128) returned NULL");
}

static void usable_size_is_at_least_the_request(void **state)
{
    (void)state;
    answer.usable = 63;
    expect(ask(AB_CALL_ALLOC, 0, 64, 0), "usable_size is less than the requested size: 63 of "
                                         "alloc(64)");
}

static void slack_is_filled_where_that_is_asked_for(void **state)
{
    (void)state;
    answer.usable = 80;
    checker.fills_usable = true;
    ask(AB_CALL_ALLOC, 0, 64, 0);
    expect(ask(AB_CALL_ALLOC, 0, 64, 64), "inside a live block");
    memory[79] ^= 1;
    expect(drop(0, 64), "byte 79");
}

static void null_is_told_only_where_there_must_be_a_block(void **state)
{
    (void)state;
    expect(ask(AB_CALL_ALLOC, 0, 64, SIZE_MAX), "alloc(64) returned NULL");
    expect(ask(AB_CALL_ALLOC, 0, 0, SIZE_MAX), "");
    checker.is_null_failure = false;
    expect(ask(AB_CALL_ALLOC, 0, 64, SIZE_MAX), "");
}

static void what_is_not_to_be_proven_is_not_told(void **state)
{
    (void)state;
    checker.proves = 0;
    answer.usable = 1;
    expect(ask(AB_CALL_ALLOC, 0, 64, 8), "");
    expect(ask(AB_CALL_ZEROED, 0, 64, 16), "");
    expect(change(8, 64, 128, 1), "");
    expect(drop(16, 64), "");
    expect(drop(1, 128), "");
}

static void a_free_of_what_is_no_block_is_the_callers_error_and_told(void **state)
{
    (void)state;
    expect(drop(512, 64), "has moved");
}

static const struct ab_near_block *near(size_t offset)
{
    static struct ab_near_block found;
    assert_true(ab_checker_locate(&checker, (uintptr_t)memory + offset, &found));
    return &found;
}

static void where_an_address_lies_is_known(void **state)
{
    (void)state;
    expect(ask(AB_CALL_ALLOC, 0, 64, 8192), "");
    expect(ask(AB_CALL_ALLOC, 0, 64, 16384), "");
    assert_int_equal(near(8192 + 63)->near, AB_NEAR_INSIDE);
    assert_int_equal(near(8192 + 63)->at, (uintptr_t)memory + 8192);
    assert_int_equal(near(8192 + 64)->near, AB_NEAR_BEHIND);
    assert_int_equal(near(16384 - 1)->near, AB_NEAR_BEFORE);
    assert_int_equal(near(16384 - 1)->size, 64);
    assert_int_equal(near(40000)->near, AB_NEAR_NOTHING);
    expect(drop(8192, 64), "");
    assert_int_equal(near(8192 + 10)->near, AB_NEAR_FREED);
    assert_int_equal(near(8192 + 10)->at, (uintptr_t)memory + 8192);
    expect(ask(AB_CALL_ALLOC, 0, 64, 8192), "");
    assert_int_equal(near(8192 + 10)->near, AB_NEAR_INSIDE); /* it lives again */
    checker.lock = 1;                                        /* another thread is changing it */
    assert_false(ab_checker_locate(&checker, (uintptr_t)memory, &(struct ab_near_block){.at = 0}));
    checker.lock = 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(what_is_right_is_not_told),
        TEST(alignment_is_told_with_the_call),
        TEST(an_overlap_names_both_blocks),
        TEST(memory_of_others_and_no_memory_are_told),
        TEST(a_changed_byte_is_told_at_the_free_and_by_a_sweep),
        TEST(the_contents_of_another_block_are_no_contents),
        TEST(of_large_blocks_both_ends_are_read),
        TEST(zeroed_memory_must_be_zero),
        TEST(a_resize_must_keep_the_prefix),
        TEST(a_resize_that_fails_must_leave_the_block),
        TEST(usable_size_is_at_least_the_request),
        TEST(slack_is_filled_where_that_is_asked_for),
        TEST(null_is_told_only_where_there_must_be_a_block),
        TEST(what_is_not_to_be_proven_is_not_told),
        TEST(where_an_address_lies_is_known),
        TEST(a_free_of_what_is_no_block_is_the_callers_error_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
