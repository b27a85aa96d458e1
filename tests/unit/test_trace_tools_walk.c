/* SPDX-License-Identifier: MIT
 *
 * What visitors are shown: each event once, ranges by their numbers, the book as it is there.
 */
#include "trace_tools/walk.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5000 };
static char *path;

struct seen {
    uint64_t begins, ends, n, first, next, fail_at;
    struct ab_trace_info at_begin;
};

static enum ab_status visit(void *user, const struct ab_walk_batch *b, struct ab_err *err)
{
    struct seen *s = user;
    if (b->where == AB_WALK_BEGIN) {
        s->begins++;
        s->first = s->next = b->first;
        s->at_begin = b->book->totals;
        assert_string_equal(b->info->program, "mixed");
    }
    assert_true((b->where == AB_WALK_EVENTS) == (b->n > 0));
    assert_int_equal(b->first, s->next);
    assert_int_equal(b->book->totals.events, b->first + b->n);
    s->next += b->n;
    s->n += b->n;
    s->ends += b->where == AB_WALK_END;
    return s->n > s->fail_at ? ab_fail(err, AB_INPUT, "event %d: no such taste", 7) : AB_OK;
}

static enum ab_status walk(uint64_t begin, uint64_t end, struct seen *s, struct ab_err *err)
{
    *s = (struct seen){.fail_at = UINT64_MAX};
    struct ab_walk w = {.path = path, .begin = begin, .end = end, .visit = visit, .user = s};
    return ab_trace_walk(&w, NULL, err);
}

static void a_range_is_what_is_shown(void **state)
{
    (void)state;
    static const uint64_t ranges[][2] = {{0, UINT64_MAX}, {0, 1},       {1, 2},       {1023, 1025},
                                         {1024, 2048},    {4999, 5000}, {17, 999999}, {2500, 2600}};
    struct seen s;
    struct ab_err err = {0};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        uint64_t end = ranges[i][1] < N ? ranges[i][1] : N;
        if (walk(ranges[i][0], ranges[i][1], &s, &err) != AB_OK)
            fail_msg("%s", err.text);
        assert_int_equal(s.begins, 1);
        assert_int_equal(s.ends, 1);
        assert_int_equal(s.first, ranges[i][0]);
        assert_int_equal(s.at_begin.events, ranges[i][0]);
        assert_int_equal(s.n, end - ranges[i][0]);
    }
}

static void a_range_behind_the_end_is_an_error(void **state)
{
    (void)state;
    struct seen s;
    struct ab_err err = {0};
    assert_int_equal(walk(N, UINT64_MAX, &s, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "no event 5000: the trace has 5000"));
    assert_int_equal(walk(N + 1000, UINT64_MAX, &s, &err), AB_USAGE);
    assert_int_equal(s.n, 0);
}

static void a_complaint_of_a_visitor_says_where(void **state)
{
    (void)state;
    struct seen s = {.fail_at = 2000};
    struct ab_err err = {0};
    struct ab_walk w = {.path = path, .end = UINT64_MAX, .visit = visit, .user = &s};
    assert_int_equal(ab_trace_walk(&w, NULL, &err), AB_INPUT);
    assert_non_null(strstr(err.text, ": byte 45: event 7: no such taste"));
    assert_int_equal(s.ends, 0);
}

static int make(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = test_trace_random((struct test_trace_kind){5, 3, N, false}, &n, NULL);
    path = test_trace_file(bytes, n);
    free(bytes);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_what_is_shown),
        cmocka_unit_test(a_range_behind_the_end_is_an_error),
        cmocka_unit_test(a_complaint_of_a_visitor_says_where),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
