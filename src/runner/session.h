/* SPDX-License-Identifier: MIT
 *
 * Runs all cases: pre-flight, then rounds. In a round every case runs once a pass, in an order
 * drawn anew, so that drift of the machine hits all alike; the null runs first in each round.
 * Passes run in the rounds that session->passes says. What a round draws depends on the seed and its number alone: a session that is resumed draws what
 * it would have drawn without the interruption.
 */
#ifndef AB_RUNNER_SESSION_H
#define AB_RUNNER_SESSION_H

#include "core/status.h"
#include "result/result.h"
#include "runner/run.h"

struct ab_progress {
    uint32_t round, n_rounds; /* of this session, from 0; 0 of 0 is the pre-flight */
    const char *backend;
    enum ab_pass pass;    /* AB_PASS_COUNT: a real program, which has none */
    uint32_t done, total; /* runs */
};

/* What the back ends of one combination of values are to do. */
struct ab_combination_work {
    const struct ab_tape_map *tape;
    const struct ab_owners *owners; /* NULL = the memory pass asks for none */
    uint32_t processes;             /* of the throughput pass, a back end and round */
};

struct ab_session_plan {
    struct ab_run_context context; /* `tape` is that of the works */
    const struct ab_combination_work
        *works;                  /* by combination; the phases of all are the same ones */
    const struct ab_case *cases; /* one a back end of the session, same order */
    uint32_t rounds;             /* the most */
    uint32_t instr_ops;          /* --instr: ops of the tape of which callgrind counts the
                                   instructions; 0 = nothing is counted */
    bool allows_broken;          /* what fails its checks is measured all the same */
    struct ab_session *resumed;  /* its rounds are taken over, the rest is run; NULL = all is run.
                                   Has passed ab_resume_check */
    void (*progress)(void *user, const struct ab_progress *p); /* between runs only; may be NULL */
    /* A round is complete, and no worker runs; may be NULL. The session is whole but for what is not
     * measured yet. False: that is enough, the session ends with this round. */
    bool (*round_done)(void *user, const struct ab_session *session);
    void *user;
};

/* Fills session->results, nulls, rounds, timer, and the status of each back end; back ends that
 * come in with a status other than ok are not run. AB_OK also when some failed.
 * AB_INTERRUPTED leaves what is whole in the session, is_complete false. */
enum ab_status ab_session_run(const struct ab_session_plan *plan, struct ab_session *session,
                              struct ab_err *err);

/* How many ops a slice has. The states of a shared machine last from a millisecond on, and a slice
 * that begins and ends in quiet must not hide one: where ops are slow, slices have fewer of them. One
 * number for all back ends and rounds of a session, because they share the grid. */

/* A power of two in [AB_SLICE_OPS_MIN, AB_SLICE_OPS]: the most with which a slice takes no longer than
 * AB_SLICE_NS_MAX. NaN: AB_SLICE_OPS. */
uint32_t ab_slice_grid(double ns_per_op);
#define AB_SLICE_NS_MAX 400e3

/* Going on with a session that was interrupted: is it the same work on the same machine, and whose
 * rounds are these. Numbers of two different set-ups in one result would be worse than none. */

/* Before anything runs: tool, workload, tape, settings, seed, rounds, machine, and the list of back
 * ends. AB_USAGE names all that differs; AB_INPUT: `old` is no partial result. */
enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err);

/* Back ends that failed or were absent stay so: their rounds could no longer be complete. */
void ab_resume_keep_failed(struct ab_session *session, const struct ab_session *old);

/* After the pre-flight, which tells what really serves the ops: the same versions, files and build
 * ids as before. */
enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err);

/* Moves all that was measured from `old` into `session`, whose strings it refers to from then on. */
void ab_resume_adopt(struct ab_session *session, struct ab_session *old);

#endif
