/* SPDX-License-Identifier: MIT
 *
 * A lower bound from the text alone; all sums and products saturate.
 */
#include "workload/estimate_ops.h"

#include "tape/tape.h"

#include <stdio.h>

/* Bytes a position: live_set.c, its slot, and the tape builder's own entry. Bytes an op: with
 * several lanes also its copy where the lanes are laid down, its share of a turn, and an edge. */
enum { OP_BYTES = 8, LANE_OP_BYTES = 40, POSITION_BYTES = 44 };

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Does each step of the verb make an op, whatever is live? */
static bool is_sure(const struct ab_workload *w, const struct ab_verb *v)
{
    if (v->kind == AB_VERB_REPLACE && (v->pick >= AB_PICK_FIFO || v->pick == AB_PICK_OCCUPIED))
        return false;
    return (ab_verbs[v->kind].traits & AB_VERB_SURE) != 0 && v->other == AB_NO_SET &&
           w->sets[v->set].on_full != AB_ON_FULL_DROP;
}

static uint64_t body_ops(const struct ab_workload *w, const struct ab_verb *body, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_verb *v = &body[i];
        uint64_t unit = v->kind == AB_VERB_SEND ? w->sets[v->set].unit : 1;
        if (v->n_body > 0)
            sum = add(sum, multiply(v->count, body_ops(w, v->body, v->n_body)));
        else if (v->amount == AB_AMOUNT_COUNT && is_sure(w, v))
            sum = add(sum, multiply(v->count, unit));
    }
    return sum;
}

uint64_t ab_estimate_phase_ops(const struct ab_workload *w, const struct ab_phase_def *phase)
{
    uint64_t once = phase->until == AB_UNTIL_OPS ? phase->limit : 0;
    for (size_t i = 0; phase->until == AB_UNTIL_ITERS && i < phase->n_roles; i++) {
        const struct ab_role *role = &phase->roles[i];
        uint64_t iteration = body_ops(w, role->body, role->n_body);
        once = add(once, multiply(role->n_lanes, multiply(phase->limit, iteration)));
    }
    return multiply(phase->repeat, once);
}

uint64_t ab_estimate_ops(const struct ab_workload *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->n_phases; i++)
        sum = add(sum, ab_estimate_phase_ops(w, &w->phases[i]));
    return sum;
}

/* MemAvailable in bytes; without /proc no limit is known. */
static uint64_t available_bytes(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib = 0;
    bool found = false;
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
        found = sscanf(line, "MemAvailable: %llu", &kib) == 1;
    if (f != NULL)
        fclose(f);
    return found ? kib * 1024 : UINT64_MAX;
}

uint64_t ab_estimate_max_ops(const struct ab_workload *w)
{
    uint64_t room = available_bytes() / 2, taken = 0, op_bytes = OP_BYTES;
    for (size_t i = 0; i < w->n_sets; i++) {
        const struct ab_set_def *set = &w->sets[i];
        uint64_t n = set->is_shared ? 1 : set->end_lane - set->first_lane;
        if (set->kind == AB_SET_SLOTS)
            taken = add(taken, multiply(n * set->count, POSITION_BYTES));
    }
    for (size_t i = 0; i < w->n_phases; i++)
        if (w->phases[i].n_lanes > 1)
            op_bytes = LANE_OP_BYTES;
    room = room > taken ? room - taken : 0;
    return room / op_bytes < AB_TAPE_MAX_OPS ? room / op_bytes : AB_TAPE_MAX_OPS;
}
