/* SPDX-License-Identifier: MIT
 *
 * Random traces merged: the calls of each come out whole and in their order, as threads of their own,
 * side by side or one after the other.
 */
#include "trace_tools/rewrite.h"

#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace_tools/walk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACES = 7, RECORDS_MOST = 3000, ALL = TRACES * RECORDS_MOST };

struct input {
    struct test_mix mix;
    struct ab_event *records;
    char *path;
    size_t at;                      /* records found in the merged trace */
    uint64_t numbers[RECORDS_MOST]; /* of its blocks there */
    uint32_t threads[RECORDS_MOST]; /* of its threads there, + 1 */
};

static struct input inputs[TRACES];
static struct ab_event merged[ALL];
static size_t n_merged;

static void make_inputs(bool has_time)
{
    for (unsigned i = 0; i < TRACES; i++) {
        struct input *in = &inputs[i];
        size_t n;
        memset(in, 0, sizeof *in);
        in->mix = (struct test_mix){.seed = i + 1,
                                    .n = RECORDS_MOST / (i + 1),
                                    .threads = 1 + i,
                                    .has_time = has_time,
                                    .has_thread_ends = i == 2};
        in->records = test_mix_records(&in->mix);
        uint8_t *bytes = test_mix_file(&in->mix, in->records, &n, NULL);
        in->path = test_trace_file(bytes, n);
        free(bytes);
    }
}

static void drop_inputs(void)
{
    for (unsigned i = 0; i < TRACES; i++) {
        unlink(inputs[i].path);
        free(inputs[i].path);
        free(inputs[i].records);
    }
}

static void merge(bool is_serial, struct ab_merge_report *report)
{
    const char *paths[TRACES];
    struct ab_trace_options options = {.has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_err err = {0};
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    for (unsigned i = 0; i < TRACES; i++)
        paths[i] = inputs[i].path;
    struct ab_merge_request m = {.paths = paths, .n = TRACES, .is_serial = is_serial, .to = to};
    if (ab_trace_merge(&m, report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
    if (ab_trace_check(&(struct ab_walk){.path = path}, NULL, &err) != AB_OK ||
        ab_trace_open_with(path, &options, &r, &err) != AB_OK)
        fail_msg("%s", err.text);
    size_t n = 1;
    for (n_merged = 0; n > 0; n_merged += n)
        assert_int_equal(ab_trace_next(r, merged + n_merged, ALL - n_merged, &n, &err), AB_OK);
    ab_trace_close(r);
    unlink(path);
    free(path);
}

static bool is_same(const struct ab_event *a, const struct ab_event *b)
{
    return a->kind == b->kind && a->failed == b->failed && a->released == b->released &&
           (a->kind >= AB_EVENT_FREE || a->size == b->size) &&
           (a->kind != AB_EVENT_ALLOC_ALIGNED || a->align == b->align);
}

/* Whose is the thread of a merged event? A new one is of the input whose next record fits. */
static struct input *owner_of(const struct ab_event *e, struct input *expected)
{
    for (unsigned i = 0; i < TRACES; i++)
        for (uint32_t t = 0; t < RECORDS_MOST; t++)
            if (inputs[i].threads[t] == e->thread + 1)
                return &inputs[i];
    return expected;
}

static void take(struct input *in, const struct ab_event *e)
{
    assert_true(in->at < in->mix.n);
    const struct ab_event *r = &in->records[in->at++];
    if (!is_same(r, e))
        fail_msg("record %zu of %s is another", in->at - 1, in->path);
    if (in->threads[r->thread] == 0)
        in->threads[r->thread] = e->thread + 1;
    assert_int_equal(in->threads[r->thread], e->thread + 1);
    if (ab_event_gives_block(r))
        in->numbers[r->block] = e->block;
    else if (r->kind == AB_EVENT_FREE || r->kind == AB_EVENT_RESIZE)
        assert_int_equal(in->numbers[r->block], e->block);
}

/* The input that a new thread of a side-by-side merge belongs to, by the rule. */
static struct input *next_by_rule(bool has_time)
{
    struct input *best = NULL;
    for (unsigned i = 0; i < TRACES; i++) {
        struct input *in = &inputs[i];
        if (in->at == in->mix.n)
            continue;
        double at = has_time ? (double)in->records[in->at].time_us
                             : (double)(in->at + 1) / in->mix.n;
        double least = best == NULL ? 0
                       : has_time   ? (double)best->records[best->at].time_us
                                    : (double)(best->at + 1) / best->mix.n;
        if (best == NULL || at < least)
            best = in;
    }
    return best;
}

static void check_all_taken(void)
{
    size_t n = 0;
    for (unsigned i = 0; i < TRACES; i++) {
        assert_int_equal(inputs[i].at, inputs[i].mix.n);
        n += inputs[i].mix.n;
    }
    assert_int_equal(n, n_merged);
}

static void side_by_side_each_is_spread_over_the_whole(void **state)
{
    struct ab_merge_report report;
    (void)state;
    make_inputs(false);
    merge(false, &report);
    for (size_t k = 0; k < n_merged; k++) {
        take(next_by_rule(false), &merged[k]);
        for (unsigned i = 0; i < TRACES; i++) /* nobody runs ahead */
            assert_true(inputs[i].at * n_merged <= (k + TRACES) * inputs[i].mix.n + n_merged);
    }
    check_all_taken();
    assert_false(report.is_by_time);
    drop_inputs();
}

static void with_times_side_by_side_goes_by_them(void **state)
{
    struct ab_merge_report report;
    (void)state;
    make_inputs(true);
    merge(false, &report);
    for (size_t k = 0; k < n_merged; k++) {
        struct input *in = next_by_rule(true);
        assert_int_equal(merged[k].time_us, in->records[in->at].time_us);
        take(in, &merged[k]);
    }
    check_all_taken();
    assert_true(report.is_by_time);
    drop_inputs();
}

static void serially_one_comes_after_the_other(void **state)
{
    struct ab_merge_report report;
    uint64_t base = 0;
    (void)state;
    make_inputs(true);
    merge(true, &report);
    size_t k = 0;
    for (unsigned i = 0; i < TRACES; i++) {
        for (size_t n = 0; n < inputs[i].mix.n; n++, k++) {
            assert_int_equal(merged[k].time_us, base + inputs[i].records[n].time_us);
            assert_ptr_equal(owner_of(&merged[k], &inputs[i]), &inputs[i]);
            take(&inputs[i], &merged[k]);
        }
        base = merged[k - 1].time_us;
    }
    check_all_taken();
    drop_inputs();
}

static void standard_input_side_by_side_is_refused(void **state)
{
    const char *paths[] = {"-", "-"};
    struct ab_merge_report report;
    struct ab_err err = {0};
    (void)state;
    struct ab_merge_request m = {.paths = paths, .n = 2, .to = stdout};
    assert_int_equal(ab_trace_merge(&m, &report, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "--serial"));
}

/* ---- marks ---- */

enum { MARKS = 3 }; /* of each trace */

static char *trace_with_marks(void)
{
    struct ab_mark_table marks = {0};
    const struct ab_trace_writer_options options = {.program = "marked", .marks = &marks};
    struct ab_trace_writer *w;
    struct ab_err err = {0};
    uint32_t name;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    name = ab_mark_know_name(&marks, "frame");
    for (uint64_t i = 0; i < MARKS; i++) {
        struct ab_event e = {.kind = AB_EVENT_ALLOC, .size = 16};
        uint64_t number = 0;
        assert_int_equal(ab_trace_write(w, &e, &number, &err), AB_OK);
        ab_mark_add(&marks, (struct ab_trace_mark){.call = i + 1, .name = name});
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    ab_mark_table_fini(&marks);
    return path;
}

static size_t count_marks(const char *path)
{
    struct ab_mark_table marks = {0};
    const struct ab_trace_options options = {.marks = &marks};
    struct ab_trace_reader *r;
    struct ab_err err = {0};
    size_t n = 1, n_marks;
    assert_int_equal(ab_trace_open_with(path, &options, &r, &err), AB_OK);
    while (n > 0)
        assert_int_equal(ab_trace_next(r, merged, ALL, &n, &err), AB_OK);
    ab_trace_close(r);
    n_marks = marks.n;
    ab_mark_table_fini(&marks);
    return n_marks;
}

static void marks_beyond_what_a_trace_can_have_are_counted(void **state)
{
    (void)state;
    char *paths[] = {trace_with_marks(), trace_with_marks()}, *path = test_trace_file(NULL, 0);
    struct ab_merge_request m = {.paths = (const char *const *)paths, .n = 2, .is_serial = true};
    for (size_t most = 0; most <= 2 * MARKS; most++) {
        struct ab_merge_report report;
        struct ab_err err = {0};
        size_t kept = most != 0 ? most : 2 * MARKS;
        m.most_marks = most;
        m.to = fopen(path, "wb");
        assert_int_equal(ab_trace_merge(&m, &report, &err), AB_OK);
        fclose(m.to);
        assert_int_equal(report.n_lost_marks, 2 * MARKS - kept);
        assert_int_equal(count_marks(path), kept);
    }
    for (unsigned i = 0; i < 2; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(side_by_side_each_is_spread_over_the_whole),
        cmocka_unit_test(with_times_side_by_side_goes_by_them),
        cmocka_unit_test(serially_one_comes_after_the_other),
        cmocka_unit_test(standard_input_side_by_side_is_refused),
        cmocka_unit_test(marks_beyond_what_a_trace_can_have_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
