/* SPDX-License-Identifier: MIT
 *
 * `trace info`: gathers the facts of each file, and has them printed as text or as JSON.
 */
#include "cli/terminal.h"
#include "cli/trace/cmd_trace.h"
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
    return f->wants_sites ? ab_site_stats_visit(&f->sites, batch, err) : AB_OK;
}

static enum ab_status read_facts(const struct ab_options *o, struct ab_trace_facts *f,
                                 struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {.visit = visit,
                           .user = f,
                           .marks = &f->marks,
                           .sites = o->wants_sites ? &f->site_table : NULL,
                           .digest = o->wants_digest ? f->digest : NULL};
    f->wants_sites = o->wants_sites;
    ab_trace_watch_begin(&watch, o, f->path, &walk);
    enum ab_status status = ab_trace_walk(&walk, &f->info, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK && o->wants_sites && !f->info.has_sites)
        return ab_fail(err, AB_USAGE,
                       "%s: has no call sites; record with --sites: allocbench record --sites -- "
                       "./app …",
                       AB_SHOWN(600, f->path));
    return status == AB_OK ? ab_trace_scopes_gather(&f->scopes, f->path, o->is_partial, err)
                           : status;
}

static void tell_sites(const struct ab_options *o, const struct ab_trace_facts *f)
{
    ab_trace_print_lives(stdout, &f->sites);
    ab_trace_print_sites(stdout, f, o);
}

/* Reports one file: text immediately, JSON into `list`. */
static enum ab_status tell(const struct ab_options *o, size_t i, struct ab_trace_facts *f,
                           struct ab_json *w, json_t *list, struct ab_err *err)
{
    bool is_text = o->json == NULL || strcmp(o->json, "-") != 0;
    f->path = o->args[i];
    AB_TRY(read_facts(o, f, err));
    if (is_text) {
        if (o->n_args > 2) {
            printf("%s%s:\n", i > 1 ? "\n" : "", AB_SHOWN(600, f->path));
        }
        AB_TRY(ab_trace_print_facts(stdout, f, ab_terminal_style(o), err));
        if (o->wants_sites)
            tell_sites(o, f);
    }
    AB_TRY(ab_trace_flame_write(o, f, err));
    if (o->json == NULL)
        return AB_OK;
    json_t *facts = ab_trace_facts_json(w, f);
    if (o->wants_sites)
        ab_json_put(w, facts, "sites", ab_trace_sites_json(w, f, o));
    if (o->wants_sites)
        ab_json_put(w, facts, "size_lifetimes", ab_trace_lives_json(w, &f->sites));
    ab_json_append(w, list, facts);
    return AB_OK;
}

/* One file: an object; several: an array of them. */
static enum ab_status write_list(struct ab_output *out, struct ab_json *w, json_t *list,
                                 struct ab_err *err)
{
    json_t *root = json_array_size(list) == 1 ? json_array_get(list, 0) : list;
    if (!ab_json_write(w, json_incref(root), out->to, 0))
        return ab_fail(err, AB_SYSTEM, "out of memory for the JSON");
    return ab_output_commit(out, err);
}

static enum ab_status tell_all(const struct ab_options *o, struct ab_json *w, json_t *list,
                               struct ab_err *err)
{
    struct ab_trace_facts *f = calloc(1, sizeof *f);
    enum ab_status status = f != NULL ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory");
    for (size_t i = 1; i < o->n_args && status == AB_OK; i++) {
        *f = (struct ab_trace_facts){0};
        status = tell(o, i, f, w, list, err);
        ab_survey_fini(&f->survey);
        ab_site_stats_fini(&f->sites);
        ab_trace_scopes_fini(&f->scopes);
        ab_site_table_fini(&f->site_table);
        ab_mark_table_fini(&f->marks);
    }
    free(f);
    return status;
}

enum ab_status ab_trace_cmd_info(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_output out = {0};
    struct ab_json w = {false};
    enum ab_status status = AB_OK;
    (void)exit_code;
    if (o->has_site_order && !o->wants_sites)
        return ab_fail(err, AB_USAGE, "trace info --sort needs --sites: what it sorts");
    AB_TRY(ab_trace_flame_check(o, err));
    if (o->json != NULL && (status = ab_output_open(o->json, &out, err)) != AB_OK)
        return status;
    json_t *list = o->json != NULL ? json_array() : NULL;
    status = tell_all(o, &w, list, err);
    if (status == AB_OK && o->json != NULL)
        status = write_list(&out, &w, list, err);
    ab_output_abandon(&out);
    json_decref(list);
    return status;
}
