/* SPDX-License-Identifier: MIT
 *
 * Results of `allocbench verify`: the verdict of each check on each back end.
 */
#ifndef AB_RESULT_VERIFY_RECORD_H
#define AB_RESULT_VERIFY_RECORD_H

#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_verify_verdict { /* names are frozen: results/keys.csv */
                         AB_VERIFY_OK,
                         AB_VERIFY_FAILED,
                         AB_VERIFY_NOT_PROVEN, /* did less work than its floor, so it proves
                                                  nothing; counts as a failure */
                         AB_VERIFY_CRASHED,
                         AB_VERIFY_TIMEOUT,
                         AB_VERIFY_SKIPPED,
                         AB_VERIFY_INFO, /* describes behaviour that the standards leave open */
};
const char *ab_verify_verdict_name(unsigned verdict);
/* True if this verdict makes the back end wrong. */
bool ab_verify_verdict_fails(enum ab_verify_verdict verdict);

struct ab_crash_text { /* sentences about a crash; "" = nothing is known */
    /* call during which it happened: "in free(0x7f…), call 12" of the whole check if the call was
     * in progress, "after …" if it had returned. If the check failed without a crash, the last call
     * before */
    char call[256];
    char memory[320];   /* "write to 0x8: a null pointer and an offset" */
    char function[640]; /* "libmine.so+0x1139 (free+0x29)" */
};

struct ab_verify_line {              /* one check of one back end */
    const char *check, *rule, *unit; /* borrowed */
    bool is_info;                    /* else it is a required check */
    enum ab_verify_verdict verdict;
    uint64_t work;
    char text[1024]; /* what is wrong, the reason for skipping, or the answer; "" = nothing to
                        say */
    struct ab_crash_text crash; /* if this line fails the back end */
    char *repeat;               /* command that repeats the failure in a debugger; owned; NULL =
                                   none */
};

struct ab_verify_backend {
    const struct ab_backend_info *info; /* with a status other than ok it could not be verified */
    struct ab_verify_line *lines;       /* n_lines of the session, same order */
    uint32_t n_failed;                  /* number of lines that fail it */
    uint32_t n_not_proven;              /* number of those that only prove nothing */
    struct ab_crash_text crash;         /* if the back end could not be verified */
    char *repeat;                       /* command that repeats this crash; owned */
};

/* Returns "conforming", "nonconforming", or "unproven": nothing is wrong, but not everything was
 * proven. */
const char *ab_verify_status_name(const struct ab_verify_backend *b);

struct ab_verify_session {
    struct ab_verify_backend *backends;
    uint32_t n_backends, n_lines;
    uint64_t seed;
    const char *work_name; /* workload or trace that ran as well; NULL = none */
};

#endif
