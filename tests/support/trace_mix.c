/* SPDX-License-Identifier: MIT */
#include "support/trace_mix.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 16 };

struct mixer {
    struct ab_rng rng;
    uint64_t *live, next_number, time_us;
    uint32_t n_live, n_threads; /* n_threads: numbers used so far */
    uint32_t thread_of[THREADS_MOST], at_once, current;
};

static struct ab_event mix_known(struct mixer *m, uint64_t what)
{
    uint32_t at = (uint32_t)ab_rng_below(&m->rng, m->n_live);
    struct ab_event r = {.kind = what < 36 ? AB_EVENT_FREE : AB_EVENT_RESIZE,
                         .released = what == 36,
                         .failed = what == 37,
                         .block = m->live[at]};
    if (what == 37)
        r.size = UINT64_MAX;
    else if (what > 37)
        r.size = ab_rng_below(&m->rng, UINT64_C(1) << ab_rng_below(&m->rng, 40));
    if (what <= 36)
        m->live[at] = m->live[--m->n_live];
    return r;
}

static struct ab_event mix_alloc(struct mixer *m, uint64_t what)
{
    struct ab_event r = {.kind = what < 80   ? AB_EVENT_ALLOC
                                 : what < 90 ? AB_EVENT_ALLOC_ZEROED
                                             : AB_EVENT_ALLOC_ALIGNED,
                         .size = ab_rng_below(&m->rng, 600),
                         .failed = what % 16 == 15};
    if (r.kind == AB_EVENT_ALLOC_ALIGNED)
        r.align = UINT64_C(1) << ab_rng_below(&m->rng, r.failed ? 64 : 13);
    if (!r.failed)
        m->live[m->n_live++] = r.block = m->next_number++;
    return r;
}

static uint32_t pick_thread(struct mixer *m)
{
    if (m->n_threads == 0 || ab_rng_below(&m->rng, 4) == 0)
        m->current = (uint32_t)ab_rng_below(&m->rng, m->at_once);
    uint32_t *thread = &m->thread_of[m->current];
    if (*thread == UINT32_MAX)
        *thread = m->n_threads++;
    return *thread;
}

struct ab_event *test_mix_records(const struct test_mix *mix)
{
    struct mixer m = {.live = calloc(mix->n + 1, sizeof m.live[0]),
                      .at_once = mix->threads > 0 ? mix->threads : 1};
    struct ab_event *records = calloc(mix->n + 1, sizeof records[0]);
    assert_non_null(records);
    ab_rng_init(&m.rng, mix->seed, 1);
    memset(m.thread_of, 0xff, sizeof m.thread_of);
    for (uint32_t i = 0; i < mix->n; i++) {
        uint64_t what = ab_rng_below(&m.rng, 100);
        uint32_t thread = pick_thread(&m);
        bool is_known = thread < m.n_threads - 1 || (i > 0 && records[i - 1].thread == thread);
        if (mix->has_thread_ends && what == 99 && is_known) {
            records[i] = (struct ab_event){.kind = AB_EVENT_THREAD_END};
            m.thread_of[m.current] = UINT32_MAX;
        } else if (what < 45 && m.n_live > 0) {
            records[i] = mix_known(&m, what);
        } else {
            records[i] = mix_alloc(&m, what);
        }
        records[i].thread = thread;
        if (mix->has_time && i > 0)
            m.time_us += ab_rng_below(&m.rng, UINT64_C(1) << ab_rng_below(&m.rng, 30));
        records[i].time_us = m.time_us;
    }
    free(m.live);
    return records;
}

uint8_t *test_mix_file(const struct test_mix *mix, const struct ab_event *records, size_t *bytes,
                       struct ab_trace_info *info)
{
    struct ab_trace_writer_options options = {
        .program = "mix", .has_time = mix->has_time, .chunk_events = mix->chunk_events};
    struct ab_err err = {.text = ""};
    struct ab_trace_writer *w;
    char *out = NULL;
    FILE *f = open_memstream(&out, bytes);
    assert_int_equal(ab_trace_writer_open_with(f, &options, &w, &err), AB_OK);
    for (uint32_t i = 0; i < mix->n; i++) {
        uint64_t number = 0;
        if (ab_trace_write(w, &records[i], &number, &err) != AB_OK)
            fail_msg("%s", err.text);
        if (records[i].kind <= AB_EVENT_ALLOC_ALIGNED && !records[i].failed)
            assert_int_equal(number, records[i].block);
    }
    assert_int_equal(ab_trace_writer_close(w, info, &err), AB_OK);
    fclose(f);
    return (uint8_t *)out;
}
