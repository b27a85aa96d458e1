/* SPDX-License-Identifier: MIT
 *
 * The answer as data: what terminal, HTML, Markdown and whatever else show of a session is worked
 * out here, once. A figure that several of them show is one number.
 * Pure: nothing is read but the session, which must outlive the view. Times in ns, sizes in bytes,
 * NaN = n/a. Texts and lists belong to the view; names of back ends, phases and the session are
 * borrowed and may be hostile: each format escapes them in its own way.
 */
#ifndef AB_REPORT_VIEW_VIEW_H
#define AB_REPORT_VIEW_VIEW_H

#include "report/view/headline.h"
#include "report/view/latency.h"
#include "report/view/memory.h"
#include "report/view/next_step.h"
#include "report/view/phases.h"
#include "report/view/ranking.h"
#include "report/view/slowest.h"
#include "report/view/view_text.h"
#include "report/view/warnings.h"

struct ab_view {
    const struct ab_session *session;
    const char *title; /* "quickstart: 470k operations, 4 phases, 1 thread, up to 13.7 MiB live; 10
                          rounds"; names in it are printable */
    uint64_t n_ops;    /* of the measured phases, in one round */
    struct ab_view_headline headline;
    struct ab_view_ranking ranking;
    struct ab_view_phases phases;
    struct ab_view_latency latency;
    struct ab_view_memory memory;
    struct ab_view_slowest slowest, slow_iterations;
    struct ab_view_warnings warnings;
    struct ab_view_steps next;
    struct ab_view_texts texts;
};

/* Numbers and texts are spelt in the C locale,
 * whatever the program's is. */
void ab_view_make(const struct ab_session *session, struct ab_view *out);
void ab_view_fini(struct ab_view *v);

#endif
