/* SPDX-License-Identifier: MIT
 *
 * Classifies how a worker ended: in one status and one sentence.
 */
#ifndef AB_RUNNER_CLASSIFY_H
#define AB_RUNNER_CLASSIFY_H

#include "result/verify.h"
#include "runner/run.h"
#include "runner/supervise.h"
#include "wire/run.h"

#include <sys/types.h>

struct ab_evidence {
    const struct ab_ending *ending;
    const struct ab_run_report *report; /* untrusted */
    const struct ab_tape_map *tape;
    const char *stdout_text, *stderr_text; /* heads of what it printed */
    uint64_t timeout_ns, memory_limit_bytes;
    bool is_check;    /* no tape ran */
    const char *call; /* of a check: which call it was in, "" or NULL = not known */
};

/* Sets out->status and out->reason. AB_SYSTEM when the worker itself could not work. */
enum ab_status ab_classify(const struct ab_evidence *e, struct ab_outcome *out, struct ab_err *err);

/* Puts into sentences what a worker wrote about its crash (wire/crash.h). Nothing in it is trusted:
 * texts of it are made printable, indices bounded, files opened read-only. */

/* "in realloc(0x7f3b9c001010, 4096), call 1234": the call that had not returned when the process
 * ended; "after …": the last one of the thread that found something wrong. "" where no call is
 * known. Calls are noted in proofs only. */
void ab_crash_call(const struct ab_run_report *report, char *buf, size_t cap);

/* Fills memory and function of `out`, "" where they are not known. `library` is the file under
 * test; NULL = none. */
void ab_crash_place(const struct ab_crash_report *crash, const char *library,
                    struct ab_crash_text *out);

#endif
