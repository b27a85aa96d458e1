/* SPDX-License-Identifier: MIT */
#include "trace_tools/walk.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void random_traces_are_proven(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        size_t n;
        struct ab_trace_info written, info = {0};
        struct ab_err err = {0};
        uint8_t *bytes = test_trace_random(
            (struct test_trace_kind){i, 1 + i % 4, i * 997, i % 2 == 1}, &n, &written);
        char *path = test_trace_file(bytes, n);
        uint64_t values[2];
        if (ab_trace_check(&(struct ab_walk){.path = path}, &info, &err) != AB_OK)
            fail_msg("%s", err.text);
        const char *differs = ab_trace_totals_differ(&info, &written, values);
        if (differs != NULL)
            fail_msg("%s", differs);
        unlink(path);
        free(path);
        free(bytes);
    }
}

static void each_total_is_compared(void **state)
{
    (void)state;
    struct ab_trace_info stated = {0}, reckoned = {0};
    uint64_t *fields[] = {
        &stated.events,      &stated.threads, &stated.live_peak_bytes, &stated.live_peak_blocks,
        &stated.ops[0],      &stated.ops[1],  &stated.ops[2],          &stated.ops[3],
        &stated.ops[4],      &stated.failed,  &stated.live_end_blocks, &stated.live_end_bytes,
        &stated.total_bytes, &stated.slots,   &stated.thread_ends,
    };
    uint64_t values[2];
    assert_null(ab_trace_totals_differ(&reckoned, &stated, values));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i] = 5;
        assert_non_null(ab_trace_totals_differ(&reckoned, &stated, values));
        assert_int_equal(values[0], 0);
        assert_int_equal(values[1], 5);
        *fields[i] = 0;
    }
}

static void a_cut_file_is_refused(void **state)
{
    (void)state;
    size_t n;
    struct ab_err err = {0};
    struct ab_trace_info info;
    uint8_t *bytes = test_trace_mixed(1000, &n, NULL);
    char *path = test_trace_file(bytes, n - 1);
    assert_int_equal(ab_trace_check(&(struct ab_walk){.path = path}, &info, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "1000 events before it are complete"));
    unlink(path);
    free(path);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces_are_proven),
        cmocka_unit_test(each_total_is_compared),
        cmocka_unit_test(a_cut_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
