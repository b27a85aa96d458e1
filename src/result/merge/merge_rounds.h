/* SPDX-License-Identifier: MIT
 *
 * A result whose histograms are those of all rounds together, which is most of its size; what is a
 * number stays one of each round. For where a result is kept beside something else.
 */
#ifndef AB_RESULT_MERGE_MERGE_ROUNDS_H
#define AB_RESULT_MERGE_MERGE_ROUNDS_H

#include "result/result.h"

struct ab_merged_rounds {
    struct ab_session session; /* of everything but the members below the original's */
    struct ab_hdr **hdrs;      /* n_hdrs that were made for it */
    uint32_t n_hdrs;
    struct ab_hdr *empty;
};

/* Of ops and size classes, and of windows over time: in the first record of each kind, with
 * is_histogram_merged. Of the timelines only the first one of each back end is there; distributions
 * of memory stay those of each round. `session` must outlive
 * it. */
void ab_merge_rounds(const struct ab_session *session, struct ab_merged_rounds *out);
void ab_merged_rounds_fini(struct ab_merged_rounds *m);

/* Records of iterations: their percentiles, and all rounds as one. */

/* p50, p99 and max from the histogram; NaN where it has too few, or does not hold the longest. */
void ab_iterations_summarise(struct ab_iterations *x);

/* A round of a back end and a phase, or all of them, into *out, whose hdr is the caller's and is emptied
 * first; call_ns: the mean of the rounds; without those that took
 * most and the stretches. False: there is no record. */
#define AB_ITERATIONS_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 uint32_t round, struct ab_hdr *hdr, struct ab_iterations *out);

#endif
