/* SPDX-License-Identifier: MIT
 *
 * Completion: what may follow on a command line, from the same tables as --help, and names of
 * workloads and baselines. The shells ask for it by a hidden command.
 */
#ifndef AB_CLI_COMPLETE_H
#define AB_CLI_COMPLETE_H

#include "core/status.h"

#include <stdio.h>

/* `words` are those after the name of the program, up to the one at the cursor, which may be empty.
 * Prints each candidate for that one on a line of its own, whole; nothing where any file may be. What
 * cannot be read has no candidates: a completion never fails. One that ends with one of =/,: is
 * to be continued. */
void ab_complete_print(FILE *to, int n, char **words);

/* The script that connects "bash", "zsh" or "fish" with it; else AB_USAGE. */
enum ab_status ab_complete_script(FILE *to, const char *shell, struct ab_err *err);

#endif
