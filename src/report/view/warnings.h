/* SPDX-License-Identifier: MIT
 *
 * What a reader must know before believing the numbers, each with what to do about it.
 */
#ifndef AB_REPORT_VIEW_WARNINGS_H
#define AB_REPORT_VIEW_WARNINGS_H

#include "report/view/grid.h"
#include "result/result.h"

enum ab_view_severity {
    AB_VIEW_FAILURE, /* of a back end: it has no numbers, or is out of the comparison */
    AB_VIEW_WARNING, /* numbers may be wrong */
    AB_VIEW_NOTE     /* they are right, and mean something that is easily overlooked */
};

/* Ids are frozen: "failed" "absent" "not-compared" "noise" "preempted" "few-rounds" "unverified"
 * "shared-core" "incomplete" "machines" "no-base" "waits" "thread-ends" "faults" "inline" "resets"
 * "caveat" "little-work" "sized-frees" "settings" "real-clock" "deepbind" "not-inside" "below-empty-call"
 * "untouched" "proof". */
struct ab_view_warning {
    const char *id;
    enum ab_view_severity severity;
    uint32_t backend;   /* UINT32_MAX = of no single one */
    const char *text;   /* a sentence without its full stop; names in it are printable */
    const char *remedy; /* what to do, a command where there is one; "" = nothing helps */
};

struct ab_view_warnings {
    struct ab_view_warning *items; /* the gravest first */
    size_t n, cap;
    bool is_noisy; /* the machine was too busy for a verdict that is not clear anyway */
};

/* Texts go to `texts`. */
void ab_view_warnings_make(const struct ab_session *s, struct ab_view_texts *texts,
                           struct ab_view_warnings *out);
void ab_view_warnings_fini(struct ab_view_warnings *w);
/* The first with this id; NULL = none. */
const struct ab_view_warning *ab_view_warnings_find(const struct ab_view_warnings *w,
                                                    const char *id);

/* For the files of this folder: one more warning. */

/* What became of back ends: failed, absent, not compared, not verified, known to be wrong elsewhere. */

/* True for a library that was named by its path and that `verify` has never run with; one that failed it
 * is none. */
bool ab_view_is_unverified(const struct ab_backend_info *b);

/* Did a real program fail in the same way under all of several allocators? Then it is the program. */
bool ab_view_program_fails(const struct ab_session *s);

#endif
