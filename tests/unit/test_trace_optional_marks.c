/* SPDX-License-Identifier: MIT
 *
 * Marks in trace files: what is written comes back ahead of its call, over several chunks, with a
 * thread that packs and without; of cut files those that are left; the golden file.
 * tests: mark_table.c
 */
#include "support/cmocka.h"
#include "support/trace_mix.h"
#include "trace/mark_table.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace_tools/rewrite.h"
#include "trace_tools/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/test-trace-marks-XXXXXX";
static struct ab_err err;

/* ---- the table ---- */

static void names_are_there_once(void **state)
{
    struct ab_mark_table t = {0};
    char longer[300];
    uint32_t a, b, c, d;
    (void)state;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    a = ab_mark_know_name(&t, "frame");
    b = ab_mark_know_name(&t, "");
    c = ab_mark_know_name(&t, "frame");
    d = ab_mark_know_name(&t, "fram");
    assert_int_equal(a, 0);
    assert_int_equal(c, 0);
    assert_int_equal(d, 2);
    assert_string_equal(t.names[b], "mark");
    d = ab_mark_know_name(&t, longer);
    assert_int_equal(strlen(t.names[d]), AB_MARK_NAME_MAX);
    c = ab_mark_know_name(&t, longer);
    assert_int_equal(c, d);
    ab_mark_table_fini(&t);
}

static void marks_ascend(void **state)
{
    struct ab_mark_table t = {0};
    (void)state;
    ab_mark_add(&t, (struct ab_trace_mark){.call = 5, .time_us = 7});
    ab_mark_add(&t, (struct ab_trace_mark){.call = 4, .time_us = 6});
    ab_mark_add(&t, (struct ab_trace_mark){.call = 9, .time_us = 8, .thread = 3});
    assert_int_equal(t.marks[1].call, 5);
    assert_int_equal(t.marks[1].time_us, 7);
    assert_non_null(ab_mark_table_check(&t, 8, 4));
    assert_non_null(ab_mark_table_check(&t, 9, 3));
    assert_null(ab_mark_table_check(&t, 9, 4));
    ab_mark_table_cut(&t, 9, 3);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.marks[2].thread, AB_MARK_NO_THREAD);
    ab_mark_table_cut(&t, 8, 3);
    assert_int_equal(t.n, 2);
    ab_mark_table_fini(&t);
}

static void what_lies_between_is_by_name(void **state)
{
    struct ab_mark_table t = {0};
    struct ab_mark_stats stats[3];
    static const uint64_t calls[] = {3, 10, 30, 31};
    uint32_t other, frame;
    (void)state;
    other = ab_mark_know_name(&t, "other");
    frame = ab_mark_know_name(&t, "frame");
    assert_int_equal(ab_mark_know_name(&t, "none"), 2);
    for (size_t i = 0; i < 4; i++)
        ab_mark_add(&t, (struct ab_trace_mark){.call = calls[i], .name = frame});
    ab_mark_add(&t, (struct ab_trace_mark){.call = 32, .name = other});
    ab_mark_stats(&t, stats);
    assert_int_equal(stats[0].name, frame);
    assert_int_equal(stats[0].n, 4);
    assert_int_equal(stats[0].first, 3);
    assert_int_equal(stats[0].last, 31);
    assert_true(stats[0].calls.min == 1 && stats[0].calls.median == 7 && stats[0].calls.max == 20);
    assert_true(isnan(stats[0].us.median)); /* no times */
    assert_int_equal(stats[1].name, other);
    assert_true(stats[1].n == 1 && isnan(stats[1].calls.median));
    assert_true(stats[2].n == 0 && isnan(stats[2].calls.min));
    for (size_t i = 0; i < t.n; i++)
        t.marks[i].time_us = i * i * 5;
    ab_mark_stats(&t, stats);
    assert_true(stats[0].us.min == 5 && stats[0].us.median == 15 && stats[0].us.max == 25);
    ab_mark_table_fini(&t);
}

/* ---- files ---- */

enum { RECORDS = 5000, EVERY = 37 };
static struct ab_event *records;
static size_t n_calls;

/* A mark ahead of every EVERY-th call, and two at the end. */
static void write_file(uint32_t chunk_events, bool has_thread, struct ab_mark_table *t)
{
    struct ab_trace_writer *w;
    struct ab_trace_info info;
    uint32_t frame, other, n_threads = 0;
    FILE *to = fopen(path, "wb");
    struct ab_trace_writer_options options = {
        .program = "marks", .marks = t, .has_thread = has_thread, .chunk_events = chunk_events};
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    frame = ab_mark_know_name(t, "frame");
    n_calls = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        const struct ab_event *e = &records[i];
        uint64_t number;
        if (n_calls % EVERY == 0 && e->kind != AB_EVENT_THREAD_END) {
            struct ab_trace_mark mark = {n_calls, frame, AB_MARK_NO_THREAD, {n_calls * 10}};
            if (i % 2 != 0)
                mark.name = ab_mark_know_name(t, "other");
            if (n_threads > 0)
                mark.thread = (uint32_t)(i % n_threads);
            ab_mark_add(t, mark);
        }
        assert_int_equal(ab_trace_write(w, e, &number, &err), AB_OK);
        n_calls += e->kind != AB_EVENT_THREAD_END;
        n_threads = e->thread >= n_threads ? e->thread + 1 : n_threads;
    }
    other = ab_mark_know_name(t, "end");
    for (int i = 0; i < 2; i++)
        ab_mark_add(t, (struct ab_trace_mark){.call = n_calls, .name = other});
    assert_int_equal(ab_trace_writer_close(w, &info, &err), AB_OK);
    assert_true(info.has_marks);
    fclose(to);
}

static void assert_same(const struct ab_mark_table *a, const struct ab_mark_table *b, size_t n)
{
    assert_true(b->n >= n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a->marks[i].call, b->marks[i].call);
        assert_int_equal(a->marks[i].thread, b->marks[i].thread);
        assert_int_equal(a->marks[i].time_us, b->marks[i].time_us);
        assert_string_equal(a->names[a->marks[i].name], b->names[b->marks[i].name]);
    }
}

/* Each mark is there when its call is handed out. */
static void read_back(const struct ab_mark_table *written, size_t batch)
{
    struct ab_mark_table t = {0};
    struct ab_event events[300];
    struct ab_trace_reader *r;
    struct ab_trace_options options = {.marks = &t};
    assert_int_equal(ab_trace_open_with(path, &options, &r, &err), AB_OK);
    uint64_t done = 0;
    for (size_t n = 1, seen = 0; n > 0;) {
        if (ab_trace_next(r, events, batch, &n, &err) != AB_OK)
            fail_msg("%s", err.text);
        done += n;
        while (n > 0 && seen < written->n && written->marks[seen].call < done)
            seen++;
        assert_true(t.n >= seen);
    }
    assert_int_equal(done, n_calls);
    assert_int_equal(t.n, written->n);
    assert_same(written, &t, t.n);
    assert_true(ab_trace_reader_info(r)->has_marks);
    assert_int_equal(ab_trace_reader_info(r)->optional_chunks, 0);
    ab_trace_close(r);
    ab_mark_table_fini(&t);
}

static void what_is_written_is_read(void **state)
{
    static const uint32_t chunks[] = {1, 100, 1000, 0};
    (void)state;
    for (int k = 0; k < 8; k++) {
        struct ab_mark_table t = {0};
        write_file(chunks[k / 2], k % 2, &t);
        read_back(&t, 1);
        read_back(&t, 300);
        ab_mark_table_fini(&t);
    }
}

static void a_table_without_marks_writes_nothing(void **state)
{
    struct ab_mark_table t = {0};
    struct ab_trace_info info;
    struct ab_trace_writer *w;
    FILE *to = fopen(path, "wb");
    struct ab_trace_writer_options options = {.program = "none", .marks = &t};
    (void)state;
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    assert_int_equal(ab_trace_writer_close(w, &info, &err), AB_OK);
    assert_false(info.has_marks);
    assert_int_equal(info.file_bytes, 44 + 40 + 120); /* header, end mark */
    fclose(to);
}

static enum ab_status ignore(void *user, const struct ab_walk_batch *batch, struct ab_err *why)
{
    (void)user, (void)batch, (void)why;
    return AB_OK;
}

static void a_cut_file_has_the_marks_of_its_calls(void **state)
{
    struct ab_mark_table written = {0};
    struct ab_trace_info info;
    (void)state;
    write_file(500, false, &written);
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    long bytes = ftell(f);
    fclose(f);
    for (long cut = bytes - 1; cut > 60; cut -= 97) {
        struct ab_mark_table t = {0};
        struct ab_walk walk = {
            .path = path, .is_partial = true, .end = UINT64_MAX, .marks = &t, .visit = ignore};
        assert_int_equal(truncate(path, cut), 0);
        if (ab_trace_walk(&walk, &info, &err) != AB_OK)
            fail_msg("%s", err.text);
        assert_same(&t, &written, t.n < 1 ? 0 : t.n - 1);
        for (size_t i = 0; i < t.n; i++)
            assert_true(t.marks[i].call <= info.events && (t.marks[i].thread < info.threads ||
                                                           t.marks[i].thread == AB_MARK_NO_THREAD));
        ab_mark_table_fini(&t);
    }
    ab_mark_table_fini(&written);
}

/* Written by another program, from the document. */
static void the_golden_file_is_read(void **state)
{
    struct ab_mark_table t = {0};
    struct ab_trace_info info;
    struct ab_walk walk = {.path = "tests/golden/traces/good/marks.abt",
                           .end = UINT64_MAX,
                           .marks = &t,
                           .visit = ignore};
    (void)state;
    if (ab_trace_walk(&walk, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(info.has_marks);
    assert_int_equal(t.n_names, 3);
    assert_string_equal(t.names[1], "request");
    assert_string_equal(t.names[2], "\xc3\xa9");
    assert_int_equal(t.n, 5);
    const struct ab_trace_mark want[] = {{0, 0, AB_MARK_NO_THREAD, {0}},
                                         {0, 1, 0, {5}},
                                         {7, 0, 0, {16672}},
                                         {1010, 2, 0, {17672}},
                                         {3000, 0, 0, {17672}}};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(t.marks[i].call, want[i].call);
        assert_int_equal(t.marks[i].name, want[i].name);
        assert_int_equal(t.marks[i].thread, want[i].thread);
        assert_int_equal(t.marks[i].time_us, want[i].time_us);
    }
    ab_mark_table_fini(&t);
}

static int setup(void **state)
{
    static const struct test_mix mix = {
        .seed = 5, .n = RECORDS, .threads = 4, .has_thread_ends = true};
    (void)state;
    records = test_mix_records(&mix);
    int fd = mkstemp(path);
    return fd >= 0 ? close(fd) : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(records);
    return unlink(path);
}

/* What has no room is not called by the name of another. */
static void names_beyond_the_most_are_further_names(void **state)
{
    (void)state;
    struct ab_mark_table t = {0};
    uint32_t number = 0, again = 0;
    char name[16];
    for (unsigned i = 0; i < AB_MARK_NAMES_MAX - 2; i++) {
        snprintf(name, sizeof name, "n%u", i);
        ab_mark_append_name(&t, name, strlen(name));
    }
    number = ab_mark_know_name(&t, "last");
    assert_int_equal(number, AB_MARK_NAMES_MAX - 2);
    number = ab_mark_know_name(&t, "one more");
    again = ab_mark_know_name(&t, "two more");
    assert_int_equal(number, AB_MARK_NAMES_MAX - 1);
    assert_int_equal(again, number);
    assert_int_equal(t.n_names, AB_MARK_NAMES_MAX);
    assert_string_equal(t.names[number], AB_MARK_FURTHER);
    assert_string_equal(t.names[number - 1], "last");
    again = ab_mark_know_name(&t, "last");
    assert_int_equal(again, number - 1);
    ab_mark_table_fini(&t);
}

/* ---- requests beside blocks, and the program as a whole ---- */

static void check_requests(const char *file, struct ab_trace_info *info, struct ab_mark_table *t)
{
    struct ab_walk walk = {.path = file, .end = UINT64_MAX, .requests = t, .visit = ignore};
    *t = (struct ab_mark_table){0};
    assert_int_equal(ab_trace_walk(&walk, info, &err), AB_OK);
}

static void the_golden_file_has_its_requests(void **state)
{
    struct ab_mark_table t;
    struct ab_trace_info info;
    (void)state;
    check_requests("tests/golden/traces/good/requests.abt", &info, &t);
    assert_true(info.has_requests && !info.has_marks && info.optional_chunks == 0);
    assert_int_equal(t.n, 4);
    assert_int_equal(t.n_names, 3);
    assert_string_equal(t.names[t.marks[1].name], AB_REQUEST_TRIM);
    assert_true(t.marks[1].call == 7 && t.marks[1].argument == 1 << 20 && t.marks[1].thread == 0);
    assert_true(t.marks[2].argument == 0); /* no difference to the one before */
    assert_true(t.marks[3].call == info.events && t.marks[3].argument == 0);
    assert_true(info.whole.is_there && info.whole.cpu_ns == 137000000 &&
                info.whole.recorder_ns == 12000000 && info.whole.calls == info.events &&
                info.whole.anonymous_bytes == 151000000 && info.whole.unasked_bytes == 149000000);
    assert_true(ab_whole_is_unasked(&info.whole));
    ab_mark_table_fini(&t);
    check_requests("tests/golden/traces/good/mixed.abt", &info, &t);
    assert_true(!info.has_requests && t.n == 0 && !info.whole.is_there);
    assert_true(info.whole.cpu_ns == AB_WHOLE_UNKNOWN && !ab_whole_is_unasked(&info.whole));
    check_requests("tests/golden/traces/good/whole-unknown.abt", &info, &t);
    assert_true(info.whole.is_there && info.whole.calls == AB_WHOLE_UNKNOWN);
}

/* Of a cut the requests of its calls, of an anonymous filter the names that every library has and the
 * numbers of the whole program, of a merge the requests of both. */
static void requests_are_kept(void **state)
{
    const char *from = "tests/golden/traces/good/requests.abt";
    const char *both[] = {from, from};
    struct ab_mark_table t;
    struct ab_trace_info info;
    struct ab_cut_report cut;
    struct ab_filter_report filtered;
    struct ab_merge_report merged;
    struct ab_walk walk = {.path = from, .begin = 7, .end = 500};
    struct ab_filter filter = {
        .sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL, .is_anonymous = true};
    struct ab_merge_request merge = {.paths = both, .n = 2};
    FILE *to;
    (void)state;
    assert_non_null(to = fopen(path, "wb"));
    assert_int_equal(ab_trace_cut(&walk, false, to, &cut, &err), AB_OK);
    fclose(to);
    check_requests(path, &info, &t);
    assert_true(t.n == 1 && t.marks[0].call == 0 && t.marks[0].argument == 1 << 20);
    assert_false(info.whole.is_there); /* what follows a cut is not read */
    ab_mark_table_fini(&t);
    walk = (struct ab_walk){.path = from};
    assert_non_null(to = fopen(path, "wb"));
    assert_int_equal(ab_trace_filter(&walk, &filter, to, &filtered, &err), AB_OK);
    fclose(to);
    check_requests(path, &info, &t);
    assert_true(t.n == 4 && info.whole.unasked_bytes == 149000000);
    assert_string_equal(t.names[t.marks[3].name], AB_REQUEST_TRIM);
    ab_mark_table_fini(&t);
    assert_non_null(to = fopen(path, "wb"));
    merge.to = to;
    assert_int_equal(ab_trace_merge(&merge, &merged, &err), AB_OK);
    fclose(to);
    check_requests(path, &info, &t);
    assert_true(t.n == 8 && t.n_names == 3 && !info.whole.is_there);
    assert_true(t.marks[7].call == info.events && t.marks[7].argument == 0);
    ab_mark_table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_there_once),
        cmocka_unit_test(marks_ascend),
        cmocka_unit_test(what_lies_between_is_by_name),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_table_without_marks_writes_nothing),
        cmocka_unit_test(a_cut_file_has_the_marks_of_its_calls),
        cmocka_unit_test(the_golden_file_has_its_requests),
        cmocka_unit_test(requests_are_kept),
        cmocka_unit_test(the_golden_file_is_read),
        cmocka_unit_test(names_beyond_the_most_are_further_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
