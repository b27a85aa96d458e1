/* SPDX-License-Identifier: MIT
 *
 * Runs all cases of a session: pre-flight, then rounds. In a round every case runs once in each
 * pass. The order is drawn anew each time, so that drift of the machine affects all cases alike.
 * The null back end runs first in each round. session->passes says in which rounds a pass runs.
 *
 * The random draws of a round depend only on the seed and the round's number. A resumed session
 * therefore draws what it would have drawn without the interruption.
 */
#ifndef AB_RUNNER_RUN_SESSION_H
#define AB_RUNNER_RUN_SESSION_H

#include "core/status.h"
#include "result/result.h"
#include "runner/run.h"

struct ab_progress {
    /* round: number of this round in the session, from 0; n_rounds 0 = pre-flight */
    uint32_t round, n_rounds;
    const char *backend;
    enum ab_pass pass;    /* AB_PASS_COUNT = a real program, which has no passes */
    uint32_t done, total; /* number of runs done, and of all runs */
};

/* The work for the back ends of one combination of parameter values. */
struct ab_combination_work {
    const struct ab_tape_map *tape;
    const struct ab_owners *owners; /* NULL = the memory pass does not record owners */
    /* number of processes of the throughput pass, per back end and round */
    uint32_t processes;
};

struct ab_session_plan {
    struct ab_run_context context; /* `tape` is taken from works */
    /* one for each combination, in their order; all have the same phases */
    const struct ab_combination_work *works;
    const struct ab_case *cases; /* one for each back end of the session, in the same order */
    uint32_t rounds;             /* upper limit on the number of rounds */
    uint32_t instr_ops;          /* --instr: ops of the tape whose instructions callgrind counts; 0
                                    = nothing is counted */
    bool allows_broken;          /* measure back ends that fail their checks */
    struct ab_session *resumed;  /* result whose rounds are taken over, so that only the rest runs;
                                    NULL = run all. It has passed ab_resume_check */
    /* called between runs only; may be NULL */
    void (*progress)(void *user, const struct ab_progress *p);
    /* called when a round is complete and no worker runs; may be NULL. The session has everything
     * that is measured so far. If it returns false, the session ends with this round */
    bool (*round_done)(void *user, const struct ab_session *session);
    void *user;
};

/* Runs the session. Fills session->results, nulls, rounds, timer, and the status of each back end.
 * Back ends with a status other than ok are not run. Returns AB_OK even if some failed. After
 * AB_INTERRUPTED the session has all complete rounds, and is_complete is false. */
enum ab_status ab_session_run(const struct ab_session_plan *plan, struct ab_session *session,
                              struct ab_err *err);

/* Slice length in ops. Disturbances of a shared machine last at least a millisecond, and a slice
 * that begins and ends quiet must not hide one. So slices have fewer ops if ops are slow. All back
 * ends and rounds of a session use one number, because they share the grid. */

/* Returns the slice length for this speed: the largest power of two in [AB_SLICE_OPS_MIN,
 * AB_SLICE_OPS] with which a slice takes at most AB_SLICE_NS_MAX. For NaN returns AB_SLICE_OPS. */
uint32_t ab_slice_grid(double ns_per_op);
#define AB_SLICE_NS_MAX 400e3

/* Resuming of interrupted sessions. The checks make sure that work and machine are the same,
 * because numbers of two different set-ups in one result would be worse than none. */

/* Checks before anything runs that tool, workload, tape, settings, seed, rounds, machine and list
 * of back ends are the same. AB_USAGE names all differences; AB_INPUT: `old` is not a partial
 * result. */
enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err);

/* Marks back ends as failed or absent if they were so in `old`, because their rounds could no
 * longer be complete. */
void ab_resume_keep_failed(struct ab_session *session, const struct ab_session *old);

/* Checks after the pre-flight, when the serving libraries are known, that versions, files and build
 * ids are the same. */
enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err);

/* Moves all measurements from `old` to `session`. Their strings then refer to those of
 * `session`. */
void ab_resume_adopt(struct ab_session *session, struct ab_session *old);

#endif
