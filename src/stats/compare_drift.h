/* SPDX-License-Identifier: MIT
 *
 * Separates changes of the library from changes of the machine. Two results were measured at
 * different times. A back end with the same build in both serves as a control (a "witness"),
 * because its times can only show changes of the machine. The other back ends are judged by their
 * ratio to the control back ends.
 */
#ifndef AB_STATS_COMPARE_DRIFT_H
#define AB_STATS_COMPARE_DRIFT_H

#include "stats/check.h"
#include "stats/metric.h"

/* The question whether a time of one back end changed between two results. */
struct ab_drift_question {
    const struct ab_session *base, *now;
    uint32_t base_backend, backend;
    const struct ab_metric *metric; /* a time or a rate: in ns or 1/s */
};

struct ab_drift {
    bool is_unchanged; /* the back end itself has the same build in both results */
    uint32_t n_controls;
    /* names of the control back ends: "glibc", "glibc and 2 others" */
    char controls[AB_CONTROLS_BYTES];
    /* Ratios of times, new / base. With several controls each is the median over them, so that a
     * bound holds for more than half of them. Without a control, ratio is NaN. */
    struct ab_effect machine; /* change of the controls themselves */
    struct ab_effect
        relative; /* change of the back end relative to the control in the same round */
};

/* True if build id, version, settings and rules are the same. False if the build id is not
 * known. */
bool ab_drift_is_unchanged(const struct ab_backend_info *a, const struct ab_backend_info *b);
/* Returns the row that represents all rows with the build, settings, heap and combination of
 * `backend`. It is the base row if that is among them, otherwise the first of them. Returns
 * `backend` itself if there is no other such row, or if the build id is not known. A difference
 * between such rows is noise. */
uint32_t ab_drift_twin(const struct ab_session *s, uint32_t backend);
void ab_drift_measure(const struct ab_drift_question *q, struct ab_drift *out);
/* True if the machine, and not the library, may have caused the verdict on this effect of a time.
 * Writes the reason. With is_change, the verdict is a change: the CPU (noise.canary_quiet_ns) or
 * other programs (noise.wall_s and noise.cpu_s) may have caused it. Otherwise the verdict is that
 * nothing changed by more than the limit. It is doubtful if the control back ends changed by more
 * than that. */
bool ab_drift_is_doubtful(const struct ab_drift_question *q, const struct ab_drift *d,
                          const struct ab_effect *effect, double limit, bool is_change,
                          char *reason, size_t cap);

#endif
