/* SPDX-License-Identifier: MIT
 *
 * Finds the file of a program in PATH, and refuses programs into which nothing can be preloaded.
 */
#ifndef AB_PROGRAM_PROGRAM_FILE_H
#define AB_PROGRAM_PROGRAM_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_program_use { /* words for messages */
    const char *done;   /* participle for "cannot be …": "recorded" */
    const char *loaded; /* "the recorder" */
    const char *needs;  /* "the recorder needs glibc" */
};

/* Finds the program that a command would run, searching PATH as execvp does. Returns false if
 * there is none. */
bool ab_program_file_find(const char *command, char *out, size_t cap);
/* Returns the end of an error about a command that was not found: a remedy if it is a program with
 * arguments in one word, else "". */
const char *ab_program_file_hint(const char *command);
/* Checks that a library can be preloaded into the program or, for a script, into its
 * interpreter. Returns AB_USAGE with the reason if not. */
enum ab_status ab_program_file_check(const char *path, const struct ab_program_use *use,
                                     struct ab_err *err);

#endif
