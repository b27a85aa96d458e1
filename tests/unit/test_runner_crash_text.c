/* SPDX-License-Identifier: MIT
 *
 * Sentences about reports whose every field the test chooses, hostile ones too.
 * tests: classify.c
 */
#include "runner/classify.h"
#include "support/cmocka.h"

#include <signal.h>
#include <string.h>

static struct ab_run_report report;
static struct ab_crash_text told;
static char call[256];

static const char maps[] = "1000000-1002000 r--p 00000000 08:01 7 /lib/libmine.so\n"
                           "1002000-1004000 r-xp 00002000 08:01 7 /lib/lib\x1bmine.so\n"
                           "7000000-7002000 ---p 00000000 00:00 0 \n"
                           "8000000-8002000 rw-p 00000000 00:00 0 [stack]\n";

static int begin(void **state)
{
    (void)state;
    memset(&report, 0, sizeof report);
    struct ab_crash_report *c = &report.crash;
    c->is_taken = c->is_whole = 1;
    c->signal = SIGSEGV;
    c->code = 1;
    c->pc = 0x1002010;
    c->sp = 0x8001000;
    c->maps_bytes = sizeof maps - 1;
    memcpy(c->maps, maps, sizeof maps);
    return 0;
}

static const char *memory_at(uint64_t address, enum ab_fault_kind access)
{
    report.crash.address = address;
    report.crash.access = access;
    ab_crash_place(&report.crash, NULL, &told);
    return told.memory;
}

static void the_address_says_what_is_there(void **state)
{
    (void)state;
    assert_string_equal(memory_at(0, AB_FAULT_READ), "read of 0x0: a null pointer");
    assert_string_equal(memory_at(8, AB_FAULT_WRITE), "write to 0x8: a null pointer + 8");
    assert_string_equal(memory_at(0x5000000, AB_FAULT_ACCESS), "access to 0x5000000: not mapped");
    assert_string_equal(memory_at(0x7000010, AB_FAULT_WRITE),
                        "write to 0x7000010: mapped without access");
    assert_string_equal(memory_at(0x1000010, AB_FAULT_WRITE),
                        "write to 0x1000010: mapped read-only, from libmine.so");
    assert_string_equal(memory_at(0x9000000, AB_FAULT_FETCH), "jump to 0x9000000: not mapped");
    assert_string_equal(memory_at(0x7fff000, AB_FAULT_WRITE),
                        "write to 0x7fff000: the stack has overflowed");
    report.crash.below_end = 0x5000000;
    assert_string_equal(memory_at(0x5000010, AB_FAULT_READ),
                        "read of 0x5000010: not mapped, 16 bytes past the end of a mapping");
    assert_string_equal(memory_at(0, AB_FAULT_ACCESS), "access to 0x0: a null pointer");
    report.crash.code = SI_KERNEL; /* x86-64: the processor does not say which address it was */
    assert_non_null(strstr(memory_at(0, AB_FAULT_ACCESS), "not canonical"));
    report.crash.signal = SIGABRT;
    assert_string_equal(memory_at(0, AB_FAULT_ACCESS), "");
}

static void blocks_near_it_are_told(void **state)
{
    (void)state;
    report.crash.block = (struct ab_near_block){AB_NEAR_INSIDE, 0, 0x5000000, 64};
    assert_string_equal(memory_at(0x5000010, AB_FAULT_READ),
                        "read of 0x5000010: byte 16 of the live block of 64 bytes at 0x5000000; "
                        "not mapped");
    report.crash.block.near = AB_NEAR_BEHIND;
    assert_non_null(strstr(memory_at(0x5000048, AB_FAULT_READ),
                           "8 bytes past the end of the live block of 64 bytes at 0x5000000"));
    report.crash.block.near = AB_NEAR_BEFORE;
    assert_non_null(strstr(memory_at(0x4fffff0, AB_FAULT_READ),
                           "16 bytes before the live block of 64 bytes at 0x5000000"));
    report.crash.block.near = AB_NEAR_FREED;
    assert_non_null(strstr(memory_at(0x5000000, AB_FAULT_READ), "byte 0 of a freed block of 64"));
}

static void code_is_told_by_its_file_and_never_raw(void **state)
{
    (void)state;
    memory_at(8, AB_FAULT_WRITE);
    assert_string_equal(told.function, "lib\\x1bmine.so"); /* there is no such file to look into */
    report.crash.pc = 0x123450;
    memory_at(8, AB_FAULT_WRITE);
    assert_string_equal(told.function, "0x123450, which is not code");
}

static void what_is_not_whole_or_out_of_bounds_is_not_told(void **state)
{
    (void)state;
    report.crash.is_whole = 0;
    assert_string_equal(memory_at(8, AB_FAULT_WRITE), "");
    report.crash.is_whole = 1;
    report.crash.maps_bytes = AB_CRASH_MAPS + 1;
    assert_string_equal(memory_at(8, AB_FAULT_WRITE), "");
    report.crash.maps_bytes = AB_CRASH_MAPS;
    memset(report.crash.maps, 'x', AB_CRASH_MAPS);
    report.crash.n_stack = AB_CRASH_STACK + 1;
    assert_string_equal(memory_at(8, AB_FAULT_WRITE), "");
    report.crash.n_stack = 0;
    memory_at(0x5000000, AB_FAULT_WRITE);
    assert_string_equal(told.function, "0x1002010, which is not code");
}

static void note(uint32_t i, enum ab_called called, uint32_t is_inside, uint64_t a, uint64_t b)
{
    report.calls.notes[i] = (struct ab_call_note){called, is_inside, 12, {a, b}};
}

static const char *tell_call(void)
{
    ab_crash_call(&report, call, sizeof call);
    return call;
}

static void the_call_is_spelled_as_it_was_made(void **state)
{
    (void)state;
    report.crash.note = 1;
    assert_string_equal(tell_call(), "");
    note(0, AB_CALLED_REALLOC, 1, 0x1010, 4096);
    assert_string_equal(tell_call(), "in realloc(0x1010, 4096), call 12 of the check");
    note(0, AB_CALLED_POSIX_MEMALIGN, 0, 64, 100);
    assert_string_equal(tell_call(), "after posix_memalign(&p, 64, 100), call 12 of the check");
    note(0, AB_CALLED_FREE, 1, 0, 0);
    assert_string_equal(tell_call(), "in free(NULL), call 12 of the check");
    note(0, AB_CALLED_RESET, 1, 0, 0);
    assert_string_equal(tell_call(), "in reset(), call 12 of the check");
    note(0, (enum ab_called)AB_CALLED_COUNT, 1, 0, 0);
    assert_string_equal(tell_call(), "");
}

static void whose_call_it_is_follows_from_how_it_ended(void **state)
{
    (void)state;
    note(0, AB_CALLED_MALLOC, 0, 48, 0);
    note(1, AB_CALLED_FREE, 1, 0x1010, 0);
    note(2, AB_CALLED_MALLOC, 1, 1, 0);
    assert_non_null(strstr(tell_call(), "; another thread crashed, one of the allocator's own"));
    report.calls.n_threads = AB_CALL_NOTES; /* more than there are notes: it may be the check's */
    assert_non_null(strstr(tell_call(), "; another thread crashed"));
    assert_null(strstr(tell_call(), "own"));
    report.crash.is_taken = 0; /* a hang */
    assert_string_equal(tell_call(),
                        "in free(0x1010), call 12 of the check; 1 other thread is in a "
                        "call as well");
    report.calls.failed = 1; /* what failed says who found it */
    assert_string_equal(tell_call(), "malloc(48), call 12 of the check");
    note(AB_CALL_NOTES - 1, AB_CALLED_MALLOC, 1, 16, 0);
    assert_string_equal(tell_call(), "in the child: malloc(16), call 12 of the check");
    report.calls.failed = AB_CALL_NOTES + 1;
    report.crash.is_taken = 1;
    report.crash.note = UINT32_MAX;
    tell_call();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(the_address_says_what_is_there),
        TEST(blocks_near_it_are_told),
        TEST(code_is_told_by_its_file_and_never_raw),
        TEST(what_is_not_whole_or_out_of_bounds_is_not_told),
        TEST(the_call_is_spelled_as_it_was_made),
        TEST(whose_call_it_is_follows_from_how_it_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
