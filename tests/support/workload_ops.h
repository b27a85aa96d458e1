/* SPDX-License-Identifier: MIT
 *
 * A tape as text, in its global order: a3:64 alloc of 64 bytes at slot 3, A aligned, f3 free, s3 free by
 * size (s3@6: of a block that was aligned to 2^6), w5 a walk of the 5 accesses behind it,
 * r3:80 resize, t3 touch, x3 access that reads, x3w one that writes, R2 reset of 2 blocks (R2! one
 * by one, R2^1 back to save point 1), M1 where save point 1 is taken (m1: where it might be). With several lanes each stretch begins with its lane, [1]; phases are parted by a slash.
 */
#ifndef AB_TESTS_SUPPORT_WORKLOAD_OPS_H
#define AB_TESTS_SUPPORT_WORKLOAD_OPS_H

#include "support/workload_text.h"

static inline void print_reset(FILE *f, uint32_t how, uint32_t n)
{
    bool is_release = (how & AB_RESET_RELEASE) != 0;
    if ((how & AB_RESET_MARK) != 0)
        fprintf(f, "%c%u", is_release ? 'M' : 'm', AB_RESET_DEPTH(how));
    else if (is_release)
        fprintf(f, "R%u^%u", n, AB_RESET_DEPTH(how));
    else
        fprintf(f, "R%u%s", n, (how & AB_RESET_OTHERS) != 0 ? "!" : "");
}

static inline void print_op(FILE *f, uint64_t op)
{
    unsigned code = AB_OP_CODE(op);
    uint32_t operand = AB_OP_SIZE(op);
    if (code == AB_CODE_RESET) {
        print_reset(f, AB_OP_SLOT(op), operand);
        return;
    }
    if (code == AB_CODE_FREE_SIZED) {
        fprintf(f, operand != 0 ? "s%u@%u" : "s%u", AB_OP_SLOT(op), operand);
        return;
    }
    if (code == AB_CODE_TOUCH && AB_TOUCH_MODE(operand) == AB_TOUCH_WALK) {
        fprintf(f, "w%u", AB_WALK_COUNT(operand));
        return;
    }
    code &= ~(code != AB_CODE_WIDE ? (unsigned)AB_CODE_TOUCHED : 0u);
    fprintf(f, "%c%u", "fazArtx"[code], AB_OP_SLOT(op));
    if (code == AB_CODE_ACCESS)
        fprintf(f, "%s", operand == AB_ACCESS_WRITE ? "w" : "");
    else if (code != AB_CODE_FREE && code != AB_CODE_TOUCH)
        fprintf(f, ":%u", code == AB_CODE_ALLOC_ALIGNED ? AB_ALIGNED_SIZE(operand) : operand);
}

/* Index of the lane's next op that is not a guard. */
static inline uint32_t skip_guards(const struct ab_tape *tape, uint32_t i)
{
    while (AB_OP_CODE(tape->ops[i]) == AB_CODE_WAIT || AB_OP_CODE(tape->ops[i]) == AB_CODE_PUBLISH)
        i++;
    return i;
}

static inline void print_phase_ops(FILE *f, const struct ab_tape *tape, uint32_t p)
{
    uint32_t n_lanes = tape->facts.lanes, at[AB_LANES_MAX];
    for (uint32_t l = 0; l < n_lanes; l++)
        at[l] = tape->lane_begin[p * n_lanes + l];
    const struct ab_phase *phase = &tape->phases[p];
    struct ab_turn only = {0, phase->end - phase->begin};
    const struct ab_turn *turn = n_lanes > 1 ? &tape->turns[phase->turns_begin] : &only;
    uint32_t n_turns = n_lanes > 1 ? phase->turns_end - phase->turns_begin : 1;
    for (uint32_t t = 0; t < n_turns; t++, turn++) {
        if (n_lanes > 1)
            fprintf(f, "%s[%u]", t > 0 ? " " : "", turn->lane);
        for (uint32_t i = 0; i < turn->n; i++) {
            uint32_t *next = &at[turn->lane];
            *next = skip_guards(tape, *next);
            fprintf(f, "%s", n_lanes > 1 || i > 0 ? " " : "");
            print_op(f, tape->ops[(*next)++]);
        }
    }
}

/* malloc'ed. */
static inline char *tape_text(const struct ab_tape *tape)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    for (uint32_t p = 0; p < tape->n_phases; p++) {
        fprintf(f, "%s", p > 0 ? " / " : "");
        print_phase_ops(f, tape, p);
    }
    fclose(f);
    return text;
}

#endif
