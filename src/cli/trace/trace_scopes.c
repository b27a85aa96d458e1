/* SPDX-License-Identifier: MIT
 *
 * Names of marks are of whoever made the trace: escaped before they are printed.
 */
#include "cli/trace/trace_scopes.h"

#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"

#include <stdlib.h>

void ab_trace_scopes_fini(struct ab_trace_scopes *s)
{
    ab_scopes_fini(&s->scopes);
    ab_scope_stats_fini(&s->stats);
    free(s->each);
    s->each = NULL;
}

/* The stats know in which scope the last call was: `at` of each call is found again from there. */
static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_trace_scopes *s = user;
    size_t at = (size_t)s->stats.at;
    AB_TRY(ab_scope_stats_visit(&s->stats, batch, err));
    for (size_t i = 0; s->each != NULL && i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        while (at < s->scopes.n && s->scopes.ends[at] <= batch->first + i)
            at++;
        bool is_seen = !s->scopes.is_of_thread || s->scopes.thread == e->thread;
        if (at == s->scopes.n || !is_seen || e->failed || e->released || e->kind == AB_EVENT_FREE)
            continue;
        s->each[at].allocs += ab_event_gives_block(e);
        s->each[at].bytes += e->size;
    }
    return AB_OK;
}

enum ab_status ab_trace_scopes_gather(struct ab_trace_scopes *s, const struct ab_walk *walk,
                                      struct ab_err *err)
{
    AB_TRY(ab_scopes_find_watched(walk->path, walk->is_partial, s->wish, walk->progress,
                                  walk->progress_user, &s->scopes, err));
    if (s->scopes.from == AB_SCOPES_NONE)
        return AB_OK;
    s->stats.scopes = &s->scopes;
    if (!ab_scopes_median_calls(&s->scopes, &s->median_calls))
        return ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    if (s->wants_each && (s->each = calloc(s->scopes.n + 1, sizeof s->each[0])) == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    struct ab_walk last = {.path = walk->path,
                           .is_partial = walk->is_partial,
                           .end = UINT64_MAX,
                           .visit = visit,
                           .user = s,
                           .progress = walk->progress,
                           .progress_user = walk->progress_user};
    struct ab_trace_info info = {.time_us = 0};
    AB_TRY(ab_trace_walk(&last, &info, err));
    s->time_us = info.has_time ? info.time_us : 0;
    return AB_OK;
}

static void offer(struct ab_text *line, const char *which, const struct ab_scope_kind *k, size_t n)
{
    if (k->count > 0 && (k->count > 1.5 * (double)n || 1.5 * k->count < (double)n))
        ab_text_addf(line, " --scope %s: %.0f scopes of %.0f allocations each.", which, k->count,
                     k->typical);
}

void ab_trace_ask_scopes(struct ab_text *line, const struct ab_scopes *s, double median_calls,
                         uint64_t time_us)
{
    if (s->from != AB_SCOPES_FOUND)
        return;
    ab_text_addf(line, "%zu scopes of %.0f calls", s->n, median_calls);
    if (time_us > 0 && s->n > 0)
        ab_text_addf(line, " and about %s", AB_TIME((double)time_us * 1e3 / (double)s->n));
    ab_text_add(line, " each: are these your frames?");
    offer(line, "nested", &s->nested, s->n);
    offer(line, "outer", &s->outer, s->n);
    ab_text_add(line, " allocbench_mark(\"frame\") at the end of each makes it certain.");
}

static double share(const struct ab_trace_scopes *s)
{
    return (double)s->stats.gone / (double)s->stats.allocs;
}

void ab_trace_print_scopes(FILE *to, const struct ab_trace_scopes *s)
{
    if (s->scopes.from == AB_SCOPES_NONE) {
        fputs("scopes     none found\n", to);
        return;
    }
    fprintf(to, "scopes     %zu, ", s->scopes.n);
    if (s->scopes.from == AB_SCOPES_MARKS)
        fprintf(to, "each ends with the mark %s", AB_SHOWN(1024, s->scopes.mark));
    else
        fputs("found where short-lived blocks are gone", to);
    if (s->scopes.is_of_thread)
        fprintf(to, ", of thread %lu", (unsigned long)s->scopes.thread);
    fprintf(to, "; median %.10g calls\n", s->median_calls);
    struct ab_text question = {0};
    ab_trace_ask_scopes(&question, &s->scopes, s->median_calls, s->time_us);
    if (question.s != NULL)
        ab_table_prose(to, (struct ab_table_style){.width = 80}, AB_PLAIN, question.s);
    ab_text_fini(&question);
    if (s->stats.allocs == 0) {
        fputs("           n/a: no allocations\n", to);
        return;
    }
    fprintf(to, "           %.1f %% of allocations are freed in their scope, at most %s in one\n",
            100 * share(s), AB_BYTES(s->stats.most_gone));
    fprintf(to, "           live bytes of a scope's own blocks: at most %s\n",
            AB_BYTES(s->stats.most_live));
}

json_t *ab_trace_scopes_json(const struct ab_trace_scopes *s)
{
    if (s->scopes.from == AB_SCOPES_NONE)
        return json_null();
    json_t *o = json_object();
    bool is_marked = s->scopes.from == AB_SCOPES_MARKS;
    ab_json_put(o, "from", ab_json_string(is_marked ? "marks" : "found"));
    ab_json_put(o, "mark", is_marked ? ab_json_string(s->scopes.mark) : json_null());
    ab_json_put(o, "thread",
                s->scopes.is_of_thread ? ab_json_integer(s->scopes.thread) : json_null());
    ab_json_put(o, "count", ab_json_integer(s->scopes.n));
    ab_json_put(o, "median_calls", json_real(s->median_calls));
    ab_json_put(o, "allocs", ab_json_integer(s->stats.allocs));
    ab_json_put(o, "freed_in_scope", ab_json_integer(s->stats.gone));
    ab_json_put(o, "freed_in_scope_ratio", s->stats.allocs > 0 ? json_real(share(s)) : json_null());
    ab_json_put(o, "most_freed_bytes", ab_json_integer(s->stats.most_gone));
    ab_json_put(o, "most_live_bytes", ab_json_integer(s->stats.most_live));
    return o;
}
