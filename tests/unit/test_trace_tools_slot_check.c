/* SPDX-License-Identifier: MIT
 *
 * The second book: it must find what a reader with a mistake would let pass.
 */
#include "trace_tools/walk.h"

#include "support/cmocka.h"

#include <string.h>

static struct ab_trace_book book;

static int fini(void **state)
{
    (void)state;
    ab_trace_book_fini(&book);
    return 0;
}

static const char *take(struct ab_event e)
{
    struct ab_live_block was;
    return ab_trace_book_take(&book, &e, &was);
}

static void accept_event(struct ab_event e)
{
    const char *wrong = take(e);
    if (wrong != NULL)
        fail_msg("%s", wrong);
}

static void refuse(struct ab_event e, const char *why)
{
    struct ab_trace_info before = book.totals;
    const char *wrong = take(e);
    if (wrong == NULL || strstr(wrong, why) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", why, wrong == NULL ? "nothing" : wrong);
    assert_int_equal(book.totals.events, before.events);
}

static void impossible_calls_are_found(void **state)
{
    (void)state;
    refuse((struct ab_event){.kind = AB_EVENT_FREE, .slot = 0}, "free of a block");
    refuse((struct ab_event){.kind = AB_EVENT_RESIZE, .slot = 7}, "resize of a block");
    refuse((struct ab_event){.kind = AB_EVENT_THREAD_END + 1}, "unknown kind");
    refuse((struct ab_event){.kind = AB_EVENT_ALLOC, .slot = 1}, "past the next new");
    refuse((struct ab_event){.kind = AB_EVENT_ALLOC, .thread = 1}, "thread");
    accept_event((struct ab_event){.kind = AB_EVENT_ALLOC, .size = 8});
    refuse((struct ab_event){.kind = AB_EVENT_ALLOC, .size = 8}, "block that is live");
    refuse((struct ab_event){.kind = AB_EVENT_ALLOC, .slot = 1, .thread = 2}, "thread");
    refuse((struct ab_event){.kind = AB_EVENT_ALLOC, .slot = 1, .block = 2}, "not the next");
    refuse((struct ab_event){.kind = AB_EVENT_FREE, .block = 1}, "number of another");
    accept_event((struct ab_event){.kind = AB_EVENT_FREE});
    refuse((struct ab_event){.kind = AB_EVENT_FREE}, "free of a block");
    refuse((struct ab_event){.kind = AB_EVENT_RESIZE, .size = 1}, "resize of a block");
}

static void threads_end_once_and_time_goes_on(void **state)
{
    (void)state;
    struct ab_event call = {.kind = AB_EVENT_ALLOC, .failed = true, .time_us = 5};
    refuse((struct ab_event){.kind = AB_EVENT_THREAD_END}, "without calls");
    accept_event(call);
    call.thread = 1;
    accept_event(call);
    call.time_us = 4;
    refuse(call, "time before");
    call.time_us = 6;
    accept_event((struct ab_event){.kind = AB_EVENT_THREAD_END, .thread = 1, .time_us = 6});
    refuse(call, "has ended");
    refuse((struct ab_event){.kind = AB_EVENT_THREAD_END, .thread = 1, .time_us = 6}, "has ended");
    call.thread = 0;
    accept_event(call);
    assert_int_equal(book.totals.events, 3);
    assert_int_equal(book.totals.thread_ends, 1);
}

static void blocks_know_their_past(void **state)
{
    (void)state;
    struct ab_live_block was;
    accept_event((struct ab_event){.kind = AB_EVENT_ALLOC, .size = 100});
    accept_event((struct ab_event){.kind = AB_EVENT_ALLOC_ALIGNED,
                                   .slot = 1,
                                   .size = 10,
                                   .align = 64,
                                   .thread = 1,
                                   .block = 1});
    struct ab_event resize = {.kind = AB_EVENT_RESIZE, .slot = 1, .size = 30, .block = 1};
    assert_null(ab_trace_book_take(&book, &resize, &was));
    assert_int_equal(was.size, 10);
    assert_int_equal(was.align, 64);
    assert_int_equal(was.number, 1);
    assert_int_equal(was.thread, 1);
    assert_int_equal(was.born_event, 1);
    assert_int_equal(was.born_bytes, 110);
    struct ab_event failed = {
        .kind = AB_EVENT_RESIZE, .slot = 1, .size = 1 << 30, .block = 1, .failed = true};
    assert_null(ab_trace_book_take(&book, &failed, &was));
    struct ab_event end = {.kind = AB_EVENT_FREE, .slot = 1, .block = 1};
    assert_null(ab_trace_book_take(&book, &end, &was));
    assert_int_equal(was.size, 30);
    assert_int_equal(was.align, 0);
    assert_int_equal(was.thread, 0);
    assert_int_equal(was.kind, AB_EVENT_ALLOC);
    assert_int_equal(book.totals.live_peak_bytes, 130);
    assert_int_equal(book.totals.live_end_bytes, 100);
    assert_int_equal(book.totals.total_bytes, 140);
    assert_int_equal(book.totals.failed, 1);
}

static void a_failed_allocation_has_no_block(void **state)
{
    (void)state;
    struct ab_live_block was = {.is_live = true};
    struct ab_event e = {.kind = AB_EVENT_ALLOC, .failed = true, .size = UINT64_MAX, .slot = 99};
    assert_null(ab_trace_book_take(&book, &e, &was));
    assert_false(was.is_live);
    assert_int_equal(book.totals.total_bytes, 0);
    assert_int_equal(book.n_slots, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(impossible_calls_are_found, fini),
        cmocka_unit_test_teardown(threads_end_once_and_time_goes_on, fini),
        cmocka_unit_test_teardown(blocks_know_their_past, fini),
        cmocka_unit_test_teardown(a_failed_allocation_has_no_block, fini),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
