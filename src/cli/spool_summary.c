/* SPDX-License-Identifier: MIT
 *
 * Prints what was recorded. The report always names what is missing from a trace, was repaired in
 * it or was only counted. It also names the cost of recording, because a program that spends half
 * its time in the recorder does not behave as usual. If there are several traces, one table lists
 * them, the largest first.
 */
#include "cli/spool_summary.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MOST = 10, LINES_MOST = 5 };

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- contents of the traces ---- */

static void print_one(const struct ab_spool_result *r)
{
    const struct ab_trace_info *info = &r->report.info;
    char bytes[32], peak[32];
    fprintf(stderr,
            "allocbench: %s: %llu events of %llu thread%s, live peak %s in %llu block%s, %s "
            "(%.3f bytes per event)\n",
            AB_SHOWN(512, r->path), (unsigned long long)info->events,
            (unsigned long long)info->threads, plural(info->threads),
            ab_units_bytes(peak, sizeof peak, (double)info->live_peak_bytes),
            (unsigned long long)info->live_peak_blocks, plural(info->live_peak_blocks),
            ab_units_bytes(bytes, sizeof bytes, (double)info->file_bytes),
            (double)info->file_bytes / (double)info->events);
}

static int by_events(const void *a, const void *b)
{
    const struct ab_spool_result *x = *(const struct ab_spool_result *const *)a;
    const struct ab_spool_result *y = *(const struct ab_spool_result *const *)b;
    int events = AB_COMPARE(y->report.info.events, x->report.info.events);
    return events != 0 ? events : AB_COMPARE(x, y);
}

static void print_row(const struct ab_spool_result *r)
{
    const struct ab_trace_info *info = &r->report.info;
    fprintf(stderr, "%14llu %8llu %11s  %-16s %s%s\n", (unsigned long long)info->events,
            (unsigned long long)info->threads, AB_BYTES(info->live_peak_bytes),
            AB_SHOWN(256, r->entry->image.program), AB_SHOWN(512, r->path),
            r->outcome == AB_SPOOL_SHORT ? " (short)" : "");
}

static void print_rows(const struct ab_spool_result **rows, size_t n)
{
    uint64_t all = 0, rest = 0;
    size_t n_shown = n > ROWS_MOST + 1 ? ROWS_MOST : n;
    for (size_t i = 0; i < n; i++)
        all += rows[i]->report.info.events;
    fprintf(stderr, "allocbench: %zu traces, %llu events in total:\n", n, (unsigned long long)all);
    fprintf(stderr, "%14s %8s %11s  %-16s %s\n", "events", "threads", "live peak", "program",
            "trace");
    for (size_t i = 0; i < n_shown; i++)
        print_row(rows[i]);
    for (size_t i = n_shown; i < n; i++)
        rest += rows[i]->report.info.events;
    if (n_shown < n)
        fprintf(stderr, "%14llu in %zu smaller traces\n", (unsigned long long)rest, n - n_shown);
}

static void print_sizes(const struct ab_spool_traces *t)
{
    const struct ab_spool_result **rows = ab_alloc_zeroed(t->n_results + 1, sizeof rows[0]);
    size_t n = 0;
    for (size_t i = 0; i < t->n_results; i++)
        if (ab_spool_has_trace(&t->results[i]))
            rows[n++] = &t->results[i];
    qsort(rows, n, sizeof rows[0], by_events);
    if (n == 1)
        print_one(rows[0]);
    else if (n > 1)
        print_rows(rows, n);
    free(rows);
}

static void print_old(const struct ab_spool_traces *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_results; i++)
        if (t->results[i].has_old && n++ < LINES_MOST)
            fprintf(stderr, "allocbench: %s existed already: it is now %s.old\n",
                    AB_SHOWN(512, t->results[i].path), AB_SHOWN(512, basename(t->results[i].path)));
    if (n > LINES_MOST)
        fprintf(stderr, "allocbench: %zu more traces existed already: they are now .old\n",
                n - LINES_MOST);
}

/* ---- losses ---- */

static void print_losses(const struct ab_spool_facts *f)
{
    const struct ab_convert_report *r = &f->sum;
    const char *end = ab_spool_end_text(f->end);
    if (end != NULL && f->end != AB_SPOOL_ENDED)
        fprintf(stderr, "allocbench: recording stopped %s\n", end);
    if (r->n_shared_threads > 0)
        fprintf(stderr, "allocbench: %llu threads beyond the first 1,048,576 share one number\n",
                (unsigned long long)r->n_shared_threads);
    if (r->n_foreign > 0)
        fprintf(stderr,
                "allocbench: %llu frees or resizes omitted: no recorded call had allocated "
                "the block\n",
                (unsigned long long)r->n_foreign);
    if (r->n_reused > 0)
        fprintf(stderr,
                "allocbench: %llu blocks were freed through an unrecorded path; frees inserted\n",
                (unsigned long long)r->n_reused);
    if (r->n_unfinished > 0)
        fprintf(stderr, "allocbench: %llu call%s interrupted by the end of the program\n",
                (unsigned long long)r->n_unfinished, r->n_unfinished == 1 ? " was" : "s were");
}

/* Prints how many calls have call sites, and how many stacks were cut short. A stack that was cut
 * short lacks its outermost calls. */
static void print_call_sites(const struct ab_spool_facts *f)
{
    const struct ab_convert_report *r = &f->sum;
    if (r->lacks_sites)
        fprintf(stderr, "allocbench: no call sites were recorded: the program's C library is older "
                        "than glibc 2.35\n");
    if (r->n_sites > 0)
        fprintf(stderr,
                "allocbench: call sites of %llu calls are recorded, %llu of them "
                "different\n",
                (unsigned long long)r->n_sites, (unsigned long long)r->n_stacks);
    if (r->n_cut_sites > 0)
        fprintf(stderr, "allocbench: the stack of %.3g %% of the calls is incomplete\n",
                100 * (double)r->n_cut_sites / (double)r->n_sites);
}

static void print_marks(const struct ab_spool_facts *f)
{
    const struct ab_convert_report *r = &f->sum;
    if (r->n_marks > 0)
        fprintf(stderr, "allocbench: %llu mark%s\n", (unsigned long long)r->n_marks,
                plural(r->n_marks));
    if (r->n_lost_marks > 0)
        fprintf(stderr, "allocbench: %llu marks omitted, because a trace cannot hold more\n",
                (unsigned long long)r->n_lost_marks);
}

static void print_order(const struct ab_spool_facts *f)
{
    const struct ab_convert_report *r = &f->sum;
    bool is_whole = f->end == AB_SPOOL_RUNNING && f->successor[0] == 0 &&
                    f->n_running + f->n_short + f->n_bypassed + r->n_foreign + r->n_reused +
                            r->n_unfinished ==
                        0;
    struct ab_text line = {0};
    if (is_whole)
        ab_text_add(&line, "; complete recording");
    if (r->n_repairs > 0)
        ab_text_addf(&line, "; %llu cross-thread reordering%s, by at most %llu ticks (%s)",
                     (unsigned long long)r->n_repairs, plural(r->n_repairs),
                     (unsigned long long)r->repair_ticks_max,
                     AB_TIME((double)r->repair_ticks_max * f->ns_per_tick));
    if (r->n_usable_size > 0)
        ab_text_addf(&line, "; %llu call%s of malloc_usable_size, which are not in the trace",
                     (unsigned long long)r->n_usable_size, plural(r->n_usable_size));
    if (line.n > 0)
        fprintf(stderr, "allocbench: %s\n", line.s + 2);
    ab_text_fini(&line);
}

/* Functions that report calls that the recorder did not see. The number of such calls is unknown,
 * so the text gives a lower bound. */

enum { MODULES_SHOWN = 3 };

void ab_bypass_print_modules(FILE *to, const struct ab_trace_bypass *b)
{
    const char *name = b->names;
    uint32_t n = 0;
    for (; n < MODULES_SHOWN && n < b->n_modules && name < b->names + b->n_names; n++) {
        fprintf(to, "%s%s", n > 0 ? ", " : "", AB_SHOWN(256, name));
        name += strlen(name) + 1;
    }
    if (n < b->n_modules)
        fprintf(to, "%s%u%s", n > 0 ? " and " : "", b->n_modules - n, n > 0 ? " more" : " modules");
}

void ab_bypass_print_amount(FILE *to, const struct ab_trace_bypass *b)
{
    if (b->least_calls > 0)
        fprintf(to, "at least %llu call%s, probably more", (unsigned long long)b->least_calls,
                b->least_calls == 1 ? "" : "s");
    else
        fprintf(to, "an unknown number of calls");
    if (b->most_bytes == AB_BYPASS_UNKNOWN)
        fprintf(to, "; how much memory is not known");
    else
        fprintf(to, "; at the end at most %s of memory", AB_BYTES(b->most_bytes));
}

static const char *const reasons[] = {
    [AB_BYPASS_LIBRARY] = " (loaded with RTLD_DEEPBIND: bound to the C library's malloc)",
    [AB_BYPASS_NAMESPACE] = " (loaded with dlmopen: bound to a C library of its own)",
    [AB_BYPASS_OWN] = " (bound to a malloc that the program contains)",
};

static void print_advice(FILE *to, const struct ab_bypass_report *report)
{
    if (report->path[0] == 0 && report->is_looked_into)
        fputs(
            "; the libraries loaded at the end call malloc through the recorder: a library that "
            "was closed did not, or there is a malloc with names of its own (je_malloc, mi_malloc)",
            to);
    else if (report->path[0] == 0)
        fputs("; the program ended by _exit or a signal, before the recorder could examine it", to);
    else if (report->kind == AB_BYPASS_OWN)
        fputs("; to record them, link that malloc as a shared library, or build without it", to);
    else if (report->kind == AB_BYPASS_NAMESPACE)
        fputs("; to record them, have the program use dlopen", to);
    else
        fprintf(to, "; to record them, load it first: LD_PRELOAD=%s allocbench record",
                AB_SHOWN(512, report->path));
}

/* Prints a warning for one trace that lacks calls. */
static void bypass_print_warning(FILE *to, const char *trace, const struct ab_bypass_report *report,
                                 const struct ab_trace_bypass *b)
{
    if (!b->is_there)
        return;
    fprintf(to, "allocbench: warning: %s lacks calls", AB_SHOWN(512, trace));
    if (b->n_modules > 0) {
        fputs(" of ", to);
        ab_bypass_print_modules(to, b);
        fputs(reasons[report->kind], to);
    }
    fputs(": ", to);
    ab_bypass_print_amount(to, b);
    print_advice(to, report);
    fputc('\n', to);
}

/* Prints a line for each of the first traces whose program called other functions of the malloc
 * library, or got memory by other means. */
static void print_beside(const struct ab_spool_traces *t)
{
    size_t n_asked = 0, n_unasked = 0;
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_spool_result *r = &t->results[i];
        if (ab_spool_has_trace(r) && r->report.asked[0] != 0 && n_asked++ < LINES_MOST)
            fprintf(stderr, "allocbench: %s: other calls to the malloc library: %s\n",
                    AB_SHOWN(600, r->path), r->report.asked);
        if (!ab_spool_has_trace(r) || !ab_whole_is_unasked(&r->report.info.whole) ||
            n_unasked++ >= LINES_MOST)
            continue;
        fprintf(stderr, "allocbench: warning: %s: of the program's anonymous memory ",
                AB_SHOWN(600, r->path));
        ab_whole_print_unasked(stderr, &r->report.info.whole);
        fputs(": it comes from mmap, from a heap of the program's own or a malloc with other "
              "names; a replay does not contain it\n",
              stderr);
    }
}

static void print_bypasses(const struct ab_spool_traces *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_spool_result *r = &t->results[i];
        if (ab_spool_has_trace(r) && r->report.info.bypass.is_there && n++ < LINES_MOST)
            bypass_print_warning(stderr, r->path, &r->report.bypass, &r->report.info.bypass);
    }
    if (n > LINES_MOST)
        fprintf(stderr, "allocbench: %zu more traces lack calls\n", n - LINES_MOST);
}

static void print_short(const struct ab_spool_traces *t)
{
    size_t n = 0;
    char program[256];
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_spool_result *r = &t->results[i];
        /* already printed as the error of the command */
        bool is_reported = r->entry == t->main && !t->is_partial;
        if (r->outcome != AB_SPOOL_SHORT || is_reported || n++ >= LINES_MOST)
            continue;
        fprintf(stderr,
                "allocbench: %s contains the first %llu events of %s, because recording stopped "
                "before the end of the program: %s\n",
                AB_SHOWN(512, r->path), (unsigned long long)r->report.info.events,
                ab_text_printable(program, sizeof program, r->entry->image.program),
                ab_spool_short_text(&r->report));
    }
    if (n > LINES_MOST)
        fprintf(stderr, "allocbench: %zu more traces are incomplete\n", n - LINES_MOST);
}

/* Prints the programs that loaded the recorder but have no recorded call. */
static void print_empty(const struct ab_spool_traces *t)
{
    static const struct {
        const char *begin, *end;
    } texts[] = {
        {"processes without a call of malloc", "; a program may include its own malloc"},
        {"processes that could not be recorded", ""},
        {"processes without a call of malloc until recording stopped", ""},
    };
    struct ab_name_counts counts[AB_ARRAY_LEN(texts)] = {{.n = 0}};
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_spool_result *r = &t->results[i];
        uint32_t stop = r->entry->image.stop;
        size_t why = ab_spool_stop_text(stop) != NULL ? 1 : ab_spool_end_text(stop) != NULL ? 2 : 0;
        if (r->outcome == AB_SPOOL_EMPTY && r->entry->n_calls == 0)
            ab_name_counts_add(&counts[why], r->entry->image.program);
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++) {
        if (counts[i].total > 0) {
            fprintf(stderr, "allocbench: %s: ", texts[i].begin);
            ab_name_counts_print(stderr, &counts[i]);
            fprintf(stderr, "%s\n", texts[i].end);
        }
        ab_name_counts_fini(&counts[i]);
    }
}

static void print_unseen_program(const struct ab_unseen *u)
{
    struct ab_err why;
    fprintf(stderr, "allocbench: %llu process%s of %s %s not recorded: %s\n",
            (unsigned long long)u->n, u->n == 1 ? "" : "es", AB_SHOWN(256, basename(u->path)),
            u->n == 1 ? "was" : "were", ab_spool_facts_why_unseen(u, &why));
}

static void print_successor(const struct ab_spool_traces *t, const struct ab_spool_facts *f)
{
    char launcher[600];
    ab_text_printable(launcher, sizeof launcher, t->main->image.program);
    fprintf(stderr,
            "allocbench: %s executed %s, which was not recorded: %s. The trace contains only %s; "
            "record %s itself\n",
            launcher, f->successor, f->successor_why, launcher, f->successor);
}

/* Prints the programs that were not recorded. */
static void print_unseen(const struct ab_spool_traces *t, const struct ab_spool_facts *f)
{
    uint64_t rest = 0;
    if (f->successor[0] != 0)
        print_successor(t, f);
    for (size_t i = 0; i < f->n_unseen; i++)
        if (i < LINES_MOST)
            print_unseen_program(&f->unseen[i]);
        else
            rest += f->unseen[i].n;
    if (rest > 0)
        fprintf(stderr, "allocbench: %llu more processes of other programs were not recorded\n",
                (unsigned long long)rest);
    if (f->n_lost > 0)
        fprintf(stderr, "allocbench: %llu more program starts may not have been recorded\n",
                (unsigned long long)f->n_lost);
}

static void print_failures(const struct ab_spool_traces *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_results; i++) {
        const struct ab_spool_result *r = &t->results[i];
        if (r->outcome != AB_SPOOL_FAILED || r->entry == t->main || n++ >= LINES_MOST)
            continue;
        fprintf(stderr, "allocbench: there is no trace of process %u (%s): %s\n",
                r->entry->image.pid, AB_SHOWN(256, r->entry->image.program), r->why);
    }
    if (n > LINES_MOST)
        fprintf(stderr, "allocbench: there is no trace of %zu more processes\n", n - LINES_MOST);
}

/* ---- cost of the recording ---- */

static void print_cost(const struct ab_spool_traces *t, const struct ab_spool_facts *f)
{
    const struct ab_recording_cost *c = &f->cost;
    const char *what = t->n_written > 1          ? ", sum of all processes"
                       : f->sum.info.threads > 1 ? ", sum of all threads"
                                                 : "";
    char sites[64] = "";
    if (c->of_ns <= 0)
        return;
    if (c->sum_ns > c->of_ns) {
        fprintf(stderr,
                "allocbench: recording overhead: n/a: the estimate exceeds the program's whole "
                "time, %s%s; the run was too short, or the machine too busy, to estimate it\n",
                AB_TIME(c->of_ns), c->of_kind);
        return;
    }
    if (f->sum.n_sites > 0)
        snprintf(sites, sizeof sites, ", %s per call site", AB_TIME(c->site_ns));
    fprintf(stderr,
            "allocbench: recording overhead: about %s of %s%s (%.1f %%%s), estimated as %s "
            "per event%s and %s for writing\n",
            AB_TIME(c->sum_ns), AB_TIME(c->of_ns), c->of_kind, 100 * c->sum_ns / c->of_ns, what,
            AB_TIME(c->event_ns), sites, AB_TIME(c->turn_ns));
}

/* Prints how often the process became another program by exec. Prints nothing if each program has a
 * trace. Without --follow, only the last program has one. */
static void print_earlier_programs(const struct ab_spool_traces *t)
{
    if (!ab_spool_takes_children(t) && t->n_programs > 1)
        fprintf(stderr,
                "allocbench: the process called exec %u time%s; only the last program was "
                "kept (--follow keeps each)\n",
                t->n_programs - 1, t->n_programs == 2 ? "" : "s");
}

void ab_spool_summary_print(const struct ab_spool_traces *t, const struct ab_spool_facts *f)
{
    print_sizes(t);
    print_old(t);
    print_empty(t);
    print_unseen(t, f);
    print_short(t);
    if (t->n_written > 0) {
        print_bypasses(t);
        print_beside(t);
        print_losses(f);
        print_call_sites(f);
        print_marks(f);
        print_order(f);
        print_cost(t, f);
    }
    print_earlier_programs(t);
}

void ab_spool_summary_print_traces(struct ab_recording *r, bool is_quiet)
{
    if (r->traces.is_written)
        print_failures(&r->traces);
    if (!r->traces.is_written || is_quiet)
        return;
    ab_spool_facts_find(&r->traces, &r->facts);
    ab_spool_summary_print(&r->traces, &r->facts);
}

/* ---- counting names ---- */

/* Returns the count of a name; NULL = the name was not counted yet. */
static struct ab_name_count *find(struct ab_name_counts *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->names[i].name, name) == 0)
            return &c->names[i];
    return NULL;
}

static struct ab_name_count *append(struct ab_name_counts *c, const char *name)
{
    AB_GROW(c->names, c->cap, c->n);
    struct ab_name_count *added = &c->names[c->n++];
    *added = (struct ab_name_count){.n = 0};
    snprintf(added->name, sizeof added->name, "%s", name);
    return added;
}

void ab_name_counts_add(struct ab_name_counts *c, const char *name)
{
    char shown[sizeof c->names[0].name];
    ab_text_printable(shown, sizeof shown, name);
    struct ab_name_count *found = find(c, shown);
    if (found == NULL)
        found = append(c, shown);
    found->n++;
    c->total++;
}

static int by_count(const void *a, const void *b)
{
    const struct ab_name_count *x = a, *y = b;
    return x->n != y->n ? AB_COMPARE(y->n, x->n) : strcmp(x->name, y->name);
}

void ab_name_counts_print(FILE *to, struct ab_name_counts *c)
{
    enum { SHOWN_MOST = 10 };
    uint64_t shown = 0;
    if (c->n > 0)
        qsort(c->names, c->n, sizeof c->names[0], by_count);
    for (size_t i = 0; i < c->n && i < SHOWN_MOST; i++) {
        fprintf(to, "%s%s", i == 0 ? "" : ", ", c->names[i].name);
        if (c->names[i].n > 1)
            fprintf(to, " (%llu)", (unsigned long long)c->names[i].n);
        shown += c->names[i].n;
    }
    if (shown < c->total)
        fprintf(to, "%s%llu other%s", shown > 0 ? " and " : "",
                (unsigned long long)(c->total - shown), c->total - shown == 1 ? "" : "s");
}

void ab_name_counts_fini(struct ab_name_counts *c)
{
    free(c->names);
    *c = (struct ab_name_counts){.n = 0};
}
