/* SPDX-License-Identifier: MIT
 *
 * `trace info`: gathers the facts of each file, and has them printed as text or as JSON.
 */
#include "cli/terminal.h"
#include "cli/trace/cmd_trace.h"
#include "cli/trace/page/trace_page.h"
#include "cli/trace/trace_flame.h"
#include "cli/trace/trace_lives.h"
#include "core/text.h"
#include "report/output.h"

#include <stdlib.h>
#include <string.h>

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_trace_facts *f = user;
    AB_TRY(ab_survey_visit(&f->survey, batch, err));
    for (size_t i = 0; f->look != NULL && i < batch->n; i++)
        if (!ab_survey_look(f->look, &batch->events[i]))
            return ab_fail(err, AB_SYSTEM, "out of memory for the page");
    return f->wants_sites || f->look != NULL ? ab_site_stats_visit(&f->sites, batch, err) : AB_OK;
}

/* The page does without scopes where the file can be read only once. */
static enum ab_status read_scopes(const struct ab_options *o, struct ab_trace_facts *f,
                                  struct ab_err *err)
{
    if (!o->wants_scopes && f->look == NULL)
        return AB_OK;
    f->scopes.wish = o->scopes_wish;
    f->scopes.wants_each = f->look != NULL;
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    ab_trace_watch_begin(&watch, o, f->path, &walk);
    enum ab_status status = ab_trace_scopes_gather(&f->scopes, &walk, err);
    ab_trace_watch_end(&watch);
    if (status != AB_USAGE || o->wants_scopes)
        return status;
    snprintf(f->why_no_scopes, sizeof f->why_no_scopes, "n/a: %.290s", err->text);
    return AB_OK;
}

static enum ab_status read_facts(const struct ab_options *o, struct ab_trace_facts *f,
                                 struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {.visit = visit,
                           .user = f,
                           .marks = &f->marks,
                           .sites = o->wants_sites || f->look != NULL ? &f->site_table : NULL,
                           .digest = o->wants_digest ? f->digest : NULL};
    f->wants_sites = o->wants_sites;
    f->wants_scopes = o->wants_scopes;
    ab_trace_watch_begin(&watch, o, f->path, &walk);
    enum ab_status status = ab_trace_walk(&walk, &f->info, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK && o->wants_sites && !f->info.has_sites)
        return ab_fail(err, AB_USAGE,
                       "%s: has no call sites; record with --sites: allocbench record --sites -- "
                       "./app …",
                       AB_SHOWN(600, f->path));
    return status == AB_OK ? read_scopes(o, f, err) : status;
}

enum { JSON, FLAME, FOLDED, HTML, OUTPUTS };

struct telling {
    const struct ab_options *o;
    struct ab_output out[OUTPUTS];
    bool is_text; /* on stdout, which no output is */
    struct ab_json w;
    json_t *list; /* facts of each file; NULL = not asked for */
};

static void tell_sites(const struct ab_options *o, const struct ab_trace_facts *f)
{
    ab_trace_print_lives(stdout, &f->sites);
    ab_trace_print_sites(stdout, f, o);
}

static void add_json(struct telling *t, const struct ab_trace_facts *f)
{
    json_t *facts = ab_trace_facts_json(&t->w, f);
    if (f->wants_sites)
        ab_json_put(&t->w, facts, "sites", ab_trace_sites_json(&t->w, f, t->o));
    if (f->wants_sites)
        ab_json_put(&t->w, facts, "size_lifetimes", ab_trace_lives_json(&t->w, &f->sites));
    ab_json_append(&t->w, t->list, facts);
}

/* Reports one file: text immediately, JSON into the list. */
static enum ab_status tell(struct telling *t, size_t i, struct ab_trace_facts *f,
                           struct ab_err *err)
{
    const struct ab_options *o = t->o;
    f->path = o->args[i];
    if (t->out[HTML].to != NULL && (f->look = ab_overview_begin()) == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the page");
    AB_TRY(read_facts(o, f, err));
    if (t->is_text) {
        if (o->n_args > 2) {
            printf("%s%s:\n", i > 1 ? "\n" : "", AB_SHOWN(600, f->path));
        }
        AB_TRY(ab_trace_print_facts(stdout, f, ab_terminal_style(o), err));
        if (o->wants_sites)
            tell_sites(o, f);
    }
    if (o->flame != NULL || o->folded != NULL)
        AB_TRY(ab_trace_flame_write(f, o->flame_by, &t->out[FLAME], &t->out[FOLDED], err));
    if (f->look != NULL)
        AB_TRY(ab_trace_page_write(f, o, &t->out[HTML], err));
    if (t->list != NULL)
        add_json(t, f);
    return AB_OK;
}

/* One file: an object; several: an array of them. */
static enum ab_status write_list(struct telling *t, struct ab_err *err)
{
    if (t->list == NULL)
        return AB_OK;
    json_t *root = json_array_size(t->list) == 1 ? json_array_get(t->list, 0) : t->list;
    if (!ab_json_write(&t->w, json_incref(root), t->out[JSON].to, 0))
        return ab_fail(err, AB_SYSTEM, "out of memory for the JSON");
    return ab_output_commit(&t->out[JSON], err);
}

static enum ab_status tell_all(struct telling *t, struct ab_err *err)
{
    struct ab_trace_facts *f = calloc(1, sizeof *f);
    enum ab_status status = f != NULL ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t i = 1; i < t->o->n_args && status == AB_OK; i++) {
        *f = (struct ab_trace_facts){0};
        status = tell(t, i, f, err);
        ab_survey_fini(&f->survey);
        ab_site_stats_fini(&f->sites);
        ab_trace_scopes_fini(&f->scopes);
        ab_site_table_fini(&f->site_table);
        ab_mark_table_fini(&f->marks);
        ab_overview_abandon(f->look);
    }
    free(f);
    return status == AB_OK ? write_list(t, err) : status;
}

static enum ab_status open_outputs(struct telling *t, struct ab_err *err)
{
    const char *const paths[OUTPUTS] = {t->o->json, t->o->flame, t->o->folded,
                                        t->o->sinks[AB_SINK_HTML]};
    t->is_text = true;
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (paths[i] == NULL)
            continue;
        AB_TRY(ab_trace_open_file(t->o, 1, paths[i], &t->out[i], err));
        t->is_text = t->is_text && t->out[i].to != stdout;
        for (size_t k = 0; k < i; k++)
            if (paths[k] != NULL && ab_output_is_same(&t->out[i], &t->out[k]))
                return ab_fail(err, AB_USAGE,
                               "two of --json, --flame, --folded and --html name the same file");
    }
    return AB_OK;
}

enum ab_status ab_trace_cmd_info(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct telling t = {.o = o};
    (void)exit_code;
    if (o->has_site_order && !o->wants_sites)
        return ab_fail(err, AB_USAGE, "trace info --sort needs --sites: what it sorts");
    if (o->sinks[AB_SINK_HTML] != NULL && o->n_args > 2)
        return ab_fail(err, AB_USAGE, "trace info --html takes one trace, not %zu", o->n_args - 1);
    AB_TRY(ab_trace_flame_check(o, err));
    enum ab_status status = open_outputs(&t, err);
    t.list = o->json != NULL ? json_array() : NULL;
    if (status == AB_OK)
        status = tell_all(&t, err);
    for (size_t i = 0; i < OUTPUTS; i++)
        ab_output_abandon(&t.out[i]);
    json_decref(t.list);
    return status;
}
