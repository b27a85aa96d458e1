/* SPDX-License-Identifier: MIT
 *
 * The end of a session, and its numbers as files hold them.
 */
#ifndef AB_RESULT_SESSION_H
#define AB_RESULT_SESSION_H

#include "result/result.h"

/* Frees what hangs in it, not what it borrows: strings, back ends, phases, gates. */
void ab_session_fini(struct ab_session *session);

/* Rounds every number to what the files tell (12 significant digits; whole numbers below 2^53 stay
 * exact), so that a table made from the session and one made from its file are the same. */
void ab_session_settle(struct ab_session *session);
double ab_number_settle(double x);

/* The floor of per-op latencies: the median over rounds and phases of what an empty op reads; of
 * several machines that of the one where it is highest. NaN = not measured. */
double ab_session_floor(const struct ab_session *session);

/* What of the workload's settings or the replay's was given as NAME=VALUE: "touch", "cache". NULL =
 * not given. The session owns it. */
const char *ab_session_setting(const struct ab_session *session, const char *name);

#endif
