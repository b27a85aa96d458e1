/* SPDX-License-Identifier: MIT */
#ifndef AB_CLI_FAILURES_H
#define AB_CLI_FAILURES_H

#include "result/result.h"

/* Says on stderr which back ends have no numbers, and why. The exit code for it: 4 where one was
 * asked for by name or has failed, else 0; what a default list lacks is only a warning, which
 * `is_quiet` leaves out. */
int ab_failures_tell(const struct ab_session *session, bool is_quiet);
/* The same of a session beside another of the same command whose failures have been told (NULL =
 * none): a back end that failed there is not told of again. `where`: "replay: ", before the name;
 * "" = nothing. The exit code is that of what it tells. */
int ab_failures_tell_rest(const struct ab_session *session, const char *where,
                          const struct ab_session *told, bool is_quiet);

/* Says on stderr, in a line each, which verdicts fail the command, gates and numbers compared: all
 * that --quiet leaves of them. Where what is inconclusive fails it, that as well. */
void ab_verdicts_tell(const struct ab_session *session, bool fails_inconclusive);

#endif
