/* SPDX-License-Identifier: MIT
 *
 * Finds out what standard output can show: width, colour, characters.
 */
#ifndef AB_CLI_TERMINAL_H
#define AB_CLI_TERMINAL_H

#include "app/options.h"
#include "report/table/style.h"

#include <stdbool.h>

/* Returns the width of the terminal of `fd`, else COLUMNS, else 80. */
unsigned ab_terminal_width(int fd);
bool ab_terminal_has_utf8(void);
struct ab_table_style ab_terminal_style(const struct ab_options *o);
/* AB_USAGE: -v names a phase that the session does not measure. */
enum ab_status ab_terminal_check_phase(const struct ab_options *o, const struct ab_session *session,
                                       struct ab_err *err);

#endif
