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

static bool is_time(const struct ab_cell *cell)
{
    return strcmp(cell->metric, "time") == 0 && isfinite(cell->effect.ratio);
}

/* The same file, as far as it can be told: without a build id it cannot. */
static bool is_same_build(const struct ab_comparison *c, const struct ab_cell *cell)
{
    uint32_t a = ab_compare_find(c->base, cell->backend);
    uint32_t b = ab_compare_find(c->now, cell->backend);
    if (a == UINT32_MAX || b == UINT32_MAX)
        return false;
    const char *id = c->base->backends[a].build_id;
    return id[0] != 0 && strcmp(id, c->now->backends[b].build_id) == 0;
}

/* Of the unchanged ones beside `cell` that which moved least, in the direction of `sign`; NULL =
 * there is none (*has_others: false), or one of them moved less than its share. */
static const struct ab_cell *find_witness(const struct ab_comparison *c, const struct ab_cell *cell,
                                          double sign, bool *has_others)
{
    const struct ab_cell *least = NULL;
    double wanted = least_share * sign * log(cell->effect.ratio);
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_cell *other = &c->cells[i];
        if (!is_time(other) || strcmp(other->backend, cell->backend) == 0 ||
            !is_same_build(c, other))
            continue;
        *has_others = true;
        double moved = sign * log(other->effect.ratio);
        if (!(moved >= wanted))
            return NULL;
        if (least == NULL || moved < sign * log(least->effect.ratio))
            least = other;
    }
    return least;
}

static void set_inconclusive(struct ab_cell *cell)
{
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->is_drift = true;
}

/* Is what remains of the effect, that of the machine divided out, more than the machine explains? */
static bool is_beyond(const struct ab_comparison *c, const struct ab_cell *cell, double sign,
                      double of_machine)
{
    double rest = sign * (log(cell->effect.ratio) - log(of_machine));
    return !is_same_build(c, cell) && rest > log(1 + cell->limit);
}

static void excuse_by(const struct ab_comparison *c, struct ab_cell *cell, double sign,
                      const struct ab_cell *witness)
{
    if (is_beyond(c, cell, sign, witness->effect.ratio))
        return;
    set_inconclusive(cell);
    snprintf(cell->reason, sizeof cell->reason,
             "the machine changed: %.60s, the same build in both, takes %.1f %% %s time as well; "
             "measure both in one run",
             witness->backend, 100 * fabs(witness->effect.ratio - 1), sign > 0 ? "more" : "less");
}

/* The loop between the slices, which uses registers alone and is in every result. */
static void excuse_by_canary(const struct ab_comparison *c, struct ab_cell *cell, double sign)
{
    double ratio = c->now->noise.canary_quiet_ns / c->base->noise.canary_quiet_ns;
    if (!(ratio > 0 && isfinite(ratio)) ||
        sign * log(ratio) < least_share * sign * log(cell->effect.ratio) ||
        is_beyond(c, cell, sign, ratio))
        return;
    set_inconclusive(cell);
    snprintf(cell->reason, sizeof cell->reason,
             "the CPU changed: allocbench's own test loop takes %.1f %% %s time as well; "
             "measure both in one run",
             100 * fabs(ratio - 1), sign > 0 ? "more" : "less");
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
static void doubt(const struct ab_comparison *c, struct ab_cell *cell, double sign)
{
    double lost = fmax(lost_share(c->base), lost_share(c->now));
    double end = sign > 0 ? cell->effect.low : 1 / cell->effect.high;
    if (lost <= most_lost || end > 1 + cell->limit)
        return;
    set_inconclusive(cell);
    snprintf(cell->reason, sizeof cell->reason,
             "the runs had no CPU for %.0f %% of the time, and the interval is not wholly "
             "beyond the limit; measure both in one run, or when the machine is idle",
             100 * lost);
}

static void excuse(const struct ab_comparison *c, struct ab_cell *cell)
{
    double sign = cell->verdict == AB_VERDICT_REGRESSED ? 1 : -1;
    bool has_others = false;
    const struct ab_cell *witness = find_witness(c, cell, sign, &has_others);
    if (witness != NULL)
        excuse_by(c, cell, sign, witness);
    else if (!has_others)
        excuse_by_canary(c, cell, sign);
    if (cell->verdict != AB_VERDICT_INCONCLUSIVE)
        doubt(c, cell, sign);
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
