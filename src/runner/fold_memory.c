/* SPDX-License-Identifier: MIT */
#include "runner/fold_memory.h"

#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages that were resident before the first op may serve it and be in no footprint: beneath this
 * many, ratios to the footprint would be about those. */
enum { LEAST_PAGES = 16 };

struct judge {
    const struct ab_fold *f;
    const struct ab_outcome *run;
    const struct ab_memory_report *r;
    const char *trouble; /* why no footprint of this run can be believed; NULL = it can */
};

static double bytes(uint64_t n)
{
    return n < UINT64_C(1) << 56 ? (double)n : NAN; /* AB_MEMORY_UNKNOWN is one that is not */
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b - 1 : NAN;
}

/* Whole, or not at all. */
static void add_reason(struct ab_memory *m, const char *text)
{
    size_t n = strlen(m->reason);
    if (strstr(m->reason, text) == NULL && n + strlen(text) + 2 < sizeof m->reason)
        snprintf(m->reason + n, sizeof m->reason - n, "%s%s", n == 0 ? "" : "; ", text);
}

/* ---- the run as a whole ---- */

static const char *find_trouble(const struct ab_memory_report *r)
{
    if ((r->flags & AB_MEMORY_UNREADABLE) != 0)
        return "/proc/self/statm cannot be read";
    if (r->page_bytes == 0 || r->page_bytes > 1 << 24)
        return "the worker's report makes no sense";
    if (r->hugetlb_bytes != 0)
        return "the allocator uses hugetlb pages, which are in no footprint";
    if (r->shared_bytes != 0)
        return "the allocator uses shared mappings, which are in no footprint";
    if (r->swapped_bytes != 0)
        return "part of the heap was swapped out";
    return NULL;
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
    char text[120], a[32], b[32];
    double statm = bytes(s->footprint_bytes), exact = bytes(s->exact_bytes);
    double tolerance = fmax(65536, 0.01 * statm);
    m->footprint_bytes = statm;
    if (j->trouble != NULL) {
        m->footprint_bytes = NAN;
        add_reason(m, j->trouble);
    } else if (j->r->granularity_pages > 0) {
        m->footprint_bytes = exact;
        if (isnan(exact))
            add_reason(m, "the kernel counts pages in batches: known at checkpoints only");
    } else if (fabs(statm - exact) > tolerance) {
        m->footprint_bytes = NAN;
        snprintf(text, sizeof text, "statm says %s, smaps_rollup %s",
                 ab_units_bytes(a, sizeof a, statm), ab_units_bytes(b, sizeof b, exact));
        add_reason(m, text);
    } else if (isnan(statm)) {
        add_reason(m, "the footprint was not read");
    }
}

static void judge_usable(const struct judge *j, const struct ab_memory_state *s,
                         struct ab_memory *m)
{
    m->usable_bytes = bytes(s->usable_bytes);
    if ((j->r->flags & AB_MEMORY_USABLE_LESS) != 0) {
        m->usable_bytes = NAN;
        add_reason(m, "usable_size says less than was asked for");
    } else if (isnan(m->usable_bytes)) {
        add_reason(m, "no usable_size");
    }
}

/* Why the pages of this state are not known; NULL = they are. */
static const char *doubt_pages(const struct judge *j, const struct ab_memory_state *s, char *text,
                               size_t cap)
{
    double live = bytes(s->live_bytes), untouched = bytes(s->untouched_bytes);
    if ((j->r->flags & AB_MEMORY_MOVES) != 0)
        return "its blocks move: where they lie is not known";
    if ((j->r->flags & AB_MEMORY_OVERFLOW) != 0 || s->n_soft_pages > s->n_pages ||
        s->n_lost_soft_pages > s->n_soft_pages || !(untouched <= live))
        return "the pages of live blocks could not be counted";
    if (untouched > 0.01 * live) {
        snprintf(text, cap, "untouched workload: %.0f %% of live bytes not written",
                 100 * untouched / live);
        return text;
    }
    if (s->n_lost_pages > 0) {
        snprintf(text, cap, "mincore misses %llu touched pages of live blocks",
                 (unsigned long long)s->n_lost_pages);
        return text;
    }
    if (!s->is_checked && s->n_soft_pages > 1 + s->n_pages / 100)
        return "pages are known at checkpoints only";
    return NULL;
}

static void judge_pages(const struct judge *j, const struct ab_memory_state *s,
                        struct ab_memory *m)
{
    char text[100];
    double page = (double)j->r->page_bytes;
    const char *doubt = doubt_pages(j, s, text, sizeof text);
    if (doubt != NULL) {
        add_reason(m, doubt);
        return;
    }
    /* Away from checkpoints a soft page counts as not resident: P is never too large. */
    uint64_t absent = s->is_checked ? s->n_lost_soft_pages : s->n_soft_pages;
    double resident = bytes(s->n_pages - absent) * page;
    double before = bytes(j->r->baseline_bytes); /* may have been there already */
    if (resident > m->footprint_bytes + before) {
        add_reason(m, "live blocks touch more pages than are resident");
        return;
    }
    m->page_bytes = resident;
    m->page_2m_bytes = bytes(s->n_pages_2m) * (double)(1 << 21);
}

static void derive(const struct judge *j, struct ab_memory *m)
{
    double least = LEAST_PAGES * (double)j->r->page_bytes;
    m->internal = ratio(m->usable_bytes, m->live_bytes);
    m->spread = ratio(m->page_bytes, m->usable_bytes);
    m->spread_2m = ratio(m->page_2m_bytes, m->usable_bytes);
    if (!(m->live_bytes > 0))
        add_reason(m, "nothing is live");
    if (m->footprint_bytes < least) {
        add_reason(m, "fewer than 16 pages: too few for ratios");
        return;
    }
    m->overhead = ratio(m->footprint_bytes, m->live_bytes);
    m->retained = ratio(m->footprint_bytes, m->page_bytes);
}

static void judge_state(const struct judge *j, const struct ab_memory_state *s,
                        struct ab_memory *m)
{
    if (s->position > j->f->tape->image->n_ops) { /* AB_MEMORY_NEVER is one */
        add_reason(m, j->trouble != NULL ? j->trouble : "the run did not come past this place");
        return;
    }
    m->position = s->position;
    m->live_bytes = bytes(s->live_bytes);
    judge_footprint(j, s, m);
    judge_usable(j, s, m);
    judge_pages(j, s, m);
    derive(j, m);
    m->allocated_bytes = bytes(s->allocated_bytes);
    m->mapped_bytes = bytes(s->mapped_bytes);
    if (!s->is_checked)
        add_reason(m, "allocator not asked: the run before peaked elsewhere");
    else if (isnan(m->allocated_bytes) || isnan(m->mapped_bytes))
        add_reason(m, "allocator says too little of itself");
}

/* ---- one phase ---- */

static void judge_phase(const struct judge *j, uint32_t index, struct ab_memory *m)
{
    const struct ab_memory_phase *phase = &j->r->phases[index];
    const struct ab_phase_report *report = &j->run->block->report.phases[index];
    double least = LEAST_PAGES * (double)j->r->page_bytes;
    m->live_peak_bytes = bytes(phase->live_peak_bytes);
    m->faults_minor = (double)report->faults_minor;
    m->faults_major = (double)report->faults_major;
    if (j->trouble != NULL)
        return;
    m->rss_peak_bytes = bytes(phase->rss_peak_bytes);
    if (m->rss_peak_bytes < least)
        return;
    m->overhead_peak = ratio(m->rss_peak_bytes, m->live_peak_bytes);
    if (phase->n_readings > 0)
        m->overhead_mean = ratio(bytes(phase->footprint_sum), bytes(phase->live_sum));
}

static void judge_drain(const struct judge *j, struct ab_memory *m)
{
    bool is_waited = true, is_purged = true;
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++) {
        m->drained_bytes[i] = j->trouble != NULL ? NAN : bytes(j->r->drained_bytes[i]);
        if (isnan(m->drained_bytes[i]))
            *(i + 1 == AB_DRAIN_COUNT ? &is_purged : &is_waited) = false;
    }
    if ((j->r->flags & AB_MEMORY_KEEPS) != 0)
        add_reason(m, "cannot free: no drain");
    else if (j->trouble == NULL && !is_waited)
        add_reason(m, "not waited for: --drain=10s");
    if (j->trouble == NULL && !is_purged)
        add_reason(m, "no purge");
}

static void clear(const struct judge *j, uint32_t phase, unsigned at, struct ab_memory *m)
{
    *m = (struct ab_memory){.backend = j->f->backend,
                            .phase = j->f->tape->phases[phase].name,
                            .block = j->f->block,
                            .at = (enum ab_memory_at)at};
#define AB_MEMORY_FIELD(name, member, unit, better, doc) m->member = NAN;
#include "measure/memory_fields.def"
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

/* ---- the time line ---- */

static int by_position(const void *a, const void *b)
{
    uint32_t x = ((const struct ab_timeline_point *)a)->position;
    uint32_t y = ((const struct ab_timeline_point *)b)->position;
    return (x > y) - (x < y);
}

static void put_point(const struct judge *j, struct ab_timeline *t, uint32_t position,
                      const uint64_t *live_usable_footprint)
{
    const uint64_t *x = live_usable_footprint;
    if (position > j->f->tape->image->n_ops || t->n == AB_MEMORY_POINTS_MAX)
        return;
    bool has_usable = (j->r->flags & AB_MEMORY_USABLE_LESS) == 0;
    t->points[t->n++] = (struct ab_timeline_point){
        .position = position,
        .live_bytes = bytes(x[0]),
        .usable_bytes = has_usable ? bytes(x[1]) : NAN,
        .footprint_bytes = j->trouble == NULL ? bytes(x[2]) : NAN,
    };
}

static void fold_points(const struct judge *j, struct ab_timeline *t)
{
    const struct ab_memory_report *r = j->r;
    uint32_t n = r->n_points < AB_MEMORY_POINTS_SPACED ? r->n_points : AB_MEMORY_POINTS_SPACED;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_memory_point *p = &r->points[i];
        const uint64_t x[] = {p->live_bytes, p->usable_bytes, p->footprint_bytes};
        put_point(j, t, p->position, x);
    }
    for (uint32_t p = 0; p < j->f->tape->image->n_phases; p++)
        for (unsigned at = AB_AT_FOOTPRINT_PEAK; at <= AB_AT_LIVE_PEAK; at++) {
            const struct ab_memory_state *s = &r->phases[p].at[at];
            const uint64_t x[] = {s->live_bytes, s->usable_bytes, s->footprint_bytes};
            put_point(j, t, s->position, x);
        }
    qsort(t->points, t->n, sizeof t->points[0], by_position);
    for (uint32_t i = 0; i < t->n; i++)
        if (kept == 0 || t->points[i].position != t->points[kept - 1].position)
            t->points[kept++] = t->points[i];
    t->n = kept;
}

/* ---- records ---- */

/* Room for n more; the new places are the caller's to fill. */
static void *extend(void *items, uint32_t n_items, uint32_t n, size_t item_bytes)
{
    return realloc(items, ((size_t)n_items + n + 1) * item_bytes);
}

static bool make_room(struct ab_session *s, uint32_t n_records)
{
    struct ab_memory *memory = extend(s->memory, s->n_memory, n_records, sizeof *memory);
    if (memory == NULL)
        return false;
    s->memory = memory;
    s->cap_memory = s->n_memory + n_records + 1;
    struct ab_timeline *timelines = extend(s->timelines, s->n_timelines, 1, sizeof *timelines);
    if (timelines == NULL)
        return false;
    s->timelines = timelines;
    s->cap_timelines = s->n_timelines + 2;
    return true;
}

enum ab_status ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run,
                              struct ab_err *err)
{
    struct ab_session *s = f->session;
    struct judge j = {.f = f, .run = run, .r = run->memory, .trouble = find_trouble(run->memory)};
    struct ab_timeline line = {.backend = f->backend, .block = f->block};
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++)
        n += f->tape->phases[i].is_measured ? AB_AT_COUNT : 0;
    line.points = calloc(AB_MEMORY_POINTS_MAX, sizeof line.points[0]);
    if (line.points == NULL || !make_room(s, n)) {
        free(line.points);
        return ab_fail(err, AB_SYSTEM, "out of memory for results");
    }
    fold_phases(&j, s->memory + s->n_memory);
    s->n_memory += n;
    fold_points(&j, &line);
    s->timelines[s->n_timelines++] = line;
    return AB_OK;
}

void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out)
{
    for (uint32_t i = 0; i < AB_PHASES_MAX; i++) {
        const struct ab_memory_phase *phase = &run->memory->phases[i];
        bool is_used = i < tape->image->n_phases;
        out->live_peak[i] = is_used ? phase->live_peak_at : AB_MEMORY_NEVER;
        out->footprint_peak[i] =
            is_used ? phase->at[AB_AT_FOOTPRINT_PEAK].position : AB_MEMORY_NEVER;
    }
}

static bool is_meant(uint32_t wanted, uint32_t is)
{
    return wanted == AB_FOLD_ANY || wanted == is;
}

void ab_fold_drop_memory(struct ab_session *s, uint32_t backend, uint32_t block)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (!is_meant(backend, s->memory[i].backend) || !is_meant(block, s->memory[i].block))
            s->memory[kept++] = s->memory[i];
    s->n_memory = kept;
    kept = 0;
    for (uint32_t i = 0; i < s->n_timelines; i++) {
        struct ab_timeline *t = &s->timelines[i];
        if (is_meant(backend, t->backend) && is_meant(block, t->block))
            free(t->points);
        else
            s->timelines[kept++] = *t;
    }
    s->n_timelines = kept;
}
