/* SPDX-License-Identifier: MIT
 *
 * Shows progress and results of a use case: progress and notes on standard error, the answer on
 * standard output.
 */
#ifndef AB_CLI_SHOW_H
#define AB_CLI_SHOW_H

#include "app/say.h"

/* Listener for the options. It ends the process if preparing exceeds its time limit. */
extern const struct ab_listener ab_show_listener;

/* Prints on stderr which back ends have no numbers, and why, with `where` ("replay: ") before the
 * name. is_quiet omits warnings, which are about missing libraries of a default list. */
void ab_failures_tell(const struct ab_session *session, const char *where, bool is_quiet);

/* Prints on stderr a line for each gate or comparison that fails the command: all that --quiet
 * shows. If inconclusive verdicts fail the command (fails_inconclusive), prints these too. */
void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive);

#endif
