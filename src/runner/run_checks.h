/* SPDX-License-Identifier: MIT
 *
 * Runs `verify` for one back end. Each check has its own worker and deadline, so that a crash or a
 * hang costs only the line of that check.
 */
#ifndef AB_RUNNER_RUN_CHECKS_H
#define AB_RUNNER_RUN_CHECKS_H

#include "result/verify_record.h"
#include "runner/run.h"

struct ab_verify_plan {
    /* context.tape is that of the work; without work, a tape that is never run */
    struct ab_run_context context;
    bool has_work;    /* also run the tape through the checker */
    const char *only; /* "NAME,NAME" of checks, or `required` or `info`; NULL = all */
    uint64_t seed;
};

/* Returns the number of lines of each back end: one for each check that plan->only selects, and
 * those of the work. */
uint32_t ab_verify_count(const struct ab_verify_plan *plan);
/* Returns the name of check i, for messages; NULL past the end. */
const char *ab_verify_check_name(uint32_t i);

/* Iterates over the words of a list "A,B". Returns the word after that of *n characters at `list`,
 * or the first if *n is 0. Sets *n to its length. Returns NULL past the end. */
const char *ab_verify_word(const char *list, size_t *n);

/* Fills out->lines (ab_verify_count of them) and the counts. If the back end cannot be opened at
 * all, `info` gets its status and reason instead. Only AB_INTERRUPTED and AB_SYSTEM are errors. */
enum ab_status ab_verify_backend_run(const struct ab_verify_plan *plan, const struct ab_case *c,
                                     struct ab_backend_info *info, struct ab_verify_backend *out,
                                     struct ab_err *err);

/* Runs one check in this process, which becomes the worker. plan->only is its name, or "work" or
 * "work-lanes". Returns only on failure. */
enum ab_status ab_verify_alone(const struct ab_verify_plan *plan, const struct ab_case *c,
                               struct ab_err *err);

#endif
