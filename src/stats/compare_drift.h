/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine? Two results are two times of day. A back end whose build is the same
 * in both can only show what the machine did: it is a witness. The others are judged by their ratio
 * to the witnesses.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/compare.h"

/* A time of one back end in two results. */
struct ab_drift_question {
    const struct ab_session *base, *now;
    uint32_t base_backend, backend;
    const struct ab_metric *metric; /* in ns or 1/s; NULL = the time of the whole run */
};

struct ab_drift {
    bool is_unchanged; /* the back end itself is the same build in both */
    uint32_t n_witnesses;
    char witnesses[AB_WITNESSES_BYTES]; /* "glibc", "glibc and 2 others" */
    /* New by base, of times; with several witnesses the median of what each of them says, so that
     * a bound holds by more than half of them. Without any ratio is NaN. */
    struct ab_effect machine;  /* of the witnesses themselves */
    struct ab_effect relative; /* of the back end by the witness in the same round */
};

/* Same build id, version, settings and rules. Without a build id it is not known, and so false. */
bool ab_drift_is_unchanged(const struct ab_backend_info *a, const struct ab_backend_info *b);
void ab_drift_measure(const struct ab_drift_question *q, struct ab_drift *out);
/* Did the witnesses move by more than the limit? Then `reason` says so. */
bool ab_drift_has_moved(const struct ab_drift *d, double limit, char *reason, size_t cap);

/* For what has no witness: may the CPU (noise.canary_quiet_ns) explain the effect, a time, by at
 * least half, so that the rest is within the limit? `reason` says so. */
bool ab_drift_is_of_cpu(const struct ab_drift_question *q, const struct ab_effect *effect,
                        double limit, char *reason, size_t cap);
/* Where more than 13 % of the time of a result was lost to other programs (noise.wall_s against
 * noise.cpu_s), its rounds err together: is the interval not wholly beyond the limit? */
bool ab_drift_is_doubtful(const struct ab_drift_question *q, const struct ab_effect *effect,
                          double limit, char *reason, size_t cap);

/* Gives, between two results, each time of the whole run its verdict. */
void ab_comparison_weigh_drift(struct ab_comparison *c);

#endif
