/* SPDX-License-Identifier: MIT
 *
 * Valgrind's callgrind, which runs a program on a processor made of software and counts each of its
 * instructions. It replaces no function of the program (unlike memcheck), so the allocator that
 * serves is the one that was asked for, and the worker proves it there as anywhere.
 */
#ifndef AB_RUNNER_CALLGRIND_H
#define AB_RUNNER_CALLGRIND_H

#include "core/status.h"
#include "wire/run.h"

#include <stdbool.h>

#define AB_CALLGRIND_PACKAGE "valgrind"

struct ab_callgrind {
    char program[4096], folder[64];
    const char *arguments[12]; /* for struct ab_run_context.under; ends with NULL */
    char out_file[96], log_file[96];
};

/* Looks for valgrind in $PATH and makes a folder for its counts. False: there is none. */
bool ab_callgrind_open(struct ab_callgrind *g);
/* Instructions of each phase that the last run wrote, AB_NOT_COUNTED = none; the files are removed. */
void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases);
/* First line that valgrind itself had to say about the last run, "" = nothing. */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap);
void ab_callgrind_close(struct ab_callgrind *g);

#endif
