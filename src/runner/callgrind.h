/* SPDX-License-Identifier: MIT
 *
 * Interface to Valgrind's callgrind, which runs a program on a simulated processor and counts each
 * instruction. Unlike memcheck it replaces no functions of the program. The requested allocator
 * therefore serves the program, and the worker proves it as usual.
 */
#ifndef AB_RUNNER_CALLGRIND_H
#define AB_RUNNER_CALLGRIND_H

#include "core/unfinished.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_CALLGRIND_PACKAGE "valgrind"

struct ab_callgrind {
    char program[4096];
    struct ab_temporary folder;
    /* command line of valgrind, for struct ab_run_context.under; ends with NULL */
    const char *arguments[12];
    char out_file[1100], log_file[1100];
};

/* Looks for valgrind in $PATH and makes a folder for its counts. Returns false if valgrind is not
 * installed. */
bool ab_callgrind_open(struct ab_callgrind *g);
/* Reads the number of instructions in each phase of the last run, and removes the files of the run.
 * AB_NOT_COUNTED = callgrind counted none. */
void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases);
/* Writes the first message that valgrind itself gave in the last run; "" = none. */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap);
void ab_callgrind_close(struct ab_callgrind *g);

#endif
