/* SPDX-License-Identifier: MIT
 *
 * Puts into sentences what a worker wrote about its crash (wire/crash.h). Nothing in it is trusted:
 * texts of it are made printable, indices bounded, files opened read-only.
 */
#ifndef AB_RUNNER_CRASH_TEXT_H
#define AB_RUNNER_CRASH_TEXT_H

#include "result/verify.h"
#include "wire/run.h"

#include <sys/types.h>

/* "in realloc(0x7f3b9c001010, 4096), call 1234": the call that had not returned when the process
 * ended; "after …": the last one of the thread that found something wrong. "" where no call is
 * known. Calls are noted in proofs only. */
void ab_crash_call(const struct ab_run_report *report, char *buf, size_t cap);

/* Fills memory and function of `out`, "" where they are not known. `library` is the file under
 * test; NULL = none. */
void ab_crash_place(const struct ab_crash_report *crash, const char *library,
                    struct ab_crash_text *out);

/* "invalid memory access" of SIGSEGV; NULL for what needs no explanation. */
const char *ab_crash_meaning(int signal);

#endif
