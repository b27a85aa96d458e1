/* SPDX-License-Identifier: MIT
 *
 * Classifies how a worker ended, as one status and one sentence.
 */
#ifndef AB_RUNNER_CLASSIFY_H
#define AB_RUNNER_CLASSIFY_H

#include "result/verify_record.h"
#include "runner/run.h"
#include "runner/supervise.h"
#include "wire/run_page.h"

#include <sys/types.h>

struct ab_evidence {
    const struct ab_ending *ending;
    const struct ab_run_report *report; /* untrusted */
    const struct ab_tape_map *tape;
    /* beginnings of the worker's standard output and standard error */
    const char *stdout_text, *stderr_text;
    uint64_t timeout_ns, memory_limit_bytes;
    bool is_check;    /* the worker ran a check, and no tape */
    const char *call; /* call in progress during a check; "" or NULL = unknown */
};

/* Sets out->status and out->reason. Returns AB_SYSTEM if the worker itself could not run. */
enum ab_status ab_classify(const struct ab_evidence *e, struct ab_outcome *out, struct ab_err *err);

/* Functions that turn the crash report of a worker (wire/crash_report.h) into sentences. Nothing
 * in a report is trusted: its texts are made printable, its indices are bounded, and files are
 * opened read-only. */

/* Writes the call in which, or after which, the worker crashed. "in realloc(0x7f3b9c001010, 4096),
 * call 1234" = the call had not returned when the process ended. "after …" = the last call of the
 * thread that found an error. "" = not known. Calls are recorded in checks only. */
void ab_crash_call(const struct ab_run_report *report, char *buf, size_t cap);

/* Fills `memory` and `function` of *out from the crash report; "" = not known. `library` is the
 * path of the library under test; NULL = none. */
void ab_crash_place(const struct ab_crash_report *crash, const char *library,
                    struct ab_crash_text *out);

#endif
