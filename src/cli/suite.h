/* SPDX-License-Identifier: MIT
 *
 * Several workloads or traces on the screen: measured now, or stored.
 */
#ifndef AB_CLI_SUITE_H
#define AB_CLI_SUITE_H

#include "app/suite.h"

/* Measures the arguments, of which each is a `kind`, and shows the table of all. */
enum ab_status ab_show_suite(const struct ab_options *o, const char *kind, int *exit_code,
                             struct ab_err *err);
/* Prints and writes a stored one. */
enum ab_status ab_report_suite(const struct ab_options *o, const char *path, struct ab_err *err);

#endif
