/* SPDX-License-Identifier: MIT
 *
 * The facts of a trace for people: the totals, then three small pictures.
 */
#include "cli/record/bypass_text.h"
#include "cli/trace/cmd_trace.h"
#include "cli/trace/trace_marks.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/sparkline.h"
#include "trace_tools/event_text.h"

#include <math.h>

enum { CURVE_COLUMNS = 60, BAR_COLUMNS = 30, THREADS_SHOWN = 8 };

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

enum ab_status ab_trace_print_facts(FILE *to, const struct ab_trace_facts *f,
                                    struct ab_table_style style, struct ab_err *err)
{
    const struct ab_survey *s = &f->survey;
    print_totals(to, &f->info);
    AB_TRY(ab_trace_print_marks(to, &f->marks, err));
    if (f->wants_scopes)
        ab_trace_print_scopes(to, &f->scopes);
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
    return AB_OK;
}
