/* SPDX-License-Identifier: MIT
 *
 * Filters over random traces against a model on the records: what is kept is the blocks whose
 * allocation fits, with every call on them, and nothing else.
 */
#include "trace_tools/rewrite.h"

#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace_tools/walk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 8000 };

static struct ab_event *records;
static char *trace;
static bool is_kept[RECORDS]; /* by number of the block */
static bool is_seen[RECORDS]; /* by thread */
static uint64_t n_kept_calls;

static bool is_on_block(const struct ab_event *e)
{
    return e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE;
}

static bool fits(const struct ab_filter *f, const struct ab_event *e, uint64_t number)
{
    bool has_thread = f->n_threads == 0;
    for (size_t i = 0; i < f->n_threads; i++)
        has_thread |= e->thread >= f->threads[i].first && e->thread < f->threads[i].end;
    return has_thread && e->size >= f->sizes.first &&
           (e->size < f->sizes.end || f->sizes.end == UINT64_MAX) && number >= f->events.first &&
           number < f->events.end &&
           (!f->has_times || (e->time_us >= f->times_us.first && e->time_us < f->times_us.end));
}

/* Counts of what should be left. */
static void model(const struct ab_filter *f, struct ab_trace_info *out)
{
    uint64_t number = 0;
    *out = (struct ab_trace_info){0};
    memset(is_kept, 0, sizeof is_kept);
    memset(is_seen, 0, sizeof is_seen);
    for (size_t i = 0; i < RECORDS; i++) {
        const struct ab_event *e = &records[i];
        if (e->kind == AB_EVENT_THREAD_END) {
            out->thread_ends += is_seen[e->thread];
            continue;
        }
        bool is_in = is_on_block(e) ? is_kept[e->block] : fits(f, e, number);
        number++;
        if (ab_event_gives_block(e))
            is_kept[e->block] = is_in;
        if (!is_in)
            continue;
        out->events++;
        out->ops[e->kind]++;
        out->failed += e->failed;
        out->threads += !is_seen[e->thread];
        is_seen[e->thread] = true;
    }
}

static void try_filter(const struct ab_filter *f)
{
    struct ab_err err = {0};
    struct ab_filter_report report;
    struct ab_trace_info expected, info;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    struct ab_walk walk = {.path = trace};
    if (ab_trace_filter(&walk, f, to, &report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
    if (ab_trace_check(&(struct ab_walk){.path = path}, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    model(f, &expected);
    assert_int_equal(info.events, expected.events);
    assert_memory_equal(info.ops, expected.ops, sizeof info.ops);
    assert_int_equal(info.failed, expected.failed);
    assert_int_equal(info.threads, expected.threads);
    assert_int_equal(info.thread_ends, expected.thread_ends);
    assert_int_equal(report.info.events, info.events);
    assert_string_equal(info.program, f->is_anonymous ? "" : report.before.program);
    n_kept_calls += info.events;
    unlink(path);
    free(path);
}

static int make(void **state)
{
    struct test_mix mix = {
        .seed = 5, .n = RECORDS, .threads = 4, .has_time = true, .has_thread_ends = true};
    size_t n;
    (void)state;
    records = test_mix_records(&mix);
    uint8_t *bytes = test_mix_file(&mix, records, &n, NULL);
    trace = test_trace_file(bytes, n);
    free(bytes);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    unlink(trace);
    free(trace);
    free(records);
    return 0;
}

static const struct ab_filter everything = {.sizes = {0, UINT64_MAX}, .events = {0, UINT64_MAX}};

static void each_filter_keeps_what_fits(void **state)
{
    const struct ab_extent one[] = {{1, 2}}, two[] = {{0, 1}, {2, 4}};
    struct ab_filter f = everything;
    (void)state;
    try_filter(&f);
    assert_true(n_kept_calls > RECORDS / 2);
    f.is_anonymous = true;
    try_filter(&f);
    f = everything;
    f.threads = one;
    f.n_threads = 1;
    try_filter(&f);
    f.threads = two;
    f.n_threads = 2;
    f.sizes = (struct ab_extent){16, 400};
    try_filter(&f);
    f = everything;
    f.events = (struct ab_extent){RECORDS / 4, RECORDS / 3};
    try_filter(&f);
    f = everything;
    f.has_times = true;
    f.times_us = (struct ab_extent){records[RECORDS / 3].time_us, records[RECORDS / 2].time_us};
    try_filter(&f);
    f.sizes = (struct ab_extent){1, 2};
    try_filter(&f);
}

static void a_thread_that_is_not_there_is_refused(void **state)
{
    const struct ab_extent far = {100000, 100001};
    struct ab_filter f = everything;
    struct ab_filter_report report;
    struct ab_err err = {0};
    (void)state;
    f.threads = &far;
    f.n_threads = 1;
    FILE *to = tmpfile();
    assert_int_equal(ab_trace_filter(&(struct ab_walk){.path = trace}, &f, to, &report, &err),
                     AB_USAGE);
    assert_non_null(strstr(err.text, "no thread 100000: the trace has "));
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_keeps_what_fits),
        cmocka_unit_test(a_thread_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
