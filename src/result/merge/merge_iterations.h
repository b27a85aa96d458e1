/* SPDX-License-Identifier: MIT
 *
 * Records of iterations: their percentiles, and all rounds as one.
 */
#ifndef AB_RESULT_MERGE_MERGE_ITERATIONS_H
#define AB_RESULT_MERGE_MERGE_ITERATIONS_H

#include "result/result.h"

/* p50, p99 and max from the histogram; NaN where it has too few, or does not hold the longest. */
void ab_iterations_summarise(struct ab_iterations *x);

/* A round of a back end and a phase, or all of them, into *out, whose hdr is the caller's and is emptied
 * first; call_ns: the mean of the rounds; without those that took
 * most and the stretches. False: there is no record. */
#define AB_ITERATIONS_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 uint32_t round, struct ab_hdr *hdr, struct ab_iterations *out);

#endif
