/* SPDX-License-Identifier: MIT
 *
 * Makes a smaller copy of a result for embedding in another file. The histograms of all rounds are
 * merged, because they are most of a result's size. Plain numbers stay separate for each round.
 */
#ifndef AB_RESULT_MERGE_MERGE_ROUNDS_H
#define AB_RESULT_MERGE_MERGE_ROUNDS_H

#include "result/result.h"

struct ab_merged_rounds {
    /* owns only the members below; everything else belongs to the original */
    struct ab_session session;
    struct ab_hdr **hdrs; /* n_hdrs merged histograms */
    uint32_t n_hdrs;
    struct ab_hdr *empty;
};

/* Merges the histograms of ops and of size classes, and the windows over time. The first record of
 * each kind gets the merged histogram, and is_histogram_merged is set. Keeps only the first
 * timeline of each back end. Distributions of memory stay separate for each round. `session` must
 * outlive *out. */
void ab_merge_rounds(const struct ab_session *session, struct ab_merged_rounds *out);
void ab_merged_rounds_fini(struct ab_merged_rounds *m);

/* Summaries of iteration records: percentiles, and all rounds merged into one record. */

/* Computes p50, p99 and max from the histogram. A value is NaN if there are too few samples, if it
 * overflowed, or if it cannot be distinguished from the time of the null back end. */
void ab_iterations_summarise(struct ab_iterations *x);

/* Merges the records of a back end and a phase, of one round or of all, into *out. *out gets the
 * histogram hdr, which the caller owns and which is emptied first. call_ns becomes the mean of the
 * rounds. The worst iterations and the stretches are left out. Returns false if there is no
 * record. */
#define AB_ITERATIONS_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 uint32_t round, struct ab_hdr *hdr, struct ab_iterations *out);

#endif
