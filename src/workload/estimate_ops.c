/* SPDX-License-Identifier: MIT
 *
 * A lower bound from the text alone; all sums and products saturate.
 */
#include "workload/estimate_ops.h"

#include "trace/tape.h"

#include <stdio.h>

/* bytes a position: live_set.c, and the tape builder's own entry */
enum { OP_BYTES = 8, POSITION_BYTES = 32 };

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

static uint64_t body_ops(const struct ab_verb *body, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_verb *v = &body[i];
        bool is_sure = v->kind == AB_VERB_ALLOC ||
                       (v->kind == AB_VERB_REPLACE && v->pick < AB_PICK_FIFO &&
                        v->pick != AB_PICK_OCCUPIED);
        if (v->kind == AB_VERB_REPEAT)
            sum = add(sum, multiply(v->count, body_ops(v->body, v->n_body)));
        else if (is_sure && v->amount == AB_AMOUNT_COUNT)
            sum = add(sum, v->count);
    }
    return sum;
}

uint64_t ab_estimate_phase_ops(const struct ab_phase_def *phase)
{
    uint64_t once = phase->until == AB_UNTIL_OPS ? phase->limit
                  : phase->until == AB_UNTIL_ITERS
                      ? multiply(phase->limit, body_ops(phase->body, phase->n_body)) : 0;
    return multiply(phase->repeat, once);
}

uint64_t ab_estimate_ops(const struct ab_workload *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->n_phases; i++)
        sum = add(sum, ab_estimate_phase_ops(&w->phases[i]));
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
    uint64_t room = available_bytes() / 2, taken = 0;
    for (size_t i = 0; i < w->n_sets; i++)
        taken = add(taken, multiply(w->sets[i].count, POSITION_BYTES));
    room = room > taken ? room - taken : 0;
    return room / OP_BYTES < AB_TAPE_MAX_OPS ? room / OP_BYTES : AB_TAPE_MAX_OPS;
}
