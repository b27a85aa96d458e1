/* SPDX-License-Identifier: MIT
 *
 * Shows progress and results of a use case: progress and notes on standard error, the answer on
 * standard output.
 */
#ifndef AB_CLI_SHOW_H
#define AB_CLI_SHOW_H

#include "app/say.h"
#include "report/table/style.h"

#include <stdio.h>

/* Listener of all commands. It ends the process if preparing exceeds its time limit. */
extern const struct ab_listener ab_show_listener;

/* Prints on stderr which back ends have no numbers, and why. `where` ("replay: ") comes before each
 * name. is_quiet omits warnings, which are about missing libraries of a default list. */
void ab_failures_tell(const struct ab_session *session, const char *where, bool is_quiet);

/* Prints on stderr a line for each gate or comparison that fails the command. With --quiet, nothing
 * else is shown. Prints inconclusive verdicts too if they fail the command (fails_inconclusive). */
void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive);

/* Prints the comparison and the gates, if any. Adds the line "next: …" if the user should act. It
 * has the command with the rounds that would settle open verdicts, where to see a regression, or
 * how to renew a baseline. `folder` is the folder of --results; NULL = not given. `file` is the
 * result as `baseline update` takes it; "" = the newest result; NULL = not stored. */
void ab_verdicts_print(FILE *to, const char *folder, const struct ab_session *session,
                       const char *file, struct ab_table_style style);

/* Shows the results of a measurement; `user` is the struct ab_options. */
void ab_show_measured(void *user, const struct ab_measured *m);

/* Prints the outputs that consist of lines, as requested. `to` is standard output, or standard
 * error if standard output has a document. */
void ab_outputs_lines(const struct ab_outputs_wanted *wanted, const struct ab_session *session,
                      FILE *to);
/* Prints on stderr the path of the stored result, if there is one. */
void ab_store_tell(const struct ab_store *store);

#endif
