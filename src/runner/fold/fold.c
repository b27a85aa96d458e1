/* SPDX-License-Identifier: MIT
 *
 * Makes the records of the throughput, latency and tail pass, and of the nulls: times from ticks,
 * histograms from samples, the slowest ops.
 */
#include "runner/fold/fold.h"

#include "core/grow.h"
#include "result/result_fields.h"
#include "runner/fold/fold_depth.h"
#include "runner/fold/fold_memory.h"
#include "runner/fold/sample_iter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_result *add_result(const struct ab_fold *f, const char *phase, unsigned op)
{
    struct ab_session *s = f->session;
    struct ab_hdr *hdr = ab_fold_new_hdr();
    if (hdr == NULL || !AB_GROW(s->results, s->cap_results, s->n_results)) {
        free(hdr);
        return NULL;
    }
    struct ab_result *r = &s->results[s->n_results++];
    *r = (struct ab_result){
        .backend = f->backend,
        .phase = phase,
        .op = op,
        .round = f->round,
        .hdr = hdr,
    };
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].type == AB_FIELD_F64)
            *(double *)((char *)r + ab_fields[i].offset) = NAN;
    return r;
}

static struct ab_result *find_result(const struct ab_fold *f, const char *phase, unsigned op)
{
    for (uint32_t i = f->session->n_results; i-- > 0;) {
        struct ab_result *r = &f->session->results[i];
        if (r->backend == f->backend && r->round == f->round && r->op == op && r->phase == phase)
            return r;
    }
    return NULL;
}

/* Requests that the back end served in this phase. A reset stands for the frees it spares, so that
 * all back ends have done the same number of ops. */
static uint64_t served_ops(const struct ab_phase *phase, const struct ab_outcome *run)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (k != AB_OP_RESET && ab_fold_is_served(run, k))
            n += phase->n_ops[k];
    return n;
}

static uint64_t all_ops(const struct ab_phase *phase)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += k != AB_OP_RESET ? phase->n_ops[k] : 0;
    return n;
}

static double wall_ns(const struct ab_fold *f, const struct ab_phase_report *report)
{
    return (double)report->wall_ticks * f->clock->ns_per_tick;
}

/* What the lanes spent on their ops: not waiting for each other and, where they outnumber the CPUs,
 * not waiting for one of these either. There a lane's CPU time is what it had, else all the time
 * there was, in which it may also have been asleep over a lock of the allocator's. */
static double busy_ns(const struct ab_fold *f, const struct ab_run_report *run, uint32_t phase)
{
    const struct ab_phase_report *report = &run->phases[phase];
    double ns_per_tick = f->clock->ns_per_tick;
    double spent = report->is_crowded ? (double)report->thread_cpu_ns
                                      : (double)report->lane_ticks * ns_per_tick;
    double waits = report->is_crowded
                       ? (double)report->awake_ticks * ns_per_tick + (double)report->asleep_cpu_ns
                       : (double)report->wait_ticks * ns_per_tick;
    return spent > waits ? spent - waits : 0;
}

static enum ab_status fold_phase(const struct ab_fold *f, uint32_t index,
                                 const struct ab_outcome *run, struct ab_err *err)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    const struct ab_phase_report *report = &run->page->report.phases[index];
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (phase->n_ops[k] > 0 && ab_fold_is_served(run, k) &&
            add_result(f, phase->name, k) == NULL)
            return ab_fail(err, AB_SYSTEM, "out of memory for results");
    struct ab_result *all = add_result(f, phase->name, AB_OP_ALL);
    if (all == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for results");
    double wall = wall_ns(f, report), busy = busy_ns(f, &run->page->report, index);
    all->n_ops = served_ops(phase, run);
    all->n_unsupported = all_ops(phase) - all->n_ops;
    if (all->n_ops > 0 && wall > 0 && busy > 0) {
        all->ns_per_op = busy / (double)all->n_ops;
        all->wall_ns_per_op = wall / (double)all->n_ops;
        all->ops_per_s = 1e9 / all->ns_per_op;
        all->cpu_ns_per_op = (double)report->process_cpu_ns / (double)all->n_ops;
        /* Read one after the other: without a background thread the difference is noise. */
        double background = (double)report->process_cpu_ns - (double)report->thread_cpu_ns;
        bool is_noise = background < 0.002 * (double)report->process_cpu_ns + 100000;
        all->background_cpu_ns_per_op = is_noise ? 0 : background / (double)all->n_ops;
    }
    if (f->tape->image->n_lanes > 1 && report->lane_ticks > 0)
        all->wait_percent = 100.0 * (double)report->wait_ticks / (double)report->lane_ticks;
    all->faults_minor = report->faults_minor;
    all->switches_involuntary = report->switches_involuntary;
    return AB_OK;
}

enum ab_status ab_fold_throughput(const struct ab_fold *f, const struct ab_outcome *run,
                                  struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < f->tape->image->n_phases && status == AB_OK; i++)
        if (f->tape->phases[i].is_measured)
            status = fold_phase(f, i, run, err);
    return status;
}

static int by_slowness(const void *a, const void *b)
{
    double x = ((const struct ab_worst_op *)a)->ns, y = ((const struct ab_worst_op *)b)->ns;
    return (x < y) - (x > y);
}

static void keep_worst(struct ab_result *r, const struct ab_worst_op *ops, uint32_t n)
{
    struct ab_worst_op merged[AB_WORST_MAX + AB_WORST_MAX];
    memcpy(merged, r->worst, r->n_worst * sizeof merged[0]);
    memcpy(merged + r->n_worst, ops, n * sizeof merged[0]);
    n += r->n_worst;
    qsort(merged, n, sizeof merged[0], by_slowness);
    r->n_worst = n < AB_WORST_MAX ? n : AB_WORST_MAX;
    memcpy(r->worst, merged, r->n_worst * sizeof merged[0]);
}

/* Where samples go: a histogram a kind (or NULL), and a fair share of them into `all`. The slowest
 * that each took is kept, ns 0 = none. */
struct piles {
    struct ab_hdr *hdr[AB_OP_KIND_COUNT + 1];
    struct ab_worst_op slowest[AB_OP_KIND_COUNT + 1];
};

static void pile_up(struct piles *p, unsigned kind, const struct ab_sample *sample)
{
    struct ab_worst_op *slowest = &p->slowest[kind];
    if (p->hdr[kind] == NULL)
        return;
    ab_hdr_record(p->hdr[kind], sample->ns);
    if (sample->ns != UINT64_MAX && (double)sample->ns > slowest->ns)
        *slowest = (struct ab_worst_op){(double)sample->ns, sample->position, AB_SIZE_UNKNOWN};
}

static void fold_samples(const struct ab_fold *f, const struct ab_phase *phase,
                         const struct ab_outcome *run, struct piles *piles)
{
    struct ab_samples walk;
    struct ab_sample sample;
    ab_samples_begin(&walk, f, phase, run);
    while (ab_samples_next(&walk, &sample)) {
        pile_up(piles, sample.kind, &sample);
        if (sample.is_fair)
            pile_up(piles, AB_OP_ALL, &sample);
    }
}

static void summarise(struct ab_result *r)
{
    r->n = ab_hdr_total(r->hdr);
    r->overflow = r->hdr->overflow;
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        r->quantiles[q] = ab_result_quantile(r->hdr, ab_quantile_values[q]);
    if (r->n == 0)
        return;
    r->min = (double)r->hdr->min;
    r->mean = ab_hdr_mean(r->hdr);
    r->max = (double)r->hdr->max;
}

void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run)
{
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        if (!phase->is_measured)
            continue;
        struct piles piles = {0};
        for (unsigned k = 0; k <= AB_OP_ALL; k++) {
            struct ab_result *r = find_result(f, phase->name, k);
            piles.hdr[k] = r == NULL ? NULL : r->hdr;
        }
        fold_samples(f, phase, run, &piles);
        for (unsigned k = 0; k <= AB_OP_ALL; k++) {
            struct ab_result *r = find_result(f, phase->name, k);
            if (r == NULL)
                continue;
            summarise(r);
            keep_worst(r, &piles.slowest[k], piles.slowest[k].ns > 0);
        }
        struct ab_result *all = find_result(f, phase->name, AB_OP_ALL);
        if (all->n_ops > 0)
            all->latency_pass_ns_per_op = busy_ns(f, &run->page->report, i) / (double)all->n_ops;
    }
}

static void add_tail(const struct ab_fold *f, struct ab_result *r, const struct ab_tail *tail)
{
    struct ab_worst_op worst[AB_WORST_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < tail->n_worst && i < AB_WORST_MAX; i++) {
        if (tail->worst[i].position >= f->tape->image->n_ops)
            continue;
        worst[n].position = tail->worst[i].position;
        worst[n].ns = (double)ab_fold_ns(f, tail->worst[i].ticks);
        worst[n].size = tail->worst[i].size;
        n++;
    }
    keep_worst(r, worst, n);
    r->tail_n += tail->n;
    r->tail_over_100ns += tail->n_slow;
    r->tail_over_1us += tail->n_1us;
    r->tail_over_10us += tail->n_10us;
    r->tail_over_100us += tail->n_100us;
    double max = (double)ab_fold_ns(f, tail->max_ticks);
    if (tail->max_ticks > 0 && !(r->max >= max))
        r->max = max;
}

void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run)
{
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        if (!phase->is_measured)
            continue;
        struct ab_result *all = find_result(f, phase->name, AB_OP_ALL);
        if (f->tape->image->n_lanes > 1)
            all->live_peak_blocks = (double)run->page->report.phases[i].live_peak_blocks;
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
            struct ab_result *r = find_result(f, phase->name, k);
            const struct ab_tail *tail = &run->page->report.phases[i].tail[k];
            if (r == NULL)
                continue;
            add_tail(f, r, tail);
            add_tail(f, all, tail);
        }
    }
}

enum ab_status ab_fold_null(const struct ab_fold *f, const char *boundary,
                            const struct ab_outcome *throughput, const struct ab_outcome *latency,
                            struct ab_err *err)
{
    struct ab_session *s = f->session;
    struct ab_hdr *all = malloc(sizeof *all);
    enum ab_status status = AB_SYSTEM;
    for (uint32_t i = 0; i < f->tape->image->n_phases && all != NULL; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        uint64_t n = all_ops(phase);
        if (!phase->is_measured || n == 0)
            continue;
        if (!AB_GROW(s->nulls, s->cap_nulls, s->n_nulls))
            goto out;
        struct piles piles = {.hdr[AB_OP_ALL] = all};
        ab_hdr_init(all);
        fold_samples(f, phase, latency, &piles);
        const struct ab_run_report *report = &throughput->page->report;
        s->nulls[s->n_nulls++] = (struct ab_null_cost){
            .phase = phase->name,
            .boundary = boundary,
            .round = f->round,
            .n_ops = n,
            .ns_per_op = busy_ns(f, report, i) / (double)n,
            .wall_ns_per_op = wall_ns(f, &report->phases[i]) / (double)n,
            .latency_pass_ns_per_op = busy_ns(f, &latency->page->report, i) / (double)n,
            .floor_ns = ab_result_quantile(all, 0.5),
            .instr_per_op = NAN,
        };
    }
    status = AB_OK;
out:
    free(all);
    return status == AB_OK ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory for results");
}

void ab_fold_forget(struct ab_session *session, uint32_t backend)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < session->n_results; i++) {
        if (session->results[i].backend == backend)
            free(session->results[i].hdr);
        else
            session->results[kept++] = session->results[i];
    }
    session->n_results = kept;
    ab_fold_depth_drop(session, backend, AB_FOLD_ANY);
    ab_fold_drop_memory(session, backend, AB_FOLD_ANY);
}
