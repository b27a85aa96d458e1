/* SPDX-License-Identifier: MIT
 *
 * --time-budget and --precision: measures the time and asks stats/stopping.h after each round.
 */
#ifndef AB_APP_ROUNDS_H
#define AB_APP_ROUNDS_H

#include "app/decision.h"
#include "app/gate_set.h"
#include "app/options.h"
#include "app/result_store.h"
#include "backend/selection.h"
#include "result/result.h"
#include "runner/session.h"

struct ab_round_limit {
    struct ab_session *session;  /* whose `stopping` is kept; planned rounds as well once it ends */
    uint64_t began_ns, round_ns; /* the whole, the round that runs */
    double earlier_s;            /* of what was resumed */
    double last_s;               /* the last round */
};

/* --rounds; without it, where a rule ends the session, the most that there may be. */
uint32_t ab_round_limit_most(const struct ab_options *o);
/* AB_USAGE for what cannot be combined. */
enum ab_status ab_round_limit_check(const struct ab_options *o, size_t n_backends,
                                    struct ab_err *err);
/* The rule into session->stopping; `resumed` may be NULL. */
void ab_round_limit_describe(const struct ab_options *o, const struct ab_session *resumed,
                             struct ab_session *session);

/* … and that of a measurement for which the command line says nothing: precision, and as many rounds
 * as by default at most. Not for gates and baselines, which are judged by all rounds. */
void ab_round_limit_by_default(const struct ab_options *o, struct ab_session *session);

/* Confirms failures: a gate on a ratio or a change fails only if as many new rounds of the back
 * ends concerned, with draws of their own, say so too. */

struct ab_confirmation {
    struct ab_options options; /* of the new rounds: as many, however many the first came to be */
    bool is_concerned[AB_SELECTION_MAX];
};

/* False where nothing is to be confirmed; else says what will be. */
bool ab_confirmation_begin(struct ab_confirmation *c, const struct ab_options *o,
                           const struct ab_decision *decision, const struct ab_session *session);
/* Prepares the new session before it runs: it gets other draws, and only the back ends that are
 * concerned. */
void ab_confirmation_describe(const struct ab_confirmation *c, struct ab_session *again);
/* `status`: how the new rounds ended. */
enum ab_status ab_confirmation_end(struct ab_decision *decision, struct ab_session *session,
                                   struct ab_session *again, enum ab_status status,
                                   struct ab_err *err);

/* Says, after an interruption, how much is kept and the command that resumes. */

/* AB_INTERRUPTED with the text to *err; without one under --quiet. */
void ab_interruption_explain(const struct ab_options *o, const struct ab_session *s,
                             const struct ab_store *store, const struct ab_selection_list *list,
                             struct ab_err *err);

/* --passes: which passes run, and in how many rounds. What is decided here depends on the command
 * alone, not on what is measured: all shards of a run decide alike. */

/* `resumed`: the result that is gone on with, whose plan stays unless --passes says otherwise; NULL =
 * none. AB_USAGE: a pass that cannot run here; AB_USAGE or AB_CONFIG: a gate on a number of a pass
 * that will not run, at its place. */
enum ab_status ab_pass_choice_make(const struct ab_options *o, const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err);

/* Observes a running session, of the harness or of a real program: passes on how it goes, applies the rule
 * that ends the session, and stores the result between rounds. */

struct ab_round_watch {
    const struct ab_listener *listener; /* NULL = nobody looks */
    bool has_round;                     /* pre-flight is over */
    struct ab_round_limit limit;
    struct ab_store *store;
};

/* Before the first pre-flight; the session is described. */
void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_options *o,
                          struct ab_store *store, struct ab_session *session);
/* `progress` and `round_done` of a plan, whose `user` is the watch. */
void ab_round_watch_progress(void *watch, const struct ab_progress *p);
bool ab_round_watch_end_round(void *watch, const struct ab_session *session);
void ab_round_watch_end(struct ab_round_watch *watch);

#endif
