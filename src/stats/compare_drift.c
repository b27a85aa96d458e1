/* SPDX-License-Identifier: MIT
 *
 * What else the two results say about a verdict: where libraries that are the same build in both moved
 * as well, or without such libraries the loop that tells how fast the CPU is, it was the machine that
 * changed, or its settings, and not the library. A library never excuses itself: what counts are the
 * others. And where other programs had the CPU, a verdict needs more.
 */
#include "stats/compare_drift.h"

#include "stats/compare_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The unchanged ones must have gone at least this part of the way, on logarithms. */
static const double least_share = 0.5;
/* More of the time than this without the CPU makes a result one of a busy machine. */
static const double most_lost = 0.13;

/* The same file, as far as it can be told: without a build id it cannot. */
static bool is_same_build(const struct ab_drift *d, const char *backend)
{
    uint32_t a = ab_compare_find(d->base, backend);
    uint32_t b = ab_compare_find(d->now, backend);
    if (a == UINT32_MAX || b == UINT32_MAX)
        return false;
    const char *id = d->base->backends[a].build_id;
    return id[0] != 0 && strcmp(id, d->now->backends[b].build_id) == 0;
}

void ab_drift_hear(struct ab_drift *d, const char *backend, double ratio)
{
    if (!isfinite(ratio) || strcmp(backend, d->backend) == 0 || !is_same_build(d, backend))
        return;
    double moved = d->sign * log(ratio);
    if (!d->has_others || moved < d->sign * log(d->witness_ratio)) {
        d->witness = backend;
        d->witness_ratio = ratio;
    }
    d->has_others = true;
}

/* Is what remains of the effect, that of the machine divided out, more than the machine explains? */
static bool is_beyond(const struct ab_drift *d, double of_machine)
{
    double rest = d->sign * (log(d->effect.ratio) - log(of_machine));
    return !is_same_build(d, d->backend) && rest > log(1 + d->limit);
}

static bool has_gone_along(const struct ab_drift *d, double ratio)
{
    return d->sign * log(ratio) >= least_share * d->sign * log(d->effect.ratio);
}

static bool is_of_others(const struct ab_drift *d, char *reason, size_t cap)
{
    if (!has_gone_along(d, d->witness_ratio) || is_beyond(d, d->witness_ratio))
        return false;
    snprintf(reason, cap,
             "the machine changed: %.60s, the same build in both, takes %.1f %% %s time as well; "
             "measure both in one run",
             d->witness, 100 * fabs(d->witness_ratio - 1), d->sign > 0 ? "more" : "less");
    return true;
}

/* The loop between the slices, which uses registers alone and is in every result. */
static bool is_of_cpu(const struct ab_drift *d, char *reason, size_t cap)
{
    double ratio = d->now->noise.canary_quiet_ns / d->base->noise.canary_quiet_ns;
    if (!(ratio > 0 && isfinite(ratio)) || !has_gone_along(d, ratio) || is_beyond(d, ratio))
        return false;
    snprintf(reason, cap,
             "the CPU changed: allocbench's own test loop takes %.1f %% %s time as well; "
             "measure both in one run",
             100 * fabs(ratio - 1), d->sign > 0 ? "more" : "less");
    return true;
}

/* For which part of its time a session had no CPU: other programs had it, as a rule. 0 = not known:
 * several threads wait for each other, too. */
static double lost_share(const struct ab_session *s)
{
    const struct ab_noise *n = &s->noise;
    return n->slices_s > 0 && n->wall_s > 0 && n->cpu_s > 0 ? 1 - n->cpu_s / n->wall_s : 0;
}

/* Where runs had to wait for the CPU, rounds of one result err together: the interval, which knows how they
 * differ from each other only, is too narrow, and must then be beyond the limit as a whole. */
static bool is_doubtful(const struct ab_drift *d, char *reason, size_t cap)
{
    double lost = fmax(lost_share(d->base), lost_share(d->now));
    double end = d->sign > 0 ? d->effect.low : 1 / d->effect.high;
    if (lost <= most_lost || end > 1 + d->limit)
        return false;
    snprintf(reason, cap,
             "the runs had no CPU for %.0f %% of the time, and the interval is not wholly "
             "beyond the limit; measure both in one run, or when the machine is idle",
             100 * lost);
    return true;
}

bool ab_drift_explains(const struct ab_drift *d, char *reason, size_t cap)
{
    bool is_machine = d->has_others ? is_of_others(d, reason, cap) : is_of_cpu(d, reason, cap);
    return is_machine || is_doubtful(d, reason, cap);
}

/* ---- the time of a comparison ---- */

static bool is_time(const struct ab_cell *cell)
{
    return strcmp(cell->metric, "time") == 0 && isfinite(cell->effect.ratio);
}

static void excuse(const struct ab_comparison *c, struct ab_cell *cell)
{
    struct ab_drift d = {.base = c->base,
                         .now = c->now,
                         .backend = cell->backend,
                         .effect = cell->effect,
                         .limit = cell->limit,
                         .sign = cell->verdict == AB_VERDICT_REGRESSED ? 1 : -1};
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (is_time(&c->cells[i]))
            ab_drift_hear(&d, c->cells[i].backend, c->cells[i].effect.ratio);
    if (!ab_drift_explains(&d, cell->reason, sizeof cell->reason))
        return;
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->is_drift = true;
}

void ab_comparison_excuse_drift(struct ab_comparison *c)
{
    for (uint32_t i = 0; i < c->n_cells && c->base != c->now; i++) {
        struct ab_cell *cell = &c->cells[i];
        bool is_clear = cell->verdict == AB_VERDICT_REGRESSED ||
                        cell->verdict == AB_VERDICT_IMPROVED;
        if (ab_cell_is_judged(cell) && is_time(cell) && is_clear)
            excuse(c, cell);
    }
}
