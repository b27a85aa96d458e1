/* SPDX-License-Identifier: MIT
 *
 * Finds out what standard output can show: its width, colours, and characters.
 */
#ifndef AB_CLI_TERMINAL_H
#define AB_CLI_TERMINAL_H

#include "cli/options.h"
#include "report/table/style.h"

#include <stdbool.h>

/* Returns the width of the terminal of `fd`, else COLUMNS, else 80. */
unsigned ab_terminal_width(int fd);
bool ab_terminal_has_utf8(void);
struct ab_table_style ab_terminal_style(const struct ab_options *o);

#endif
