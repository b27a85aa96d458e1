/* SPDX-License-Identifier: MIT
 *
 * `report --html` of several results: one report, in which the first is the base of the others.
 */
#ifndef AB_CLI_COMPARE_REPORT_SEVERAL_H
#define AB_CLI_COMPARE_REPORT_SEVERAL_H

#include "cli/options/options.h"

/* Is that what is asked for: more than one result, and --html alone? */
bool ab_report_several_is_asked(const struct ab_options *o);
/* AB_USAGE: not the same work; AB_INPUT: one is unreadable, altered or not whole. */
enum ab_status ab_report_several(const struct ab_options *o, struct ab_err *err);

#endif
