/* SPDX-License-Identifier: MIT
 *
 * The facts of a trace as JSON. The names are an interface: they are added to, never renamed
 * (traces/README.md tells what each means). Classes and steps without a count are left out.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "trace_tools/event_text.h"

static void put(json_t *o, const char *name, uint64_t value)
{
    json_object_set_new(o, name, value > INT64_MAX ? json_null() : json_integer((json_int_t)value));
}

static void put_ratio(json_t *o, const char *name, uint64_t part, uint64_t whole)
{
    json_object_set_new(o, name, whole > 0 ? json_real((double)part / (double)whole) : json_null());
}

static void put_text(json_t *o, const char *name, const char *text)
{
    char shown[1024];
    ab_text_printable(shown, sizeof shown, text);
    json_object_set_new(o, name, shown[0] != 0 ? json_string(shown) : json_null());
}

static json_t *sizes(const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++) {
        if (s->alloc_sizes.n[k] == 0 && s->resize_sizes.n[k] == 0)
            continue;
        json_t *o = json_object();
        put(o, "from", ab_class_from(k));
        put(o, "to", ab_class_to(k));
        put(o, "allocs", s->alloc_sizes.n[k]);
        put(o, "alloc_bytes", s->alloc_bytes[k]);
        put(o, "resizes", s->resize_sizes.n[k]);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *lifetimes(const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++) {
        if (s->life_events.n[k] == 0 && s->life_bytes.n[k] == 0)
            continue;
        json_t *o = json_object();
        put(o, "from", ab_class_from(k));
        put(o, "to", ab_class_to(k));
        put(o, "blocks_by_events", s->life_events.n[k]);
        put(o, "blocks_by_bytes", s->life_bytes.n[k]);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *aligns(const struct ab_survey *s)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < AB_ARRAY_LEN(s->aligns); i++) {
        if (s->aligns[i] == 0)
            continue;
        json_t *o = json_object();
        put(o, "align", UINT64_C(1) << i);
        put(o, "allocs", s->aligns[i]);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *by_thread(const struct ab_survey *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_threads; i++) {
        json_t *o = json_object();
        put(o, "thread", i);
        put(o, "events", s->threads[i].events);
        put(o, "allocs", s->threads[i].allocs);
        put(o, "resizes", s->threads[i].resizes);
        put(o, "frees", s->threads[i].frees);
        put(o, "remote_frees", s->threads[i].remote_frees);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *live_curve(const struct ab_curve *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ab_curve_count(c); i++) {
        uint64_t end = (i + 1) * c->width;
        json_t *o = json_object();
        put(o, "event", (end < c->n_events ? end : c->n_events) - 1);
        put(o, "bytes", c->steps[i].bytes);
        put(o, "blocks", c->steps[i].blocks);
        json_array_append_new(list, o);
    }
    return list;
}

static void put_totals(json_t *o, const struct ab_trace_info *i)
{
    json_t *ops = json_object();
    put(o, "events", i->events);
    put(o, "threads", i->threads);
    put(o, "thread_ends", i->thread_ends);
    json_object_set_new(o, "time_us", i->has_time ? json_integer((json_int_t)i->time_us)
                                                  : json_null());
    put(o, "live_peak_bytes", i->live_peak_bytes);
    put(o, "live_peak_blocks", i->live_peak_blocks);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        put(ops, ab_event_kind_names[k], i->ops[k]);
    json_object_set_new(o, "ops", ops);
    put(o, "failed", i->failed);
    put(o, "inherited", i->inherited);
    put(o, "live_end_bytes", i->live_end_bytes);
    put(o, "live_end_blocks", i->live_end_blocks);
    put(o, "total_bytes", i->total_bytes);
    put(o, "file_bytes", i->file_bytes);
    put_ratio(o, "bytes_per_event", i->file_bytes, i->events);
    json_object_set_new(o, "partial", json_boolean(i->is_partial));
}

json_t *ab_trace_facts_json(const struct ab_trace_facts *f)
{
    json_t *o = json_object();
    put_text(o, "file", f->path);
    put_text(o, "program", f->info.program);
    put_totals(o, &f->info);
    if (f->digest[0] != 0)
        put_text(o, "digest", f->digest);
    put(o, "freed_blocks", f->survey.n_frees);
    put(o, "remote_frees", f->survey.n_remote_frees);
    put_ratio(o, "remote_free_ratio", f->survey.n_remote_frees, f->survey.n_frees);
    put(o, "remote_resizes", f->survey.n_remote_resizes);
    json_object_set_new(o, "sizes", sizes(&f->survey));
    json_object_set_new(o, "lifetimes", lifetimes(&f->survey));
    json_object_set_new(o, "aligns", aligns(&f->survey));
    json_object_set_new(o, "by_thread", by_thread(&f->survey));
    json_object_set_new(o, "live_curve", live_curve(&f->survey.live));
    return o;
}
