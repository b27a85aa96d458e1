/* SPDX-License-Identifier: MIT
 *
 * Records of iterations: their percentiles, and all rounds as one.
 */
#ifndef AB_RESULT_MERGE_MERGE_ITERATIONS_H
#define AB_RESULT_MERGE_MERGE_ITERATIONS_H

#include "result/result.h"

/* p50, p99 and max from the histogram; NaN where it has too few. */
void ab_iterations_summarise(struct ab_iterations *x);

/* All rounds of a back end and a phase into *out, whose hdr is the caller's and is emptied first;
 * call_ns: the mean of the rounds. False: there is no record. */
bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 struct ab_hdr *hdr, struct ab_iterations *out);

#endif
