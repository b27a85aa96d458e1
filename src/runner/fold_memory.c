/* SPDX-License-Identifier: MIT
 *
 * Makes the records and the timeline of the memory pass, after judging which of the reported
 * numbers are credible.
 */
#include "core/text.h"
#include "result/numbers.h"
#include "runner/fold.h"

#include "core/alloc.h"
#include "core/units_show.h"
#include "result/memory_dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewest pages for a ratio to the footprint. Pages that were resident before the first op may serve
 * it and are in no footprint. With fewer pages than this, they would dominate the ratio. */
enum { LEAST_PAGES = AB_FOLD_LEAST_PAGES };
#define STRETCH_BYTES 0x1p21

struct judge {
    const struct ab_fold *f;
    const struct ab_outcome *run;
    const struct ab_memory_report *r;
    /* reason why no footprint of this run is credible; NULL = footprints are credible */
    const char *trouble;
};

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

void ab_fold_memory_reason(struct ab_memory *m, const char *what, const char *why)
{
    char text[AB_MEMORY_REASON_BYTES];
    size_t n = strlen(m->reason);
    AB_FIT(text, "%s: %s", what, why);
    if (strstr(m->reason, text) != NULL || n + strlen(text) + 2 >= sizeof m->reason)
        return;
    if (n > 0)
        strcpy(m->reason + n, "; ");
    strcat(m->reason, text);
}

/* ---- the run as a whole ---- */

static const char *find_trouble(const struct ab_memory_report *r)
{
    if ((r->flags & AB_MEMORY_UNREADABLE) != 0)
        return "/proc/self/statm cannot be read";
    if (r->page_bytes == 0 || r->page_bytes > 1 << 24)
        return "the worker's report is inconsistent";
    if (r->hugetlb_bytes != 0)
        return "the allocator uses hugetlb pages, which the footprint excludes";
    if (r->shared_bytes != 0)
        return "the allocator uses shared mappings, which the footprint excludes";
    if (r->swapped_bytes != 0)
        return "part of the heap was swapped out";
    return NULL;
}

/* Returns the reason why the content of this run's pages is not known; NULL = it is known. */
static const char *doubt_pages_of(const struct ab_memory_report *r)
{
    if ((r->flags & AB_MEMORY_MOVES) != 0)
        return "blocks may move: their addresses are unknown";
    if ((r->flags & AB_MEMORY_NO_PAGES) != 0)
        return "/proc/self/pagemap or smaps cannot be read";
    if ((r->flags & AB_MEMORY_OVERLAP) != 0)
        return "live blocks overlap, or usable_size is too large";
    return NULL;
}

const char *ab_fold_doubt(const struct ab_memory_report *r)
{
    const char *trouble = find_trouble(r);
    return trouble != NULL ? trouble : doubt_pages_of(r);
}

static uint32_t last_measured(const struct ab_tape_map *tape)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        if (tape->phases[i].is_measured)
            last = i;
    return last;
}

/* ---- one state ---- */

static void judge_footprint(const struct judge *j, const struct ab_memory_state *s,
                            struct ab_memory *m)
{
    char text[120];
    double statm = ab_fold_bytes(s->footprint_bytes), exact = ab_fold_bytes(s->exact_bytes);
    double tolerance = fmax(65536, 0.01 * statm);
    m->footprint_bytes = statm;
    if (j->trouble != NULL) {
        m->footprint_bytes = NAN;
        ab_fold_memory_reason(m, AB_WHY_FOOTPRINT, j->trouble);
    } else if (j->r->granularity_pages > 0) {
        m->footprint_bytes = exact;
        if (isnan(exact))
            ab_fold_memory_reason(m, AB_WHY_FOOTPRINT,
                                  "the kernel counts pages in batches: exact at checkpoints only");
    } else if (fabs(statm - exact) > tolerance) {
        m->footprint_bytes = NAN;
        AB_FIT(text, "statm reports %s, smaps_rollup %s", AB_BYTES(statm), AB_BYTES(exact));
        ab_fold_memory_reason(m, AB_WHY_FOOTPRINT, text);
    } else if (isnan(statm)) {
        ab_fold_memory_reason(m, AB_WHY_FOOTPRINT, "not measured");
    }
}

/* ---- samples of the memory pass as histograms weighted by ops ----
 *
 * If a number is not known at a sample, the ops for which that sample stands are not in the
 * number's histogram. */

struct phase_samples {
    const struct ab_memory_sample *samples;
    uint32_t n;
};

/* The numbers that derive from one sample, indexed by enum ab_memory_dist_kind; NaN = not known. */
struct values {
    double of[AB_DIST_COUNT];
};

/* Returns the samples of a phase; none if the report places them beyond its capacity. */
static struct phase_samples find_samples(const struct ab_outcome *run, uint32_t phase)
{
    const struct ab_memory_phase *p = &run->memory->phases[phase];
    uint32_t cap = run->cap_memory_samples, first = p->first_sample;
    if (first > cap || p->n_samples > cap - first)
        return (struct phase_samples){NULL, 0};
    return (struct phase_samples){run->memory->samples + first, p->n_samples};
}

/* True if the samples ascend within the phase, and each stands for the ops since the previous
 * sample. */
static bool is_consistent(const struct phase_samples *x, const struct ab_phase *phase)
{
    uint32_t at = phase->begin;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct ab_memory_sample *s = &x->samples[i];
        if (s->position <= at || s->position > phase->end || s->n_ops != s->position - at)
            return false;
        at = s->position;
    }
    return x->samples != NULL;
}

static const char *doubt(const struct ab_outcome *run, uint32_t index, const char *trouble,
                         const struct ab_phase *phase)
{
    const struct ab_memory_report *r = run->memory;
    struct phase_samples x = find_samples(run, index);
    const char *pages = trouble != NULL ? trouble : doubt_pages_of(r);
    if (pages != NULL)
        return pages;
    if ((r->flags & AB_MEMORY_NO_LEDGER) != 0)
        return "blocks overlap, or are too far apart to be followed";
    if (r->phases[index].n_disputed > 0)
        return "two counts of the pages differ: one that held a live block went";
    if (!is_consistent(&x, phase))
        return "the worker's report is inconsistent";
    return x.n == 0 ? "no op" : NULL;
}

static struct values values_of(const struct ab_memory_report *r, const struct ab_memory_sample *s,
                               bool has_usable)
{
    double live = ab_fold_bytes(s->live_bytes), internal = ab_fold_bytes(s->internal_bytes);
    double external = ab_fold_bytes(s->external_bytes),
           footprint = ab_fold_bytes(s->footprint_bytes);
    double retained = footprint - live - internal - external;
    double least = AB_FOLD_LEAST_PAGES * (double)r->page_bytes;
    if (r->granularity_pages > 0 || retained < 0)
        footprint = retained = NAN; /* the footprint is not exact, or is less than its own pages */
    if (!has_usable) {
        external += internal;
        internal = NAN;
    }
    double by = live > 0 && !(footprint < least) ? live : NAN;
    return (struct values){.of = {
                               [AB_DIST_OVERHEAD] = footprint / by,
                               [AB_DIST_INTERNAL_RATIO] = internal / by,
                               [AB_DIST_EXTERNAL_RATIO] = external / by,
                               [AB_DIST_RETAINED_RATIO] = retained / by,
                               [AB_DIST_INTERNAL_BYTES] = internal,
                               [AB_DIST_EXTERNAL_BYTES] = external,
                               [AB_DIST_RETAINED_BYTES] = retained,
                           }};
}

static bool is_internal(enum ab_memory_dist_kind kind)
{
    return kind == AB_DIST_INTERNAL_RATIO || kind == AB_DIST_INTERNAL_BYTES;
}

static bool needs_footprint(enum ab_memory_dist_kind kind)
{
    return kind == AB_DIST_OVERHEAD || kind == AB_DIST_RETAINED_RATIO ||
           kind == AB_DIST_RETAINED_BYTES;
}

/* Returns the reason why a number is not known for some ops. */
static const char *gap(const struct ab_memory_report *r, enum ab_memory_dist_kind kind,
                       bool has_usable)
{
    if (is_internal(kind) && !has_usable)
        return (r->flags & AB_MEMORY_USABLE_LESS) != 0
                   ? "usable_size is less than requested: counted as external"
                   : "no usable_size: counted as external";
    if (needs_footprint(kind) && r->granularity_pages > 0)
        return "the kernel counts pages in batches: exact at checkpoints only";
    if (ab_memory_dists[kind].step < 1)
        return "ratios: no live bytes, or fewer than 16 pages";
    return "live blocks occupy more pages than the footprint has";
}

bool ab_fold_has_usable(const struct ab_memory_report *r, uint32_t phase)
{
    return (r->flags & AB_MEMORY_USABLE_LESS) == 0 &&
           !isnan(ab_fold_bytes(r->phases[phase].at[AB_AT_END].usable_bytes));
}

/* Fills the distributions of a phase. The last sample is at the end of the phase, so all ops of the
 * phase are counted. */
static void fill(const struct ab_fold *f, const struct ab_outcome *run, uint32_t phase,
                 struct ab_memory_dist *dists)
{
    uint32_t before = ab_tape_ops_before(f->tape->image, f->tape->phases[phase].begin);
    struct phase_samples x = find_samples(run, phase);
    bool has_usable = ab_fold_has_usable(run->memory, phase);
    for (uint32_t i = 0; i < x.n; i++) {
        struct values v = values_of(run->memory, &x.samples[i], has_usable);
        uint32_t n = ab_tape_ops_before(f->tape->image, x.samples[i].position);
        for (unsigned k = 0; k < AB_DIST_COUNT; k++)
            ab_memory_dist_add(&dists[k], v.of[k], n - before);
        before = n;
    }
    for (unsigned k = 0; k < AB_DIST_COUNT; k++)
        if (ab_hdr_total(dists[k].hdr) + dists[k].hdr->overflow < dists[k].n_ops)
            AB_FIT(dists[k].reason, "%s",
                   gap(run->memory, (enum ab_memory_dist_kind)k, has_usable));
}

static void fold_phase(const struct ab_fold *f, const struct ab_outcome *run, uint32_t index,
                       const char *trouble, struct ab_memory_dist *dists)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    const char *why = doubt(run, index, trouble, phase);
    for (unsigned k = 0; k < AB_DIST_COUNT; k++) {
        dists[k] = (struct ab_memory_dist){.backend = f->backend,
                                           .phase = phase->name,
                                           .round = f->round,
                                           .kind = (enum ab_memory_dist_kind)k,
                                           .n_ops = ab_phase_ops(phase)};
        if (why != NULL)
            AB_COPY(dists[k].reason, why);
        else
            dists[k].hdr = ab_memory_dist_histogram();
    }
    if (why == NULL)
        fill(f, run, index, dists);
}

void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble)
{
    struct ab_session *s = f->session;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        if (!f->tape->phases[i].is_measured)
            continue;
        AB_GROW(s->dists, s->cap_dists, s->n_dists + AB_DIST_COUNT);
        struct ab_memory_dist *dists = s->dists + s->n_dists;
        s->n_dists += AB_DIST_COUNT;
        fold_phase(f, run, i, trouble, dists);
    }
}

/* Returns the reason why the content of this state's pages is not known; NULL = it is known. */
static const char *doubt_pages(const struct judge *j, const struct ab_memory_state *s)
{
    double live = ab_fold_bytes(s->live_bytes);
    double elsewhere = ab_fold_bytes(s->untouched_bytes) + ab_fold_bytes(s->baseline_bytes);
    double on_pages = live + ab_fold_bytes(s->internal_bytes) + ab_fold_bytes(s->external_bytes);
    if (doubt_pages_of(j->r) != NULL)
        return doubt_pages_of(j->r);
    if (!s->is_checked)
        return "the peak moved between two runs: not measured";
    if (live + elsewhere != ab_fold_bytes(s->requested_bytes) ||
        !(ab_fold_bytes(s->n_stretches) * STRETCH_BYTES >= on_pages))
        return "the worker's report is inconsistent";
    return NULL;
}

/* Counts internal bytes as external if there is no valid usable_size, because bytes lost to
 * rounding cannot then be distinguished from free neighbours. */
static void judge_usable(const struct judge *j, const struct ab_memory_state *s,
                         struct ab_memory *m)
{
    const char *why = NULL;
    m->usable_bytes = ab_fold_bytes(s->usable_bytes);
    if ((j->r->flags & AB_MEMORY_USABLE_LESS) != 0)
        why = "usable_size is less than requested: counted as external";
    else if (isnan(m->usable_bytes))
        why = "no usable_size: counted as external";
    if (why == NULL)
        return;
    m->external_bytes += m->internal_bytes;
    m->external_2m_bytes += m->internal_bytes;
    m->usable_bytes = m->internal_bytes = NAN;
    ab_fold_memory_reason(m, AB_WHY_INTERNAL, why);
}

static void judge_pages(const struct judge *j, const struct ab_memory_state *s, struct ab_memory *m)
{
    const char *doubt = j->trouble != NULL ? j->trouble : doubt_pages(j, s);
    if (doubt != NULL) {
        if (j->trouble == NULL)
            ab_fold_memory_reason(m, AB_WHY_PAGES, doubt);
        return;
    }
    m->live_bytes = ab_fold_bytes(s->live_bytes);
    m->internal_bytes = ab_fold_bytes(s->internal_bytes);
    m->external_bytes = ab_fold_bytes(s->external_bytes);
    m->untouched_bytes = ab_fold_bytes(s->untouched_bytes);
    m->baseline_bytes = ab_fold_bytes(s->baseline_bytes);
    double used = m->live_bytes + m->internal_bytes;
    m->external_2m_bytes = ab_fold_bytes(s->n_stretches) * STRETCH_BYTES - used;
    m->retained_bytes = m->footprint_bytes - used - m->external_bytes;
    m->discrepancy_bytes = isnan(m->retained_bytes) ? NAN : 0;
    if (m->retained_bytes < 0) {
        m->discrepancy_bytes = -m->retained_bytes;
        m->retained_bytes = NAN;
        ab_fold_memory_reason(m, AB_WHY_RETAINED,
                              "live blocks occupy more pages than the footprint has");
    }
}

static void derive(const struct judge *j, struct ab_memory *m)
{
    double least = LEAST_PAGES * (double)j->r->page_bytes;
    if (m->footprint_bytes < least) {
        ab_fold_memory_reason(m, AB_WHY_RATIOS, "fewer than 16 pages");
        return;
    }
    if (m->requested_bytes == 0)
        ab_fold_memory_reason(m, AB_WHY_RATIOS, "no live blocks");
    else if (m->live_bytes == 0)
        ab_fold_memory_reason(m, AB_WHY_RATIOS, "no live block was written to");
    m->overhead = ratio(m->footprint_bytes, m->live_bytes);
    m->internal_ratio = ratio(m->internal_bytes, m->live_bytes);
    m->external_ratio = ratio(m->external_bytes, m->live_bytes);
    m->external_2m_ratio = ratio(m->external_2m_bytes, m->live_bytes);
    m->retained_ratio = ratio(m->retained_bytes, m->live_bytes);
}

static void judge_state(const struct judge *j, const struct ab_memory_state *s, struct ab_memory *m)
{
    if (s->position > j->f->tape->image->n_ops) { /* true for AB_MEMORY_NEVER as well */
        ab_fold_memory_reason(m, AB_WHY_FOOTPRINT,
                              j->trouble != NULL ? j->trouble : "run ended before this point");
        return;
    }
    m->position = ab_tape_ops_before(j->f->tape->image, s->position);
    m->requested_bytes = ab_fold_bytes(s->requested_bytes);
    judge_footprint(j, s, m);
    judge_pages(j, s, m);
    judge_usable(j, s, m);
    derive(j, m);
    m->allocated_bytes = ab_fold_bytes(s->allocated_bytes);
    m->mapped_bytes = ab_fold_bytes(s->mapped_bytes);
    if (!s->is_checked)
        ab_fold_memory_reason(m, AB_WHY_OWN, "not measured: the peak moved between two runs");
    else if (isnan(m->allocated_bytes) || isnan(m->mapped_bytes))
        ab_fold_memory_reason(m, AB_WHY_OWN, "allocator exposes no statistics");
}

/* ---- one phase ---- */

/* Computes the peak during calls from the kernel's high-water mark. An increase below the mark's
 * possible error counts as none. */
static void judge_mark(const struct judge *j, const struct ab_memory_phase *phase,
                       struct ab_memory *m)
{
    double added = ab_fold_bytes(phase->high_water_bytes) - m->rss_peak_bytes;
    if ((j->r->flags & AB_MEMORY_NO_MARK) != 0) {
        ab_fold_memory_reason(m, AB_WHY_DURING, "/proc/self/clear_refs cannot be written");
        return;
    }
    m->during_calls_bytes = added > ab_fold_bytes(j->r->mark_excess_bytes) ? added : 0;
    m->peak_bytes = m->rss_peak_bytes + m->during_calls_bytes;
}

static void judge_phase(const struct judge *j, uint32_t index, struct ab_memory *m)
{
    const struct ab_memory_phase *phase = &j->r->phases[index];
    const struct ab_phase_report *report = &j->run->page->report.phases[index];
    double least = LEAST_PAGES * (double)j->r->page_bytes;
    m->live_peak_bytes = ab_fold_bytes(phase->live_peak_bytes);
    uint64_t own = phase->own_faults < report->faults_minor ? phase->own_faults : 0;
    m->faults_minor = (double)(report->faults_minor - own);
    m->faults_major = (double)report->faults_major;
    const struct ab_memory_walks *walks = &phase->walks;
    if (walks->n > 0) {
        m->walk_blocks = ratio((double)walks->blocks, (double)walks->n);
        m->walk_lines = ratio((double)walks->lines, (double)walks->n);
        m->walk_pages = ratio((double)walks->pages, (double)walks->n);
        m->walk_spans = ratio((double)walks->spans, (double)walks->n);
    }
    if (j->trouble != NULL)
        return;
    m->rss_peak_bytes = ab_fold_bytes(phase->rss_peak_bytes);
    judge_mark(j, phase, m);
    if (m->rss_peak_bytes < least)
        return;
    m->overhead_peak = ratio(m->rss_peak_bytes, m->live_peak_bytes);
    if (phase->n_readings > 0)
        m->overhead_mean = ratio(ab_fold_bytes(phase->footprint_sum),
                                 ab_fold_bytes(phase->requested_sum));
}

static void judge_drain(const struct judge *j, struct ab_memory *m)
{
    bool is_waited = true, is_purged = true;
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
        m->drained_bytes[i] = j->trouble != NULL ? NAN : ab_fold_bytes(j->r->drained_bytes[i]);
        if (isnan(m->drained_bytes[i]))
            *(i + 1 == AB_DRAIN_COUNT ? &is_purged : &is_waited) = false;
    }
    if ((j->r->flags & AB_MEMORY_KEEPS) != 0)
        ab_fold_memory_reason(m, AB_WHY_DRAINED, "the back end can neither free nor reset");
    else if (j->trouble == NULL && !is_waited)
        ab_fold_memory_reason(m, AB_WHY_DRAINED, "not measured (use --drain=10s)");
    if (j->trouble == NULL && !is_purged)
        ab_fold_memory_reason(m, AB_WHY_PURGED, "the back end has no purge");
}

static void clear(const struct judge *j, uint32_t phase, unsigned at, struct ab_memory *m)
{
    *m = (struct ab_memory){.backend = j->f->backend,
                            .phase = j->f->tape->phases[phase].name,
                            .round = j->f->round,
                            .at = (enum ab_memory_at)at};
#define AB_MEMORY_FIELD(name, member, unit, better, doc) m->member = NAN;
#include "build/fields/memory_fields.inc"
#undef AB_MEMORY_FIELD
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = NAN;
}

static void fold_phases(const struct judge *j, struct ab_memory *out)
{
    uint32_t last = last_measured(j->f->tape);
    for (uint32_t p = 0; p < j->f->tape->image->n_phases; p++) {
        if (!j->f->tape->phases[p].is_measured)
            continue;
        for (unsigned at = 0; at < AB_AT_COUNT; at++, out++) {
            clear(j, p, at, out);
            judge_phase(j, p, out);
            judge_state(j, &j->r->phases[p].at[at], out);
            if (p == last && at == AB_AT_END)
                judge_drain(j, out);
        }
    }
}

/* ---- timeline ---- */

static int by_position(const void *a, const void *b)
{
    uint32_t x = ((const struct ab_timeline_point *)a)->position;
    uint32_t y = ((const struct ab_timeline_point *)b)->position;
    return (x > y) - (x < y);
}

/* Returns the phase of the last op before this position. */
static uint32_t phase_at(const struct judge *j, uint32_t position)
{
    uint32_t p = 0;
    while (p + 1 < j->f->tape->image->n_phases && j->f->tape->phases[p].end < position)
        p++;
    return p;
}

static double external_of(const struct judge *j, const struct ab_memory_point *p)
{
    bool has_usable = (j->r->flags & AB_MEMORY_USABLE_LESS) == 0 &&
                      !isnan(ab_fold_bytes(p->usable_bytes));
    if (j->trouble != NULL || doubt_pages_of(j->r) != NULL ||
        j->r->phases[phase_at(j, p->position)].n_disputed > 0)
        return NAN;
    return ab_fold_bytes(p->external_bytes) + (has_usable ? 0 : ab_fold_bytes(p->internal_bytes));
}

static void put_point(const struct judge *j, struct ab_timeline *t, const struct ab_memory_point *p)
{
    if (p->position > j->f->tape->image->n_ops || t->n == AB_MEMORY_POINTS_MAX)
        return;
    bool has_usable = (j->r->flags & AB_MEMORY_USABLE_LESS) == 0;
    t->points[t->n++] = (struct ab_timeline_point){
        .position = p->position,
        .requested_bytes = ab_fold_bytes(p->requested_bytes),
        .usable_bytes = has_usable ? ab_fold_bytes(p->usable_bytes) : NAN,
        .footprint_bytes = j->trouble == NULL ? ab_fold_bytes(p->footprint_bytes) : NAN,
        .external_bytes = external_of(j, p),
    };
}

static void fold_points(const struct judge *j, struct ab_timeline *t)
{
    const struct ab_memory_report *r = j->r;
    uint32_t n = r->n_points < AB_MEMORY_POINTS_SPACED ? r->n_points : AB_MEMORY_POINTS_SPACED;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        put_point(j, t, &r->points[i]);
    for (uint32_t p = 0; p < j->f->tape->image->n_phases; p++)
        for (unsigned at = AB_AT_FOOTPRINT_PEAK; at <= AB_AT_LIVE_PEAK; at++) {
            const struct ab_memory_state *s = &r->phases[p].at[at];
            const struct ab_memory_point x = {s->position,        0,
                                              s->requested_bytes, s->usable_bytes,
                                              s->footprint_bytes, s->internal_bytes,
                                              s->external_bytes};
            put_point(j, t, &x);
        }
    qsort(t->points, t->n, sizeof t->points[0], by_position);
    for (uint32_t i = 0; i < t->n; i++)
        if (kept == 0 || t->points[i].position != t->points[kept - 1].position)
            t->points[kept++] = t->points[i];
    t->n = kept;
    for (uint32_t i = 0; i < t->n; i++)
        t->points[i].position = ab_tape_ops_before(j->f->tape->image, t->points[i].position);
}

/* ---- memory over the time of the work ---- */

/* True if times and positions never decrease, positions are within the tape, and only the last row
 * may be from the drain. */
static bool are_rows_consistent(const struct judge *j, uint32_t n)
{
    const struct ab_memory_row *rows = j->run->rows;
    const struct ab_tape_image *tape = j->f->tape->image;
    for (uint32_t i = 0; i < n; i++) {
        bool is_after = i > 0 && rows[i - 1].phase >= tape->n_phases;
        if (is_after || rows[i].time_ns > INT64_MAX || rows[i].position > tape->n_ops ||
            (i > 0 &&
             (rows[i].time_ns < rows[i - 1].time_ns || rows[i].position < rows[i - 1].position)))
            return false;
    }
    return true;
}

static void split_pages(const struct judge *j, const struct ab_memory_row *row,
                        struct ab_over_time *out)
{
    double live = ab_fold_bytes(row->live_bytes), internal = ab_fold_bytes(row->internal_bytes);
    double external = ab_fold_bytes(row->external_bytes);
    double retained = out->resident_bytes - live - internal - external;
    if (j->trouble != NULL || doubt_pages_of(j->r) != NULL ||
        j->r->phases[row->phase].n_disputed > 0)
        return;
    out->external_bytes = external + (ab_fold_has_usable(j->r, row->phase) ? 0 : internal);
    out->retained_bytes = retained >= 0 ? retained : (double)NAN;
}

static void add_row(const struct judge *j, const struct ab_memory_row *row, enum ab_idle_at idle)
{
    struct ab_session *s = j->f->session;
    AB_GROW(s->over_time, s->cap_over_time, s->n_over_time);
    struct ab_over_time *out = &s->over_time[s->n_over_time++];
    *out = (struct ab_over_time){
        .backend = j->f->backend,
        .round = j->f->round,
        .phase = j->f->tape->phases[row->phase].name,
        .time_ns = row->time_ns,
        .position = ab_tape_ops_before(j->f->tape->image, row->position),
        .idle = idle,
        .live_bytes = ab_fold_bytes(row->requested_bytes),
        .resident_bytes = j->trouble == NULL ? ab_fold_bytes(row->footprint_bytes) : (double)NAN,
        .external_bytes = NAN,
        .retained_bytes = NAN,
        .lazyfree_bytes = j->trouble == NULL ? ab_fold_bytes(row->lazyfree_bytes) : (double)NAN};
    split_pages(j, row, out);
}

/* Adds a row. A row that ends one idle stretch and begins the next becomes two records. */
static void fold_row(const struct judge *j, const struct ab_memory_row *row, bool is_idle)
{
    bool begins = (row->flags & AB_ROW_IDLE_BEGIN) != 0;
    bool ends = is_idle && (row->flags & AB_ROW_IDLE_END) != 0;
    if (ends)
        add_row(j, row, AB_IDLE_END);
    if (begins || !ends)
        add_row(j, row, begins ? AB_IDLE_BEGIN : is_idle ? AB_IDLE_DURING : AB_IDLE_NOT);
}

/* Adds all rows of the measured phases. An idle stretch lasts until the row that ends it, or until
 * another op. */
static void fold_over_time(const struct judge *j)
{
    const struct ab_memory_row *rows = j->run->rows;
    uint32_t n = j->r->n_rows < j->run->cap_rows ? j->r->n_rows : j->run->cap_rows;
    bool is_idle = false;
    if (rows == NULL || !are_rows_consistent(j, n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        is_idle = is_idle && rows[i].position == rows[i - 1].position;
        if (rows[i].phase < j->f->tape->image->n_phases &&
            j->f->tape->phases[rows[i].phase].is_measured)
            fold_row(j, &rows[i], is_idle);
        if ((rows[i].flags & (AB_ROW_IDLE_BEGIN | AB_ROW_IDLE_END)) != 0)
            is_idle = (rows[i].flags & AB_ROW_IDLE_BEGIN) != 0;
    }
}

/* ---- records ---- */

void ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run)
{
    struct ab_session *s = f->session;
    struct judge j = {.f = f, .run = run, .r = run->memory, .trouble = find_trouble(run->memory)};
    struct ab_timeline line = {.backend = f->backend, .round = f->round};
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++)
        n += f->tape->phases[i].is_measured ? AB_AT_COUNT : 0;
    line.points = ab_alloc_zeroed(AB_MEMORY_POINTS_MAX, sizeof line.points[0]);
    AB_GROW(s->memory, s->cap_memory, s->n_memory + n);
    AB_GROW(s->timelines, s->cap_timelines, s->n_timelines);
    fold_phases(&j, s->memory + s->n_memory);
    s->n_memory += n;
    fold_points(&j, &line);
    s->timelines[s->n_timelines++] = line;
    ab_fold_dists(f, run, j.trouble);
    fold_over_time(&j);
}

void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out)
{
    for (uint32_t i = 0; i < AB_PHASES_MAX; i++) {
        const struct ab_memory_phase *phase = &run->memory->phases[i];
        bool is_used = i < tape->image->n_phases;
        out->live_peak[i] = is_used ? phase->live_peak_at : AB_MEMORY_NEVER;
        out->footprint_peak[i] = is_used ? phase->at[AB_AT_FOOTPRINT_PEAK].position
                                         : AB_MEMORY_NEVER;
        out->footprint_bytes[i] = is_used ? phase->rss_peak_bytes : AB_MEMORY_UNKNOWN;
    }
    out->worst = run->pins != NULL ? run->pins->seen_worst : AB_MEMORY_NEVER;
    out->worst_external_bytes = run->pins != NULL ? run->pins->seen_external : AB_MEMORY_UNKNOWN;
}
