/* SPDX-License-Identifier: MIT
 *
 * Takes verdicts back: those that new rounds do not confirm, and those that are significant alone
 * but not after correction for all comparisons.
 */
#include "stats/compare_notes.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
            strcmp(c->cells[i].backend, like->backend) == 0 &&
            strcmp(c->cells[i].base_backend, like->base_backend) == 0)
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
        cell->confirm_ratio = ab_cell_judged_effect(other)->ratio;
        if (other->verdict == AB_VERDICT_REGRESSED)
            continue;
        cell->verdict = AB_VERDICT_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "%+.1f %% at first, %+.1f %% in %u more rounds: not confirmed",
                 100 * (ab_cell_judged_effect(cell)->ratio - 1), 100 * (cell->confirm_ratio - 1),
                 other->effect.n_new);
    }
}

/* ---- jointly ---- */

struct family { /* of cells that are judged together */
    struct ab_comparison *list;
    size_t n_list;
    bool is_judged, is_larger;
    struct ab_cell **cells;
    double *p;
    size_t n;
};

static void collect(struct family *f)
{
    f->n = 0;
    for (size_t i = 0; i < f->n_list; i++)
        for (uint32_t k = 0; k < f->list[i].n_cells; k++) {
            struct ab_cell *cell = &f->list[i].cells[k];
            const struct ab_effect *e = ab_cell_judged_effect(cell);
            double p = f->is_larger ? e->p_larger : e->p_smaller;
            if (ab_cell_is_judged(cell) != f->is_judged || isnan(p))
                continue;
            f->cells[f->n] = cell;
            f->p[f->n++] = p;
        }
}

static bool says_so(const struct family *f, const struct ab_cell *cell)
{
    if (f->is_judged)
        return cell->verdict == (f->is_larger ? AB_VERDICT_REGRESSED : AB_VERDICT_IMPROVED);
    return strcmp(ab_cell_word(cell), f->is_larger ? "worse" : "better") == 0;
}

static void join(struct family *f)
{
    collect(f);
    ab_effect_holm(f->p, f->n);
    for (size_t i = 0; i < f->n; i++) {
        struct ab_cell *cell = f->cells[i];
        if (f->p[i] <= AB_EFFECT_ALPHA || !says_so(f, cell))
            continue;
        if (f->is_judged)
            cell->verdict = AB_VERDICT_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "significant alone, not after correction for %zu comparisons", f->n);
    }
}

void ab_comparisons_join(struct ab_comparison *list, size_t n)
{
    size_t n_cells = 0;
    for (size_t i = 0; i < n; i++)
        n_cells += list[i].n_cells;
    struct family f = {.list = list,
                       .n_list = n,
                       .cells = ab_alloc_zeroed(n_cells + 1, sizeof *f.cells),
                       .p = ab_alloc_zeroed(n_cells + 1, sizeof *f.p)};
    for (unsigned i = 0; i < 4; i++) {
        f.is_judged = (i & 1) != 0;
        f.is_larger = (i & 2) != 0;
        join(&f);
    }
    for (size_t i = 0; i < n; i++)
        list[i].is_joint = true;
    free(f.cells);
    free(f.p);
}
