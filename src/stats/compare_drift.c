/* SPDX-License-Identifier: MIT
 *
 * What other libraries say about a verdict: where those that are the same build in both results moved
 * as well, it was the machine that changed, or its settings, and not the library. A library never
 * excuses itself: what counts are the others.
 */
#include "stats/compare_drift.h"

#include "stats/compare_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The unchanged ones must have gone at least this part of the way, on logarithms. */
static const double least_share = 0.5;

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
 * there is none, or one of them moved less than its share. */
static const struct ab_cell *find_witness(const struct ab_comparison *c, const struct ab_cell *cell,
                                          double sign)
{
    const struct ab_cell *least = NULL;
    double wanted = least_share * sign * log(cell->effect.ratio);
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_cell *other = &c->cells[i];
        if (!is_time(other) || strcmp(other->backend, cell->backend) == 0 ||
            !is_same_build(c, other))
            continue;
        double moved = sign * log(other->effect.ratio);
        if (!(moved >= wanted))
            return NULL;
        if (least == NULL || moved < sign * log(least->effect.ratio))
            least = other;
    }
    return least;
}

static void excuse(const struct ab_comparison *c, struct ab_cell *cell)
{
    double sign = cell->verdict == AB_VERDICT_REGRESSED ? 1 : -1;
    const struct ab_cell *witness = find_witness(c, cell, sign);
    if (witness == NULL)
        return;
    double rest = sign * (log(cell->effect.ratio) - log(witness->effect.ratio));
    if (!is_same_build(c, cell) && rest > log(1 + cell->limit))
        return; /* more than the machine can explain */
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->is_drift = true;
    snprintf(cell->reason, sizeof cell->reason,
             "the machine changed: %.60s, the same build in both, takes %.1f %% %s time as well; "
             "measure both in one run",
             witness->backend, 100 * fabs(witness->effect.ratio - 1), sign > 0 ? "more" : "less");
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
