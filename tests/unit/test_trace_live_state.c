/* SPDX-License-Identifier: MIT
 *
 * What calls are possible: threads that end, times that go back, caps on what lives.
 */
#include "trace/live_state.h"

#include "support/cmocka.h"
#include "trace/format.h"

#include <string.h>

static const struct ab_event alloc = {.kind = AB_EVENT_ALLOC, .size = 100};

static const char *take(struct ab_account *a, struct ab_event r)
{
    return ab_account_take(a, &r);
}

static struct ab_event by(uint32_t thread, uint8_t kind)
{
    return (struct ab_event){.kind = kind, .thread = thread, .size = 1};
}

static void a_thread_that_ended_does_nothing_more(void **state)
{
    (void)state;
    struct ab_account a;
    ab_account_init(&a);
    assert_non_null(take(&a, by(0, AB_EVENT_THREAD_END))); /* it has not called */
    for (uint32_t thread = 0; thread < 20; thread++)
        assert_null(take(&a, by(thread, AB_EVENT_ALLOC)));
    assert_null(take(&a, by(9, AB_EVENT_THREAD_END)));
    assert_non_null(take(&a, by(9, AB_EVENT_ALLOC)));
    assert_non_null(take(&a, by(9, AB_EVENT_THREAD_END)));
    assert_non_null(take(&a, by(21, AB_EVENT_ALLOC)));
    assert_null(take(&a, by(8, AB_EVENT_ALLOC)));
    assert_null(take(&a, by(10, AB_EVENT_FREE)));
    assert_null(take(&a, by(20, AB_EVENT_ALLOC)));
    assert_int_equal(a.info.events, 23);
    assert_int_equal(a.info.threads, 21);
    assert_int_equal(a.info.thread_ends, 1);
    struct ab_event flagged = {.kind = AB_EVENT_THREAD_END, .thread = 1, .failed = true};
    assert_non_null(take(&a, flagged));
    ab_account_fini(&a);
}

static void thread_numbers_are_used_up_after_a_million(void **state)
{
    (void)state;
    struct ab_account a;
    ab_account_init(&a);
    for (uint32_t thread = 0; thread < AB_TRACE_THREADS_MAX; thread++) {
        struct ab_event r = {.kind = AB_EVENT_ALLOC, .thread = thread, .failed = true};
        assert_null(take(&a, r));
        assert_null(take(&a, by(thread, AB_EVENT_THREAD_END)));
    }
    assert_non_null(strstr(take(&a, by(AB_TRACE_THREADS_MAX, AB_EVENT_ALLOC)), "more threads"));
    ab_account_fini(&a);
}

static void times_begin_at_0_and_do_not_go_back(void **state)
{
    (void)state;
    struct ab_account a;
    ab_account_init(&a);
    a.info.has_time = true;
    struct ab_event r = alloc;
    r.time_us = 1;
    assert_non_null(take(&a, r));
    r.time_us = 0;
    assert_null(take(&a, r));
    r.time_us = 50;
    assert_null(take(&a, r));
    assert_null(take(&a, r));
    r.time_us = 49;
    assert_non_null(take(&a, r));
    r.time_us = UINT64_C(1) << 63;
    assert_non_null(take(&a, r));
    assert_int_equal(a.info.time_us, 50);
    ab_account_fini(&a);
}

static void caps_are_reached_and_not_passed(void **state)
{
    (void)state;
    struct ab_account a;
    ab_account_init(&a);
    a.live_blocks_max = 3;
    a.live_bytes_max = 300;
    for (int i = 0; i < 3; i++)
        assert_null(take(&a, alloc));
    assert_non_null(strstr(take(&a, alloc), "more live bytes"));
    a.live_bytes_max = 1000;
    assert_non_null(strstr(take(&a, alloc), "more live blocks"));
    struct ab_event grow = {.kind = AB_EVENT_RESIZE, .size = 801, .block = 1};
    assert_non_null(strstr(take(&a, grow), "more live bytes"));
    grow.size = 800;
    assert_null(take(&a, grow));
    struct ab_event release = {.kind = AB_EVENT_FREE, .block = 0};
    assert_null(take(&a, release));
    assert_null(take(&a, alloc)); /* in the place of the freed one */
    assert_int_equal(a.info.live_peak_bytes, 1000);
    assert_int_equal(a.info.live_peak_blocks, 3);
    ab_account_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_ended_does_nothing_more),
        cmocka_unit_test(thread_numbers_are_used_up_after_a_million),
        cmocka_unit_test(times_begin_at_0_and_do_not_go_back),
        cmocka_unit_test(caps_are_reached_and_not_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
