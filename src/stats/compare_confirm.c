/* SPDX-License-Identifier: MIT
 *
 * Which regressions new rounds should show as well, and what becomes of those that do not.
 */
#include "stats/compare_notes.h"

#include <stdio.h>
#include <string.h>

static bool is_suspicious(const struct ab_cell *cell)
{
    return ab_cell_is_judged(cell) && cell->verdict == AB_VERDICT_REGRESSED;
}

uint32_t ab_comparison_suspicious(const struct ab_comparison *c, bool *is_concerned)
{
    uint32_t n = 0, i;
    for (uint32_t k = 0; k < c->n_cells; k++) {
        const struct ab_cell *cell = &c->cells[k];
        if (!is_suspicious(cell))
            continue;
        if ((i = ab_compare_find(c->now, cell->backend)) != UINT32_MAX)
            is_concerned[i] = true;
        if (c->base == c->now && (i = ab_compare_find(c->now, cell->base_backend)) != UINT32_MAX)
            is_concerned[i] = true;
        n++;
    }
    return n;
}

static const struct ab_cell *find_cell(const struct ab_comparison *c, const struct ab_cell *like)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (ab_cell_is_judged(&c->cells[i]) && strcmp(c->cells[i].metric, like->metric) == 0 &&
            strcmp(c->cells[i].backend, like->backend) == 0)
            return &c->cells[i];
    return NULL;
}

void ab_comparison_confirm(struct ab_comparison *c, const struct ab_comparison *again)
{
    for (uint32_t i = 0; i < c->n_cells; i++) {
        struct ab_cell *cell = &c->cells[i];
        const struct ab_cell *other = is_suspicious(cell) ? find_cell(again, cell) : NULL;
        if (other == NULL || other->verdict == AB_VERDICT_FAILED)
            continue; /* not measured again: it stands */
        cell->n_confirm = other->effect.n_new;
        cell->confirm_ratio = other->effect.ratio;
        if (other->verdict == AB_VERDICT_REGRESSED)
            continue;
        cell->verdict = AB_VERDICT_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "%+.1f %% at first, %+.1f %% in %u more rounds: not confirmed",
                 100 * (cell->effect.ratio - 1), 100 * (other->effect.ratio - 1),
                 other->effect.n_new);
    }
}
