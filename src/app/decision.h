/* SPDX-License-Identifier: MIT
 *
 * Decides at the end of `run`, `replay` and `exec`: by gates, and by a comparison with a baseline
 * or of the back ends with their base.
 */
#ifndef AB_APP_DECISION_H
#define AB_APP_DECISION_H

#include "app/baselines.h"
#include "app/gate_set.h"
#include "backend/selection.h"
#include "report/table/style.h"
#include "stats/compare.h"

struct ab_decision {
    const struct ab_options *options;
    const struct ab_gate_set *gates; /* NULL until it is made */
    struct ab_base base;             /* label NULL = none */
    bool is_within;                  /* the back ends are compared with their base */
    struct ab_comparison comparison; /* now NULL = none */
};

/* Reads --baseline and finds it fit, before anything is measured. --limit without a baseline bounds
 * each back end against the base. */
enum ab_status ab_decision_open(const struct ab_options *o, struct ab_decision *out,
                                struct ab_err *err);
/* Adds glibc, which shows what the machine did, where the baseline has it and the list has not. */
enum ab_status ab_decision_add_witness(const struct ab_decision *d, struct ab_selection_list *list,
                                       struct ab_err *err);
/* Is there something to compare: is what will be measured the work of the baseline? `session` is
 * described, not run. */
enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err);
/* Judges the gates and compares: session->gates, session->comparison. */
void ab_decision_make(struct ab_decision *d, const struct ab_gate_set *gates,
                      struct ab_session *session);

/* Marks the back ends that more rounds should be run of, as ab_gates_suspicious; how many verdicts. */
uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned);
/* `again` has new rounds of them: what these do not show as well becomes inconclusive. */
void ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                         struct ab_session *again);

void ab_decision_close(struct ab_decision *d);

/* --base, the back end that the others are compared with: sets session->base to `name` (borrowed), or
 * leaves what is there where it is NULL. AB_USAGE when the session has no such back end, or when it is
 * null, with the names that it has. */
enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err);

/* Returns the status of the command for the session's gates and comparison, under --strict and
 * --inconclusive: AB_BACKEND, AB_CONFIG, AB_GATE, AB_INCONCLUSIVE or AB_OK. */
enum ab_status ab_verdict_status(const struct ab_options *o, const struct ab_session *session);

/* Prints the comparison and the gates, as far as there are any, and the line "next: …" where there is
 * something to do: the command with the rounds that would settle what is open; where a regression can
 * be seen; how a baseline is renewed, with `file`, as `baseline update` takes it ("" = the newest
 * result; NULL = not stored). */
void ab_verdicts_print(FILE *to, const struct ab_options *o, const struct ab_session *session,
                       const char *file, struct ab_table_style style);

#endif
