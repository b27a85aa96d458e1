/* SPDX-License-Identifier: MIT
 *
 * Makes the verdicts at the end of `run`, `replay` and `exec`: by gates, and by a comparison with a
 * baseline or of the back ends with their base.
 */
#ifndef AB_APP_DECISION_H
#define AB_APP_DECISION_H

#include "app/baselines.h"
#include "app/gate_set.h"
#include "app/request.h"
#include "backend/selection.h"
#include "stats/compare.h"

struct ab_decision {
    const struct ab_verdicts_wanted *wanted;
    const struct ab_talk *talk;
    const struct ab_gate_set *gates; /* gates to judge; NULL until ab_decision_make() */
    struct ab_base base;             /* the baseline; label NULL = none */
    /* True to compare the back ends of the session with its base */
    bool is_within;
    struct ab_comparison comparison; /* result of the comparison; comparison.now NULL = none */
};

/* Reads and checks --baseline before anything is measured. --limit without a baseline bounds each
 * back end against the base. */
enum ab_status ab_decision_open(const struct ab_measure_request *asked, struct ab_decision *out,
                                struct ab_err *err);
/* Adds glibc as a control for changes of the machine, if the baseline has glibc and the list does
 * not. */
enum ab_status ab_decision_add_control(const struct ab_decision *d, struct ab_selection_list *list,
                                       struct ab_err *err);
/* Checks that `session`, described but not run, has the same work as the baseline, and at least one
 * back end to compare. */
enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err);
/* Judges the gates, and compares the session with its baseline or base. Sets session->gates and
 * session->comparison. */
void ab_decision_make(struct ab_decision *d, const struct ab_gate_set *gates,
                      struct ab_session *session);

/* Marks in is_concerned the back ends that need more rounds to confirm a verdict, as
 * ab_checks_suspicious() does. Returns the number of such verdicts. */
uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned);
/* Compares the verdicts with those of the new rounds in `again`. A failure that the new rounds do
 * not show becomes inconclusive. */
void ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                         struct ab_session *again);

void ab_decision_close(struct ab_decision *d);

/* Sets session->base to `name` (borrowed), the back end that the others are compared with; NULL
 * leaves it unchanged. Fails with AB_USAGE and the list of names if the session has no such back
 * end, or if `name` is the null back end. */
enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err);

/* Returns the status of the command from the session's gates and comparison, under --strict and
 * --inconclusive: AB_BACKEND, AB_CONFIG, AB_GATE, AB_INCONCLUSIVE or AB_OK. */
enum ab_status ab_verdict_status(const struct ab_verdicts_wanted *wanted,
                                 const struct ab_session *session);

#endif
