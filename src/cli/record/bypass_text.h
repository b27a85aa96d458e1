/* SPDX-License-Identifier: MIT
 *
 * Warnings of what a recording did not see, and how to see it.
 */
#ifndef AB_CLI_RECORD_BYPASS_TEXT_H
#define AB_CLI_RECORD_BYPASS_TEXT_H

#include "record/bypass.h"

#include <stdio.h>

/* "libx.so, liby.so and 3 more", printable. */
void ab_bypass_print_modules(FILE *to, const struct ab_trace_bypass *b);

/* "at least 3 calls; memory at the end at most 4 MiB". */
void ab_bypass_print_amount(FILE *to, const struct ab_trace_bypass *b);

/* A line for one trace, where there is something to warn of. */
void ab_bypass_print_warning(FILE *to, const char *trace, const struct ab_bypass_report *report,
                             const struct ab_trace_bypass *b);

#endif
