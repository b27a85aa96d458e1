/* SPDX-License-Identifier: MIT
 *
 * Classifies how a worker ended: in one status and one sentence.
 */
#ifndef AB_RUNNER_CLASSIFY_H
#define AB_RUNNER_CLASSIFY_H

#include "runner/run.h"
#include "runner/supervise.h"

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

#endif
