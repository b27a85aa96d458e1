/* SPDX-License-Identifier: MIT
 *
 * `verify` of one back end: each check in a worker of its own, with its own deadline, so that what
 * crashes or hangs costs one line and no more.
 */
#ifndef AB_RUNNER_RUN_CHECKS_H
#define AB_RUNNER_RUN_CHECKS_H

#include "result/verify.h"
#include "runner/run.h"

struct ab_verify_plan {
    struct ab_run_context context; /* tape: of the work, or one that is never run */
    bool has_work;                 /* the tape is run through the checker too */
    const char *only;              /* "NAME,NAME" of checks, `required` or `info`; NULL = all */
    uint64_t seed;
};

/* How many lines each back end gets: the checks, and the work's. */
uint32_t ab_verify_count(const struct ab_verify_plan *plan);
/* NULL past the end; for messages. */
const char *ab_verify_check_name(uint32_t i);

/* The word of a list "A,B" after the one of *n characters that `list` begins with (0: the first);
 * its length to *n. NULL past the end. */
const char *ab_verify_word(const char *list, size_t *n);

/* Fills out->lines (ab_verify_count of them) and the counts. Where the back end cannot be opened at
 * all, `info` gets its status and reason instead. AB_INTERRUPTED and AB_SYSTEM end it. */
enum ab_status ab_verify_backend_run(const struct ab_verify_plan *plan, const struct ab_case *c,
                                     struct ab_backend_info *info, struct ab_verify_backend *out,
                                     struct ab_err *err);

/* plan->only is the name of one check, or one of "work" and "work-lanes": it runs in this process,
 * which becomes the worker. Comes back only when it cannot. */
enum ab_status ab_verify_alone(const struct ab_verify_plan *plan, const struct ab_case *c,
                               struct ab_err *err);

#endif
