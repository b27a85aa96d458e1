/* SPDX-License-Identifier: MIT
 *
 * The library, or the machine? Two results are two times of day. A back end whose build is the same
 * in both can only show what the machine did: it is a witness. The others are judged by their ratio
 * to the witnesses.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/check.h"
#include "stats/metric.h"

/* A time of one back end in two results. */
struct ab_drift_question {
    const struct ab_session *base, *now;
    uint32_t base_backend, backend;
    const struct ab_metric *metric; /* in ns or 1/s */
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
/* The row of the same combination that stands for all rows of this build with the same settings and heap:
 * the base if it is one of them, else the first; `backend` itself if there is no other, or the build id is
 * not known. A difference between such rows is noise. */
uint32_t ab_drift_twin(const struct ab_session *s, uint32_t backend);
void ab_drift_measure(const struct ab_drift_question *q, struct ab_drift *out);
/* May the machine have made the verdict on this effect, a time, and not the library? `reason` says how
 * it may. `is_change`: the verdict is that something changed, and the CPU (noise.canary_quiet_ns)
 * or other programs (noise.wall_s against noise.cpu_s) may be why; else that nothing did beyond the
 * limit, which the witnesses contradict where they moved that far themselves. */
bool ab_drift_is_doubtful(const struct ab_drift_question *q, const struct ab_drift *d,
                          const struct ab_effect *effect, double limit, bool is_change,
                          char *reason, size_t cap);

#endif
