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
        return keeps(f, AB_KEEPS_THREADS) && strcmp(f->name, "logalloc") != 0 &&
               strcmp(f->name, "gperftools") != 0;
    if (e->failed && (!keeps(f, AB_KEEPS_FAILURES) || (e->kind == AB_EVENT_RESIZE && e->size == 0)))
        return false;
    if (e->released && !keeps(f, AB_KEEPS_RELEASES)) {
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
    assert_true((written.n_released > 0) == !keeps(f, AB_KEEPS_RELEASES));
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

/* ---- one trace on paper ---- */

static char *paper_trace(void)
{
    static const struct ab_event events[] = {
        {.kind = AB_EVENT_ALLOC, .size = 100},
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 24, .thread = 1, .time_us = 3},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 0, .align = 64, .time_us = 3},
        {.kind = AB_EVENT_RESIZE, .size = 200, .block = 0, .time_us = 3000},
        {.kind = AB_EVENT_RESIZE, .size = 0, .block = 1, .failed = true, .time_us = 3000},
        {.kind = AB_EVENT_ALLOC, .size = 4096, .failed = true, .time_us = 3000},
        {.kind = AB_EVENT_RESIZE, .size = 0, .block = 0, .released = true, .time_us = 3000},
        {.kind = AB_EVENT_FREE, .block = 1, .thread = 1, .time_us = 3001},
        {.kind = AB_EVENT_THREAD_END, .thread = 1, .time_us = 3002},
    };
    struct ab_trace_writer_options options = {.program = "paper", .has_time = true};
    struct ab_trace_writer *w;
    struct ab_err err = {0};
    struct ab_trace_info info;
    uint64_t number;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (ab_trace_write(w, &events[i], &number, &err) != AB_OK)
            fail_msg("%s", err.text);
    assert_int_equal(ab_trace_writer_close(w, &info, &err), AB_OK);
    fclose(to);
    return path;
}

static void each_text_is_that_of_its_format(void **state)
{
    static const struct {
        const char *format, *text;
    } texts[] = {
        {"mtrace", "= Start\n@ trace:[0x0] + 0x10000 0x64\n@ trace:[0x0] + 0x10010 0x18\n"
                   "@ trace:[0x0] + 0x10020 0\n@ trace:[0x0] < 0x10000\n"
                   "@ trace:[0x0] > 0x10000 0xc8\n@ trace:[0x0] + (nil) 0x1000\n"
                   "@ trace:[0x0] - 0x10000\n@ trace:[0x0] - 0x10010\n= End\n"},
        {"heaptrack", "v 10400 3\nX paper\nI 1000 0\nm 1 -\nt 1 0\n+ 64 1 10000\n+ 18 1 10010\n"
                      "+ 0 1 10020\nc 3\n- 10000\n+ c8 1 10000\n- 10000\n- 10010\n"},
        {"memory-replay",
         "1: malloc 0x10000 100 1000 1000\n2: calloc 0x10010 1 24 4000 4000\n"
         "1: memalign 0x10020 64 0 4000 4000\n1: realloc 0x10000 0x10000 200 3001000 3001000\n"
         "1: malloc 0x0 4096 3001000 3001000\n1: realloc 0x0 0x10000 0 3001000 3001000\n"
         "2: free 0x10010 3002000 3002000\n2: thread_done 0x0 3003000\n"},
        {"logalloc", "1 1 malloc(100)=0x10000\n1 2 calloc(1,24)=0x10010\n"
                     "1 1 memalign(64,0)=0x10020\n1 1 realloc(0x10000,200)=0x10000\n"
                     "1 1 malloc(4096)=0x0\n1 1 realloc(0x10000,0)=0x0\n1 2 free(0x10010)\n"},
        {"gperftools",
         "Trace started: 0\nfunc\tsize\tptr\tthread_id\tstack pcs for tools/symbolize\n"
         "malloc\t100\t0x10000\t1\nmalloc\t24\t0x10010\t2\n"
         "malloc\t0\t0x10020\t1\nfree\t0\t0x10000\t1\n"
         "realloc\t200\t0x10000\t1\nfree\t0\t0x10000\t1\n"
         "free\t0\t0x10010\t2\n"},
        {"rep", "224\n4\n6\n1\na 0 100\na 1 24\na 2 0\nr 0 200\nf 0\nf 1\n"},
    };
    char *trace = paper_trace();
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ab_outlet_report report;
        struct ab_err err = {0};
        const struct ab_format *f;
        char text[1000] = "";
        assert_int_equal(ab_format_find(texts[i].format, &f, &err), AB_OK);
        char *path = export_trace(f, trace, &report);
        FILE *file = fopen(path, "r");
        assert_true(fread(text, 1, sizeof text - 1, file) > 0);
        fclose(file);
        assert_string_equal(text, texts[i].text);
        drop(path);
    }
    drop(trace);
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
        cmocka_unit_test(each_text_is_that_of_its_format),
        cmocka_unit_test(what_cannot_be_exported_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
