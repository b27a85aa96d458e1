/* SPDX-License-Identifier: MIT
 *
 * What `allocbench verify` found: the verdict of each check of each back end.
 */
#ifndef AB_RESULT_VERIFY_H
#define AB_RESULT_VERIFY_H

#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_verify_verdict { /* names are frozen: results/README.md */
                         AB_VERIFY_OK,
                         AB_VERIFY_FAILED,
                         AB_VERIFY_NOT_PROVEN, /* it did less work than its floor: proves nothing, fails */
                         AB_VERIFY_CRASHED,
                         AB_VERIFY_TIMEOUT,
                         AB_VERIFY_SKIPPED,
                         AB_VERIFY_INFO, /* how it behaves where the standards leave it open */
};
const char *ab_verify_verdict_name(unsigned verdict);
/* Is the back end wrong by it? */
bool ab_verify_verdict_fails(enum ab_verify_verdict verdict);

struct ab_crash_text { /* sentences about an end that was not planned; "" = nothing is known */
    /* "in free(0x7f…), call 12" of the whole check: was in progress; "after …": had returned; neither
     * where the check failed: the last one before. */
    char call[256];
    char memory[320];   /* "write to 0x8: a null pointer and an offset" */
    char function[640]; /* "libmine.so+0x1139 (free+0x29)" */
};

struct ab_verify_line {              /* one check of one back end */
    const char *check, *rule, *unit; /* borrowed */
    bool is_info;                    /* else required */
    enum ab_verify_verdict verdict;
    uint64_t work;
    char text[1024]; /* what is wrong, why it was skipped, or the answer; "" = nothing to say */
    struct ab_crash_text crash; /* where the line fails the back end */
    char *repeat;               /* owned; the command that shows it in a debugger; NULL = none */
};

struct ab_verify_backend {
    const struct ab_backend_info *info; /* a status other than ok: it could not be verified */
    struct ab_verify_line *lines;       /* n_lines of the session, same order */
    uint32_t n_failed;                  /* lines that fail it, */
    uint32_t n_not_proven;              /* and those of them that only prove nothing */
    struct ab_crash_text crash;         /* of a back end that could not be verified */
    char *repeat;                       /* owned; the same of it */
};

/* "conforming", "nonconforming", or "unproven": nothing is wrong, but not all was proven. */
const char *ab_verify_status_name(const struct ab_verify_backend *b);

struct ab_verify_session {
    struct ab_verify_backend *backends;
    uint32_t n_backends, n_lines;
    uint64_t seed;
    const char *work_name; /* of the workload or trace that was run too; NULL = none */
};

#endif
