/* SPDX-License-Identifier: MIT
 *
 * Makes the records of the throughput, latency and tail passes, and of the null back ends: times
 * from ticks, histograms from samples, and the slowest ops.
 */
#include "runner/fold.h"

#include "core/alloc.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "runner/fold_samples.h"

#include <stdlib.h>
#include <string.h>

static struct ab_result *add_result(const struct ab_fold *f, const char *phase, unsigned op)
{
    struct ab_session *s = f->session;
    struct ab_hdr *hdr = ab_hdr_new();
    AB_GROW(s->results, s->cap_results, s->n_results);
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

/* Returns the number of requests that the back end served in this phase. A reset counts as the
 * frees that it replaces, so that all back ends did the same number of ops. */
static uint64_t served_ops(const struct ab_phase *phase, uint32_t hooks)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (k != AB_OP_RESET && (hooks >> k & 1) != 0)
            n += phase->n_ops[k];
    return n;
}

/* Returns the wall time. A single lane has no waits, so the time that is estimated from its slices
 * is also its wall time. */
static double wall_estimate(const struct ab_throughput_estimate *e)
{
    return isnan(e->quiet_share) ? e->median.wall : e->busy;
}

static void set_throughput(const struct ab_throughput_estimate *e, struct ab_result *all)
{
    double n = (double)all->n_ops;
    all->n_processes = e->n_processes;
    all->quiet_percent = 100 * e->quiet_share;
    all->wait_percent = e->median.wait_percent;
    all->subtracted_percent = e->median.subtracted_percent;
    all->ready_threads = e->median.ready_threads;
    all->faults_minor = e->median.faults_minor;
    all->switches_involuntary = e->median.switches;
    all->renewal_percent = e->median.renewal_percent;
    all->thread_ends = e->median.thread_ends;
    all->thread_end_ns = e->median.thread_end_ns;
    all->trims = e->median.trims;
    all->trims_without_effect = e->median.trims_without_effect;
    if (all->n_ops == 0 || e->busy <= 0 || e->median.wall <= 0)
        return;
    all->ns_per_op = e->busy / n;
    all->whole_ns_per_op = e->whole / n;
    all->wall_ns_per_op = wall_estimate(e) / n;
    all->ops_per_s = 1e9 / all->ns_per_op;
    all->cpu_ns_per_op = e->median.cpu / n;
    all->background_cpu_ns_per_op = e->median.background / n;
}

static void forget_time(struct ab_result *all)
{
    all->ns_per_op = all->whole_ns_per_op = all->ops_per_s = NAN;
}

/* Removes times that are a small difference of two long times. Lanes wait differently in each row,
 * so if one row has such a time in a round, the times of all rows of that phase and round are
 * removed. Also removes times below that of the harness alone. */
static void forget_small_differences(struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++) {
        struct ab_result *x = &s->results[i];
        if (x->op != AB_OP_ALL || isnan(x->subtracted_percent))
            continue;
        const struct ab_null_cost *null = ab_session_null(s, x->backend, x->phase, x->round);
        if (null != NULL && x->ns_per_op < null->ns_per_op && x->subtracted_percent > 0)
            forget_time(x);
        if (!ab_is_mostly_waiting(x->subtracted_percent))
            continue;
        for (uint32_t k = 0; k < s->n_results; k++)
            if (s->results[k].op == AB_OP_ALL && s->results[k].round == x->round &&
                s->backends[s->results[k].backend].combination ==
                    s->backends[x->backend].combination &&
                strcmp(s->results[k].phase, x->phase) == 0)
                forget_time(&s->results[k]);
    }
}

static void fold_phase(const struct ab_fold *f, uint32_t index,
                       const struct ab_throughput_estimate *e)
{
    const struct ab_phase *phase = &f->tape->phases[index];
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (phase->n_ops[k] > 0 && (e->hooks >> k & 1) != 0)
            add_result(f, phase->name, k);
    struct ab_result *all = add_result(f, phase->name, AB_OP_ALL);
    all->n_ops = served_ops(phase, e->hooks);
    all->n_unsupported = ab_phase_ops(phase) - all->n_ops;
    set_throughput(e, all);
}

void ab_fold_throughput(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet)
{
    struct ab_throughput_estimate e;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        if (!f->tape->phases[i].is_measured)
            continue;
        ab_throughput_estimate(runs, f->backend, f->round, i, quiet, &e);
        fold_phase(f, i, &e);
    }
    forget_small_differences(f->session);
}

/* Returns the index of a phase of the tape by name; n_phases = none. */
static uint32_t phase_index(const struct ab_fold *f, const char *name)
{
    uint32_t i = 0;
    while (i < f->tape->image->n_phases && strcmp(f->tape->phases[i].name, name) != 0)
        i++;
    return i;
}

/* Returns a back end that was measured with this harness; n_backends = none. */
static uint32_t backend_of(const struct ab_session *s, const struct ab_null_cost *null)
{
    uint32_t i = 0;
    while (i < s->n_backends && !ab_null_is_of(null, &s->backends[i]))
        i++;
    return i;
}

/* Returns the time that the harness takes per op, in ns; NaN if its lanes waited for each other
 * most of the time. */
static double null_ns(const struct ab_throughput_estimate *e, double n_ops)
{
    return ab_is_mostly_waiting(e->median.subtracted_percent) ? (double)NAN : e->busy / n_ops;
}

static void fold_null_again(const struct ab_fold *f, const struct ab_throughput *runs,
                            uint16_t quiet)
{
    struct ab_throughput_estimate e;
    for (uint32_t i = 0; i < f->session->n_nulls; i++) {
        struct ab_null_cost *null = &f->session->nulls[i];
        uint32_t phase = phase_index(f, null->phase);
        uint32_t b = backend_of(f->session, null);
        if (phase == f->tape->image->n_phases || b == f->session->n_backends)
            continue;
        ab_throughput_estimate(runs, ab_fold_null_case(f->session, b), null->round, phase, quiet,
                               &e);
        if (e.n_processes == 0) /* the record is from a resumed result, whose runs are not stored */
            continue;
        null->ns_per_op = null_ns(&e, (double)null->n_ops);
        null->wall_ns_per_op = wall_estimate(&e) / (double)null->n_ops;
    }
}

void ab_fold_throughput_again(const struct ab_fold *f, const struct ab_throughput *runs,
                              uint16_t quiet)
{
    struct ab_throughput_estimate e;
    for (uint32_t i = 0; i < f->session->n_results; i++) {
        struct ab_result *r = &f->session->results[i];
        uint32_t phase = r->op == AB_OP_ALL ? phase_index(f, r->phase) : f->tape->image->n_phases;
        if (phase == f->tape->image->n_phases)
            continue;
        ab_throughput_estimate(runs, r->backend, r->round, phase, quiet, &e);
        if (e.n_processes > 0)
            set_throughput(&e, r);
    }
    fold_null_again(f, runs, quiet);
    forget_small_differences(f->session);
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

/* Returns the record of the op at this position of the tape. */
static struct ab_worst_op worst_at(const struct ab_fold *f, uint32_t position, double ns,
                                   uint64_t size)
{
    return (struct ab_worst_op){
        .ns = ns,
        .position = ab_tape_ops_before_as_it_lies(f->tape->image, position),
        .size = size,
        .iteration = ab_fold_iteration_at(f, position),
    };
}

/* Destination of samples: a histogram for each kind of op (NULL = not wanted), and at AB_OP_ALL the
 * fair sample of all kinds. Each element of `slowest` is the slowest op of its histogram; ns 0 =
 * none. */
struct piles {
    struct ab_hdr *hdr[AB_OP_KIND_COUNT + 1];
    struct ab_worst_op slowest[AB_OP_KIND_COUNT + 1];
    uint64_t n_left_out[AB_OP_KIND_COUNT + 1];
    double quiet_share; /* fraction of all samples that were quiet; NaN = not known */
};

static void pile_up(struct piles *p, unsigned kind, const struct ab_sample *sample)
{
    struct ab_worst_op *slowest = &p->slowest[kind];
    if (p->hdr[kind] == NULL)
        return;
    p->n_left_out[kind] += sample->is_left_out;
    if (sample->is_left_out)
        return;
    ab_hdr_record(p->hdr[kind], sample->ns);
    if (sample->ns != UINT64_MAX && (double)sample->ns > slowest->ns)
        *slowest = (struct ab_worst_op){(double)sample->ns, sample->position, AB_SIZE_UNKNOWN, 0};
}

static void fold_samples(const struct ab_fold *f, const struct ab_phase *phase,
                         const struct ab_outcome *run, struct piles *piles)
{
    struct ab_samples walk;
    struct ab_sample sample;
    ab_samples_begin(&walk, f, phase, run);
    piles->quiet_share = walk.quiet_share;
    while (ab_samples_next(&walk, &sample)) {
        pile_up(piles, sample.kind, &sample);
        if (sample.is_fair)
            pile_up(piles, AB_OP_ALL, &sample);
    }
}

/* Removes the slowest op of the latency pass, because only the tail pass finds the slowest of all
 * ops. Used if the tail pass does not run. */
static void forget_slowest(struct ab_result *r)
{
    r->max = NAN;
    r->n_worst = 0;
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

/* Adds to a sum that may not be known yet. */
static void add_known(double *sum, uint64_t n)
{
    *sum = (isnan(*sum) ? 0 : *sum) + (double)n;
}

/* Adds the number of ops of one pass that the scheduler interrupted by taking the CPU away, and the
 * longest of these ops. */
static void add_scheduler(const struct ab_fold *f, struct ab_result *r, const struct ab_tail *tail)
{
    double longest = (double)ab_fold_ns(f, tail->scheduler_max_ticks);
    add_known(&r->n_scheduler, tail->n_scheduler);
    if (tail->n_scheduler > 0)
        /* fmax of NaN and a number is the number */
        r->scheduler_max_ns = fmax(r->scheduler_max_ns, longest);
    if (tail->max_least_ns > 0)
        r->max_least_ns = fmax(r->max_least_ns, (double)tail->max_least_ns);
}

static void fold_kind(const struct ab_fold *f, uint32_t phase, unsigned kind,
                      const struct piles *piles, const struct ab_outcome *run)
{
    struct ab_result *r = find_result(f, f->tape->phases[phase].name, kind);
    if (r == NULL)
        return;
    summarise(r);
    const struct ab_worst_op *slowest = &piles->slowest[kind];
    struct ab_worst_op op = worst_at(f, slowest->position, slowest->ns, AB_SIZE_UNKNOWN);
    keep_worst(r, &op, slowest->ns > 0);
    if (!ab_pass_is_in(&f->session->passes, AB_PASS_TAIL, f->round))
        forget_slowest(r);
    if (!isnan(piles->quiet_share))
        r->n_left_out = (double)piles->n_left_out[kind];
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (k == kind || kind == AB_OP_ALL)
            add_scheduler(f, r, &run->page->report.phases[phase].tail[k]);
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
        for (unsigned k = 0; k <= AB_OP_ALL; k++)
            fold_kind(f, i, k, &piles, run);
        struct ab_result *all = find_result(f, phase->name, AB_OP_ALL);
        all->latency_quiet_percent = 100 * piles.quiet_share;
        if (all->n_ops > 0)
            all->latency_pass_ns_per_op = ab_fold_known_ns(f, &run->page->report.phases[i]) /
                                          (double)all->n_ops;
    }
}

static void add_tail(const struct ab_fold *f, struct ab_result *r, const struct ab_tail *tail)
{
    struct ab_worst_op worst[AB_WORST_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < tail->n_worst && i < AB_WORST_MAX; i++) {
        if (tail->worst[i].position >= f->tape->image->n_ops)
            continue;
        worst[n++] = worst_at(f, tail->worst[i].position,
                              (double)ab_fold_ns(f, tail->worst[i].ticks), tail->worst[i].size);
    }
    keep_worst(r, worst, n);
    add_scheduler(f, r, tail);
    r->tail_n += tail->n;
    r->tail_over_100ns += tail->n_slow;
    r->tail_over_1us += tail->n_1us;
    r->tail_over_10us += tail->n_10us;
    r->tail_over_100us += tail->n_100us;
    add_known(&r->tail_least_over_1us, tail->n_least_1us);
    add_known(&r->tail_least_over_10us, tail->n_least_10us);
    add_known(&r->tail_least_over_100us, tail->n_least_100us);
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

/* fraction of the readings to trim at either end, because the scheduler may have interrupted
 * these */
static const double interrupted = 0.01;

static void add_null(const struct ab_fold *f, uint32_t phase,
                     const struct ab_throughput_estimate *e, const struct ab_outcome *latency,
                     struct ab_hdr *all)
{
    struct ab_session *s = f->session;
    const struct ab_backend_info *b = &s->backends[f->backend];
    const struct ab_phase *p = &f->tape->phases[phase];
    double n = (double)ab_phase_ops(p);
    struct piles piles = {.hdr[AB_OP_ALL] = all};
    ab_hdr_init(all);
    if (latency != NULL)
        fold_samples(f, p, latency, &piles);
    struct ab_null_cost *null = &s->nulls[s->n_nulls++];
    *null = (struct ab_null_cost){
        .phase = p->name,
        .boundary = b->boundary,
        .round = f->round,
        .combination = b->combination,
        .n_ops = ab_phase_ops(p),
        .ns_per_op = null_ns(e, n),
        .wall_ns_per_op = wall_estimate(e) / n,
        .latency_pass_ns_per_op =
            latency != NULL ? ab_fold_known_ns(f, &latency->page->report.phases[phase]) / n
                            : (double)NAN,
        .floor_ns = ab_result_quantile(all, 0.5),
        .floor_mean_ns = ab_hdr_trimmed_mean(all, interrupted),
        .instr_per_op = NAN,
        .iteration_call_ns = NAN,
    };
    memcpy(null->placement, b->rules.placement, sizeof null->placement);
}

void ab_fold_null(const struct ab_fold *f, const struct ab_throughput *runs, uint16_t quiet,
                  const struct ab_outcome *latency)
{
    struct ab_session *s = f->session;
    struct ab_hdr *all = ab_alloc(sizeof *all);
    struct ab_throughput_estimate e;
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        if (!phase->is_measured || ab_phase_ops(phase) == 0)
            continue;
        AB_GROW(s->nulls, s->cap_nulls, s->n_nulls);
        ab_throughput_estimate(runs, ab_fold_null_case(s, f->backend), f->round, i, quiet, &e);
        add_null(f, i, &e, latency, all);
    }
    free(all);
}

/* Removes the records of this back end and round from a list. `release` frees what a removed record
 * owns. */
#define DROP(list, release) \
    do { \
        uint32_t kept_ = 0; \
        for (uint32_t i = 0; i < s->n_##list; i++) { \
            if ((backend == AB_FOLD_ANY || s->list[i].backend == backend) && \
                (round == AB_FOLD_ANY || s->list[i].round == round)) \
                release; \
            else \
                s->list[kept_++] = s->list[i]; \
        } \
        s->n_##list = kept_; \
    } while (0)

void ab_fold_drop(struct ab_session *s, uint32_t backend, uint32_t round)
{
    DROP(results, free(s->results[i].hdr));
    DROP(size_classes, free(s->size_classes[i].hdr));
    DROP(heap_parts, free(s->heap_parts[i].hdr));
    DROP(dists, free(s->dists[i].hdr));
    DROP(iterations, free(s->iterations[i].hdr));
    DROP(timelines, free(s->timelines[i].points));
    DROP(windows, (void)0);
    DROP(memory, (void)0);
    DROP(over_time, (void)0);
    DROP(pins, (void)0);
    DROP(call_sites, (void)0);
}

/* ---- counts per op, minus those of the null back end, which are the counts of the loop itself
 * ---- */

static struct ab_result *find_all(const struct ab_fold *f, const char *phase)
{
    for (uint32_t i = f->session->n_results; i-- > 0;) {
        struct ab_result *r = &f->session->results[i];
        if (r->backend == f->backend && r->round == f->round && r->op == AB_OP_ALL &&
            strcmp(r->phase, phase) == 0)
            return r;
    }
    return NULL;
}

void ab_fold_null_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                               const struct ab_phase_counts *null)
{
    for (uint32_t i = 0; i < sample->image->n_phases; i++) {
        uint64_t n = ab_phase_ops(&sample->phases[i]);
        struct ab_null_cost *cost = ab_session_null(f->session, f->backend, sample->phases[i].name,
                                                    f->round);
        if (n > 0 && null->n[i] != AB_NOT_COUNTED && cost != NULL)
            cost->instr_per_op = (double)null->n[i] / (double)n;
    }
}

bool ab_fold_instructions(const struct ab_fold *f, const struct ab_tape_map *sample,
                          const struct ab_outcome *run, const struct ab_phase_counts *counts,
                          const struct ab_phase_counts *null)
{
    bool is_whole = true;
    for (uint32_t i = 0; i < sample->image->n_phases; i++) {
        const struct ab_phase *phase = &sample->phases[i];
        uint64_t n = served_ops(phase, run->page->report.hooks), n_null = ab_phase_ops(phase);
        struct ab_result *all = phase->is_measured ? find_all(f, f->tape->phases[i].name) : NULL;
        if (all == NULL || all->n_ops == 0)
            continue;
        if (n == 0 || counts->n[i] == AB_NOT_COUNTED || null->n[i] == AB_NOT_COUNTED) {
            is_whole = false;
            continue;
        }
        all->instr_per_op = (double)counts->n[i] / (double)n - (double)null->n[i] / (double)n_null;
        all->instr_n_ops = (double)n;
    }
    return is_whole;
}

void ab_fold_calls(const struct ab_fold *f, const struct ab_call_counts *calls)
{
    for (uint32_t i = 0; i < f->tape->image->n_phases; i++) {
        const struct ab_phase *phase = &f->tape->phases[i];
        struct ab_result *all = phase->is_measured ? find_all(f, phase->name) : NULL;
        if (all == NULL)
            continue;
#define X(name) all->syscalls_##name = (double)calls->n[i][AB_CALL_##name];
        AB_CALL_KINDS(X)
#undef X
    }
}
