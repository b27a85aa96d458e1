/* SPDX-License-Identifier: MIT
 *
 * Keeps the throughput runs of a session and estimates the time of a phase from them.
 */
#include "runner/fold.h"

#include "core/alloc.h"
#include "core/median.h"

#include <math.h>
#include <stdlib.h>

/* Least fraction of a phase's time in quiet slices; with less, the estimate would be a guess. */
#define QUIET_SHARE_MIN 0.05
/* Fraction of the weight to trim at either end, because page faults and copies in the kernel make a
 * few slices vary much more than the rest. */
#define TRIM 0.1

/* ---- measurements of runs ---- */

static void free_run(struct ab_throughput_run *run)
{
    free(run->ticks);
    free(run->canary);
    free(run->phases);
    free(run->sums);
}

void ab_throughput_fini(struct ab_throughput *t)
{
    for (size_t i = 0; i < t->n_runs; i++)
        free_run(&t->runs[i]);
    free(t->runs);
    *t = (struct ab_throughput){0};
}

void ab_throughput_drop(struct ab_throughput *t, uint32_t case_index, uint32_t round)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_runs; i++) {
        struct ab_throughput_run *run = &t->runs[i];
        if ((case_index == AB_FOLD_ANY || run->case_index == case_index) &&
            (round == AB_FOLD_ANY || run->round == round))
            free_run(run);
        else
            t->runs[kept++] = *run;
    }
    t->n_runs = kept;
}

/* Returns the CPU time in the phase that is not part of the work: readings of the canary, and what
 * the worker reports. */
static double outside_cpu_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    return (double)r->canary_ticks * f->clock->ns_per_tick + (double)r->outside_cpu_ns;
}

/* Time of all lanes in ns, and the parts of it outside of their ops: harness and waits for other
 * lanes. */
struct lanes_time {
    double all, outside, waits;
};

static struct lanes_time time_of_lanes(const struct ab_fold *f, const struct ab_phase_report *r)
{
    double ns_per_tick = f->clock->ns_per_tick;
    if (r->is_crowded)
        return (struct lanes_time){(double)r->thread_cpu_ns, outside_cpu_ns(f, r),
                                   (double)r->awake_ticks * ns_per_tick + (double)r->asleep_cpu_ns};
    return (struct lanes_time){(double)r->lane_ticks * ns_per_tick,
                               (double)r->outside_ticks * ns_per_tick,
                               (double)r->wait_ticks * ns_per_tick};
}

double ab_fold_busy_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    struct lanes_time t = time_of_lanes(f, r);
    return fmax(fmax(t.all - t.outside, 0) - t.waits, 0);
}

static double subtracted_percent(const struct ab_fold *f, const struct ab_phase_report *r)
{
    struct lanes_time t = time_of_lanes(f, r);
    return t.all > 0 ? fmin(100 * (t.outside + t.waits) / t.all, 100) : NAN;
}

double ab_fold_known_ns(const struct ab_fold *f, const struct ab_phase_report *r)
{
    bool is_known = f->tape->image->n_lanes == 1 || !ab_is_mostly_waiting(subtracted_percent(f, r));
    return is_known ? ab_fold_busy_ns(f, r) : (double)NAN;
}

/* Returns the wall time of the phase without the time outside of the allocator's calls. If each
 * lane has a CPU, the time outside is that on the path of the lane that ends last. If lanes share
 * CPUs, it is their CPU time outside, divided by n_cpus, because the other lanes would have used
 * it. The worker counts each burst in one of the two ways. `leaves_out_ends` also subtracts the CPU
 * time of ending threads. */
static double wall_ns(const struct ab_fold *f, const struct ab_phase_report *r, uint32_t n_cpus,
                      bool leaves_out_ends)
{
    double outside_ns = (double)r->path_ticks * f->clock->ns_per_tick;
    double ends_ns = leaves_out_ends && r->is_crowded != 0
                         ? fmax((double)r->process_cpu_ns - (double)r->thread_cpu_ns, 0)
                         : 0;
    if (!f->session->is_strict && n_cpus > 0)
        outside_ns += ((double)r->outside_cpu_ns + ends_ns) / n_cpus;
    return fmax((double)r->wall_ticks * f->clock->ns_per_tick - outside_ns, 0);
}

/* Returns the CPU time of the whole process in the phase. If `leaves_out_ends`, returns the CPU
 * time of the lanes only, because no counter separates the ending and starting of threads. */
static double cpu_ns(const struct ab_fold *f, const struct ab_phase_report *r, bool leaves_out_ends)
{
    double all = leaves_out_ends ? (double)r->thread_cpu_ns : (double)r->process_cpu_ns;
    return fmax(all - outside_cpu_ns(f, r), 0);
}

static struct ab_throughput_phase sum_phase(const struct ab_fold *f, const struct ab_phase *phase,
                                            const struct ab_phase_report *r, uint32_t n_cpus)
{
    bool has_ends = r->n_thread_ends > 0, leaves_out_ends = has_ends && phase->renew == 0;
    /* The two times are read one after the other, so without a background thread their difference
     * is noise. */
    double background = (double)r->process_cpu_ns - (double)r->thread_cpu_ns;
    bool is_noise = background < 0.002 * (double)r->process_cpu_ns + 100000;
    bool has_lanes = f->tape->image->n_lanes > 1 && r->lane_ticks > r->outside_ticks;
    double lane_ticks = (double)r->lane_ticks - (double)r->outside_ticks;
    return (struct ab_throughput_phase){
        .busy = ab_fold_busy_ns(f, r),
        .wall = wall_ns(f, r, n_cpus, leaves_out_ends),
        .cpu = cpu_ns(f, r, leaves_out_ends),
        .background = leaves_out_ends ? NAN
                      : is_noise      ? 0
                                      : background,
        .wait_percent = has_lanes ? 100.0 * (double)r->wait_ticks / lane_ticks : NAN,
        .subtracted_percent = has_lanes ? subtracted_percent(f, r) : NAN,
        .ready_threads = has_lanes && r->wall_ticks > 0
                             ? ((double)r->lane_ticks - (double)r->wait_ticks) /
                                   (double)r->wall_ticks
                             : NAN,
        .faults_minor = r->faults_minor,
        .switches = r->switches_involuntary,
        .renewal_percent = has_ends && phase->renew != 0
                               ? 100 * (double)r->thread_end_ticks / (double)r->lane_ticks
                               : NAN,
        .thread_ends = (double)r->n_thread_ends,
        .thread_end_ns = has_ends ? (double)r->thread_end_ticks * f->clock->ns_per_tick /
                                        (double)r->n_thread_ends
                                  : NAN,
        .trims = (double)r->n_trims_done,
        .trims_without_effect = (double)r->n_trims - (double)r->n_trims_done,
    };
}

static void copy_slices(struct ab_throughput_run *run, const struct ab_outcome *from)
{
    uint32_t n = ab_outcome_slices(from);
    run->ticks = ab_alloc((n + 1) * sizeof run->ticks[0]);
    run->canary = ab_alloc((n + 1) * sizeof run->canary[0]);
    run->phases = ab_alloc((n + 1) * sizeof run->phases[0]);
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_slice *s = &from->slices[i];
        run->ticks[i] = (float)s->ticks;
        run->canary[i] = s->before > s->after ? s->before : s->after;
        run->phases[i] = (uint16_t)s->phase;
    }
    run->n_slices = n;
}

void ab_throughput_add(struct ab_throughput *t, const struct ab_fold *f, uint32_t case_index,
                       const struct ab_outcome *from)
{
    struct ab_throughput_run run = {
        .case_index = case_index, .round = f->round, .hooks = from->page->report.hooks};
    t->n_phases = f->tape->image->n_phases;
    run.sums = ab_alloc_zeroed(t->n_phases, sizeof run.sums[0]);
    copy_slices(&run, from);
    AB_GROW(t->runs, t->cap_runs, t->n_runs);
    for (uint32_t i = 0; i < t->n_phases; i++)
        run.sums[i] = sum_phase(f, &f->tape->phases[i], &from->page->report.phases[i],
                                from->page->report.n_cpus);
    t->runs[t->n_runs++] = run;
}

void ab_throughput_add_noise(const struct ab_fold *f, const struct ab_throughput_run *run,
                             const struct ab_outcome *from, uint16_t limit, struct ab_noise *noise)
{
    double tick_s = f->clock->ns_per_tick * 1e-9;
    noise->runs += 1;
    noise->interruptions += (double)from->page->report.slices.n_gaps;
    noise->waited_s += (double)from->page->report.slices.waited_ticks * tick_s;
    for (uint32_t i = 0; i < run->n_slices; i++) {
        noise->slices_s += run->ticks[i] * tick_s;
        noise->quiet_s += run->canary[i] <= limit ? run->ticks[i] * tick_s : 0;
    }
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase_report *r = &from->page->report.phases[i];
        if (!f->tape->phases[i].is_measured)
            continue;
        noise->wall_s += fmax((double)r->lane_ticks - (double)r->outside_ticks, 0) * tick_s;
        noise->cpu_s += fmax((double)r->thread_cpu_ns - outside_cpu_ns(f, r), 0) * 1e-9;
        noise->switches_involuntary += (double)r->switches_involuntary;
    }
}

/* ---- estimates ---- */

/* logarithm of a slice's time in one process divided by its time in the profile */
struct slice_ratio {
    double log_ratio, weight;
};

struct estimator {
    /* runs of the case; the n_of_round runs of the round come first */
    const struct ab_throughput_run **runs;
    size_t n_runs, n_of_round;
    double *x;                  /* scratch space: one number for each run */
    struct slice_ratio *ratios; /* scratch space: one ratio for each slice */
    /* ticks of each slice: the median of those runs in which it was quiet; NaN = in none */
    double *profile;
    uint16_t limit;
};

static bool is_quiet(const struct estimator *e, size_t run, uint32_t slice)
{
    return e->runs[run]->canary[slice] <= e->limit;
}

static double quiet_median(const struct estimator *e, uint32_t slice)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n_runs; i++)
        if (is_quiet(e, i, slice))
            e->x[n++] = e->runs[i]->ticks[slice];
    return ab_median(e->x, n);
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const struct slice_ratio *)a)->log_ratio;
    double y = ((const struct slice_ratio *)b)->log_ratio;
    return (x > y) - (x < y);
}

/* Returns the weighted mean of the logarithms, after trimming the fraction TRIM of the weight at
 * either end. */
static double trimmed_mean(struct slice_ratio *x, size_t n, double weight)
{
    double seen = 0, sum = 0, left = 0;
    qsort(x, n, sizeof x[0], by_ratio);
    for (size_t i = 0; i < n; i++) {
        double from = fmax(seen, TRIM * weight), to = fmin(seen + x[i].weight, (1 - TRIM) * weight);
        seen += x[i].weight;
        if (to <= from)
            continue;
        sum += x[i].log_ratio * (to - from);
        left += to - from;
    }
    return sum / left;
}

/* Returns the logarithm of the process's time relative to the profile, from the quiet slices of the
 * phase; NaN = too few of these. */
static double process_factor(const struct estimator *e, size_t run, uint32_t phase, double total)
{
    const struct ab_throughput_run *r = e->runs[run];
    double weight = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_slices; i++) {
        if (r->phases[i] != phase || !is_quiet(e, run, i) || !(e->profile[i] > 0) ||
            !(r->ticks[i] > 0))
            continue;
        e->ratios[n++] = (struct slice_ratio){log(r->ticks[i] / e->profile[i]), e->profile[i]};
        weight += e->profile[i];
    }
    return weight > QUIET_SHARE_MIN * total ? trimmed_mean(e->ratios, n, weight) : NAN;
}

static bool are_alike(const struct estimator *e)
{
    for (size_t i = 1; i < e->n_runs; i++)
        if (e->runs[i]->n_slices != e->runs[0]->n_slices)
            return false;
    return e->n_of_round > 0 && e->runs[0]->n_slices > 0;
}

/* Computes the profile of the phase and returns its sum in ticks. A slice that was quiet in no run
 * is assumed to take its share of the first run's time. Returns NaN if such slices took half of
 * that time or more. */
static double make_profile(struct estimator *e, uint32_t phase)
{
    double sum = 0, seen = 0, known = 0;
    for (uint32_t i = 0; i < e->runs[0]->n_slices; i++) {
        if (e->runs[0]->phases[i] != phase)
            continue;
        e->profile[i] = quiet_median(e, i);
        seen += e->runs[0]->ticks[i];
        if (isnan(e->profile[i]))
            continue;
        sum += e->profile[i];
        known += e->runs[0]->ticks[i];
    }
    return known > 0.5 * seen ? sum * seen / known : NAN;
}

/* Returns the total ticks of the round's runs in slices of the phase: in all, or only in the quiet
 * ones. */
static double sum_slices(const struct estimator *e, uint32_t phase, bool only_quiet)
{
    double sum = 0;
    for (size_t i = 0; i < e->n_of_round; i++)
        for (uint32_t k = 0; k < e->runs[i]->n_slices; k++)
            if (e->runs[i]->phases[k] == phase && (!only_quiet || is_quiet(e, i, k)))
                sum += e->runs[i]->ticks[k];
    return sum;
}

static void estimate_slices(struct estimator *e, uint32_t phase, struct ab_throughput_estimate *out)
{
    double sum = 0, whole = 0, n = 0, all = are_alike(e) ? sum_slices(e, phase, false) : 0;
    if (all <= 0)
        return;
    out->quiet_share = sum_slices(e, phase, true) / all;
    double profile = make_profile(e, phase);
    for (size_t i = 0; i < e->n_of_round; i++) {
        double factor = process_factor(e, i, phase, profile);
        whole += e->runs[i]->sums[phase].busy;
        if (isnan(factor))
            continue;
        sum += factor;
        n++;
    }
    if (n > 0 && !isnan(profile)) /* whole / all converts ticks to ns */
        out->busy = profile * exp(sum / n) * whole / all;
}

/* Collects the runs of the case; the runs of the round come first. */
static void gather(const struct ab_throughput *t, uint32_t case_index, uint32_t round,
                   struct estimator *e)
{
    e->runs = ab_alloc((t->n_runs + 1) * sizeof e->runs[0]);
    e->x = ab_alloc((t->n_runs + 1) * sizeof e->x[0]);
    uint32_t n_slices = 0;
    for (int others = 0; others < 2; others++) {
        for (size_t i = 0; i < t->n_runs; i++)
            if (t->runs[i].case_index == case_index && (t->runs[i].round != round) == others)
                e->runs[e->n_runs++] = &t->runs[i];
        if (!others)
            e->n_of_round = e->n_runs;
    }
    for (size_t i = 0; i < e->n_runs; i++)
        n_slices = e->runs[i]->n_slices > n_slices ? e->runs[i]->n_slices : n_slices;
    e->ratios = ab_alloc((n_slices + 1) * sizeof e->ratios[0]);
    e->profile = ab_alloc((n_slices + 1) * sizeof e->profile[0]);
}

#define MEDIAN_OF(e, phase, member) \
    ({ \
        for (size_t i_ = 0; i_ < (e)->n_of_round; i_++) \
            (e)->x[i_] = (double)(e)->runs[i_]->sums[phase].member; \
        ab_median((e)->x, (e)->n_of_round); \
    })

static void estimate_whole(const struct estimator *e, uint32_t phase,
                           struct ab_throughput_estimate *out)
{
    out->median.busy = MEDIAN_OF(e, phase, busy);
    out->median.wall = MEDIAN_OF(e, phase, wall);
    out->median.cpu = MEDIAN_OF(e, phase, cpu);
    out->median.background = MEDIAN_OF(e, phase, background);
    out->median.wait_percent = MEDIAN_OF(e, phase, wait_percent);
    out->median.subtracted_percent = MEDIAN_OF(e, phase, subtracted_percent);
    out->median.ready_threads = MEDIAN_OF(e, phase, ready_threads);
    out->median.renewal_percent = MEDIAN_OF(e, phase, renewal_percent);
    out->median.thread_ends = MEDIAN_OF(e, phase, thread_ends);
    out->median.thread_end_ns = MEDIAN_OF(e, phase, thread_end_ns);
    out->median.trims = MEDIAN_OF(e, phase, trims);
    out->median.trims_without_effect = MEDIAN_OF(e, phase, trims_without_effect);
    out->median.faults_minor = (uint64_t)MEDIAN_OF(e, phase, faults_minor);
    for (size_t i = 0; i < e->n_of_round; i++)
        out->median.switches += e->runs[i]->sums[phase].switches;
    out->busy = out->whole = out->median.busy;
    out->hooks = e->runs[0]->hooks;
}

void ab_throughput_estimate(const struct ab_throughput *t, uint32_t case_index, uint32_t round,
                            uint32_t phase, uint16_t limit, struct ab_throughput_estimate *out)
{
    struct estimator e = {.limit = limit};
    gather(t, case_index, round, &e);
    *out = (struct ab_throughput_estimate){.quiet_share = NAN};
    if (e.n_of_round > 0) {
        out->n_processes = (uint32_t)e.n_of_round;
        estimate_whole(&e, phase, out);
        estimate_slices(&e, phase, out);
    }
    free(e.runs);
    free(e.x);
    free(e.ratios);
    free(e.profile);
}
