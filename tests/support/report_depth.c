/* SPDX-License-Identifier: MIT */
#include "report_depth.h"

#include "result/memory_dist.h"
#include "result/numbers.h"
#include "result/result_fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned backends[] = {FAKE_GLIBC, FAKE_JEMALLOC, FAKE_BROKEN};

static void add_class(struct fake_depth *d, unsigned backend, uint32_t round, unsigned op,
                      unsigned log2)
{
    struct ab_hdr *hdr = calloc(1, sizeof *hdr);
    assert_non_null(hdr);
    ab_hdr_init(hdr);
    for (uint64_t i = 0; i < 1500; i++)
        ab_hdr_record(hdr, 20 + log2 * 5 + backend + i % 7 + (i % 500 == 0 ? 5000 : 0));
    if (round == 1 && log2 == 4)
        hdr->overflow = 1;
    d->classes[d->f->s.n_size_classes++] = (struct ab_size_class){.backend = backend,
                                                                  .phase = d->f->s.phases[0],
                                                                  .op = op,
                                                                  .round = round,
                                                                  .log2 = log2,
                                                                  .hdr = hdr};
}

static void add_windows(struct fake_depth *d, unsigned backend, uint32_t round)
{
    for (uint32_t i = 0; i < FAKE_WINDOWS; i++)
        d->windows[d->f->s.n_windows++] = (struct ab_window){
            .backend = backend,
            .phase = d->f->s.phases[0],
            .round = round,
            .begin = i * 1000,
            .end = (i + 1) * 1000,
            .n = 900 + 100 * i,
            .p50 = 30 + i + backend,
            .p99 = i == 0 ? (double)NAN : 100.5 + i,
            .max = 5000 * (i + 1),
            .counts = {[9] = 600 + 100 * i, [10] = 200, [24] = 100},
        };
}

static void add_memory(struct fake_depth *d, unsigned backend, uint32_t round)
{
    for (unsigned at = 0; at < AB_AT_COUNT; at++) {
        struct ab_memory *m = &d->memory[d->f->s.n_memory++];
        *m = (struct ab_memory){.backend = backend,
                                .phase = d->f->s.phases[1],
                                .round = round,
                                .at = (enum ab_memory_at)at,
                                .position = 1000 * at};
        for (size_t i = 0; i < ab_memory_field_count; i++)
            *(double *)((char *)m + ab_memory_fields[i].offset) =
                i == 3 ? (double)NAN : 4096.5 * (double)(i + at + round);
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
            m->drained_bytes[i] = at == AB_AT_END && i < 2 ? 8192 * (i + 1) : (double)NAN;
    }
}

/* Of three threads, one of which shares its row with others. */
static void add_overview(struct fake_depth *d)
{
    struct ab_overview *o = &d->overview;
    *o = (struct ab_overview){
        .n_calls = 7, .step_calls = 2, .n_steps = 3, .n_threads = 40, .n_rows = 2};
    o->thread[1] = AB_OVERVIEW_OTHERS;
    for (uint32_t i = 0; i < 3; i++)
        o->live[i] = (struct ab_overview_step){100 * i, 100 * i + 64};
    o->blocks[0][0] = 1;
    o->blocks[4][AB_OVERVIEW_CLASSES] = 2;
    o->blocks[AB_OVERVIEW_CLASSES - 1][AB_OVERVIEW_CLASSES - 1] = 3;
    o->freed[0][1] = 4;
    o->freed[1][2] = 2;
    d->f->s.overview = o;
}

/* Overhead is known for all ops, retained bytes for none, the others for nine in ten. */
static void add_dists(struct fake_depth *d, unsigned backend, uint32_t round)
{
    for (unsigned k = 0; k < AB_DIST_COUNT; k++) {
        struct ab_memory_dist *x = &d->dists[d->f->s.n_dists++];
        *x = (struct ab_memory_dist){.backend = backend,
                                     .phase = d->f->s.phases[1],
                                     .round = round,
                                     .kind = (enum ab_memory_dist_kind)k,
                                     .n_ops = 4000};
        if (k == AB_DIST_RETAINED_BYTES) {
            strcpy(x->reason, "no \"pages\"");
            continue;
        }
        x->hdr = ab_memory_dist_histogram();
        assert_non_null(x->hdr);
        for (uint32_t i = k == AB_DIST_OVERHEAD ? 0 : 101; i < 1000; i++)
            ab_memory_dist_add(x, (k + backend + round + 1) * 0.25 * (i % 100), i % 2 == 0 ? 6 : 2);
        if (k != AB_DIST_OVERHEAD)
            strcpy(x->reason, "ratios: no live bytes");
    }
}

static void add_line(struct fake_depth *d, unsigned backend, uint32_t round)
{
    static const double live[FAKE_POINTS] = {0, 1e6, 2e6, 1.5e6, 0};
    uint32_t n = d->f->s.n_timelines++;
    for (uint32_t i = 0; i < FAKE_POINTS; i++)
        d->points[n][i] = (struct ab_timeline_point){
            .position = i * 1000,
            .requested_bytes = live[i],
            .usable_bytes = backend == FAKE_JEMALLOC ? (double)NAN : live[i] * 1.0625,
            .footprint_bytes = 65536 + live[i] * (1.25 + backend),
            .external_bytes = i == 3 ? (double)NAN : live[i] * 0.125,
        };
    d->lines[n] = (struct ab_timeline){backend, round, FAKE_POINTS, d->points[n]};
}

struct fake_depth *fake_depth_new(void)
{
    struct fake_depth *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->f = fake_session_new();
    d->f->s.size_classes = d->classes;
    d->f->s.windows = d->windows;
    d->f->s.memory = d->memory;
    d->f->s.timelines = d->lines;
    d->f->s.dists = d->dists;
    add_overview(d);
    for (uint32_t round = 0; round < 3; round++)
        for (unsigned i = 0; i < 3; i++) {
            add_class(d, backends[i], round, AB_OP_ALLOC, 4);
            add_class(d, backends[i], round, AB_OP_ALLOC, 7);
            add_class(d, backends[i], round, AB_OP_FREE, 64);
            add_windows(d, backends[i], round);
            add_memory(d, backends[i], round);
            add_dists(d, backends[i], round);
            add_line(d, backends[i], round);
        }
    return d;
}

void fake_depth_free(struct fake_depth *d)
{
    for (uint32_t i = 0; i < d->f->s.n_size_classes; i++)
        free(d->classes[i].hdr);
    for (uint32_t i = 0; i < d->f->s.n_dists; i++)
        free(d->dists[i].hdr);
    fake_session_free(d->f);
    free(d);
}
