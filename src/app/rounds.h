/* SPDX-License-Identifier: MIT
 *
 * The rounds of a session: in which of them a pass runs, and when there are enough.
 */
#ifndef AB_APP_ROUNDS_H
#define AB_APP_ROUNDS_H

#include "app/gate_set.h"
#include "app/options.h"
#include "app/result_store.h"
#include "result/result.h"
#include "runner/session.h"

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
    const struct ab_options *options;
    const struct ab_listener *listener; /* NULL = nobody looks */
    bool has_round;                     /* pre-flight is over */
    struct ab_store *store;
    struct ab_session *session;  /* whose `stopping` is kept; planned rounds as well once it ends */
    uint64_t began_ns, round_ns; /* the whole, the round that runs */
    double earlier_s;            /* of what was resumed */
};

/* Before the first pre-flight; the session is described. */
void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_options *o,
                          struct ab_store *store, struct ab_session *session);
/* `progress` and `round_done` of a plan, whose `user` is the watch. */
void ab_round_watch_progress(void *watch, const struct ab_progress *p);
bool ab_round_watch_end_round(void *watch, const struct ab_session *session);
void ab_round_watch_end(struct ab_round_watch *watch);

#endif
