/* SPDX-License-Identifier: MIT
 *
 * The numbers of a real program (`exec`) over its rounds: medians and their ratios to the base.
 * Also compares how much more a call to the allocator costs than under the base: as the replay of
 * the program's trace predicts it, and as measured in the program.
 */
#ifndef AB_ANSWER_PROGRAM_VIEW_H
#define AB_ANSWER_PROGRAM_VIEW_H

#include "answer/grid.h"
#include "result/result.h"
#include "result/result_fields.h"
#include "stats/effect.h"

/* Copies the field of one back end, one value per round; NaN = n/a. */
void ab_program_rounds(const struct ab_session *s, uint32_t backend, const struct ab_field *field,
                       double *out);

struct ab_program_value {
    double median;          /* median over the rounds; NaN = n/a */
    struct ab_effect ratio; /* ratio of the median to that of the base; with several hosts, from
                               paired rounds. NaN: is the base, or cannot be compared, such as with
                               a median of 0 */
};

/* Puts a number of `field` into a cell, with the unit of the field; `why` as in ab_grid_put. */
struct ab_grid_cell *ab_program_put(struct ab_grid *g, unsigned column,
                                    const struct ab_field *field, double value, const char *why);
/* Computes the median of a field and its ratio to the base; base UINT32_MAX = none. */
void ab_program_value_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                         const struct ab_field *field, struct ab_program_value *out);

/* Differences to the base in ns per call, with their intervals; ratio NaN = not known. */
struct ab_program_prediction {
    struct ab_effect warm, cold; /* predicted by the warm and the cold replay */
    struct ab_effect inside;     /* time within the calls of the program, which the replay
                                    predicts */
    struct ab_effect outside;    /* time of the program outside of calls, divided by the calls in
                                    the trace */
    struct ab_effect measured;   /* CPU time of the program, divided by the calls in the trace */
};

/* True if the session has a prediction. */
bool ab_program_has_prediction(const struct ab_session *s);
/* Computes the differences of a back end (not the base) to the base. */
void ab_program_prediction_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                              struct ab_program_prediction *out);
/* Compares the prediction with the measured difference: "agrees", "not measurable" …
 * (docs/exec.md); "-" if either is not known. */
const char *ab_program_prediction_word(const struct ab_program_prediction *x,
                                       const struct ab_effect *measured);

#endif
