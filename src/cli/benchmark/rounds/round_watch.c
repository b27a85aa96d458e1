/* SPDX-License-Identifier: MIT
 *
 * Passes on what the runner says.
 */
#include "cli/benchmark/rounds/round_watch.h"

#include "result/merge/shard.h"

#include <stdio.h>

static void set_stage(struct ab_progress_line *line, const struct ab_stage *stage,
                      const struct ab_session *session)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += session->backends[i].status == AB_BACKEND_OK;
    if (stage->number > 0)
        snprintf(line->stage, sizeof line->stage, "stage %u of %u: %.32s", stage->number, stage->n,
                 stage->name);
    else if (stage->name != NULL)
        snprintf(line->stage, sizeof line->stage, "%.32s", stage->name);
    if (stage->started_ns != 0)
        line->started_ns = stage->started_ns;
    line->rounds_after = stage->again + (n > 0 ? stage->runs / n : 0);
}

void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_options *o,
                          struct ab_store *store, struct ab_session *session)
{
    *watch = (struct ab_round_watch){.store = store};
    ab_progress_begin(&watch->line, o->is_quiet);
    set_stage(&watch->line, &o->stage, session);
    watch->line.has_rule = session->stopping.time_budget_s > 0 || session->stopping.precision > 0;
    ab_round_limit_begin(&watch->limit, session);
}

void ab_round_watch_progress(void *user, const struct ab_progress *p)
{
    struct ab_round_watch *watch = user;
    if (watch->line.rounds_ns == 0 && p->n_rounds > 0)
        ab_round_limit_round(&watch->limit); /* what was before it is no part of a round */
    ab_progress_show(&watch->line, p);
}

/* The last round is stored with the verdicts, at once. */
bool ab_round_watch_end_round(void *user, const struct ab_session *session)
{
    struct ab_round_watch *watch = user;
    bool goes_on = ab_round_limit_goes_on(&watch->limit);
    watch->line.n_expected = ab_round_limit_expected(&watch->limit);
    ab_progress_round(&watch->line, session);
    if (session->n_rounds < ab_shard_n_rounds(session->shard, session->n_rounds_planned))
        ab_store_save(watch->store, session);
    return goes_on;
}

void ab_round_watch_end(struct ab_round_watch *watch)
{
    ab_progress_end(&watch->line);
}
