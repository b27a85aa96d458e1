/* SPDX-License-Identifier: MIT
 *
 * Implements `trace info`: gathers the facts of each file and prints them as text or JSON.
 */
#include "answer/sparkline.h"
#include "app/stacks.h"
#include "cli/option_table.h"
#include "cli/spool_summary.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "core/units_show.h"
#include "document/record_table.h"
#include "report/flame.h"
#include "report/table/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- output as JSON ----
 *
 * Names may be added but never renamed (traces/README.md explains each). Classes and steps without
 * a count are omitted. */

/* Returns the JSON number part / whole without rounding; null if `whole` is 0. */
static json_t *ratio_json(uint64_t part, uint64_t whole)
{
    return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

struct row { /* numbers of a size class, a thread or a step in time */
    uint64_t from, to, n[5];
};
#define ROW(key, member) AB_WHOLE(key, struct row, member, INT64_MAX, 0)

static bool size_row(const void *survey, size_t k, void *item)
{
    const struct ab_survey *s = survey;
    *(struct row *)item = (struct row){
        ab_class_from((unsigned)k),
        ab_class_to((unsigned)k),
        {s->alloc_sizes.n[k], s->alloc_bytes[k], s->resize_sizes.n[k]}};
    return (s->alloc_sizes.n[k] | s->resize_sizes.n[k]) != 0;
}

static const struct ab_member size_members[] = {ROW("from", from), ROW("to", to),
                                                ROW("allocs", n[0]), ROW("alloc_bytes", n[1]),
                                                ROW("resizes", n[2])};
AB_TABLE(size, struct row);

static bool lifetime_row(const void *survey, size_t k, void *item)
{
    const struct ab_survey *s = survey;
    *(struct row *)item = (struct row){ab_class_from((unsigned)k),
                                       ab_class_to((unsigned)k),
                                       {s->life_events.n[k], s->life_bytes.n[k]}};
    return (s->life_events.n[k] | s->life_bytes.n[k]) != 0;
}

static const struct ab_member lifetime_members[] = {
    ROW("from", from), ROW("to", to), ROW("blocks_by_events", n[0]), ROW("blocks_by_bytes", n[1])};
AB_TABLE(lifetime, struct row);

static bool align_row(const void *survey, size_t i, void *item)
{
    const struct ab_survey *s = survey;
    *(struct row *)item = (struct row){.to = UINT64_C(1) << i, .n = {s->aligns[i]}};
    return s->aligns[i] > 0;
}

static const struct ab_member align_members[] = {ROW("align", to), ROW("allocs", n[0])};
AB_TABLE(align, struct row);

static bool thread_row(const void *survey, size_t i, void *item)
{
    const struct ab_survey_thread *t = &((const struct ab_survey *)survey)->threads[i];
    *(struct row *)item = (struct row){
        .from = i, .n = {t->events, t->allocs, t->resizes, t->frees, t->remote_frees}};
    return true;
}

static const struct ab_member thread_members[] = {ROW("thread", from), ROW("events", n[0]),
                                                  ROW("allocs", n[1]), ROW("resizes", n[2]),
                                                  ROW("frees", n[3]),  ROW("remote_frees", n[4])};
AB_TABLE(thread, struct row);

static bool step_row(const void *survey, size_t i, void *item)
{
    const struct ab_curve *c = &((const struct ab_survey *)survey)->live;
    uint64_t end = (i + 1) * c->width;
    *(struct row *)item = (struct row){.to = (end < c->n_events ? end : c->n_events) - 1,
                                       .n = {c->steps[i].bytes, c->steps[i].blocks}};
    return i < ab_curve_count(c);
}

static const struct ab_member step_members[] = {ROW("event", to), ROW("bytes", n[0]),
                                                ROW("blocks", n[1])};
AB_TABLE(step, struct row);

static json_t *write_remote_ratio(const struct ab_writing *x)
{
    const struct ab_survey *s = x->record;
    return ratio_json(s->n_remote_frees, s->n_frees);
}

#define COUNT(key, member) AB_WHOLE(key, struct ab_survey, member, INT64_MAX, 0)

static const struct ab_member frees_members[] = {
    COUNT("idle_stretches", n_idle),          COUNT("idle_us", idle_us),
    COUNT("freed_blocks", n_frees),           COUNT("large_bytes", large_bytes),
    COUNT("remote_frees", n_remote_frees),    AB_WRITTEN("remote_free_ratio", write_remote_ratio),
    COUNT("remote_resizes", n_remote_resizes)};
AB_TABLE(frees, struct ab_survey);

static const struct ab_member survey_members[] = {
    AB_ROWS("sizes", size_row, AB_CLASS_COUNT, &size_record),
    AB_ROWS("lifetimes", lifetime_row, AB_CLASS_COUNT, &lifetime_record),
    AB_ROWS("aligns", align_row, 64, &align_record),
    AB_ROWS("by_thread", thread_row, 0, &thread_record,
            .n_offset = offsetof(struct ab_survey, n_threads), .n_bytes = sizeof(size_t)),
    AB_ROWS("live_curve", step_row, AB_CURVE_STEPS, &step_record),
};
AB_TABLE(survey, struct ab_survey);

#define SPREAD(member) AB_NUMBER(#member, struct ab_mark_spread, member, .flags = AB_EXACT)

static const struct ab_member spread_members[] = {AB_EACH(SPREAD, min, median, max)};
AB_TABLE(spread, struct ab_mark_spread);

static json_t *write_mark_name(const struct ab_writing *x)
{
    const struct ab_mark_table *t = x->context;
    return ab_json_string(t->names[*(const uint32_t *)x->p]);
}

#define MARK(key, member, ...) \
    AB_WHOLE(key, struct ab_mark_stats, member, INT64_MAX, 0, __VA_ARGS__)

static const struct ab_member mark_members[] = {
    AB_RULE("name", struct ab_mark_stats, name, .write = write_mark_name),
    MARK("count", n),
    MARK("first_call", first, AB_WHEN(struct ab_mark_stats, n)),
    MARK("last_call", last, AB_WHEN(struct ab_mark_stats, n)),
    AB_RECORD("calls_between", struct ab_mark_stats, calls, &spread_record),
    AB_RECORD("us_between", struct ab_mark_stats, us, &spread_record),
};
AB_TABLE(mark, struct ab_mark_stats);

static json_t *write_marks(const struct ab_writing *x)
{
    const struct ab_trace_facts *f = x->record;
    json_t *list = json_array();
    for (size_t i = 0; i < f->marks.n_names; i++)
        ab_json_append(list, ab_record_json(&mark_record, &f->mark_sums[i], &f->marks));
    return list;
}

/* Writes the number of calls of each function; null if the recorder did not count calls of library
 * functions. */
static json_t *write_library_calls(const struct ab_writing *x)
{
    const struct ab_trace_facts *f = x->record;
    const struct ab_mark_table *t = &f->requests;
    if (!f->info.has_requests && !f->info.whole.is_there)
        return json_null();
    json_t *calls = json_object();
    for (size_t i = 0; i < t->n_names; i++)
        ab_json_put(calls, t->names[f->request_sums[i].name],
                    ab_json_integer(f->request_sums[i].n));
    return calls;
}

static json_t *write_modules(const struct ab_writing *x)
{
    const struct ab_trace_bypass *b = x->record;
    json_t *names = json_array();
    for (const char *p = b->names; p < b->names + b->n_names; p += strlen(p) + 1)
        ab_json_append(names, ab_json_string(p));
    return names;
}

static const struct ab_member bypass_members[] = {
    AB_COUNT(struct ab_trace_bypass, least_calls), AB_COUNT(struct ab_trace_bypass, most_bytes),
    AB_WHOLE("modules", struct ab_trace_bypass, n_modules, INT64_MAX, 0),
    AB_WRITTEN("module_names", write_modules)};
AB_TABLE(bypass, struct ab_trace_bypass);

#define WHOLE(key, member) AB_WHOLE(key, struct ab_trace_whole, member, INT64_MAX, AB_WHOLE_UNKNOWN)

static const struct ab_member whole_members[] = {
    WHOLE("program_cpu_ns", cpu_ns), WHOLE("recorder_cpu_ns", recorder_ns),
    WHOLE("program_calls", calls), WHOLE("anonymous_bytes", anonymous_bytes),
    WHOLE("unasked_bytes", unasked_bytes)};
AB_TABLE(whole, struct ab_trace_whole);

static json_t *write_ops(const struct ab_writing *x)
{
    const uint64_t *n = x->p;
    json_t *ops = json_object();
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        ab_json_put(ops, ab_event_kind_names[k], ab_json_integer(n[k]));
    return ops;
}

static json_t *write_bytes_per_event(const struct ab_writing *x)
{
    const struct ab_trace_info *i = x->record;
    return ratio_json(i->file_bytes, i->events);
}

#define INFO(...) AB_COUNT(struct ab_trace_info, __VA_ARGS__)

static const struct ab_member info_members[] = {
    AB_CHARS("program", struct ab_trace_info, program),
    AB_EACH(INFO, events, threads, thread_ends),
    INFO(time_us, AB_WHEN(struct ab_trace_info, has_time)),
    AB_EACH(INFO, live_peak_bytes, live_peak_blocks),
    AB_RULE("ops", struct ab_trace_info, ops, .write = write_ops),
    AB_EACH(INFO, failed, inherited),
    /* not_seen is null if no call is known to be missing from the trace. */
    AB_RECORD("not_seen", struct ab_trace_info, bypass, &bypass_record,
              AB_WHEN(struct ab_trace_info, bypass.is_there)),
    AB_EACH(INFO, live_end_bytes, live_end_blocks, total_bytes, file_bytes),
    /* These two are null if the written bytes are not known for any block. */
    INFO(written_known_bytes, AB_WHEN(struct ab_trace_info, has_written)),
    INFO(written_bytes, AB_WHEN(struct ab_trace_info, has_written)),
    AB_WRITTEN("bytes_per_event", write_bytes_per_event),
    AB_FLAG("partial", struct ab_trace_info, is_partial),
    AB_FLAG("has_sites", struct ab_trace_info, has_sites),
    AB_MEMBER(PART, NULL, struct ab_trace_info, whole, .record = &whole_record),
};
AB_TABLE(info, struct ab_trace_info);

static double gone_share(const struct ab_trace_scopes *s)
{
    return (double)s->stats.gone / (double)s->stats.allocs;
}

static json_t *write_gone_share(const struct ab_writing *x)
{
    const struct ab_trace_scopes *s = x->record;
    return s->stats.allocs > 0 ? json_real(gone_share(s)) : json_null();
}

static const char *const scopes_from[] = {[AB_SCOPES_MARKS] = "marks", [AB_SCOPES_FOUND] = "found"};

#define SCOPES(key, member, ...) \
    AB_WHOLE(key, struct ab_trace_scopes, member, INT64_MAX, 0, __VA_ARGS__)

static const struct ab_member scopes_members[] = {
    AB_NAME("from", struct ab_trace_scopes, scopes.from, 3, .names = scopes_from),
    AB_CHARS("mark", struct ab_trace_scopes, scopes.mark,
             AB_WHEN_IS(struct ab_trace_scopes, scopes.from, AB_SCOPES_MARKS)),
    SCOPES("thread", scopes.thread, AB_WHEN(struct ab_trace_scopes, scopes.is_of_thread)),
    SCOPES("count", scopes.n),
    AB_NUMBER("median_calls", struct ab_trace_scopes, median_calls, .flags = AB_EXACT),
    SCOPES("allocs", stats.allocs),
    SCOPES("freed_in_scope", stats.gone),
    AB_WRITTEN("freed_in_scope_ratio", write_gone_share),
    SCOPES("most_freed_bytes", stats.most_gone),
    SCOPES("most_live_bytes", stats.most_live)};
AB_TABLE(scopes, struct ab_trace_scopes);

/* Writes the scopes; null if there are none. */
static json_t *write_scopes(const struct ab_writing *x)
{
    const struct ab_trace_scopes *s = x->p;
    return s->scopes.from == AB_SCOPES_NONE ? json_null() : ab_record_json(&scopes_record, s, NULL);
}

/* Makes row i of the table of sizes and lifetimes. life_to null = never freed. */
static bool lives_row(const void *sites, size_t i, void *item)
{
    const struct ab_site_stats *s = sites;
    size_t size = i / (AB_SITE_LIVES + 1), life = i % (AB_SITE_LIVES + 1);
    bool is_live = life == AB_SITE_LIVES;
    struct row *r = item;
    *r = (struct row){is_live ? UINT64_MAX : (UINT64_C(1) << life) - 1,
                      ab_class_to((unsigned)size),
                      {is_live ? s->live_by_size[size] : s->lives[size][life]}};
    return r->n[0] > 0;
}

static const struct ab_member life_members[] = {ROW("size_to", to), ROW("life_to", from),
                                                ROW("blocks", n[0])};
AB_TABLE(life, struct row);

static const struct ab_member lives_members[] = {
    AB_ROWS("size_lifetimes", lives_row, AB_CLASS_COUNT *(AB_SITE_LIVES + 1), &life_record)};
AB_TABLE(lives, struct ab_site_stats);

static json_t *write_sites(const struct ab_writing *x)
{
    return ab_trace_sites_json(x->record, x->context);
}

#define WHEN_WANTED(what) AB_WHEN(struct ab_trace_facts, what), .flags = AB_OMIT

/* Members of the facts in JSON. The context of their writers is struct ab_sites_wanted. */
static const struct ab_member facts_members[] = {
    AB_TEXT("file", struct ab_trace_facts, path),
    AB_MEMBER(PART, NULL, struct ab_trace_facts, info, .record = &info_record),
    AB_CHARS("digest", struct ab_trace_facts, digest, WHEN_WANTED(digest)),
    AB_RULE("marks", struct ab_trace_facts, marks, .write = write_marks),
    AB_RULE("library_calls", struct ab_trace_facts, requests, .write = write_library_calls),
    AB_MEMBER(PART, NULL, struct ab_trace_facts, survey, .record = &frees_record),
    AB_RULE("scopes", struct ab_trace_facts, scopes, .write = write_scopes,
            WHEN_WANTED(wants_scopes)),
    AB_MEMBER(PART, NULL, struct ab_trace_facts, survey, .record = &survey_record),
    AB_WRITTEN("sites", write_sites, WHEN_WANTED(wants_sites)),
    AB_MEMBER(PART, NULL, struct ab_trace_facts, sites, .record = &lives_record,
              WHEN_WANTED(wants_sites)),
};
AB_TABLE(facts, struct ab_trace_facts);

/* ---- output as text: the totals, then three small charts ---- */

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

static void print_time(FILE *to, const struct ab_trace_info *i, const struct ab_survey *s)
{
    fprintf(to, "\ntime       %s", AB_TIME((double)i->time_us * 1e3));
    if (s->n_idle > 0)
        fprintf(to, ", %s of it idle, in %" PRIu64 " stretch%s of a second or more",
                AB_TIME((double)s->idle_us * 1e3), s->n_idle, s->n_idle == 1 ? "" : "es");
}

/* Prints the share of its large blocks that the program wrote to. */
static void print_written(FILE *to, const struct ab_trace_info *i, const struct ab_survey *s)
{
    const uint64_t large = s->large_bytes, known = i->written_known_bytes;
    if (large > 0 && !i->has_written)
        fprintf(to, "written    not known for the %s in blocks of 64 KiB or more: %s\n",
                AB_BYTES(large),
                i->is_written_unread ? "finding it needs a file, not a pipe"
                                     : "the recording does not say");
    if (large == 0 || !i->has_written)
        return;
    fprintf(to, "written    %s of %s in blocks of 64 KiB or more (%.3g %%)",
            AB_BYTES(i->written_bytes), AB_BYTES(known), share(i->written_bytes, known));
    if (known < large / 100 * 99)
        fprintf(to, "; unknown for another %s", AB_BYTES(large - known));
    fputc('\n', to);
}

static void print_totals(FILE *to, const struct ab_trace_info *i, const struct ab_survey *s)
{
    fprintf(to, "program    %s%s\n", i->program[0] != 0 ? AB_SHOWN(1024, i->program) : "unknown",
            i->is_partial ? " (partial: the end of the file is missing)" : "");
    fprintf(to, "events     %" PRIu64 " in %s", i->events, AB_BYTES(i->file_bytes));
    if (i->events > 0)
        fprintf(to, " (%.3f bytes each)", (double)i->file_bytes / (double)i->events);
    fprintf(to, "\nthreads    %" PRIu64, i->threads);
    if (i->thread_ends > 0)
        fprintf(to, ", %" PRIu64 " ended", i->thread_ends);
    if (i->has_time)
        print_time(to, i, s);
    fputc('\n', to);
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++)
        if (i->ops[k] > 0)
            fprintf(to, "%-14s %" PRIu64 "\n", ab_event_kind_names[k], i->ops[k]);
    if (i->inherited > 0)
        fprintf(to, "inherited  %" PRIu64 ": the first events are the blocks live at the fork\n",
                i->inherited);
    if (i->bypass.is_there)
        print_bypass(to, &i->bypass);
    if (i->failed > 0)
        fprintf(to, "failed     %" PRIu64 " of these\n", i->failed);
    fprintf(to, "live peak  %s (%" PRIu64 " bytes), at most %" PRIu64 " block%s\n",
            AB_BYTES(i->live_peak_bytes), i->live_peak_bytes, i->live_peak_blocks,
            i->live_peak_blocks == 1 ? "" : "s");
    fprintf(to, "never freed  %s in %" PRIu64 " block%s", AB_BYTES(i->live_end_bytes),
            i->live_end_blocks, i->live_end_blocks == 1 ? "" : "s");
    if (i->live_end_bytes > 0)
        fprintf(to, ", %.3g %% of the live peak", share(i->live_end_bytes, i->live_peak_bytes));
    fprintf(to, "\nrequested  %s in total\n", AB_BYTES(i->total_bytes));
    print_written(to, i, s);
    if (i->has_sites)
        fputs("the trace has call sites (--sites shows them)\n", to);
}

/* Prints CPU time and memory of the whole program, as far as the trace has them. */
static void print_whole(FILE *to, const struct ab_trace_whole *w)
{
    if (w->cpu_ns != AB_WHOLE_UNKNOWN)
        fprintf(to, "CPU time   %s of the program, in which it made %" PRIu64 " calls\n",
                AB_TIME((double)w->cpu_ns), w->calls);
    if (ab_whole_is_unasked(w)) {
        fputs("memory     ", to);
        ab_whole_print_unasked(to, w);
        fputs(" (anonymous memory)\n", to);
    }
}

static void print_requests(FILE *to, const struct ab_mark_table *t,
                           const struct ab_mark_stats *stats)
{
    for (size_t i = 0; i < t->n_names; i++)
        fprintf(to, "%s%s: %" PRIu64 "%s", i == 0 ? "asked too  " : ", ",
                AB_SHOWN(1024, t->names[stats[i].name]), stats[i].n,
                i + 1 == t->n_names ? "\n" : "");
}

static void print_mark(FILE *to, const struct ab_mark_table *t, const struct ab_mark_stats *s)
{
    fprintf(to, "marks      %s: %" PRIu64, AB_SHOWN(1024, t->names[s->name]), s->n);
    if (s->n > 1)
        fprintf(to, ", calls between: median %.10g (%.10g to %.10g)", s->calls.median, s->calls.min,
                s->calls.max);
    if (!isnan(s->us.median))
        fprintf(to, "; time: median %s, longest %s", AB_TIME(s->us.median * 1e3),
                AB_TIME(s->us.max * 1e3));
    fputc('\n', to);
}

/* Prints one line for each of the first names of marks, and one line for all other names. */
static void print_marks(FILE *to, const struct ab_mark_table *t, const struct ab_mark_stats *stats)
{
    for (size_t i = 0; i < t->n_names && i < NAMES_SHOWN; i++)
        print_mark(to, t, &stats[i]);
    if (t->n_names > NAMES_SHOWN)
        fprintf(to, "           and %zu more names (--json lists all)\n", t->n_names - NAMES_SHOWN);
}

/* Prints the scopes. Names of marks are escaped, because the author of the trace chose them. */
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
        fputs("found: a scope ends where no short-lived block is alive", to);
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
    fprintf(
        to,
        "           %.1f %% of allocations are freed in the scope that made them, at most %s in one\n",
        100 * gone_share(s), AB_BYTES(s->stats.most_gone));
    fprintf(to, "           live bytes of the blocks of one scope: at most %s\n",
            AB_BYTES(s->stats.most_live));
}

static void print_remote(FILE *to, const struct ab_survey *s)
{
    if (s->n_threads < 2)
        return;
    fprintf(to, "freed by another thread  %" PRIu64 " of %" PRIu64 " blocks (%.1f %%)\n",
            s->n_remote_frees, s->n_frees, share(s->n_remote_frees, s->n_frees));
    if (s->n_remote_resizes > 0)
        fprintf(to, "resized by another thread  %" PRIu64 " blocks\n", s->n_remote_resizes);
}

static void print_threads(FILE *to, const struct ab_survey *s)
{
    if (s->n_threads < 2)
        return;
    fprintf(to, "\n%-10s %12s %12s %12s %14s\n", "thread", "events", "allocs", "frees",
            "remote frees");
    for (size_t i = 0; i < s->n_threads && i < THREADS_SHOWN; i++) {
        const struct ab_survey_thread *t = &s->threads[i];
        fprintf(to, "%-10zu %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %14" PRIu64 "\n", i,
                t->events, t->allocs, t->frees, t->remote_frees);
    }
    if (s->n_threads > THREADS_SHOWN)
        fprintf(to, "and %zu more\n", s->n_threads - THREADS_SHOWN);
}

/* Writes the label of a size class: "64 B", "16 KiB", or a plain number. The label is exact,
 * because classes end at powers of two. */
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

/* Prints the live bytes over time with one character per column. The height of the character is its
 * share of the peak. Only 0 is blank. */
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
    const struct ab_classes *second; /* counts shown after each bar; NULL = none */
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

static void print_pictures(FILE *to, const struct ab_survey *s, struct ab_table_style style)
{
    print_curve(to, &s->live, style.utf8);
    print_classes(to, &(struct picture){"requested sizes: allocations + resizes", &s->alloc_sizes,
                                        &s->resize_sizes, "resizes", true, style.utf8});
    print_classes(to, &(struct picture){"lifetimes: calls between allocation and free",
                                        &s->life_events, NULL, NULL, false, style.utf8});
    print_classes(to, &(struct picture){"lifetimes: bytes requested between allocation and free",
                                        &s->life_bytes, NULL, NULL, true, style.utf8});
}

static void print_facts(FILE *to, const struct ab_trace_facts *f, bool is_verbose,
                        struct ab_table_style style)
{
    const struct ab_survey *s = &f->survey;
    print_totals(to, &f->info, s);
    print_whole(to, &f->info.whole);
    print_marks(to, &f->marks, f->mark_sums);
    print_requests(to, &f->requests, f->request_sums);
    if (f->wants_scopes)
        print_scopes(to, &f->scopes);
    if (f->digest[0] != 0)
        fprintf(to, "digest     %s\n", f->digest);
    print_remote(to, s);
    print_aligns(to, s);
    if (is_verbose) {
        print_threads(to, s);
        print_pictures(to, s, style);
    } else if (f->info.events > 0)
        fprintf(to, "more: -v (sizes, lifetimes, %slive memory over time)\n",
                s->n_threads > 1 ? "threads, " : "");
}

/* ---- flame graphs ---- */

static enum ab_status check_flame(const struct ab_options *o, struct ab_err *err)
{
    bool has_file = o->sites.flame != NULL || o->sites.folded != NULL;
    if (o->sites.has_flame_by && !has_file)
        return ab_fail(err, AB_USAGE, "trace info --flame-by needs --flame FILE or --folded FILE");
    if (has_file && !o->sites.is_wanted)
        return ab_fail(err, AB_USAGE,
                       "trace info --flame and --folded need --sites, which reads "
                       "the stacks");
    if (has_file && o->n_args > 2)
        return ab_fail(err, AB_USAGE, "trace info --flame and --folded take one trace, not %zu",
                       o->n_args - 1);
    return AB_OK;
}

static void write_svg(const struct ab_flame *flame, FILE *to, const struct ab_trace_facts *f,
                      enum ab_flame_by by)
{
    static const char *const what[] = {"calls", "bytes asked for", "live bytes at the peak"};
    char title[400];
    snprintf(title, sizeof title, "%.200s: %s, by call site",
             f->info.program[0] != 0 ? f->info.program : "unknown program", what[by]);
    ab_flame_write_svg(flame, to, title, by == AB_FLAME_CALLS ? "calls" : "bytes");
}

static enum ab_status write_flame(const struct ab_trace_facts *f, enum ab_flame_by by,
                                  struct ab_output *svg, struct ab_output *folded,
                                  struct ab_err *err)
{
    struct ab_flame *flame = ab_trace_flame(&f->site_table, &f->sites, by);
    if (svg->to != NULL)
        write_svg(flame, svg->to, f, by);
    if (folded->to != NULL)
        ab_flame_write_folded(flame, folded->to);
    ab_flame_close(flame);
    AB_TRY(ab_output_commit(svg, err));
    return ab_output_commit(folded, err);
}

/* ---- output as text: sizes against lifetimes ---- */

/* Four classes of lifetimes share one column, so that columns are powers of 16. */

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

/* ---- telling ---- */

enum { JSON, FLAME, FOLDED, HTML, OUTPUTS };

struct telling {
    const struct ab_options *o;
    struct ab_output out[OUTPUTS];
    bool is_text; /* True to print text on stdout, because no output file is stdout */
    json_t *list; /* facts of each file; NULL = no JSON requested */
};

static void tell_text(FILE *to, const struct ab_sites_wanted *sites, bool is_verbose,
                      const struct ab_trace_facts *f, struct ab_table_style style)
{
    print_facts(to, f, is_verbose, style);
    if (!sites->is_wanted)
        return;
    trace_print_lives(to, &f->sites);
    ab_trace_print_sites(to, f, sites);
}

/* Reports one file: prints its text, writes its graphs and page, and adds its JSON to the list. */
static enum ab_status tell(struct telling *t, size_t i, struct ab_trace_facts *f,
                           struct ab_err *err)
{
    const struct ab_options *o = t->o;
    struct ab_progress_files files;
    const struct ab_facts_request request = {.pass = ab_trace_pass_of(o, o->args[i], &files),
                                             .wants_digest = o->wants_digest,
                                             .wants_sites = o->sites.is_wanted,
                                             .wants_scopes = o->wants_scopes,
                                             .wants_page = t->out[HTML].to != NULL,
                                             .scopes_wish = o->scopes_wish};
    AB_TRY(ab_trace_facts_read(&request, f, err));
    if (t->is_text) {
        if (o->n_args > 2) {
            printf("%s%s:\n", i > 1 ? "\n" : "", AB_SHOWN(600, f->path));
        }
        tell_text(stdout, &o->sites, o->is_verbose, f, ab_terminal_style(o));
    }
    if (o->sites.flame != NULL || o->sites.folded != NULL)
        AB_TRY(write_flame(f, o->sites.flame_by, &t->out[FLAME], &t->out[FOLDED], err));
    if (f->look != NULL)
        AB_TRY(ab_trace_page_write(f, &o->sites, &t->out[HTML], err));
    if (t->list != NULL)
        ab_json_append(t->list, ab_record_json(&facts_record, f, &o->sites));
    return AB_OK;
}

/* Writes the JSON: an object for one file, an array for several. */
static enum ab_status write_list(struct telling *t, struct ab_err *err)
{
    if (t->list == NULL)
        return AB_OK;
    json_t *root = json_array_size(t->list) == 1 ? json_array_get(t->list, 0) : t->list;
    ab_json_write(json_incref(root), t->out[JSON].to, 0);
    return ab_output_commit(&t->out[JSON], err);
}

enum ab_status ab_trace_print_info(FILE *to, const char *path, bool wants_sites, struct ab_err *err)
{
    const struct ab_facts_request request = {.pass = {.path = path, .end = UINT64_MAX},
                                             .wants_digest = true,
                                             .wants_sites = wants_sites};
    const struct ab_sites_wanted sites = {.is_wanted = wants_sites, .n = AB_SITES_SHOWN_DEFAULT};
    struct ab_trace_facts *f = ab_alloc_zeroed(1, sizeof *f);
    enum ab_status status = ab_trace_facts_read(&request, f, err);
    if (status == AB_OK)
        tell_text(to, &sites, true, f, (struct ab_table_style){.width = 80, .utf8 = true});
    ab_trace_facts_fini(f);
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
        ab_trace_facts_fini(f);
    }
    free(f);
    return status == AB_OK ? write_list(t, err) : status;
}

static enum ab_status open_outputs(struct telling *t, struct ab_err *err)
{
    const char *const paths[OUTPUTS] = {t->o->json, t->o->sites.flame, t->o->sites.folded,
                                        t->o->outputs.sinks[AB_SINK_HTML]};
    t->is_text = true;
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (paths[i] == NULL)
            continue;
        AB_TRY(ab_output_open(paths[i], &t->out[i], err));
        AB_TRY(ab_output_spare(&t->out[i], paths[i], t->o->args + 1, t->o->n_args - 1, err));
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
    if (o->sites.has_order && !o->sites.is_wanted)
        return ab_fail(err, AB_USAGE, "trace info --sort needs --sites, whose table it sorts");
    if (o->outputs.sinks[AB_SINK_HTML] != NULL && o->n_args > 2)
        return ab_fail(err, AB_USAGE, "trace info --html takes one trace, not %zu", o->n_args - 1);
    AB_TRY(check_flame(o, err));
    enum ab_status status = open_outputs(&t, err);
    t.list = o->json != NULL ? json_array() : NULL;
    if (status == AB_OK)
        status = tell_all(&t, err);
    for (size_t i = 0; i < OUTPUTS; i++)
        ab_output_abandon(&t.out[i]);
    json_decref(t.list);
    return status;
}
