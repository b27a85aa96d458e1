/* SPDX-License-Identifier: MIT
 *
 * The tables of commands, options and words as manual pages in troff (man macros). The pages of the
 * workload language and of the trace file are made from their documents by scripts/md-to-man.
 */
#ifndef AB_CLI_MANUAL_H
#define AB_CLI_MANUAL_H

#include "core/status.h"

#include <stdio.h>

/* allocbench(1) for NULL, allocbench-COMMAND(1) for a command, allocbench-glossary(7) for
 * "glossary". Else AB_USAGE. */
enum ab_status ab_manual_print(FILE *to, const char *page, struct ab_err *err);

#endif
