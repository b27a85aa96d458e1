/* SPDX-License-Identifier: MIT
 *
 * `trace info`: gathers the facts of each file, and has them printed as text or as JSON.
 */
#include "cli/spool_summary.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "cli/trace_flame.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/json.h"
#include "report/output.h"
#include "report/sparkline.h"
#include "report/table/table.h"
#include "trace_tools/event_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names are of whoever made the trace: escaped before they are printed. */
static struct ab_mark_stats *make_stats(const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = ab_alloc((t->n_names + 1) * sizeof stats[0]);
    ab_mark_stats(t, stats);
    return stats;
}

/* The facts of a trace as JSON. The names are an interface: they are added to, never renamed
 * (traces/README.md says what each means). Classes and steps without a count are left out. */

static void put(json_t *o, const char *name, uint64_t value)
{
    ab_json_put(o, name, ab_json_integer(value));
}

/* Not rounded. */
static void put_ratio(json_t *o, const char *name, uint64_t part, uint64_t whole)
{
    ab_json_put(o, name, whole > 0 ? json_real((double)part / (double)whole) : json_null());
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
        ab_json_append(list, o);
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
        ab_json_append(list, o);
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
        ab_json_append(list, o);
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
        ab_json_append(list, o);
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
        ab_json_append(list, o);
    }
    return list;
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *spread(const struct ab_mark_spread *s)
{
    json_t *o = json_object();
    ab_json_put(o, "min", number(s->min));
    ab_json_put(o, "median", number(s->median));
    ab_json_put(o, "max", number(s->max));
    return o;
}

static json_t *marks_json(const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = make_stats(t);
    json_t *list = json_array();
    for (size_t i = 0; i < t->n_names; i++) {
        const struct ab_mark_stats *s = &stats[i];
        json_t *o = json_object();
        ab_json_put(o, "name", ab_json_string(t->names[s->name]));
        ab_json_put(o, "count", ab_json_integer(s->n));
        ab_json_put(o, "first_call", s->n > 0 ? ab_json_integer(s->first) : json_null());
        ab_json_put(o, "last_call", s->n > 0 ? ab_json_integer(s->last) : json_null());
        ab_json_put(o, "calls_between", spread(&s->calls));
        ab_json_put(o, "us_between", spread(&s->us));
        ab_json_append(list, o);
    }
    free(stats);
    return list;
}

/* null: every call that was made is in the trace, as far as is known. */
static json_t *bypass(const struct ab_trace_bypass *b)
{
    if (!b->is_there)
        return json_null();
    json_t *o = json_object(), *names = json_array();
    put(o, "least_calls", b->least_calls);
    ab_json_put(o, "most_bytes",
                b->most_bytes == AB_BYPASS_UNKNOWN ? json_null()
                                                   : json_integer((json_int_t)b->most_bytes));
    put(o, "modules", b->n_modules);
    for (const char *p = b->names; p < b->names + b->n_names; p += strlen(p) + 1)
        ab_json_append(names, ab_json_string(p));
    ab_json_put(o, "module_names", names);
    return o;
}

static void put_totals(json_t *o, const struct ab_trace_info *i)
{
    json_t *ops = json_object();
    put(o, "events", i->events);
    put(o, "threads", i->threads);
    put(o, "thread_ends", i->thread_ends);
    ab_json_put(o, "time_us", i->has_time ? json_integer((json_int_t)i->time_us) : json_null());
    put(o, "live_peak_bytes", i->live_peak_bytes);
    put(o, "live_peak_blocks", i->live_peak_blocks);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        put(ops, ab_event_kind_names[k], i->ops[k]);
    ab_json_put(o, "ops", ops);
    put(o, "failed", i->failed);
    put(o, "inherited", i->inherited);
    ab_json_put(o, "not_seen", bypass(&i->bypass));
    put(o, "live_end_bytes", i->live_end_bytes);
    put(o, "live_end_blocks", i->live_end_blocks);
    put(o, "total_bytes", i->total_bytes);
    put(o, "file_bytes", i->file_bytes);
    put_ratio(o, "bytes_per_event", i->file_bytes, i->events);
    ab_json_put(o, "partial", json_boolean(i->is_partial));
    ab_json_put(o, "has_sites", json_boolean(i->has_sites));
}

static double gone_share(const struct ab_trace_scopes *s)
{
    return (double)s->stats.gone / (double)s->stats.allocs;
}

/* null: there are none. */
static json_t *scopes_json(const struct ab_trace_scopes *s)
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
    ab_json_put(o, "freed_in_scope_ratio",
                s->stats.allocs > 0 ? json_real(gone_share(s)) : json_null());
    ab_json_put(o, "most_freed_bytes", ab_json_integer(s->stats.most_gone));
    ab_json_put(o, "most_live_bytes", ab_json_integer(s->stats.most_live));
    return o;
}

static json_t *facts_json(const struct ab_trace_facts *f)
{
    json_t *o = json_object();
    ab_json_put(o, "file", ab_json_string(f->path));
    ab_json_put(o, "program", ab_json_string(f->info.program));
    put_totals(o, &f->info);
    if (f->digest[0] != 0)
        ab_json_put(o, "digest", ab_json_string(f->digest));
    ab_json_put(o, "marks", marks_json(&f->marks));
    put(o, "freed_blocks", f->survey.n_frees);
    put(o, "remote_frees", f->survey.n_remote_frees);
    put_ratio(o, "remote_free_ratio", f->survey.n_remote_frees, f->survey.n_frees);
    put(o, "remote_resizes", f->survey.n_remote_resizes);
    if (f->wants_scopes)
        ab_json_put(o, "scopes", scopes_json(&f->scopes));
    ab_json_put(o, "sizes", sizes(&f->survey));
    ab_json_put(o, "lifetimes", lifetimes(&f->survey));
    ab_json_put(o, "aligns", aligns(&f->survey));
    ab_json_put(o, "by_thread", by_thread(&f->survey));
    ab_json_put(o, "live_curve", live_curve(&f->survey.live));
    return o;
}

/* The facts of a trace for people: the totals, then three small pictures. */

enum { CURVE_COLUMNS = 60, BAR_COLUMNS = 30, THREADS_SHOWN = 8, NAMES_SHOWN = 8 };

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_bypass(FILE *to, const struct ab_trace_bypass *b)
{
    fputs("not seen   ", to);
    ab_bypass_print_amount(to, b);
    if (b->n_modules > 0) {
        fputs("; of ", to);
        ab_bypass_print_modules(to, b);
    }
    fputc('\n', to);
}

static void print_totals(FILE *to, const struct ab_trace_info *i)
{
    char a[32];
    fprintf(to, "program    %s%s\n", i->program[0] != 0 ? AB_SHOWN(1024, i->program) : "unknown",
            i->is_partial ? " (partial: the end of the file is missing)" : "");
    fprintf(to, "events     %llu in %s", (unsigned long long)i->events,
            ab_units_bytes(a, sizeof a, (double)i->file_bytes));
    if (i->events > 0)
        fprintf(to, " (%.3f bytes each)", (double)i->file_bytes / (double)i->events);
    fputc('\n', to);
    fprintf(to, "threads    %llu", (unsigned long long)i->threads);
    if (i->thread_ends > 0)
        fprintf(to, ", %llu ended", (unsigned long long)i->thread_ends);
    if (i->has_time)
        fprintf(to, "\ntime       %s", ab_units_time(a, sizeof a, (double)i->time_us * 1e3));
    fputc('\n', to);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        if (i->ops[k] > 0)
            fprintf(to, "%-14s %llu\n", ab_event_kind_names[k], (unsigned long long)i->ops[k]);
    if (i->inherited > 0)
        fprintf(to, "inherited  %llu: the first events are the blocks live at the fork\n",
                (unsigned long long)i->inherited);
    if (i->bypass.is_there)
        print_bypass(to, &i->bypass);
    if (i->failed > 0)
        fprintf(to, "failed     %llu of these\n", (unsigned long long)i->failed);
    fprintf(to, "live peak  %s", ab_units_bytes(a, sizeof a, (double)i->live_peak_bytes));
    fprintf(to, " (%llu bytes), at most %llu block%s\n", (unsigned long long)i->live_peak_bytes,
            (unsigned long long)i->live_peak_blocks, i->live_peak_blocks == 1 ? "" : "s");
    fprintf(to, "never freed  %s in %llu block%s",
            ab_units_bytes(a, sizeof a, (double)i->live_end_bytes),
            (unsigned long long)i->live_end_blocks, i->live_end_blocks == 1 ? "" : "s");
    if (i->live_end_bytes > 0)
        fprintf(to, ", %.3g %% of the live peak",
                100.0 * (double)i->live_end_bytes / (double)i->live_peak_bytes);
    fputc('\n', to);
    fprintf(to, "requested  %s in total\n", ab_units_bytes(a, sizeof a, (double)i->total_bytes));
    if (i->has_sites)
        fputs("call sites recorded (--sites shows them)\n", to);
}

static void print_mark(FILE *to, const struct ab_mark_table *t, const struct ab_mark_stats *s)
{
    char a[32];
    fprintf(to, "marks      %s: %llu", AB_SHOWN(1024, t->names[s->name]), (unsigned long long)s->n);
    if (s->n > 1)
        fprintf(to, ", calls between: median %.10g (%.10g to %.10g)", s->calls.median, s->calls.min,
                s->calls.max);
    if (!isnan(s->us.median)) {
        fprintf(to, "; time: median %s", ab_units_time(a, sizeof a, s->us.median * 1e3));
        fprintf(to, ", longest %s", ab_units_time(a, sizeof a, s->us.max * 1e3));
    }
    fputc('\n', to);
}

/* A line for each of the first names, and one for the others. */
static void print_marks(FILE *to, const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = make_stats(t);
    for (size_t i = 0; i < t->n_names && i < NAMES_SHOWN; i++)
        print_mark(to, t, &stats[i]);
    if (t->n_names > NAMES_SHOWN)
        fprintf(to, "           and %zu names more (--json has all)\n", t->n_names - NAMES_SHOWN);
    free(stats);
}

/* Names of marks are of whoever made the trace: escaped before they are printed. */
static void print_scopes(FILE *to, const struct ab_trace_scopes *s)
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
    ab_scopes_ask(&question, &s->scopes, s->median_calls, s->time_us);
    if (question.s != NULL)
        ab_table_prose(to, (struct ab_table_style){.width = 80}, AB_PLAIN, question.s);
    ab_text_fini(&question);
    if (s->stats.allocs == 0) {
        fputs("           n/a: no allocations\n", to);
        return;
    }
    fprintf(to, "           %.1f %% of allocations are freed in their scope, at most %s in one\n",
            100 * gone_share(s), AB_BYTES(s->stats.most_gone));
    fprintf(to, "           live bytes of a scope's own blocks: at most %s\n",
            AB_BYTES(s->stats.most_live));
}

static void print_threads(FILE *to, const struct ab_survey *s)
{
    if (s->n_threads < 2)
        return;
    fprintf(to, "freed by another thread  %llu of %llu blocks (%.1f %%)\n",
            (unsigned long long)s->n_remote_frees, (unsigned long long)s->n_frees,
            share(s->n_remote_frees, s->n_frees));
    if (s->n_remote_resizes > 0)
        fprintf(to, "resized by another thread  %llu blocks\n",
                (unsigned long long)s->n_remote_resizes);
    fprintf(to, "\n%-10s %12s %12s %12s %14s\n", "thread", "events", "allocs", "frees",
            "remote frees");
    for (size_t i = 0; i < s->n_threads && i < THREADS_SHOWN; i++)
        fprintf(to, "%-10zu %12llu %12llu %12llu %14llu\n", i,
                (unsigned long long)s->threads[i].events, (unsigned long long)s->threads[i].allocs,
                (unsigned long long)s->threads[i].frees,
                (unsigned long long)s->threads[i].remote_frees);
    if (s->n_threads > THREADS_SHOWN)
        fprintf(to, "and %zu more\n", s->n_threads - THREADS_SHOWN);
}

/* "64 B", "16 KiB", or the plain number: classes end at powers of two, so this is exact. */
static const char *class_label(char *buf, size_t cap, unsigned k, bool is_bytes)
{
    if (is_bytes)
        return ab_units_exact(buf, cap, ab_class_to(k), " ");
    snprintf(buf, cap, "%llu", (unsigned long long)ab_class_to(k));
    return buf;
}

static void print_aligns(FILE *to, const struct ab_survey *s)
{
    const char *lead = "aligned to ";
    for (unsigned i = 0; i < AB_ARRAY_LEN(s->aligns); i++) {
        char bytes[32];
        if (s->aligns[i] == 0)
            continue;
        fprintf(to, "%s%s: %llu", lead, class_label(bytes, sizeof bytes, i + 1, true),
                (unsigned long long)s->aligns[i]);
        lead = ", ";
    }
    if (lead[0] == ',')
        fputc('\n', to);
}

/* One character a column, as high as its share of the peak: 0 is blank, all else is seen. */
static void print_curve(FILE *to, const struct ab_curve *curve, bool utf8)
{
    struct ab_curve_step columns[CURVE_COLUMNS];
    size_t n = ab_curve_columns(curve, columns, CURVE_COLUMNS);
    uint64_t peak = 0, least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        peak = columns[i].bytes > peak ? columns[i].bytes : peak;
        least = columns[i].bytes < least ? columns[i].bytes : least;
    }
    if (peak == 0)
        return;
    fprintf(to, "\nlive bytes over time, first to last event (heights from 0); %s to %s\n|",
            AB_BYTES(least), AB_BYTES(peak));
    for (size_t i = 0; i < n; i++) {
        double height = (double)columns[i].bytes / (double)peak * AB_SPARKLINE_LEVELS;
        fputs(ab_sparkline_mark((unsigned)ceil(height), utf8), to);
    }
    fputs("|\n", to);
}

struct picture {
    const char *title;
    const struct ab_classes *classes;
    const struct ab_classes *second; /* a count behind each bar; NULL = none */
    const char *second_name;
    bool is_bytes, utf8;
};

static void print_class(FILE *to, const struct picture *p, unsigned k, uint64_t most, uint64_t all)
{
    uint64_t n = p->classes->n[k], second = p->second != NULL ? p->second->n[k] : 0;
    char bound[32], bar[4 * BAR_COLUMNS + 8];
    fprintf(to, "%s %8s %12llu %5.1f %%  ",
            k < 2     ? "  "
            : p->utf8 ? " ≤"
                      : "<=",
            class_label(bound, sizeof bound, k, p->is_bytes), (unsigned long long)n, share(n, all));
    fputs(ab_sparkline_bar(bar, (double)n / (double)(most > 0 ? most : 1) * BAR_COLUMNS, p->utf8),
          to);
    if (second > 0)
        fprintf(to, "%s%llu %s", n > 0 ? " + " : "", (unsigned long long)second, p->second_name);
    fputc('\n', to);
}

static void print_classes(FILE *to, const struct picture *p)
{
    uint64_t all = ab_classes_total(p->classes), most = 0;
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++)
        most = p->classes->n[k] > most ? p->classes->n[k] : most;
    if (all == 0 && (p->second == NULL || ab_classes_total(p->second) == 0))
        return;
    fprintf(to, "\n%s\n", p->title);
    for (unsigned k = 0; k < AB_CLASS_COUNT; k++)
        if (p->classes->n[k] > 0 || (p->second != NULL && p->second->n[k] > 0))
            print_class(to, p, k, most, all);
}

static void print_facts(FILE *to, const struct ab_trace_facts *f, struct ab_table_style style)
{
    const struct ab_survey *s = &f->survey;
    print_totals(to, &f->info);
    print_marks(to, &f->marks);
    if (f->wants_scopes)
        print_scopes(to, &f->scopes);
    if (f->digest[0] != 0)
        fprintf(to, "digest     %s\n", f->digest);
    print_threads(to, s);
    print_aligns(to, s);
    print_curve(to, &s->live, style.utf8);
    print_classes(to, &(struct picture){"requested sizes: allocations + resizes", &s->alloc_sizes,
                                        &s->resize_sizes, "resizes", true, style.utf8});
    print_classes(to, &(struct picture){"lifetimes: calls between allocation and free",
                                        &s->life_events, NULL, NULL, false, style.utf8});
    print_classes(to, &(struct picture){"lifetimes: bytes requested between allocation and free",
                                        &s->life_bytes, NULL, NULL, true, style.utf8});
}

/* ---- gathering and telling ---- */

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct ab_trace_facts *f = user;
    AB_TRY(ab_survey_visit(&f->survey, batch, err));
    for (size_t i = 0; f->look != NULL && i < batch->n; i++)
        ab_overview_take(f->look, &batch->events[i]);
    return f->wants_sites || f->look != NULL ? ab_site_stats_visit(&f->sites, batch, err) : AB_OK;
}

static void forget_scopes(struct ab_trace_scopes *s)
{
    ab_scopes_fini(&s->scopes);
    ab_scope_stats_fini(&s->stats);
    free(s->each);
    s->each = NULL;
}

/* The stats know in which scope the last call was: `at` of each call is found again from there. */
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

/* Reads the file of `walk` again, up to four times, with its progress: AB_USAGE for what can be
 * read only once. */
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
    enum ab_status status = gather_scopes(&f->scopes, &walk, err);
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
    json_t *list; /* facts of each file; NULL = not asked for */
};

/* Four of the counted classes of lifetimes are one column: a power of 16. */

enum {
    CLASSES_A_COLUMN = 4,
    COLUMNS = (AB_SITE_LIVES + CLASSES_A_COLUMN - 2) / CLASSES_A_COLUMN + 1
};

static unsigned column_of(unsigned life)
{
    return (life + CLASSES_A_COLUMN - 1) / CLASSES_A_COLUMN;
}

static uint64_t cell(const struct ab_site_stats *s, unsigned size, unsigned column)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        n += column_of(i) == column ? s->lives[size][i] : 0;
    return n;
}

static uint64_t row_total(const struct ab_site_stats *s, unsigned size)
{
    uint64_t n = s->live_by_size[size];
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        n += s->lives[size][i];
    return n;
}

static unsigned last_column(const struct ab_site_stats *s)
{
    unsigned last = 0;
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++)
        for (unsigned c = 0; c < COLUMNS; c++)
            last = c > last && cell(s, size, c) > 0 ? c : last;
    return last;
}

static void print_percent(FILE *to, uint64_t n, uint64_t all)
{
    double percent = 100 * (double)n / (double)all;
    if (n == 0)
        fprintf(to, " %7s", ".");
    else if (percent < 0.05)
        fprintf(to, " %7s", "<0.1");
    else
        fprintf(to, " %7.1f", percent);
}

static void print_head(FILE *to, unsigned last, uint64_t all)
{
    fprintf(to,
            "\nsizes (rows) against lifetimes (calls between allocation and free), %% of %llu "
            "blocks\n%10s %7s",
            (unsigned long long)all, "up to", "0");
    for (unsigned c = 1; c <= last; c++) {
        char bound[32];
        snprintf(bound, sizeof bound, "<16^%u", c);
        fprintf(to, " %7s", bound);
    }
    fprintf(to, " %7s\n", "never");
}

static void trace_print_lives(FILE *to, const struct ab_site_stats *s)
{
    uint64_t all = 0;
    unsigned last = last_column(s);
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++)
        all += row_total(s, size);
    if (all == 0)
        return;
    print_head(to, last, all);
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++) {
        if (row_total(s, size) == 0)
            continue;
        fprintf(to, "%10s", AB_BYTES(ab_class_to(size)));
        for (unsigned c = 0; c <= last; c++)
            print_percent(to, cell(s, size, c), all);
        print_percent(to, s->live_by_size[size], all);
        fputc('\n', to);
    }
}

static void append(json_t *list, unsigned size, json_t *life_to, uint64_t n)
{
    json_t *o = json_object();
    ab_json_put(o, "size_to", ab_json_integer(ab_class_to(size)));
    ab_json_put(o, "life_to", life_to);
    ab_json_put(o, "blocks", ab_json_integer(n));
    ab_json_append(list, o);
}

/* life_to null: never freed. */
static json_t *trace_lives_json(const struct ab_site_stats *s)
{
    json_t *list = json_array();
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++) {
        for (unsigned i = 0; i < AB_SITE_LIVES; i++)
            if (s->lives[size][i] > 0)
                append(list, size, ab_json_integer((UINT64_C(1) << i) - 1), s->lives[size][i]);
        if (s->live_by_size[size] > 0)
            append(list, size, json_null(), s->live_by_size[size]);
    }
    return list;
}

static void tell_text(FILE *to, const struct ab_options *o, const struct ab_trace_facts *f,
                      struct ab_table_style style)
{
    print_facts(to, f, style);
    if (!o->wants_sites)
        return;
    trace_print_lives(to, &f->sites);
    ab_trace_print_sites(to, f, o);
}

static void add_json(struct telling *t, const struct ab_trace_facts *f)
{
    json_t *facts = facts_json(f);
    if (f->wants_sites)
        ab_json_put(facts, "sites", ab_trace_sites_json(f, t->o));
    if (f->wants_sites)
        ab_json_put(facts, "size_lifetimes", trace_lives_json(&f->sites));
    ab_json_append(t->list, facts);
}

/* Reports one file: text immediately, JSON into the list. */
static enum ab_status tell(struct telling *t, size_t i, struct ab_trace_facts *f,
                           struct ab_err *err)
{
    const struct ab_options *o = t->o;
    f->path = o->args[i];
    if (t->out[HTML].to != NULL)
        f->look = ab_overview_begin();
    AB_TRY(read_facts(o, f, err));
    if (t->is_text) {
        if (o->n_args > 2) {
            printf("%s%s:\n", i > 1 ? "\n" : "", AB_SHOWN(600, f->path));
        }
        tell_text(stdout, o, f, ab_terminal_style(o));
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
    ab_json_write(json_incref(root), t->out[JSON].to, 0);
    return ab_output_commit(&t->out[JSON], err);
}

static void forget_facts(struct ab_trace_facts *f)
{
    ab_survey_fini(&f->survey);
    ab_site_stats_fini(&f->sites);
    forget_scopes(&f->scopes);
    ab_site_table_fini(&f->site_table);
    ab_mark_table_fini(&f->marks);
    ab_overview_abandon(f->look);
}

enum ab_status ab_trace_print_info(FILE *to, const struct ab_options *o, const char *path,
                                   struct ab_err *err)
{
    struct ab_trace_facts *f = ab_alloc_zeroed(1, sizeof *f);
    f->path = path;
    enum ab_status status = read_facts(o, f, err);
    if (status == AB_OK)
        tell_text(to, o, f, (struct ab_table_style){.width = 80, .utf8 = true});
    forget_facts(f);
    free(f);
    return status;
}

static enum ab_status tell_all(struct telling *t, struct ab_err *err)
{
    struct ab_trace_facts *f = ab_alloc_zeroed(1, sizeof *f);
    enum ab_status status = AB_OK;
    for (size_t i = 1; i < t->o->n_args && status == AB_OK; i++) {
        *f = (struct ab_trace_facts){0};
        status = tell(t, i, f, err);
        forget_facts(f);
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
