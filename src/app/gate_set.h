/* SPDX-License-Identifier: MIT
 *
 * Collects the gates and claims of one command from the workload and from --gate, and checks them
 * against the rows and phases that will run. Reports every mistake with its position.
 */
#ifndef AB_APP_GATE_SET_H
#define AB_APP_GATE_SET_H

#include "app/request_parts.h"
#include "base/clock.h"
#include "stats/gate.h"
#include "tape/tape.h"
#include "workload/workload.h"

struct ab_gate_source {
    const struct ab_talk *talk;
    const char *const *gates; /* n_gates texts of --gate */
    size_t n_gates;
    const struct ab_workload *workload; /* NULL for a trace, a program */
    const struct ab_phase *phases;
    uint32_t n_phases;
    const char *const *backends; /* names of the rows that will run */
    size_t n_backends;
    /* n_named metrics with names of their own, as in struct ab_gate_scope */
    const struct ab_field *const *named;
    size_t n_named;
    bool is_exec; /* True for a real program instead of a workload */
};

struct ab_gate_set {
    struct ab_gate *gates; /* n_gates; the gates of the workload come first */
    struct ab_gate *claims;
    size_t n_gates, n_claims, n_of_workload;
    /* for each of the first n_of_workload gates, the index of its text in the workload */
    size_t *remarks;
    char **places; /* positions of the workload's gates, then of its claims; owned */
    const struct ab_workload *workload;
    const struct ab_talk *talk;
};

/* Reads all gates and claims. Fails with AB_CONFIG or AB_USAGE for invalid ones, and reports all
 * mistakes of the workload at once. The set borrows from the source. */
enum ab_status ab_gate_set_read(const struct ab_gate_source *source, struct ab_gate_set *out,
                                struct ab_err *err);
/* Checks the gates and claims of a workload that has errors, as far as the phases do not matter.
 * Adds mistakes to `diag`. `user` is not used. */
void ab_gate_set_inspect(const void *user, const struct ab_workload *w, struct ab_diag *diag);
/* Reads the gates of --gate alone, and checks them against a stored result. */
enum ab_status ab_gate_set_of_result(const char *const *gates, size_t n_gates,
                                     const struct ab_session *session, struct ab_gate_set *out,
                                     struct ab_err *err);
void ab_gate_set_fini(struct ab_gate_set *set);

/* Refuses gates on metrics of a pass that is not planned. */
enum ab_status ab_gate_set_check_passes(const struct ab_gate_set *set,
                                        const struct ab_pass_plan *plan, struct ab_err *err);

/* Refuses gates on latencies below the quickest of many empty clock readings. The real minimum is
 * known only in the worker, and is never lower. */
enum ab_status ab_gate_set_check_floor(const struct ab_gate_set *set, const struct ab_clock *clock,
                                       struct ab_err *err);

#endif
