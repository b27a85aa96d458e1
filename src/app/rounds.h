/* SPDX-License-Identifier: MIT
 *
 * Decides in which rounds a pass runs, and when there are enough rounds.
 */
#ifndef AB_APP_ROUNDS_H
#define AB_APP_ROUNDS_H

#include "app/gate_set.h"
#include "app/request_parts.h"
#include "app/result_store.h"
#include "result/merge/shard_part.h"
#include "result/passes.h"
#include "runner/run_session.h"

/* Implements --passes. The choice depends on the command alone and not on measurements, so that all
 * shards of a run choose the same passes. */

/* Chooses the passes and their rounds. `resumed` is the result to continue, NULL = none. Its plan
 * stays unless --passes is given. Fails with AB_USAGE for a pass that cannot run here. Fails with
 * AB_USAGE or AB_CONFIG for a gate on a pass that will not run. */
enum ab_status ab_pass_choice_make(const struct ab_passes_wanted *wanted, bool is_strict,
                                   const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err);

/* State of watching a running session. The watch reports progress, applies the rule that ends the
 * session, and stores the result between rounds. */

struct ab_round_watch {
    const struct ab_talk *talk;
    bool has_round; /* True once the first round has begun, after pre-flight */
    struct ab_store *store;
    /* session that is watched; its `stopping` and, at the end, its planned rounds are updated */
    struct ab_session *session;
    uint64_t began_ns, round_ns; /* start of the session and of the current round */
    double earlier_s;            /* duration of the resumed rounds, s */
};

/* Begins to watch. Call it before the first pre-flight, when the session is described. */
void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_talk *talk,
                          struct ab_store *store, struct ab_session *session);
/* Callbacks `progress` and `round_done` of a plan. The plan's `user` must be the watch. */
void ab_round_watch_progress(void *watch, const struct ab_progress *p);
bool ab_round_watch_end_round(void *watch, const struct ab_session *session);
void ab_round_watch_end(struct ab_round_watch *watch);

#endif
