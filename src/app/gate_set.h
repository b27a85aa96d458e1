/* SPDX-License-Identifier: MIT
 *
 * The gates and claims of one command: collected from the workload and from --gate, read against
 * what will run, with every mistake shown where it stands.
 */
#ifndef AB_APP_GATE_SET_H
#define AB_APP_GATE_SET_H

#include "app/options.h"
#include "base/clock.h"
#include "stats/gate.h"
#include "tape/tape.h"
#include "workload/workload.h"

struct ab_gate_source {
    const struct ab_options *options;
    const struct ab_workload *workload; /* NULL for a trace, a program */
    const struct ab_phase *phases;
    uint32_t n_phases;
    const char *const *backends; /* names of what will run */
    size_t n_backends;
    const struct ab_field *const *named; /* as in struct ab_gate_scope */
    size_t n_named;
    bool is_exec; /* a real program, in place of a workload */
};

struct ab_gate_set {
    struct ab_gate *gates; /* first the workload's */
    struct ab_gate *claims;
    size_t n_gates, n_claims, n_of_workload;
    size_t *remarks; /* n_of_workload: which gate of the workload each comes from */
    char **places;   /* owned; one a gate and a claim of the workload */
    const struct ab_workload *workload;
    const struct ab_options *options;
};

/* Gates and claims, unread. */
size_t ab_gates_count(const struct ab_options *o, const struct ab_workload *workload);

/* AB_CONFIG or AB_USAGE for what cannot be; mistakes of the workload are said at once, all
 * of them. The set borrows from the source. */
enum ab_status ab_gate_set_read(const struct ab_gate_source *source, struct ab_gate_set *out,
                                struct ab_err *err);
/* For a workload that has errors: adds those of its gates and claims which show whatever its phases do.
 * `user` is not used. */
void ab_gate_set_inspect(const void *user, const struct ab_workload *w, struct ab_diag *diag);
/* The gates of --gate alone, read against what a stored result has. */
enum ab_status ab_gate_set_of_result(const struct ab_options *o, const struct ab_session *session,
                                     struct ab_gate_set *out, struct ab_err *err);
/* A gate of --gate on a mean over several workloads (stats/suite.h). */
enum ab_status ab_gate_of_mean(const struct ab_options *o, const char *text, struct ab_gate *out,
                               struct ab_err *err);
void ab_gate_set_fini(struct ab_gate_set *set);

/* Refuses gates on numbers of a pass that will not run. */
enum ab_status ab_gate_set_check_passes(const struct ab_gate_set *set,
                                        const struct ab_pass_plan *plan, struct ab_err *err);

/* Refuses latencies that even the quickest of many empty readings is above. The floor itself, in
 * the worker and on the tape, is only known later, and never lower. */
enum ab_status ab_gate_set_check_floor(const struct ab_gate_set *set, const struct ab_clock *clock,
                                       struct ab_err *err);

#endif
