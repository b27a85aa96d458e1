/* SPDX-License-Identifier: MIT
 *
 * The rule of all verdicts, their words, and what a whole comparison comes to.
 */
#include "stats/compare.h"

#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ab_verdict_name(enum ab_verdict verdict)
{
    static const char *const names[AB_VERDICT_COUNT] = {
        [AB_VERDICT_OK] = "ok",
        [AB_VERDICT_IMPROVED] = "improved",
        [AB_VERDICT_REGRESSED] = "regressed",
        [AB_VERDICT_INCONCLUSIVE] = "inconclusive",
        [AB_VERDICT_FAILED] = "failed",
        [AB_VERDICT_MOVED] = "machine moved",
    };
    return (unsigned)verdict < AB_VERDICT_COUNT ? names[verdict] : "unknown";
}

enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit)
{
    if (isnan(effect->low) || isnan(effect->high))
        return AB_VERDICT_INCONCLUSIVE;
    if (effect->low > 1 && effect->ratio > 1 + limit)
        return AB_VERDICT_REGRESSED;
    if (effect->high < 1 && effect->ratio < 1 / (1 + limit))
        return AB_VERDICT_IMPROVED;
    return effect->high <= 1 + limit ? AB_VERDICT_OK : AB_VERDICT_INCONCLUSIVE;
}

const struct ab_effect *ab_cell_judged_effect(const struct ab_cell *cell)
{
    return cell->relative.ratio > 0 ? &cell->relative : &cell->effect;
}

bool ab_cell_is_judged(const struct ab_cell *cell)
{
    return !isnan(cell->limit) || cell->verdict == AB_VERDICT_FAILED;
}

const char *ab_cell_word(const struct ab_cell *cell)
{
    if (ab_cell_is_judged(cell))
        return ab_verdict_name(cell->verdict);
    if (isnan(cell->effect.low) || isnan(cell->effect.high))
        return "n/a";
    if (cell->reason[0] != 0)
        return "~";
    return cell->effect.low > 1 ? "worse" : cell->effect.high < 1 ? "better" : "~";
}

void ab_comparison_fini(struct ab_comparison *c)
{
    free(c->cells);
    free(c->notes);
    *c = (struct ab_comparison){0};
}

uint32_t ab_comparison_count(const struct ab_comparison *c, enum ab_verdict verdict)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_cells; i++)
        n += ab_cell_is_judged(&c->cells[i]) && c->cells[i].verdict == verdict;
    return n;
}

enum ab_status ab_comparison_status(const struct ab_comparison *c)
{
    if (ab_comparison_count(c, AB_VERDICT_FAILED) > 0)
        return AB_BACKEND;
    if (ab_comparison_count(c, AB_VERDICT_REGRESSED) > 0 && !c->is_advisory)
        return AB_GATE;
    return ab_comparison_count(c, AB_VERDICT_INCONCLUSIVE) > 0 ? AB_INCONCLUSIVE : AB_OK;
}

bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m)
{
    const struct ab_counting *a = &base->counting, *b = &now->counting;
    if (!ab_metric_iterations_are_alike(base, now, m))
        return false;
    return strcmp(ab_metric_name(m), "instr_per_op") != 0 ||
           (strcmp(a->method, b->method) == 0 && a->n_ops == b->n_ops);
}

double ab_compare_floor_ns(const struct ab_session *base, const struct ab_session *now)
{
    return fmax(base->timer.floor_ns, now->timer.floor_ns); /* fmax passes over NaN */
}
