/* SPDX-License-Identifier: MIT
 *
 * The file of a program: found in PATH, and refused where nothing can be preloaded into it.
 */
#ifndef AB_PROGRAM_PROGRAM_FILE_H
#define AB_PROGRAM_PROGRAM_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_program_use { /* words for messages */
    const char *done;   /* "recorded": what it cannot be */
    const char *loaded; /* "the recorder" */
    const char *needs;  /* "the recorder needs glibc" */
};

/* The program that a command would run, as execvp looks; false: there is none. */
bool ab_program_file_find(const char *command, char *out, size_t cap);
/* Returns the end of an error about a command that was not found: a remedy if it is a program with
 * arguments in one word, else "". */
const char *ab_program_file_hint(const char *command);
/* Can something be preloaded into it? Of a script, into its interpreter. AB_USAGE: no, and why. */
enum ab_status ab_program_file_check(const char *path, const struct ab_program_use *use,
                                     struct ab_err *err);

#endif
