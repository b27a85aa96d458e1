/* SPDX-License-Identifier: MIT
 *
 * Holds the state of a running session and does its single runs: a pre-flight, a null, one back end
 * in one pass. Each runs a worker and folds what it says into the session; which of them run, and
 * in which order, is session.c's.
 */
#ifndef AB_RUNNER_CONDUCTOR_H
#define AB_RUNNER_CONDUCTOR_H

#include "runner/fold/fold.h"
#include "runner/session/session.h"

struct ab_conductor {
    const struct ab_session_plan *plan;
    struct ab_session *session;
    struct ab_rng rng;
    uint32_t done, total;
    uint32_t n_rounds; /* that this session has to run: all, or those of its shard */
    struct ab_quiet quiet;
    struct ab_throughput throughput;
    struct ab_run_context context;  /* the plan's, with the above */
    struct ab_memory_marks **marks; /* one a back end; NULL until a run has found the peaks */
};

/* Is the back end still in the session: neither failed nor absent? */
bool ab_conductor_is_running(const struct ab_conductor *c, uint32_t backend);
/* Goes through every op once a round, and nothing else of it is of interest. */
bool ab_conductor_is_decorated(const struct ab_conductor *c, uint32_t backend);
/* Tells the plan's progress what runs next. */
void ab_conductor_say(struct ab_conductor *c, const char *backend, enum ab_pass pass);
struct ab_fold ab_conductor_fold(struct ab_conductor *c, uint32_t backend, uint32_t round);
/* Limit of the canary, as far as is known. */
uint16_t ab_conductor_quiet_limit(const struct ab_conductor *c);

/* Each of these is AB_OK also when the back end failed: it is then marked, and without numbers. */
enum ab_status ab_conduct_preflight(struct ab_conductor *c, uint32_t backend, struct ab_err *err);
/* All of the null back end with the harness of a back end in a round. A null that fails ends the
 * session. */
enum ab_status ab_conduct_null(struct ab_conductor *c, uint32_t backend, uint32_t round,
                               struct ab_err *err);
/* Runs that this takes. */
uint32_t ab_conduct_null_runs(const struct ab_conductor *c, uint32_t round);
enum ab_status ab_conduct_pass(struct ab_conductor *c, uint32_t backend, uint32_t round,
                               enum ab_pass pass, struct ab_err *err);

/* Random streams of the seed: one for the pre-flights, one a round. */
#define AB_PREFLIGHT_STREAM UINT64_C(0x72756e) /* "run" */
#define AB_ROUND_STREAM(round) (AB_PREFLIGHT_STREAM << 32 | (round))

/* How many ops a slice has. The states of a shared machine last from a millisecond on, and a slice
 * that begins and ends in quiet must not hide one: where ops are slow, slices have fewer of them. One
 * number for all back ends and rounds of a session, because they share the grid. */

/* A power of two in [AB_SLICE_OPS_MIN, AB_SLICE_OPS]: the most with which a slice takes no longer than
 * AB_SLICE_NS_MAX. NaN: AB_SLICE_OPS. */
uint32_t ab_slice_grid(double ns_per_op);
#define AB_SLICE_NS_MAX 400e3

/* Decides it for the session by its fastest back end: a slice that is much shorter than a reading of
 * the canary would measure little but readings. Each runs once for it. */
enum ab_status ab_slice_grid_settle(struct ab_conductor *c, struct ab_err *err);

#endif
