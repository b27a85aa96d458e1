/* SPDX-License-Identifier: MIT
 *
 * Bounds from the text alone; all sums and products saturate.
 */
#include "tape/tape.h"
#include "workload/generate/generate.h"

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

static uint64_t body_largest(const struct ab_workload *w, const struct ab_verb *body, size_t n)
{
    uint64_t largest = 0;
    for (const struct ab_verb *v = body; v < body + n; v++) {
        bool has_size = (ab_verbs[v->kind].options & AB_OPT_SIZE) != 0 && v->other == AB_NO_SET;
        uint64_t size = has_size ? w->dists.items[v->dist].max
                                 : body_largest(w, v->body, v->n_body);
        largest = size > largest ? size : largest;
    }
    return largest;
}

uint64_t ab_estimate_phase_largest(const struct ab_workload *w, const struct ab_phase_def *phase)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < phase->n_roles; i++) {
        uint64_t size = body_largest(w, phase->roles[i].body, phase->roles[i].n_body);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static bool body_names(const struct ab_verb *body, size_t n, uint32_t set)
{
    bool is_named = false;
    for (const struct ab_verb *v = body; v < body + n && !is_named; v++)
        is_named = v->set == set || v->other == set || body_names(v->body, v->n_body, set);
    return is_named;
}

/* In all lanes together; 0 for a set that no verb names. */
static uint64_t set_capacity(const struct ab_workload *w, uint32_t index)
{
    const struct ab_set_def *set = &w->sets[index];
    uint64_t n = set->count > 0 ? set->count : AB_MAX_POSITIONS;
    bool is_named = false;
    for (size_t i = 0; i < w->n_phases; i++)
        for (size_t k = 0; k < w->phases[i].n_roles && !is_named; k++) {
            const struct ab_role *role = &w->phases[i].roles[k];
            is_named = body_names(role->body, role->n_body, index);
        }
    if (set->kind == AB_SET_QUEUE) /* beside its messages, one that each lane takes apart */
        n = multiply(n + AB_LANES_MAX, set->unit);
    return is_named ? multiply(n, set->is_shared ? 1 : set->end_lane - set->first_lane) : 0;
}

uint64_t ab_estimate_most_live(const struct ab_workload *w)
{
    uint64_t largest = 0, blocks = 0;
    for (size_t i = 0; i < w->n_phases; i++) {
        uint64_t size = ab_estimate_phase_largest(w, &w->phases[i]);
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 0; i < w->n_sets; i++)
        blocks = add(blocks, set_capacity(w, i));
    return multiply(blocks, largest);
}

uint64_t ab_estimate_phase_ops(const struct ab_workload *w, const struct ab_phase_def *phase)
{
    uint64_t once = phase->until == AB_UNTIL_OPS ? phase->limit : 0;
    if (phase->until == AB_UNTIL_ALLOCATED && ab_estimate_phase_largest(w, phase) > 0)
        once = phase->limit / ab_estimate_phase_largest(w, phase);
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
