/* SPDX-License-Identifier: MIT
 *
 * Prints the tables of commands, options and words as manual pages in troff (man macros).
 * scripts/md-to-man makes the pages of the workload language and the trace file from their
 * documents.
 */
#ifndef AB_CLI_MANUAL_H
#define AB_CLI_MANUAL_H

#include "core/status.h"

#include <stdio.h>

/* Prints a page: allocbench(1) for NULL, allocbench-COMMAND(1) for a command,
 * allocbench-glossary(7) for "glossary". Fails with AB_USAGE for other names. */
enum ab_status ab_manual_print(FILE *to, const char *page, struct ab_err *err);

#endif
