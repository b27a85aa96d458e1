/* SPDX-License-Identifier: MIT
 *
 * Makes one histogram for each kind of op and size class, and a few quantiles for each window. The
 * samples of each class are counted before its histogram is made, so that the session lists classes
 * in order and has no empty ones. All windows share one histogram, which is filled, read and
 * emptied for each window.
 */
#include "runner/fold.h"

#include "core/alloc.h"
#include "runner/fold_samples.h"
#include "runner/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples of a window. p99 needs 1,000 samples, and by chance a window may get fewer than its
 * share, so 1,250 are wanted. A phase that is too short for such windows is divided into at most
 * 16, which have enough samples for a median. */
enum { WANTED_SAMPLES = 1250, LEAST_SAMPLES = 50, SHORT_WINDOWS = 16 };

struct classes {
    uint64_t n[AB_OP_KIND_COUNT][AB_SIZE_CLASS_COUNT];
    struct ab_hdr *hdr[AB_OP_KIND_COUNT][AB_SIZE_CLASS_COUNT];
};

static void add_class(const struct ab_fold *f, const char *phase, unsigned op, unsigned log2,
                      struct ab_hdr **out)
{
    struct ab_session *s = f->session;
    struct ab_hdr *hdr = ab_hdr_new();
    AB_GROW(s->size_classes, s->cap_size_classes, s->n_size_classes);
    s->size_classes[s->n_size_classes++] = (struct ab_size_class){
        .backend = f->backend,
        .phase = phase,
        .op = op,
        .round = f->round,
        .log2 = log2,
        .hdr = hdr,
    };
    *out = hdr;
}

/* True if the sample has a size class; a reset has no size. */
static bool has_class(const struct ab_sample *sample)
{
    return sample->kind != AB_OP_RESET && !sample->is_left_out;
}

static void fold_classes(const struct ab_fold *f, const struct ab_phase *phase,
                         const struct ab_outcome *run, struct classes *c)
{
    struct ab_samples walk;
    struct ab_sample sample;
    memset(c, 0, sizeof *c);
    ab_samples_begin(&walk, f, phase, run);
    while (ab_samples_next(&walk, &sample))
        if (has_class(&sample))
            c->n[sample.kind][sample.size_log2]++;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        for (unsigned i = 0; i < AB_SIZE_CLASS_COUNT; i++)
            if (c->n[k][i] > 0)
                add_class(f, phase->name, k, i, &c->hdr[k][i]);
    ab_samples_begin(&walk, f, phase, run);
    while (ab_samples_next(&walk, &sample))
        if (has_class(&sample))
            ab_hdr_record(c->hdr[sample.kind][sample.size_log2], sample.ns);
}

uint32_t ab_fold_window_count(const struct ab_phase *phase)
{
    double samples = 0, base = ab_sampling_base(phase);
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        samples += base * phase->n_ops[k];
    double wanted = floor(samples / WANTED_SAMPLES);
    double least = fmin(floor(samples / LEAST_SAMPLES), SHORT_WINDOWS);
    return (uint32_t)fmin(fmax(fmax(wanted, least), 1), AB_WINDOWS_MAX);
}

struct stretch { /* the operations [begin, end) of a phase, divided into n windows */
    uint32_t begin, end, n;
};

static struct stretch stretch_of(const struct ab_fold *f, const struct ab_phase *phase)
{
    const struct ab_tape_image *image = f->tape->image;
    return (struct stretch){ab_tape_ops_before(image, phase->begin),
                            ab_tape_ops_before(image, phase->end), ab_fold_window_count(phase)};
}

static uint32_t window_begin(struct stretch s, uint32_t i)
{
    return s.begin + (uint32_t)((uint64_t)(s.end - s.begin) * i / s.n);
}

static uint32_t window_of(struct stretch s, uint32_t op)
{
    uint32_t i = (uint32_t)((uint64_t)(op - s.begin) * s.n / (s.end - s.begin));
    while (i + 1 < s.n && window_begin(s, i + 1) <= op) /* because the quotient was rounded down */
        i++;
    return i;
}

static void add_window(const struct ab_fold *f, const char *phase, struct stretch stretch,
                       uint32_t i, const struct ab_hdr *hdr, const uint32_t *counts)
{
    struct ab_session *s = f->session;
    AB_GROW(s->windows, s->cap_windows, s->n_windows);
    uint64_t total = ab_hdr_total(hdr);
    s->windows[s->n_windows++] = (struct ab_window){
        .backend = f->backend,
        .phase = phase,
        .round = f->round,
        .begin = window_begin(stretch, i),
        .end = window_begin(stretch, i + 1),
        .n = total,
        .p50 = ab_result_quantile(hdr, 0.5),
        .p99 = ab_result_quantile(hdr, 0.99),
        .max = total > 0 ? (double)hdr->max : (double)NAN,
    };
    memcpy(s->windows[s->n_windows - 1].counts, counts, AB_WINDOW_BINS * sizeof counts[0]);
}

struct timed { /* window and time of a sample */
    uint32_t window;
    uint64_t ns;
};

static int by_window(const void *a, const void *b)
{
    uint32_t x = ((const struct timed *)a)->window, y = ((const struct timed *)b)->window;
    return (x > y) - (x < y);
}

static uint32_t list_fair(const struct ab_fold *f, uint32_t phase, const struct ab_outcome *run,
                          struct stretch stretch, struct timed *list)
{
    struct ab_samples walk;
    struct ab_sample sample;
    uint32_t n = 0;
    ab_samples_begin(&walk, f, &f->tape->phases[phase], run);
    while (ab_samples_next(&walk, &sample)) {
        uint32_t clock = ab_tape_map_clock(f->tape, phase, sample.position);
        uint32_t op = ab_tape_ops_before(f->tape->image, clock);
        if (sample.is_fair && !sample.is_left_out)
            list[n++] = (struct timed){window_of(stretch, op), sample.ns};
    }
    /* with one lane the samples are already in the order of their windows */
    if (f->tape->image->n_lanes > 1)
        qsort(list, n, sizeof list[0], by_window);
    return n;
}

static void fold_windows(const struct ab_fold *f, uint32_t phase, const struct ab_outcome *run,
                         struct timed *list, struct ab_hdr *hdr)
{
    const struct ab_phase *p = &f->tape->phases[phase];
    struct stretch stretch = stretch_of(f, p);
    uint32_t n = list_fair(f, phase, run, stretch, list), next = 0;
    for (uint32_t i = 0; i < stretch.n; i++) {
        uint32_t counts[AB_WINDOW_BINS] = {0};
        ab_hdr_init(hdr);
        for (; next < n && list[next].window == i; next++) {
            ab_hdr_record(hdr, list[next].ns);
            counts[ab_window_bin(list[next].ns)] += list[next].ns <= AB_HDR_HIGHEST;
        }
        add_window(f, p->name, stretch, i, hdr, counts);
    }
}

void ab_fold_depth(const struct ab_fold *f, const struct ab_outcome *run)
{
    struct classes *classes = ab_alloc(sizeof *classes);
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    struct timed *list = ab_alloc(((size_t)run->n_samples + 1) * sizeof list[0]);
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        if (phase->is_measured && ab_phase_ops(phase) > 0) {
            fold_classes(f, phase, run, classes);
            fold_windows(f, i, run, list, hdr);
        }
    }
    free(classes);
    free(hdr);
    free(list);
}
