/* SPDX-License-Identifier: MIT
 *
 * The numbers of a real program (`exec`) over its rounds: medians and their ratios to the base; and
 * what a call to the allocator costs more than under the base, as the replay of its trace predicts
 * it and as the program has it.
 */
#ifndef AB_REPORT_VIEW_PROGRAM_H
#define AB_REPORT_VIEW_PROGRAM_H

#include "report/view/grid.h"
#include "result/result.h"
#include "result/result_fields.h"
#include "stats/effect.h"

/* The field of results of this name; NULL = none. */
const struct ab_field *ab_program_field(const char *name);

/* Did it run with --server? Its time is then that of its load. */
bool ab_program_is_server(const struct ab_session *s);

/* Of one back end, by round; NaN = n/a. */
void ab_program_rounds(const struct ab_session *s, uint32_t backend, const struct ab_field *field,
                       double *out);

struct ab_program_value {
    double median;          /* over the rounds; NaN = n/a */
    struct ab_effect ratio; /* of the median by that of the base, of results of several hosts
                               that of the rounds; ratio NaN: is the base, or there is nothing to
                               compare with, such as a median of 0 */
};

/* Puts a number of `field` into a cell, with the unit of the field; `why` as in ab_grid_put. */
struct ab_grid_cell *ab_program_put(struct ab_grid *g, unsigned column,
                                    const struct ab_field *field, double value, const char *why);
/* `base`: UINT32_MAX = none. */
void ab_program_value_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                         const struct ab_field *field, struct ab_program_value *out);

/* Differences to the base in ns a call, with their intervals; ratio NaN = not known. */
struct ab_program_witness {
    struct ab_effect warm, cold; /* by the two replays */
    struct ab_effect inside;     /* in the calls of the program, which is what a replay predicts */
    struct ab_effect outside;    /* of these calls, by the calls in the trace */
    struct ab_effect measured;   /* CPU time of the program by the calls in the trace */
};

/* Has the session a prediction at all? */
bool ab_program_has_prediction(const struct ab_session *s);
/* Of a back end other than the base. */
void ab_program_witness_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                           struct ab_program_witness *out);
/* Of the prediction and what was measured: "agrees", "not measurable" …: docs/exec.md; "-" where one of
 * the two is not known. */
const char *ab_program_witness_word(const struct ab_program_witness *x,
                                    const struct ab_effect *measured);

#endif
