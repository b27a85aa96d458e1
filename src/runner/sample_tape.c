/* SPDX-License-Identifier: MIT
 *
 * Cuts a mapped tape after some of its ops.
 */
#include "runner/sample_tape.h"

#include "core/alloc.h"

#include <string.h>

/* Returns the first position at or after `at` that does not separate a reset from its frees; n_ops
 * if there is none. */
static uint32_t find_cut(const struct ab_tape_part *part, uint32_t at)
{
    uint32_t free_until = 0; /* end of the frees of the last reset */
    for (uint32_t i = 0; i < at; i++)
        if (AB_OP_CODE(part->ops[i]) == AB_CODE_RESET)
            free_until = i + 1 + AB_OP_SIZE(part->ops[i]);
    uint32_t cut = free_until > at ? free_until : at;
    return cut < part->n_ops ? cut : part->n_ops;
}

static uint32_t count_wide(const struct ab_tape_part *part, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        if (AB_OP_CODE(part->ops[i]) == AB_CODE_WIDE && AB_OP_SIZE(part->ops[i]) >= most)
            most = AB_OP_SIZE(part->ops[i]) + 1;
    return most;
}

static void cut_phase(const struct ab_tape_part *part, uint32_t cut, struct ab_phase *phase)
{
    phase->begin = phase->begin < cut ? phase->begin : cut;
    phase->end = phase->end < cut ? phase->end : cut;
    memset(phase->n_ops, 0, sizeof phase->n_ops);
    for (uint32_t i = phase->begin; i < phase->end; i++) {
        int kind = ab_op_decode(part->ops[i], part->wide).kind;
        if (kind >= 0)
            phase->n_ops[kind]++;
    }
}

/* Fills `out` with copies of the arrays of `whole` up to the op `cut`. */
static void copy(const struct ab_tape_map *whole, uint32_t cut, struct ab_tape *out)
{
    struct ab_tape_part part = ab_tape_part(whole->image, 0);
    uint32_t n_phases = whole->image->n_phases;
    out->n_wide = count_wide(&part, cut);
    out->ops = ab_alloc_zeroed((size_t)cut + AB_TAPE_PAD, sizeof out->ops[0]);
    out->wide = ab_alloc_zeroed((size_t)out->n_wide + 1, sizeof out->wide[0]);
    out->phases = ab_alloc_zeroed(n_phases, sizeof out->phases[0]);
    out->lane_begin = ab_alloc_zeroed((size_t)n_phases + 1, sizeof out->lane_begin[0]);
    memcpy(out->ops, part.ops, cut * sizeof out->ops[0]);
    /* repeats the harmless op that follows the last op of a tape */
    for (uint32_t i = 0; i < AB_TAPE_PAD; i++)
        out->ops[cut + i] = part.ops[part.n_ops];
    memcpy(out->wide, part.wide, out->n_wide * sizeof out->wide[0]);
    memcpy(out->phases, part.phases, n_phases * sizeof out->phases[0]);
    for (uint32_t i = 0; i < n_phases; i++) {
        cut_phase(&part, cut, &out->phases[i]);
        out->lane_begin[i] = out->phases[i].begin;
    }
    out->lane_begin[n_phases] = cut;
    out->n_ops = cut;
    out->n_phases = n_phases;
    out->n_slots = whole->image->n_slots;
    out->facts = whole->image->facts;
}

enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err)
{
    struct ab_tape tape = {0};
    struct ab_tape_part part = ab_tape_part(whole->image, 0);
    if (whole->image->n_lanes != 1)
        return ab_fail(err, AB_USAGE, "has %u threads", whole->image->n_lanes);
    uint32_t at = n < whole->image->n_counted ? ab_tape_position_of(whole->image, n) : part.n_ops;
    copy(whole, find_cut(&part, at < part.n_ops ? at : part.n_ops), &tape);
    enum ab_status status = ab_tape_map_open(&tape, out, err);
    ab_tape_fini(&tape);
    return status;
}
