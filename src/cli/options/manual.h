/* SPDX-License-Identifier: MIT
 *
 * The tables of commands and options for programs: a manual page, and a completion for bash.
 */
#ifndef AB_CLI_OPTIONS_MANUAL_H
#define AB_CLI_OPTIONS_MANUAL_H

#include <stdio.h>

/* allocbench(1), for man. */
void ab_manual_print(FILE *to);
/* To be sourced by bash, or put where bash-completion looks for it. */
void ab_manual_print_completion(FILE *to);

#endif
