/* SPDX-License-Identifier: MIT
 *
 * Warnings: what a reader must know before believing the numbers, each with a remedy.
 */
#ifndef AB_ANSWER_WARNINGS_H
#define AB_ANSWER_WARNINGS_H

#include "answer/grid.h"
#include "result/result.h"

enum ab_view_severity {
    AB_VIEW_FAILURE, /* a back end has no numbers, or is excluded from the comparison */
    AB_VIEW_WARNING, /* the numbers may be wrong */
    AB_VIEW_NOTE     /* the numbers are right, but their meaning is easily misread */
};

/* Ids are frozen, because other programs may rely on them: "failed" "absent" "not-compared" "noise"
 * "preempted" "few-rounds" "unverified" "verify-failed" "shared-core" "incomplete" "unsealed"
 * "machines" "no-base" "waits" "subtracted" "crowd" "thread-ends" "trims" "faults" "inline"
 * "resets" "caveat" "little-work" "little-memory" "litter" "sized-frees" "settings" "real-clock"
 * "deepbind" "not-inside" "below-empty-call" "untouched" "proof". */
struct ab_view_warning {
    const char *id;
    enum ab_view_severity severity;
    uint32_t backend;   /* UINT32_MAX = not about a single back end */
    const char *text;   /* a sentence without its full stop; names in it are printable */
    const char *remedy; /* what to do, a command if there is one; "" = nothing helps */
};

struct ab_view_warnings {
    struct ab_view_warning *items; /* the most severe first */
    size_t n, cap;
    /* True if the machine was so busy that noise may hide a difference that is not clear */
    bool is_noisy;
};

/* Finds all warnings of a session. Their texts belong to `texts`. */
void ab_view_warnings_make(const struct ab_session *s, struct ab_view_texts *texts,
                           struct ab_view_warnings *out);
void ab_view_warnings_fini(struct ab_view_warnings *w);
/* Returns the first warning with this id; NULL = none. */
const struct ab_view_warning *ab_view_warnings_find(const struct ab_view_warnings *w,
                                                    const char *id);

/* ---- back ends: failed, absent, not compared, not verified, known to be wrong elsewhere ---- */

/* True for a library that was named by its path and that `verify` was never run on. False if it was
 * verified and failed. */
bool ab_view_is_unverified(const struct ab_backend_info *b);

/* True if a real program failed in the same way under all of several allocators. Then the program
 * itself is at fault. */
bool ab_view_program_fails(const struct ab_session *s);

#endif
