/* SPDX-License-Identifier: MIT
 *
 * Notes for each live block in which scope it was made.
 */
#include "trace_tools/scope/stats.h"

#include "core/grow.h"
#include "core/median.h"

#include <stdlib.h>

void ab_scope_stats_fini(struct ab_scope_stats *s)
{
    free(s->born);
    s->born = NULL;
    s->cap_slots = 0;
}

static void end_scopes(struct ab_scope_stats *s, uint64_t call)
{
    for (; s->at < s->scopes->n && s->scopes->ends[s->at] <= call; s->at++) {
        s->most_gone = s->gone_bytes > s->most_gone ? s->gone_bytes : s->most_gone;
        s->live_bytes = s->gone_bytes = 0;
    }
}

static void set_live(struct ab_scope_stats *s, uint64_t bytes)
{
    s->live_bytes = bytes;
    s->most_live = bytes > s->most_live ? bytes : s->most_live;
}

/* Of a block that was made in the scope that is now. */
static void change(struct ab_scope_stats *s, const struct ab_event *e,
                   const struct ab_live_block *block)
{
    if (e->kind == AB_EVENT_FREE || e->released) {
        s->gone++;
        s->gone_bytes += block->size;
        s->live_bytes -= block->size;
    } else if (!e->failed) {
        set_live(s, s->live_bytes - block->size + e->size);
    }
}

static void take(struct ab_scope_stats *s, const struct ab_event *e,
                 const struct ab_live_block *block)
{
    bool is_inside = s->at < s->scopes->n;
    if (ab_event_gives_block(e)) {
        bool is_seen = !s->scopes->is_of_thread || s->scopes->thread == e->thread;
        s->allocs += is_seen;
        s->born[e->slot] = is_seen && is_inside ? s->at + 1 : 0;
        if (is_seen && is_inside)
            set_live(s, s->live_bytes + e->size);
    } else if ((e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE) &&
               s->born[e->slot] == s->at + 1) {
        change(s, e, block);
    }
}

enum ab_status ab_scope_stats_visit(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err)
{
    struct ab_scope_stats *s = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        AB_GROW_ZEROED(s->born, s->cap_slots, batch->events[i].slot);
        end_scopes(s, batch->first + i);
        take(s, &batch->events[i], &batch->blocks[i]);
    }
    if (batch->where == AB_WALK_END)
        end_scopes(s, UINT64_MAX);
    return AB_OK;
}

bool ab_scopes_median_calls(const struct ab_scopes *scopes, double *median)
{
    double *calls = malloc(scopes->n * sizeof calls[0]);
    if (calls == NULL)
        return false;
    for (size_t i = 0; i < scopes->n; i++)
        calls[i] = (double)(scopes->ends[i] - (i > 0 ? scopes->ends[i - 1] : 0));
    *median = ab_median(calls, scopes->n);
    free(calls);
    return true;
}
