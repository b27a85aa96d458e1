/* SPDX-License-Identifier: MIT
 *
 * The facts of a trace as JSON. The names are an interface: they are added to, never renamed
 * (traces/README.md says what each means). Classes and steps without a count are left out.
 */
#include "cli/trace/cmd_trace.h"
#include "cli/trace/trace_marks.h"
#include "report/json.h"
#include "trace_tools/event_text.h"

#include <string.h>

static void put(struct ab_json *w, json_t *o, const char *name, uint64_t value)
{
    ab_json_put(w, o, name, ab_json_integer(value));
}

/* Not rounded. */
static void put_ratio(struct ab_json *w, json_t *o, const char *name, uint64_t part, uint64_t whole)
{
    ab_json_put(w, o, name, whole > 0 ? json_real((double)part / (double)whole) : json_null());
}

static json_t *sizes(struct ab_json *w, const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++) {
        if (s->alloc_sizes.n[k] == 0 && s->resize_sizes.n[k] == 0)
            continue;
        json_t *o = json_object();
        put(w, o, "from", ab_class_from(k));
        put(w, o, "to", ab_class_to(k));
        put(w, o, "allocs", s->alloc_sizes.n[k]);
        put(w, o, "alloc_bytes", s->alloc_bytes[k]);
        put(w, o, "resizes", s->resize_sizes.n[k]);
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *lifetimes(struct ab_json *w, const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++) {
        if (s->life_events.n[k] == 0 && s->life_bytes.n[k] == 0)
            continue;
        json_t *o = json_object();
        put(w, o, "from", ab_class_from(k));
        put(w, o, "to", ab_class_to(k));
        put(w, o, "blocks_by_events", s->life_events.n[k]);
        put(w, o, "blocks_by_bytes", s->life_bytes.n[k]);
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *aligns(struct ab_json *w, const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < AB_ARRAY_LEN(s->aligns); i++) {
        if (s->aligns[i] == 0)
            continue;
        json_t *o = json_object();
        put(w, o, "align", UINT64_C(1) << i);
        put(w, o, "allocs", s->aligns[i]);
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *by_thread(struct ab_json *w, const struct ab_survey *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_threads; i++) {
        json_t *o = json_object();
        put(w, o, "thread", i);
        put(w, o, "events", s->threads[i].events);
        put(w, o, "allocs", s->threads[i].allocs);
        put(w, o, "resizes", s->threads[i].resizes);
        put(w, o, "frees", s->threads[i].frees);
        put(w, o, "remote_frees", s->threads[i].remote_frees);
        ab_json_append(w, list, o);
    }
    return list;
}

static json_t *live_curve(struct ab_json *w, const struct ab_curve *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ab_curve_count(c); i++) {
        uint64_t end = (i + 1) * c->width;
        json_t *o = json_object();
        put(w, o, "event", (end < c->n_events ? end : c->n_events) - 1);
        put(w, o, "bytes", c->steps[i].bytes);
        put(w, o, "blocks", c->steps[i].blocks);
        ab_json_append(w, list, o);
    }
    return list;
}

/* null: every call that was made is in the trace, as far as is known. */
static json_t *bypass(struct ab_json *w, const struct ab_trace_bypass *b)
{
    if (!b->is_there)
        return json_null();
    json_t *o = json_object(), *names = json_array();
    put(w, o, "least_calls", b->least_calls);
    ab_json_put(w, o, "most_bytes",
                b->most_bytes == AB_BYPASS_UNKNOWN ? json_null()
                                                   : json_integer((json_int_t)b->most_bytes));
    put(w, o, "modules", b->n_modules);
    for (const char *p = b->names; p < b->names + b->n_names; p += strlen(p) + 1)
        ab_json_append(w, names, ab_json_string(p));
    ab_json_put(w, o, "module_names", names);
    return o;
}

static void put_totals(struct ab_json *w, json_t *o, const struct ab_trace_info *i)
{
    json_t *ops = json_object();
    put(w, o, "events", i->events);
    put(w, o, "threads", i->threads);
    put(w, o, "thread_ends", i->thread_ends);
    ab_json_put(w, o, "time_us", i->has_time ? json_integer((json_int_t)i->time_us) : json_null());
    put(w, o, "live_peak_bytes", i->live_peak_bytes);
    put(w, o, "live_peak_blocks", i->live_peak_blocks);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        put(w, ops, ab_event_kind_names[k], i->ops[k]);
    ab_json_put(w, o, "ops", ops);
    put(w, o, "failed", i->failed);
    put(w, o, "inherited", i->inherited);
    ab_json_put(w, o, "not_seen", bypass(w, &i->bypass));
    put(w, o, "live_end_bytes", i->live_end_bytes);
    put(w, o, "live_end_blocks", i->live_end_blocks);
    put(w, o, "total_bytes", i->total_bytes);
    put(w, o, "file_bytes", i->file_bytes);
    put_ratio(w, o, "bytes_per_event", i->file_bytes, i->events);
    ab_json_put(w, o, "partial", json_boolean(i->is_partial));
    ab_json_put(w, o, "has_sites", json_boolean(i->has_sites));
}

json_t *ab_trace_facts_json(struct ab_json *w, const struct ab_trace_facts *f)
{
    json_t *o = json_object();
    ab_json_put(w, o, "file", ab_json_string(f->path));
    ab_json_put(w, o, "program", ab_json_string(f->info.program));
    put_totals(w, o, &f->info);
    if (f->digest[0] != 0)
        ab_json_put(w, o, "digest", ab_json_string(f->digest));
    ab_json_put(w, o, "marks", ab_trace_marks_json(w, &f->marks));
    put(w, o, "freed_blocks", f->survey.n_frees);
    put(w, o, "remote_frees", f->survey.n_remote_frees);
    put_ratio(w, o, "remote_free_ratio", f->survey.n_remote_frees, f->survey.n_frees);
    put(w, o, "remote_resizes", f->survey.n_remote_resizes);
    if (f->wants_scopes)
        ab_json_put(w, o, "scopes", ab_trace_scopes_json(w, &f->scopes));
    ab_json_put(w, o, "sizes", sizes(w, &f->survey));
    ab_json_put(w, o, "lifetimes", lifetimes(w, &f->survey));
    ab_json_put(w, o, "aligns", aligns(w, &f->survey));
    ab_json_put(w, o, "by_thread", by_thread(w, &f->survey));
    ab_json_put(w, o, "live_curve", live_curve(w, &f->survey.live));
    return o;
}
