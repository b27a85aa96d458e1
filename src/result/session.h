/* SPDX-License-Identifier: MIT
 *
 * Functions on a whole session: freeing it, clock floors, settings, digests, and the record of the
 * null back end for a back end's harness.
 */
#ifndef AB_RESULT_SESSION_H
#define AB_RESULT_SESSION_H

#include "result/result.h"

/* Frees what the session owns, but nothing that it borrows: strings, back ends, phases, gates. */
void ab_session_fini(struct ab_session *s);
/* Sets the capacity of every list of rounds and records to the number of its items. */
void ab_session_close_lists(struct ab_session *s);

/* Rounds a number to 12 significant digits, as files store it. Whole numbers below 2^53 stay
 * exact. */
double ab_number_settle(double x);

/* Returns the floor of latencies of single ops: the time that is read for an empty op, as the
 * median over rounds and phases. With several machines it is that of the machine with the highest
 * floor. NaN = not measured. */
double ab_session_floor(const struct ab_session *session);
/* Returns the mean of the times that are read for an empty op, over all rounds. It is subtracted
 * from means of timed ops. NaN = not known. */
double ab_session_floor_mean(const struct ab_session *session);

/* Returns the value of a setting of the workload or the replay that was given as NAME=VALUE, such
 * as "touch" or "cache". NULL = it was not given. The session owns the string. */
const char *ab_session_setting(const struct ab_session *session, const char *name);
/* True if the program is a server (--server). The time of the session is then that of its load. */
bool ab_session_is_server(const struct ab_session *session);

/* True if an earlier phase has the same name. Numbers by name cover all phases of that name. */
bool ab_session_phase_is_repeated(const struct ab_session *session, uint32_t phase);

/* The harness of a back end is all work that is done around its calls. It depends on the boundary
 * and on the combination of parameter values. If requests are divided among several heaps, it also
 * depends on the placement. Only the functions below decide which back ends have the same
 * harness. */

/* Returns the row that has the back end of row `like` and the combination of row `beside`;
 * UINT32_MAX = none. */
uint32_t ab_session_row(const struct ab_session *session, uint32_t like, uint32_t beside);

/* True if less than a page of blocks is live at any time. Resident memory then says nothing about
 * the allocator. */
bool ab_session_has_little_memory(const struct ab_session *session);

/* Return the digest of a row's work ("" = not known), and whether two rows did the same work. */
const char *ab_session_digest(const struct ab_session *session, uint32_t backend);
bool ab_session_is_same_work(const struct ab_session *a, uint32_t backend_a,
                             const struct ab_session *b, uint32_t backend_b);

/* Returns the first back end that has the same harness. Its index identifies the harness. */
uint32_t ab_session_harness(const struct ab_session *session, uint32_t backend);

/* True if `null` has the cost of this back end's harness. In results that do not record the
 * placement, the boundary alone decides. */
bool ab_null_is_of(const struct ab_null_cost *null, const struct ab_backend_info *backend);
/* True if both records are of the same harness. */
bool ab_null_is_like(const struct ab_null_cost *a, const struct ab_null_cost *b);

/* Returns the cost of the back end's harness in a phase of a round; NULL = not known. The session
 * owns the record. */
struct ab_null_cost *ab_session_null(const struct ab_session *session, uint32_t backend,
                                     const char *phase, uint32_t round);

/* Returns the session's own string for a phase that another session of the same phases names. */
const char *ab_session_own_phase(const struct ab_session *s, const char *phase);

#endif
