/* SPDX-License-Identifier: MIT
 *
 * Results of `allocbench verify`: the verdict of each check on each back end.
 */
#ifndef AB_RESULT_VERIFY_RECORD_H
#define AB_RESULT_VERIFY_RECORD_H

#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_verify_verdict { /* the names of verdicts are frozen: results/keys.csv */
                         AB_VERIFY_OK,
                         AB_VERIFY_FAILED,
                         /* the check did less work than it must, so it proves nothing; counts as a
                          * failure */
                         AB_VERIFY_NOT_PROVEN,
                         AB_VERIFY_CRASHED,
                         AB_VERIFY_TIMEOUT,
                         AB_VERIFY_SKIPPED,
                         AB_VERIFY_INFO, /* describes behaviour that the standards leave open */
};
const char *ab_verify_verdict_name(unsigned verdict);
/* True if this verdict means that the back end is wrong. */
bool ab_verify_verdict_fails(enum ab_verify_verdict verdict);

struct ab_crash_text { /* sentences about a crash; "" = nothing is known */
    /* the call during which the back end crashed, "in free(0x7f…), call 12" of the whole check, or
     * after which, "after …". If the check failed without a crash, the last call before the
     * failure */
    char call[256];
    char memory[320];   /* "write to 0x8: a null pointer and an offset" */
    char function[640]; /* "libmine.so+0x1139 (free+0x29)" */
};

struct ab_verify_line {              /* one check of one back end */
    const char *check, *rule, *unit; /* borrowed */
    bool is_info;                    /* an informational check; otherwise the check is required */
    enum ab_verify_verdict verdict;
    uint64_t work;
    char text[1024]; /* what is wrong, the reason for skipping, or the answer; "" = nothing to
                        say */
    struct ab_crash_text crash; /* set if this check fails the back end */
    /* command that repeats the failure in a debugger; owned; NULL = none */
    char *repeat;
};

struct ab_verify_backend {
    /* with a status other than ok, the back end could not be verified */
    const struct ab_backend_info *info;
    /* n_lines of the session, in the same order for each back end */
    struct ab_verify_line *lines;
    uint32_t n_failed;          /* number of lines that fail the back end */
    uint32_t n_not_proven;      /* number of these lines that only prove nothing */
    struct ab_crash_text crash; /* set if the back end could not be verified */
    char *repeat;               /* command that repeats `crash`; owned */
};

/* Returns "conforming", "nonconforming", or "unproven" (nothing is wrong, but not everything was
 * proven). */
const char *ab_verify_status_name(const struct ab_verify_backend *b);

struct ab_verify_session {
    struct ab_verify_backend *backends;
    uint32_t n_backends, n_lines;
    uint64_t seed;
    const char *work_name; /* workload or trace that was checked as well; NULL = none */
};

#endif
