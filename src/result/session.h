/* SPDX-License-Identifier: MIT
 *
 * The end of a session, and its numbers as files hold them; which null has the harness of a back end.
 */
#ifndef AB_RESULT_SESSION_H
#define AB_RESULT_SESSION_H

#include "result/result.h"

/* Frees what hangs in it, not what it borrows: strings, back ends, phases, gates. */
void ab_session_fini(struct ab_session *session);

/* A number as files hold it: of 12 significant digits; whole numbers below 2^53 stay exact. */
double ab_number_settle(double x);

/* The floor of per-op latencies: the median over rounds and phases of what an empty op reads; of
 * several machines that of the one where it is highest. NaN = not measured. */
double ab_session_floor(const struct ab_session *session);
/* The mean instead of the median, over all rounds: what is to be subtracted from a mean of timed ops. NaN = not
 * known. */
double ab_session_floor_mean(const struct ab_session *session);

/* What of the workload's settings or the replay's was given as NAME=VALUE: "touch", "cache". NULL =
 * not given. The session owns it. */
const char *ab_session_setting(const struct ab_session *session, const char *name);

/* Is there a phase of the same name before it? Numbers by name are those of all of them. */
bool ab_session_phase_is_repeated(const struct ab_session *session, uint32_t phase);

/* The harness of a back end: what is done around its calls. It is that of the boundary and, where
 * requests are spread over several heaps, of the placement; each combination of values of params has
 * its own. This is the one definition of that key. */

/* The row of the back end of row `like` in the combination of row `beside`; UINT32_MAX = none. */
uint32_t ab_session_row(const struct ab_session *session, uint32_t like, uint32_t beside);

/* True if less than a page lives at the same time: what is resident says nothing of the allocator then. */
bool ab_session_has_little_memory(const struct ab_session *session);

/* The digest of the work of a row; "" = not known. And: did both rows do the same? */
const char *ab_session_digest(const struct ab_session *session, uint32_t backend);
bool ab_session_is_same_work(const struct ab_session *a, uint32_t backend_a,
                             const struct ab_session *b, uint32_t backend_b);

/* The first back end with the same harness: it stands for all of them. */
uint32_t ab_session_harness(const struct ab_session *session, uint32_t backend);

/* Is it the price of this back end's harness? Of results that do not name the placement: of the
 * boundary's. */
bool ab_null_is_of(const struct ab_null_cost *null, const struct ab_backend_info *backend);
/* Are both of one harness? */
bool ab_null_is_like(const struct ab_null_cost *a, const struct ab_null_cost *b);

/* What the harness of a back end took in a phase of a round; NULL = not known. The session's. */
struct ab_null_cost *ab_session_null(const struct ab_session *session, uint32_t backend,
                                     const char *phase, uint32_t round);

#endif
