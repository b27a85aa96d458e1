/* SPDX-License-Identifier: MIT
 *
 * Random traces through each format and back: what comes back is exactly what the format keeps, by
 * a model that works on the records.
 */
#include "exchange/formats.h"

#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 20000, THREADS_MOST = RECORDS };

struct records {
    struct ab_event *at;
    size_t n;
};

static bool keeps(const struct ab_format *f, unsigned what)
{
    return (f->keeps & what) != 0;
}

/* What the format makes of a record; false = nothing. */
static bool reduce(const struct ab_format *f, struct ab_event *e)
{
    if (e->kind == AB_EVENT_THREAD_END)
        return keeps(f, AB_KEEPS_THREADS) && strcmp(f->name, "logalloc") != 0;
    if (e->failed && (!keeps(f, AB_KEEPS_FAILURES) || (e->kind == AB_EVENT_RESIZE && e->size == 0)))
        return false;
    if (e->released && strcmp(f->name, "memory-replay") != 0 && strcmp(f->name, "logalloc") != 0) {
        e->kind = AB_EVENT_FREE;
        e->released = false;
    }
    if ((e->kind == AB_EVENT_ALLOC_ZEROED && !keeps(f, AB_KEEPS_ZEROED)) ||
        (e->kind == AB_EVENT_ALLOC_ALIGNED && !keeps(f, AB_KEEPS_ALIGNMENTS))) {
        e->kind = AB_EVENT_ALLOC;
        e->align = 0;
    }
    if (!keeps(f, AB_KEEPS_THREADS))
        e->thread = 0;
    return true;
}

struct model {
    struct records out;
    uint32_t threads[THREADS_MOST]; /* + 1 */
    uint64_t numbers[RECORDS];      /* of a block of the original: in what comes back */
    uint64_t n_blocks;
    uint32_t n_threads;
};

static void push(struct model *m, const struct ab_event *e)
{
    struct ab_event own = *e;
    if (m->threads[e->thread] == 0)
        m->threads[e->thread] = ++m->n_threads;
    own.thread = m->threads[e->thread] - 1;
    if (ab_event_gives_block(e))
        own.block = m->numbers[e->block] = m->n_blocks++;
    else if (e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE)
        own.block = m->numbers[e->block];
    m->out.at[m->out.n++] = own;
}

static struct records expect(const struct ab_format *f, const struct ab_event *records)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    m.out.at = calloc(2 * RECORDS, sizeof m.out.at[0]);
    for (size_t i = 0; i < RECORDS; i++) {
        struct ab_event e = records[i];
        if (!reduce(f, &e) || (e.kind == AB_EVENT_THREAD_END && m.threads[e.thread] == 0))
            continue;
        if (e.kind == AB_EVENT_RESIZE && !keeps(f, AB_KEEPS_RESIZES)) {
            e.kind = AB_EVENT_FREE;
            push(&m, &e);
            e.kind = AB_EVENT_ALLOC;
        }
        push(&m, &e);
    }
    return m.out;
}

static struct records read_all(const char *path)
{
    struct records out = {calloc(2 * RECORDS, sizeof out.at[0]), 0};
    struct ab_trace_options options = {.has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_err err = {0};
    size_t n = 1;
    if (ab_trace_open_with(path, &options, &r, &err) != AB_OK)
        fail_msg("%s", err.text);
    for (; n > 0; out.n += n)
        if (ab_trace_next(r, out.at + out.n, 2 * RECORDS - out.n, &n, &err) != AB_OK)
            fail_msg("%s", err.text);
    ab_trace_close(r);
    return out;
}

static uint64_t tick_us(const struct ab_format *f)
{
    return strcmp(f->name, "heaptrack") == 0 ? 1000 : 1;
}

static void compare(const struct ab_format *f, struct records expected, struct records got,
                    bool has_time)
{
    assert_int_equal(got.n, expected.n);
    for (size_t i = 0; i < got.n; i++) {
        const struct ab_event *a = &expected.at[i], *b = &got.at[i];
        bool has_block = a->kind <= AB_EVENT_FREE && !(a->failed && a->kind < AB_EVENT_RESIZE);
        if (a->kind != b->kind || a->failed != b->failed || a->released != b->released ||
            a->thread != b->thread || (a->kind != AB_EVENT_FREE && a->size != b->size) ||
            (a->kind == AB_EVENT_ALLOC_ALIGNED && a->align != b->align) ||
            (has_block && a->block != b->block) ||
            (has_time && a->time_us / tick_us(f) != b->time_us / tick_us(f)))
            fail_msg("%s: record %zu is another", f->name, i);
    }
}

static char *export_trace(const struct ab_format *f, const char *trace,
                          struct ab_outlet_report *report)
{
    struct ab_err err = {0};
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    struct ab_walk walk = {.path = trace, .end = UINT64_MAX};
    if (ab_export(&walk, f, to, report, &err) != AB_OK)
        fail_msg("%s", err.text);
    fclose(to);
    return path;
}

static char *import_file(const struct ab_format *f, const char *file,
                         struct ab_intake_report *report)
{
    struct ab_err err = {0};
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    struct ab_import import = {.format = f, .path = file, .to = to};
    if (ab_import(&import, report, &err) != AB_OK)
        fail_msg("%s: %s", f->name, err.text);
    fclose(to);
    return path;
}

static void drop(char *path)
{
    unlink(path);
    free(path);
}

static void try_format(const struct ab_format *f, const char *trace, const struct ab_event *records,
                       bool has_time)
{
    struct ab_outlet_report written;
    struct ab_intake_report read;
    char *file = export_trace(f, trace, &written), *back = import_file(f, file, &read);
    struct records expected = expect(f, records), got = read_all(back);
    compare(f, expected, got, has_time && keeps(f, AB_KEEPS_TIMES));
    assert_int_equal(read.n_calls, written.n_written);
    assert_int_equal(read.info.events, written.n_written);
    assert_int_equal(read.n_unknown_frees + read.n_unknown_resizes + read.n_reused + read.n_late,
                     0);
    assert_true(written.has_lost_times == (has_time && !keeps(f, AB_KEEPS_TIMES)));
    assert_true((written.n_threads > 1) == !keeps(f, AB_KEEPS_THREADS));
    free(expected.at);
    free(got.at);
    drop(file);
    drop(back);
}

static void what_a_format_keeps_comes_back(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct test_mix mix = {.seed = seed,
                               .n = RECORDS,
                               .threads = 3,
                               .has_time = seed % 2 == 0,
                               .has_thread_ends = seed > 2};
        struct ab_event *records = test_mix_records(&mix);
        size_t n;
        uint8_t *bytes = test_mix_file(&mix, records, &n, NULL);
        char *trace = test_trace_file(bytes, n);
        for (size_t i = 0; ab_format_at(i) != NULL; i++)
            try_format(ab_format_at(i), trace, records, mix.has_time);
        free(records);
        free(bytes);
        drop(trace);
    }
}

static void what_cannot_be_exported_says_why(void **state)
{
    struct ab_err err = {0};
    struct ab_outlet_report report;
    const struct ab_format *f;
    (void)state;
    assert_int_equal(ab_format_find("rep", &f, &err), AB_OK);
    struct ab_walk walk = {.path = "-", .end = UINT64_MAX};
    assert_int_equal(ab_export(&walk, f, stdout, &report, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "not as standard input"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_format_keeps_comes_back),
        cmocka_unit_test(what_cannot_be_exported_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
