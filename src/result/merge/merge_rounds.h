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

#endif
