/* SPDX-License-Identifier: MIT
 *
 * Completes command lines, from the tables of --help and the names of workloads and baselines.
 * Shells call it through a hidden command.
 */
#ifndef AB_CLI_COMPLETE_H
#define AB_CLI_COMPLETE_H

#include "core/status.h"

#include <stdio.h>

/* Prints each candidate for the last word on a line of its own, as a whole word. `words` are the
 * words after the program's name up to the cursor; the last may be empty. Prints nothing where any
 * file is allowed. A candidate that ends in one of =/,: is to be continued. Ignores errors: a table
 * or folder that cannot be read gives no candidates. */
void ab_complete_print(FILE *to, int n, char **words);

/* Prints the completion script for "bash", "zsh" or "fish"; fails with AB_USAGE for other
 * shells. */
enum ab_status ab_complete_script(FILE *to, const char *shell, struct ab_err *err);

#endif
