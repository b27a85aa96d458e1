/* SPDX-License-Identifier: MIT
 *
 * Counts by ops: how many instructions an op takes is what the run took less what the null back end
 * took, which is the loop itself.
 */
#include "runner/fold/fold_counts.h"

#include "result/session.h"

#include <string.h>

/* As many as the throughput pass counts: a reset stands for the frees that it spares. */
static uint64_t count_ops(const struct ab_phase *phase, const struct ab_outcome *run)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if (k != AB_OP_RESET && (run == NULL || ab_fold_is_served(run, k)))
            n += phase->n_ops[k];
    return n;
}

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
        uint64_t n = count_ops(&sample->phases[i], NULL);
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
        uint64_t n = count_ops(phase, run), n_null = count_ops(phase, NULL);
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
