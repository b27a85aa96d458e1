/* SPDX-License-Identifier: MIT
 *
 * Shows people how a use case goes and what came of it: progress and notes on standard error, the
 * answer on standard output.
 */
#ifndef AB_CLI_SHOW_H
#define AB_CLI_SHOW_H

#include "app/say.h"

/* For `listener` of the options. Its limit of preparing ends the process. */
extern const struct ab_listener ab_show_listener;

/* Says on stderr which back ends have no numbers, and why, with `where` ("replay: ") before the name; `is_quiet` leaves out what is only a
 * warning: what a default list lacks. */
void ab_failures_tell(const struct ab_session *session, const char *where, bool is_quiet);

/* Says on stderr, in a line each, which verdicts fail the command, gates and numbers compared: all
 * that --quiet leaves of them. Where what is inconclusive fails it, that as well. */
void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive);

#endif
