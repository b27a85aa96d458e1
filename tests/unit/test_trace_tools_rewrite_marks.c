/* SPDX-License-Identifier: MIT
 *
 * Marks through cut, filter, share and merge: each stays between the calls that it was between,
 * counted here on the events themselves.
 * tests: rewrite.c
 */
#include "trace_tools/rewrite.h"

#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 4000, EVERY = 50 };

static struct ab_event *records;
static uint64_t n_calls;
static char *trace, *out;
static uint32_t chunk_events = 300;
static struct ab_err err;
static struct ab_mark_table original; /* of the file `trace` */

/* The times of the marks are those of their calls, or 3 µs each where calls have none. */
static char *write_trace(bool has_time, struct ab_mark_table *t)
{
    struct ab_trace_writer *w;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    uint32_t last = AB_MARK_NO_THREAD; /* whose call it was */
    struct ab_trace_writer_options options = {
        .program = "app", .marks = t, .has_time = has_time, .chunk_events = chunk_events};
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    n_calls = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        struct ab_event e = records[i];
        struct ab_trace_mark mark = {.call = n_calls, .thread = last, .time_us = n_calls * 3};
        uint64_t number;
        if (has_time)
            mark.time_us = e.time_us;
        else
            e.time_us = 0;
        assert_int_equal(ab_trace_write(w, &e, &number, &err), AB_OK);
        if (e.kind == AB_EVENT_THREAD_END)
            continue;
        last = e.thread;
        if (n_calls++ % EVERY != 0)
            continue;
        mark.name = ab_mark_know_name(t, n_calls % 3 == 0 ? "request" : "frame");
        ab_mark_add(t, mark);
    }
    ab_mark_add(t, (struct ab_trace_mark){.call = n_calls});
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    return path;
}

static enum ab_status ignore(void *user, const struct ab_walk_batch *batch, struct ab_err *why)
{
    (void)user, (void)batch, (void)why;
    return AB_OK;
}

static void read_marks(const char *path, struct ab_mark_table *t)
{
    struct ab_walk walk = {.path = path, .end = UINT64_MAX, .marks = t, .visit = ignore};
    if (ab_trace_walk(&walk, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
}

static const char *name_of(const struct ab_mark_table *t, size_t i)
{
    return t->names[t->marks[i].name];
}

static void a_part_has_the_marks_within_it(void **state)
{
    static const uint64_t ranges[][2] = {
        {0, 1000}, {0, UINT64_MAX}, {1, 500}, {999, 1000}, {1000, 2200}};
    (void)state;
    for (size_t k = 0; k < 10; k++) {
        uint64_t begin = ranges[k / 2][0], end = ranges[k / 2][1];
        struct ab_walk walk = {.path = trace, .begin = begin, .end = end};
        struct ab_cut_report report;
        struct ab_mark_table t = {0};
        FILE *to = fopen(out, "wb");
        if (ab_trace_cut(&walk, true, to, &report, &err) != AB_OK)
            fail_msg("%s", err.text);
        fclose(to);
        read_marks(out, &t);
        size_t at = 0;
        for (size_t i = 0; i < original.n; i++) {
            uint64_t call = original.marks[i].call;
            if (call > end || (call <= begin && begin > 0))
                continue;
            assert_true(at < t.n);
            assert_string_equal(name_of(&t, at), name_of(&original, i));
            assert_int_equal(t.marks[at].call, report.n_kept + call - begin);
            if (begin == 0)
                assert_int_equal(t.marks[at].thread, original.marks[i].thread);
            at++;
        }
        assert_int_equal(at, t.n);
        ab_mark_table_fini(&t);
    }
}

/* The mark is in the chunk behind the end of the part; ends of threads may come between. */
static void a_part_that_ends_with_a_chunk_has_its_last_mark(void **state)
{
    struct ab_mark_table all = {0};
    (void)state;
    chunk_events = EVERY;
    char *short_chunks = write_trace(false, &all);
    chunk_events = 300;
    for (size_t i = 1; i < all.n; i++) {
        struct ab_walk walk = {.path = short_chunks, .end = all.marks[i].call};
        struct ab_mark_table t = {0};
        struct ab_cut_report report;
        FILE *to = fopen(out, "wb");
        assert_int_equal(ab_trace_cut(&walk, false, to, &report, &err), AB_OK);
        fclose(to);
        read_marks(out, &t);
        assert_true(t.n > 0);
        assert_int_equal(t.marks[t.n - 1].call, all.marks[i].call);
        ab_mark_table_fini(&t);
    }
    ab_mark_table_fini(&all);
    unlink(short_chunks);
    free(short_chunks);
}

/* How many calls of blocks whose allocation asks for `sizes` come before call `until`. */
static uint64_t count_kept(struct ab_extent sizes, uint64_t until)
{
    static bool is_kept[RECORDS];
    uint64_t number = 0, n = 0;
    for (size_t i = 0; i < RECORDS && number < until; i++) {
        const struct ab_event *e = &records[i];
        if (e->kind == AB_EVENT_THREAD_END)
            continue;
        number++;
        bool is_on_block = e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE;
        bool is_in = is_on_block ? is_kept[e->block]
                                 : e->size >= sizes.first && e->size < sizes.end;
        if (ab_event_gives_block(e))
            is_kept[e->block] = is_in;
        n += is_in;
    }
    return n;
}

static void filter_to(const struct ab_filter *filter)
{
    struct ab_walk walk = {.path = trace};
    struct ab_filter_report report;
    FILE *to = fopen(out, "wb");
    if (ab_trace_filter(&walk, filter, to, &report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
}

static void marks_stay_when_calls_go(void **state)
{
    struct ab_filter filter = {.sizes = {100, 1000}, .events = AB_EXTENT_ALL};
    struct ab_mark_table t = {0};
    (void)state;
    filter_to(&filter);
    read_marks(out, &t);
    assert_int_equal(t.n, original.n);
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.marks[i].call, count_kept(filter.sizes, original.marks[i].call));
        assert_string_equal(name_of(&t, i), name_of(&original, i));
    }
    assert_int_equal(t.marks[t.n - 1].call, count_kept(filter.sizes, UINT64_MAX));
    ab_mark_table_fini(&t);
}

/* Counted from the first event that is kept; marks ahead of it are at 0. */
static void times_begin_with_the_first_event(void **state)
{
    enum { BEGIN = 1000 };
    struct ab_filter filter = {.sizes = AB_EXTENT_ALL, .events = {BEGIN, UINT64_MAX}};
    struct ab_mark_table timed = {0}, t = {0};
    (void)state;
    char *with_time = write_trace(true, &timed);
    struct ab_walk walk = {.path = with_time, .end = UINT64_MAX};
    struct ab_filter_report filtered;
    FILE *to = fopen(out, "wb");
    assert_int_equal(ab_trace_filter(&walk, &filter, to, &filtered, &err), AB_OK);
    fclose(to);
    read_marks(out, &t);
    assert_int_equal(t.n, timed.n);
    size_t first = 0;
    while (t.marks[first].call == 0 && timed.marks[first].call < BEGIN)
        first++;
    assert_true(first > 5 && first + 5 < t.n);
    uint64_t base = timed.marks[first].time_us - t.marks[first].time_us;
    assert_true(base > 0 && base <= timed.marks[first].time_us);
    for (size_t i = 0; i < first; i++)
        assert_int_equal(t.marks[i].time_us, 0);
    for (size_t i = first; i + 1 < t.n; i++) /* the last one has no time of its own */
        assert_int_equal(t.marks[i].time_us, timed.marks[i].time_us - base);
    ab_mark_table_fini(&t);
    ab_mark_table_fini(&timed);
    unlink(with_time);
    free(with_time);
}

static void names_can_tell_secrets(void **state)
{
    struct ab_filter filter = {
        .sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL, .is_anonymous = true};
    struct ab_mark_table t = {0};
    (void)state;
    filter_to(&filter);
    read_marks(out, &t);
    assert_int_equal(t.n, original.n);
    assert_int_equal(t.n_names, original.n_names);
    for (size_t i = 0; i < t.n; i++) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "mark-%u", original.marks[i].name + 1);
        assert_string_equal(name_of(&t, i), wanted);
        assert_int_equal(t.marks[i].call, original.marks[i].call);
        assert_int_equal(t.marks[i].time_us, original.marks[i].time_us);
    }
    ab_mark_table_fini(&t);
}

static void merge_to(const char *a, const char *b, bool is_serial)
{
    const char *const paths[] = {a, b};
    FILE *to = fopen(out, "wb");
    struct ab_merge_request merge = {.paths = paths, .n = 2, .is_serial = is_serial, .to = to};
    struct ab_merge_report report;
    if (ab_trace_merge(&merge, &report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
}

static void one_after_the_other_the_marks_follow(void **state)
{
    struct ab_mark_table timed = {0}, t = {0};
    uint64_t last = 0;
    (void)state;
    char *with_time = write_trace(true, &timed);
    merge_to(with_time, with_time, true);
    read_marks(out, &t);
    assert_int_equal(t.n, 2 * timed.n);
    for (size_t i = 0; i < RECORDS; i++)
        last = records[i].time_us;
    for (size_t i = 0; i < timed.n; i++) {
        const struct ab_trace_mark *a = &t.marks[i], *b = &t.marks[timed.n + i];
        assert_int_equal(a->call, timed.marks[i].call);
        assert_int_equal(b->call, n_calls + timed.marks[i].call);
        assert_int_equal(a->time_us, timed.marks[i].time_us);
        if (i + 1 < timed.n)
            assert_int_equal(b->time_us, last + timed.marks[i].time_us);
    }
    assert_int_equal(t.n_names, timed.n_names);
    ab_mark_table_fini(&t);
    merge_to(trace, with_time, true); /* one without: there are none */
    read_marks(out, &t);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(t.marks[i].time_us, 0);
    ab_mark_table_fini(&t);
    ab_mark_table_fini(&timed);
    unlink(with_time);
    free(with_time);
}

/* Both at the same pace: after mark k of both, about 2 × as many calls. */
static void side_by_side_each_keeps_its_calls(void **state)
{
    struct ab_mark_table t = {0};
    (void)state;
    merge_to(trace, trace, false);
    read_marks(out, &t);
    assert_int_equal(t.n, 2 * original.n);
    for (size_t i = 0; i < t.n; i++) {
        uint64_t own = original.marks[i / 2].call;
        assert_true(t.marks[i].call + 2 >= 2 * own && t.marks[i].call <= 2 * own + 2);
        assert_string_equal(name_of(&t, i), name_of(&original, i / 2));
    }
    ab_mark_table_fini(&t);
}

static int setup(void **state)
{
    static const struct test_mix mix = {
        .seed = 9, .n = RECORDS, .threads = 3, .has_thread_ends = true, .has_time = true};
    (void)state;
    records = test_mix_records(&mix);
    trace = write_trace(false, &original);
    out = test_trace_file(NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(trace);
    unlink(out);
    free(trace);
    free(out);
    free(records);
    ab_mark_table_fini(&original);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_has_the_marks_within_it),
        cmocka_unit_test(marks_stay_when_calls_go),
        cmocka_unit_test(times_begin_with_the_first_event),
        cmocka_unit_test(a_part_that_ends_with_a_chunk_has_its_last_mark),
        cmocka_unit_test(names_can_tell_secrets),
        cmocka_unit_test(one_after_the_other_the_marks_follow),
        cmocka_unit_test(side_by_side_each_keeps_its_calls),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
