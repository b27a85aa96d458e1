/* SPDX-License-Identifier: MIT
 *
 * Reads a trace for its totals, and again for its scopes.
 */
#include "app/trace/trace_facts.h"

#include "core/alloc.h"
#include "core/text.h"

#include <stdlib.h>

/* Sums up the marks of each name. */
static struct ab_mark_stats *sum_marks(const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = ab_alloc((t->n_names + 1) * sizeof stats[0]);
    ab_mark_stats(t, stats);
    return stats;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_trace_facts *f = user;
    AB_TRY(ab_survey_visit(&f->survey, batch, err));
    for (size_t i = 0; f->look != NULL && i < batch->n; i++)
        ab_overview_take(f->look, &batch->events[i]);
    return f->wants_sites || f->look != NULL ? ab_site_stats_visit(&f->sites, batch, err) : AB_OK;
}

/* Adds a batch to the statistics of scopes, and to the sums of each scope. Continues with the scope
 * in which the previous batch ended. */
static enum ab_status visit_scopes(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err)
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

/* Finds the scopes by reading the file of `walk` up to four more times, with progress. Fails with
 * AB_USAGE if the file can be read only once. */
static enum ab_status gather_scopes(struct ab_trace_scopes *s, const struct ab_walk *walk,
                                    struct ab_err *err)
{
    AB_TRY(ab_scopes_find(walk, s->wish, &s->scopes, err));
    if (s->scopes.from == AB_SCOPES_NONE)
        return AB_OK;
    s->stats.scopes = &s->scopes;
    s->median_calls = ab_scopes_median_calls(&s->scopes);
    if (s->wants_each)
        s->each = ab_alloc_zeroed(s->scopes.n + 1, sizeof s->each[0]);
    struct ab_walk last = *walk;
    last.visit = visit_scopes;
    last.user = s;
    struct ab_trace_info info = {.time_us = 0};
    AB_TRY(ab_trace_walk(&last, &info, err));
    s->time_us = info.has_time ? info.time_us : 0;
    return AB_OK;
}

/* Reads the scopes if requested. If the file can be read only once, the HTML page has no scopes. */
static enum ab_status read_scopes(const struct ab_facts_request *r, struct ab_trace_facts *f,
                                  struct ab_err *err)
{
    if (!r->wants_scopes && !r->wants_page)
        return AB_OK;
    f->scopes.wish = r->scopes_wish;
    f->scopes.wants_each = r->wants_page;
    struct ab_walk walk = {0};
    ab_trace_pass_begin(&r->pass, &walk);
    enum ab_status status = gather_scopes(&f->scopes, &walk, err);
    ab_file_progress_end(&r->pass.progress);
    if (status != AB_USAGE || r->wants_scopes)
        return status;
    AB_FIT(f->why_no_scopes, "n/a: %s", err->text);
    return AB_OK;
}

enum ab_status ab_trace_facts_read(const struct ab_facts_request *r, struct ab_trace_facts *out,
                                   struct ab_err *err)
{
    struct ab_walk walk = {.visit = visit,
                           .user = out,
                           .marks = &out->marks,
                           .requests = &out->requests,
                           .sites = r->wants_sites || r->wants_page ? &out->site_table : NULL,
                           .digest = r->wants_digest ? out->digest : NULL};
    out->path = r->pass.path;
    out->wants_sites = r->wants_sites;
    out->wants_scopes = r->wants_scopes;
    out->look = r->wants_page ? ab_overview_begin() : NULL;
    ab_trace_pass_begin(&r->pass, &walk);
    enum ab_status status = ab_trace_walk(&walk, &out->info, err);
    ab_file_progress_end(&r->pass.progress);
    if (status == AB_OK && r->wants_sites && !out->info.has_sites)
        return ab_fail(err, AB_USAGE,
                       "%s: has no call sites; record with --sites: allocbench record --sites -- "
                       "./app …",
                       AB_SHOWN(600, out->path));
    out->mark_sums = sum_marks(&out->marks);
    out->request_sums = sum_marks(&out->requests);
    return status == AB_OK ? read_scopes(r, out, err) : status;
}

static void forget_scopes(struct ab_trace_scopes *s)
{
    ab_scopes_fini(&s->scopes);
    ab_scope_stats_fini(&s->stats);
    free(s->each);
    s->each = NULL;
}

void ab_trace_facts_fini(struct ab_trace_facts *f)
{
    ab_survey_fini(&f->survey);
    ab_site_stats_fini(&f->sites);
    forget_scopes(&f->scopes);
    ab_site_table_fini(&f->site_table);
    free(f->mark_sums);
    free(f->request_sums);
    ab_mark_table_fini(&f->marks);
    ab_mark_table_fini(&f->requests);
    ab_overview_abandon(f->look);
}
