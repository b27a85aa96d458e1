/* SPDX-License-Identifier: MIT
 *
 * What standard output can show: width, colour, characters.
 */
#ifndef AB_CLI_TERMINAL_H
#define AB_CLI_TERMINAL_H

#include "cli/options/options.h"
#include "report/table/style.h"

struct ab_table_style ab_terminal_style(const struct ab_options *o);

#endif
