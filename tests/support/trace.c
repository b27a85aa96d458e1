/* SPDX-License-Identifier: MIT */
#include "support/trace.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "trace/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_event next_record(struct ab_rng *rng, uint64_t *live, uint32_t *n_live)
{
    struct ab_event r = {.size = 8 + ab_rng_below(rng, 500)};
    uint64_t what = ab_rng_below(rng, 100);
    uint32_t at = *n_live > 0 ? (uint32_t)ab_rng_below(rng, *n_live) : 0;
    if (what < 45 && *n_live > 0) {
        r.kind = what < 35 ? AB_EVENT_FREE : AB_EVENT_RESIZE;
        r.block = live[at];
        r.released = what == 44;
        r.failed = what == 43;
        if (r.kind == AB_EVENT_FREE || r.released) {
            r.size = 0;
            live[at] = live[--*n_live];
        }
        return r;
    }
    r.kind = what < 80   ? AB_EVENT_ALLOC
             : what < 90 ? AB_EVENT_ALLOC_ZEROED
                         : AB_EVENT_ALLOC_ALIGNED;
    if (r.kind == AB_EVENT_ALLOC_ALIGNED)
        r.align = UINT64_C(16) << ab_rng_below(rng, 8);
    r.failed = what == 79;
    if (r.failed)
        r.size = UINT64_MAX - 5;
    return r;
}

uint8_t *test_trace_mixed(uint32_t n, size_t *bytes, struct ab_trace_info *info)
{
    return test_trace_random((struct test_trace_kind){3, 1, n, false}, bytes, info);
}

struct dealer {                        /* of calls to threads, so many at a time */
    uint32_t n_seen, n_threads, first; /* threads below `first` have ended */
    uint64_t time_us;
};

/* A new thread is the next number. */
static uint32_t deal(struct dealer *d, struct ab_rng *rng)
{
    uint32_t end = d->n_seen - d->first < d->n_threads ? d->n_seen + 1 : d->n_seen;
    uint32_t thread = d->first + (uint32_t)ab_rng_below(rng, end - d->first);
    d->n_seen += thread == d->n_seen;
    return thread;
}

/* Ends the oldest thread now and then, but never the last one. */
static void maybe_end_thread(struct dealer *d, struct ab_trace_writer *w, struct ab_rng *rng)
{
    struct ab_err err = {0};
    if (d->n_seen - d->first < 2 || ab_rng_below(rng, 300) != 0)
        return;
    struct ab_event r = {.kind = AB_EVENT_THREAD_END, .thread = d->first++, .time_us = d->time_us};
    assert_int_equal(ab_trace_write(w, &r, NULL, &err), AB_OK);
}

uint8_t *test_trace_random(struct test_trace_kind kind, size_t *bytes, struct ab_trace_info *info)
{
    struct dealer dealer = {.n_threads = kind.threads};
    struct ab_trace_writer_options options = {.program = "mixed", .has_time = kind.has_time};
    uint32_t n = kind.n;
    struct ab_rng rng;
    struct ab_err err = {0};
    struct ab_trace_writer *w;
    uint64_t *live = calloc(n + 1, sizeof live[0]);
    uint32_t n_live = 0;
    FILE *f = tmpfile();
    ab_rng_init(&rng, kind.seed, 3);
    assert_int_equal(ab_trace_writer_open_with(f, &options, &w, &err), AB_OK);
    for (uint32_t i = 0; i < n; i++) {
        struct ab_event r = next_record(&rng, live, &n_live);
        uint64_t number = UINT64_MAX;
        if (kind.threads > 1)
            r.thread = deal(&dealer, &rng);
        if (kind.has_time && i > 0)
            r.time_us = dealer.time_us += ab_rng_below(&rng, 9);
        assert_int_equal(ab_trace_write(w, &r, &number, &err), AB_OK);
        if (number != UINT64_MAX)
            live[n_live++] = number;
        if (kind.has_time && kind.threads > 1)
            maybe_end_thread(&dealer, w, &rng);
    }
    assert_int_equal(ab_trace_writer_close(w, info, &err), AB_OK);
    *bytes = (size_t)ftell(f);
    uint8_t *copy = malloc(*bytes);
    rewind(f);
    assert_int_equal(fread(copy, 1, *bytes, f), *bytes);
    fclose(f);
    free(live);
    return copy;
}

char *test_trace_file(const uint8_t *bytes, size_t n)
{
    char *path = strdup("/tmp/allocbench-trace-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    close(fd);
    return path;
}

enum ab_status test_trace_read(const char *path, uint64_t *n_events, struct ab_trace_info *info,
                               struct ab_err *err)
{
    struct ab_trace_reader *r;
    struct ab_event events[512];
    enum ab_status status = ab_trace_open(path, &r, err);
    *n_events = 0;
    if (status != AB_OK)
        return status;
    for (size_t n = 1; status == AB_OK && n > 0; *n_events += status == AB_OK ? n : 0)
        status = ab_trace_next(r, events, 512, &n, err);
    if (info != NULL)
        *info = *ab_trace_reader_info(r);
    ab_trace_close(r);
    return status;
}
