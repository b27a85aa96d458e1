/* SPDX-License-Identifier: MIT
 *
 * Converts the numbers that the interposer counted into results. The program can write to the
 * memory of the counters, so nothing but counters is used, and none of them as an index.
 */
#include "core/text.h"
#include "inside/inside.h"
#include "program/program.h"
#include "result/numbers.h"

#include "core/alloc.h"
#include "result/result_fields.h"
#include "result/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned op_of[AB_INSIDE_KINDS] = {
    [AB_INSIDE_ALLOC] = AB_OP_ALLOC,
    [AB_INSIDE_ZEROED] = AB_OP_ALLOC_ZEROED,
    [AB_INSIDE_ALIGNED] = AB_OP_ALLOC_ALIGNED,
    [AB_INSIDE_RESIZE] = AB_OP_RESIZE,
    [AB_INSIDE_FREE] = AB_OP_FREE,
    [AB_INSIDE_NULL] = AB_OP_ALL,
};

static void count_calls(const struct ab_inside_file *f, unsigned kind,
                        uint64_t calls[AB_INSIDE_CLASSES])
{
    /* a child of the program may still write to the counters */
    const uint32_t n = *(const volatile uint32_t *)&f->n_slots;
    for (uint32_t i = 0; i < n && i < AB_INSIDE_SLOTS; i++)
        for (unsigned c = 0; c < AB_INSIDE_CLASSES; c++)
            calls[c] += f->slots[i].calls[kind][c];
}

struct kind {
    uint64_t calls[AB_INSIDE_CLASSES], n_calls;
    double inside_ticks, blocked_ticks; /* sums over all calls of the kind */
};

static struct ab_inside_sum sum_samples(const struct ab_inside_file *f, unsigned kind)
{
    struct ab_inside_sum all = {0};
    for (unsigned c = 0; c < AB_INSIDE_CLASSES; c++) {
        all.n += f->sampled[kind][c].n;
        all.ticks += f->sampled[kind][c].ticks;
    }
    return all;
}

/* Extrapolates from timed calls to all calls of a kind. Each size class has the mean of its own
 * samples, so that a rare class of long calls has its true weight. A class without samples gets the
 * mean of its kind, and a kind without samples the mean of `any`. Subtracts the cost of reading the
 * clock. */
static void weigh(const struct ab_inside_file *f, unsigned kind, double floor_ticks,
                  const struct ab_inside_sum *any, struct kind *k)
{
    const struct ab_inside_sum *of = f->sampled[kind];
    const struct ab_inside_sum all = sum_samples(f, kind);
    count_calls(f, kind, k->calls);
    for (unsigned c = 0; c < AB_INSIDE_CLASSES; c++)
        k->n_calls += k->calls[c];
    for (unsigned c = 0; c < AB_INSIDE_CLASSES && any->n > 0; c++) {
        const struct ab_inside_sum *s = of[c].n > 0 ? &of[c] : all.n > 0 ? &all : any;
        k->inside_ticks += (double)k->calls[c] * ((double)s->ticks / (double)s->n - floor_ticks);
    }
    uint64_t timed = all.n + f->taken[kind].n + f->blocked[kind].n;
    if (timed > 0)
        k->blocked_ticks = (double)f->blocked[kind].ticks * (double)k->n_calls / (double)timed;
}

static uint64_t ns_of(const struct ab_inside_file *f, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * f->ns_per_tick_32 >> 32);
}

/* Sets r->max_thread to the number of the thread that made the longest call, from 1; NaN if the
 * interposer could not record that call. */
static void place_max(const struct ab_inside_file *f, unsigned kind, struct ab_result *r)
{
    const uint32_t n = *(const volatile uint32_t *)&f->n_slots;
    struct ab_inside_longest most = {0};
    for (uint32_t i = 0; i < n && i < AB_INSIDE_SLOTS; i++) {
        const struct ab_inside_longest l = f->slots[i].longest[kind];
        if (l.ticks <= most.ticks)
            continue;
        most = l;
        r->max_thread = i + 1.0;
    }
    if (most.ticks == 0 || ns_of(f, most.ticks) != f->hdrs[kind].max) {
        r->max_thread = NAN;
        return;
    }
    r->max_call = (double)most.call;
    r->max_at_ns = (double)ns_of(f, most.at_ticks);
    if (kind != AB_INSIDE_FREE && most.class < AB_INSIDE_CLASSES)
        r->max_size_bytes = ldexp(1, (int)most.class);
}

static void note_kernel(const struct ab_inside_file *f, unsigned kind, struct ab_result *r)
{
    r->n_looked = (double)f->looked[kind];
    r->n_entered = (double)f->entered[kind];
    if (r->n_looked > 0)
        r->entered_calls = r->n_entered / r->n_looked * r->n_calls;
}

static void add_row(const struct ab_inside_file *f, unsigned kind, const struct kind *k,
                    struct ab_session *s, const struct ab_result *all)
{
    const struct ab_hdr *from = &f->hdrs[kind];
    struct ab_result r = {.backend = all->backend,
                          .phase = AB_PROGRAM_PHASE,
                          .op = op_of[kind],
                          .round = all->round,
                          .hdr = ab_hdr_new()};
    ab_fields_forget_all(&r);
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        if (from->counts[i] > 0) {
            r.hdr->counts[i] = from->counts[i];
            r.hdr->min = r.hdr->min < ab_hdr_low(i) ? r.hdr->min : ab_hdr_low(i);
            r.hdr->max = ab_hdr_high(i);
        }
    r.hdr->overflow = from->overflow;
    r.n = ab_hdr_total(r.hdr);
    r.overflow = from->overflow;
    r.n_calls = (double)k->n_calls;
    r.n_scheduler = (double)f->taken[kind].n;
    note_kernel(f, kind, &r);
    place_max(f, kind, &r);
    if (r.n > 0) {
        r.hdr->min = from->min > 0 && from->min - 1 > r.hdr->min ? from->min - 1 : r.hdr->min;
        r.hdr->max = from->max < r.hdr->max ? from->max : r.hdr->max;
        r.min = (double)r.hdr->min;
        r.max = (double)r.hdr->max;
        r.mean = ab_hdr_mean(r.hdr);
    }
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        r.quantiles[q] = ab_result_quantile(r.hdr, ab_quantile_values[q]);
    AB_GROW(s->results, s->cap_results, s->n_results);
    s->results[s->n_results++] = r;
}

/* Returns the median time of an empty call, which the percentiles of calls include. */
static double median_floor_ns(const struct ab_inside_file *f)
{
    struct ab_hdr *hdr = ab_hdr_new();
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        hdr->counts[i] = f->hdrs[AB_INSIDE_NULL].counts[i];
    hdr->min = 0;
    hdr->max = AB_HDR_HIGHEST;
    double ns = ab_hdr_total(hdr) > 0 ? (double)ab_hdr_quantile(hdr, 0.5) : 0;
    free(hdr);
    return ns;
}

/* ---- empty calls ---- */

/* fraction of the readings to trim at either end, because the scheduler may have interrupted
 * these */
static const double interrupted = 0.01;

void ab_inside_take_empty(const struct ab_inside_file *f, struct ab_inside_empty *to)
{
    if (to->ticks == NULL)
        to->ticks = ab_hdr_new();
    for (uint32_t i = 0; i < AB_HDR_COUNTS; i++)
        to->ticks->counts[i] += f->empty_ticks.counts[i];
    to->ticks->min = 0;
    to->ticks->max = AB_HDR_HIGHEST;
}

/* Returns the mean cost of an empty call in ticks. If the counter moves in steps, no single reading
 * is exact, but the mean is. */
static double floor_ticks_of(const struct ab_inside_empty *empty)
{
    double ticks = empty->ticks != NULL ? ab_hdr_trimmed_mean(empty->ticks, interrupted)
                                        : (double)NAN;
    return isfinite(ticks) ? ticks : 0;
}

/* Changes the cost that is subtracted from each call to `floor_ns`. */
static void subtract(struct ab_result *r, double floor_ns)
{
    const double more_ns = r->inside_subtracted_ns - floor_ns;
    r->inside_subtracted_ns = floor_ns;
    r->inside_ns += more_ns * r->n_calls;
    r->inside_ns_per_call += more_ns;
    r->outside_ns -= more_ns * r->n_calls;
}

static void settle_round(struct ab_session *s, struct ab_result *r, double floor_ns)
{
    const double more_ns = r->inside_subtracted_ns - floor_ns;
    subtract(r, floor_ns);
    const bool is_known = !(r->inside_ns_per_call < r->inside_empty_call_ns) && r->inside_ns > 0;
    for (uint32_t i = 0; i < s->n_call_sites; i++)
        if (s->call_sites[i].backend == r->backend && s->call_sites[i].round == r->round)
            s->call_sites[i].inside_ns += is_known ? more_ns * s->call_sites[i].all_calls
                                                   : (double)NAN;
    if (!is_known)
        r->inside_ns = r->inside_ns_per_call = r->outside_ns = NAN;
}

void ab_inside_settle(const struct ab_inside_empty *empty, double ns_per_tick,
                      struct ab_session *session)
{
    const double floor_ns = floor_ticks_of(empty) * ns_per_tick;
    for (uint32_t i = 0; i < session->n_results; i++)
        if (isfinite(session->results[i].inside_subtracted_ns))
            settle_round(session, &session->results[i], floor_ns);
}

/* ---- by call site ---- */

static int by_ticks(const void *a, const void *b)
{
    const struct ab_inside_site *x = a, *y = b;
    return (x->sum.ticks < y->sum.ticks) - (x->sum.ticks > y->sum.ticks);
}

struct scale { /* factor that converts numbers of timed calls to those of all calls */
    double calls, floor_ticks, ns_per_tick;
};

static struct ab_call_site *add_site(struct ab_session *s, const struct ab_result *all,
                                     struct ab_inside_sum sum, struct scale by)
{
    AB_GROW(s->call_sites, s->cap_call_sites, s->n_call_sites);
    struct ab_call_site *to = &s->call_sites[s->n_call_sites++];
    *to = (struct ab_call_site){.backend = all->backend, .round = all->round, .n = sum.n};
    to->all_calls = (double)sum.n * by.calls;
    to->inside_ns = ((double)sum.ticks - (double)sum.n * by.floor_ticks) * by.calls *
                    by.ns_per_tick;
    return to;
}

/* Names a call site. The path comes from the program and may lack its terminator. */
static void name_site(const struct ab_inside_sites *f, uint64_t key, struct ab_call_site *to)
{
    uint64_t object = (key >> 48) - 1;
    if (object < AB_INSIDE_OBJECTS)
        AB_FIT(to->object, "%.*s", AB_INSIDE_PATH - 1, f->objects[object].path);
    to->offset = key & AB_INSIDE_OFFSETS;
}

static void add_sites(const struct ab_inside_sites *f, struct scale by, struct ab_session *s,
                      const struct ab_result *all)
{
    struct ab_inside_site *sites = ab_alloc(sizeof f->sites);
    struct ab_inside_sum others = {0};
    uint32_t n = 0, shown = 0;
    for (uint32_t i = 0; i < AB_INSIDE_SITES; i++)
        if (f->sites[i].key != 0 && f->sites[i].sum.n > 0)
            sites[n++] = f->sites[i];
    qsort(sites, n, sizeof sites[0], by_ticks);
    for (; shown < n && shown < AB_CALL_SITES_MAX; shown++)
        name_site(f, sites[shown].key, add_site(s, all, sites[shown].sum, by));
    for (uint32_t i = shown; i < n; i++) {
        others.n += sites[i].sum.n;
        others.ticks += sites[i].sum.ticks;
    }
    if (others.n > 0)
        strcpy(add_site(s, all, others, by)->function, AB_PIN_OTHERS);
    if (f->unknown.n > 0)
        strcpy(add_site(s, all, f->unknown, by)->function, AB_PIN_UNKNOWN);
    free(sites);
}

void ab_inside_note(const struct ab_inside_file *f, const struct ab_inside_empty *empty,
                    double ns_per_tick, double cpu_ns, struct ab_session *s, uint32_t all)
{
    double floor_ticks = floor_ticks_of(empty), inside = 0, blocked = 0, calls = 0;
    struct ab_inside_sum any = {0};
    for (unsigned i = 0; i < AB_INSIDE_NULL; i++) {
        any.n += sum_samples(f, i).n;
        any.ticks += sum_samples(f, i).ticks;
    }
    for (unsigned i = 0; i < AB_INSIDE_NULL; i++) {
        struct kind k = {.n_calls = 0};
        weigh(f, i, floor_ticks, &any, &k);
        if (k.n_calls > 0)
            add_row(f, i, &k, s, &s->results[all]);
        inside += k.inside_ticks * ns_per_tick;
        blocked += k.blocked_ticks * ns_per_tick;
        calls += (double)k.n_calls;
    }
    struct ab_result *r = &s->results[all];
    r->n_calls = calls;
    if (any.n == 0 && calls > 0)
        return; /* no call was timed, because there were too few */
    if (f->sites.is_wanted)
        add_sites(&f->sites, (struct scale){calls / (double)any.n, floor_ticks, ns_per_tick}, s, r);
    r->inside_ns = inside;
    r->inside_floor_ns = median_floor_ns(f);
    r->inside_subtracted_ns = floor_ticks * ns_per_tick;
    if (f->empty_call > 0)
        r->inside_empty_call_ns = (double)f->empty_call * ns_per_tick / AB_INSIDE_NULL_SCALE;
    r->blocked_ns = blocked;
    if (f->n_processes == 0)
        return;
    double look_ticks = (double)f->n_looks * (double)f->null_look / f->n_processes;
    r->interposer_ns = calls * ns_per_tick * (double)f->null_call / f->n_processes /
                           AB_INSIDE_NULL_SCALE +
                       look_ticks * ns_per_tick + (double)f->start_ns;
    r->outside_ns = cpu_ns - inside - r->interposer_ns;
    r->inside_ns_per_call = calls > 0 ? inside / calls : (double)NAN;
}
