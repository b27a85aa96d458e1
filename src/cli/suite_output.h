/* SPDX-License-Identifier: MIT
 *
 * Shows several workloads or traces on the screen, measured now or stored.
 */
#ifndef AB_CLI_SUITE_OUTPUT_H
#define AB_CLI_SUITE_OUTPUT_H

#include "cli/options.h"
#include "core/status.h"

/* True if the arguments are several files, or the resumed result is a suite. */
bool ab_suite_is_asked(const struct ab_options *o);
/* Measures the arguments, which are all of kind `kind`, and shows one table of all results. */
enum ab_status ab_show_suite(const struct ab_options *o, enum ab_session_kind kind, int *exit_code,
                             struct ab_err *err);
/* Prints a stored suite and writes its outputs. */
enum ab_status ab_report_suite(const struct ab_options *o, const char *path, struct ab_err *err);

#endif
