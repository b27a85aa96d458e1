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

/* Its `show`. Where standard output has a document, what is for people goes beside it. */
void ab_show_measured(const struct ab_measured *m);

/* Says on stderr which back ends have no numbers, and why; `is_quiet` leaves out what is only a
 * warning: what a default list lacks. */
void ab_failures_tell(const struct ab_session *session, bool is_quiet);

/* Says on stderr, in a line each, which verdicts fail the command, gates and numbers compared: all
 * that --quiet leaves of them. Where what is inconclusive fails it, that as well. */
void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive);

#endif
