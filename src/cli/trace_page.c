/* SPDX-License-Identifier: MIT
 *
 * Makes the HTML page of a trace: facts as sentences, scopes in as many steps as the chart has, and
 * the top call sites.
 */
#include "cli/trace.h"

#include "app/stacks.h"
#include "cli/option_table.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/html/page_trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS = 16, SITES_MOST = 200 /* sites shown of each order */ };

struct page {
    struct facts {
        struct ab_trace_report_fact items[FACTS];
        size_t n;
    } facts, scope_facts;
    struct ab_trace_report_step steps[AB_TRACE_REPORT_STEPS];
    struct ab_overview overview;
    struct ab_stacks stacks;
    struct ab_trace_report r;
};

__attribute__((format(printf, 3, 4))) static void say(struct facts *list, const char *name,
                                                      const char *format, ...)
{
    va_list args;
    if (list->n == FACTS)
        return;
    struct ab_trace_report_fact *fact = &list->items[list->n++];
    fact->name = name;
    va_start(args, format);
    vsnprintf(fact->text, sizeof fact->text, format, args);
    va_end(args);
}

/* ---- the trace ---- */

static void list_calls(struct page *p, const struct ab_trace_info *i)
{
    char text[400] = "", one[64];
    for (unsigned k = 0; k < AB_EVENT_KIND_COUNT; k++) {
        snprintf(one, sizeof one, "%llu %s", (unsigned long long)i->ops[k], ab_event_kind_names[k]);
        if (i->ops[k] > 0)
            ab_text_join(text, sizeof text, ", ", one);
    }
    say(&p->facts, "calls", "%llu: %s", (unsigned long long)i->events, text);
    if (i->failed > 0)
        say(&p->facts, "failed", "%llu of these", (unsigned long long)i->failed);
    if (i->inherited > 0)
        say(&p->facts, "inherited", "%llu: the first events are the blocks live at the fork",
            (unsigned long long)i->inherited);
    if (i->bypass.is_there)
        say(&p->facts, "not seen", "at least %llu calls, which the recorder did not see",
            (unsigned long long)i->bypass.least_calls);
}

static void list_memory(struct page *p, const struct ab_trace_info *i)
{
    say(&p->facts, "live peak", "%s, at most %llu block%s", AB_BYTES(i->live_peak_bytes),
        (unsigned long long)i->live_peak_blocks, i->live_peak_blocks == 1 ? "" : "s");
    say(&p->facts, "never freed", "%s in %llu block%s", AB_BYTES(i->live_end_bytes),
        (unsigned long long)i->live_end_blocks, i->live_end_blocks == 1 ? "" : "s");
    say(&p->facts, "requested", "%s in total", AB_BYTES(i->total_bytes));
}

static void list_facts(struct page *p, const struct ab_trace_facts *f)
{
    const struct ab_trace_info *i = &f->info;
    char time[32];
    say(&p->facts, "program", "%s%s", i->program[0] != 0 ? AB_SHOWN(1024, i->program) : "unknown",
        i->is_partial ? " (partial: the end of the file is missing)" : "");
    list_calls(p, i);
    say(&p->facts, "threads", "%llu, %llu ended", (unsigned long long)i->threads,
        (unsigned long long)i->thread_ends);
    say(&p->facts, "time", "%s",
        i->has_time ? ab_units_time(time, sizeof time, (double)i->time_us * 1e3)
                    : "n/a: the trace has no times of calls (record --time)");
    list_memory(p, i);
    say(&p->facts, "freed by another thread", "%llu of %llu blocks",
        (unsigned long long)f->survey.n_remote_frees, (unsigned long long)f->survey.n_frees);
    say(&p->facts, "file", "%s", AB_BYTES(i->file_bytes));
    if (f->marks.n > 0)
        say(&p->facts, "marks", "%zu of %zu names", f->marks.n, f->marks.n_names);
}

/* ---- scopes ---- */

static void list_scopes(struct page *p, const struct ab_trace_facts *f)
{
    const struct ab_trace_scopes *s = &f->scopes;
    char thread[64] = "";
    if (f->why_no_scopes[0] != 0 || s->scopes.from == AB_SCOPES_NONE) {
        say(&p->scope_facts, "scopes", "%s",
            f->why_no_scopes[0] != 0 ? f->why_no_scopes : "none found");
        return;
    }
    if (s->scopes.is_of_thread)
        snprintf(thread, sizeof thread, ", of thread %lu", (unsigned long)s->scopes.thread);
    say(&p->scope_facts, "scopes", "%zu%s", s->scopes.n, thread);
    if (s->scopes.from == AB_SCOPES_MARKS)
        say(&p->scope_facts, "end", "with the mark %s", AB_SHOWN(1024, s->scopes.mark));
    else
        say(&p->scope_facts, "end", "found: a scope ends where no short-lived block is alive");
    say(&p->scope_facts, "calls of one", "median %.10g", s->median_calls);
    if (s->stats.allocs == 0)
        return;
    say(&p->scope_facts, "freed in their scope", "%.1f %% of allocations, at most %s in one scope",
        100 * (double)s->stats.gone / (double)s->stats.allocs, AB_BYTES(s->stats.most_gone));
    say(&p->scope_facts, "live bytes of a scope's own blocks", "at most %s",
        AB_BYTES(s->stats.most_live));
}

static void take_scope(struct ab_trace_report_step *step, const struct ab_trace_scope *s,
                       bool is_first)
{
    step->allocs_high = s->allocs > step->allocs_high ? s->allocs : step->allocs_high;
    step->bytes_high = s->bytes > step->bytes_high ? s->bytes : step->bytes_high;
    step->allocs_low = is_first || s->allocs < step->allocs_low ? s->allocs : step->allocs_low;
    step->bytes_low = is_first || s->bytes < step->bytes_low ? s->bytes : step->bytes_low;
}

static void draw_scopes(struct page *p, const struct ab_trace_scopes *s)
{
    if (s->each == NULL)
        return;
    p->r.n_scopes = s->scopes.n;
    p->r.step_scopes = (s->scopes.n + AB_TRACE_REPORT_STEPS - 1) / AB_TRACE_REPORT_STEPS;
    for (size_t i = 0; i < s->scopes.n; i++)
        take_scope(&p->steps[i / p->r.step_scopes], &s->each[i], i % p->r.step_scopes == 0);
    p->r.n_steps = s->scopes.n > 0 ? (s->scopes.n - 1) / p->r.step_scopes + 1 : 0;
}

/* ---- call sites ---- */

/* Marks the sites that are among the first `most` in any of the orders. Returns the number of
 * marked sites. */
static size_t choose_sites(const struct ab_trace_facts *f, size_t most, bool *is_chosen)
{
    static const enum ab_site_order orders[] = {AB_SITES_BY_CALLS, AB_SITES_BY_BYTES,
                                                AB_SITES_BY_PEAK, AB_SITES_BY_NEVER_FREED,
                                                AB_SITES_BY_TEMPORARY};
    size_t n, n_chosen = 0;
    for (size_t k = 0; k < AB_ARRAY_LEN(orders); k++) {
        struct ab_trace_site_row *rows = ab_trace_sort_sites(f, orders[k], &n);
        for (size_t i = 0; i < n && i < most; i++) {
            n_chosen += !is_chosen[rows[i].site];
            is_chosen[rows[i].site] = true;
        }
        free(rows);
    }
    return n_chosen;
}

static void add_site(struct ab_trace_report_site *to, const struct ab_site_stat *s)
{
    to->calls += s->calls;
    to->bytes += s->bytes;
    to->peak_bytes += s->peak_bytes;
    to->live_bytes += s->live_bytes;
    to->temporary += s->temporary;
}

/* Orders sites by bytes, the most first. */
static int by_bytes(const void *a, const void *b)
{
    const struct ab_trace_report_site *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : AB_COMPARE(y->calls, x->calls);
}

/* Lists the chosen sites, and sums up the others in r->rest. */
static void list_sites(const struct ab_trace_facts *f, size_t most, struct ab_trace_report *r)
{
    struct ab_site_names names;
    bool *is_chosen = ab_alloc_zeroed(f->sites.n + 1, sizeof is_chosen[0]);
    struct ab_trace_report_site *list = ab_alloc_zeroed(choose_sites(f, most, is_chosen) + 1,
                                                        sizeof list[0]);
    ab_site_names_init(&names, &f->site_table);
    r->sites = list;
    r->rest.median_life = UINT64_MAX;
    for (uint32_t i = 0; i < f->sites.n; i++) {
        const struct ab_site_stat *s = &f->sites.sites[i];
        if (is_chosen[i]) {
            struct ab_trace_report_site *site = &list[r->n_sites++];
            add_site(site, s);
            ab_trace_site_frames(&names, i, site->frames);
            site->median_life = ab_site_stat_median_life(s);
        } else if (s->calls > 0) {
            add_site(&r->rest, s);
            r->n_rest++;
        }
    }
    if (r->n_sites > 0)
        qsort(list, r->n_sites, sizeof list[0], by_bytes);
    ab_site_names_fini(&names);
    free(is_chosen);
}

/* ---- all ---- */

static void add_sites(struct page *p, const struct ab_trace_facts *f,
                      const struct ab_sites_wanted *wanted)
{
    size_t most = wanted->is_wanted ? wanted->n : AB_SITES_SHOWN_DEFAULT;
    if (!f->info.has_sites) {
        p->r.why_no_sites = "n/a: the trace has no call sites. With them, this page has a table "
                            "of call sites, and flame graphs: allocbench record --sites -- ./app …";
        return;
    }
    list_sites(f, most < SITES_MOST ? most : SITES_MOST, &p->r);
    ab_trace_stacks(&f->site_table, &f->sites, &p->stacks);
}

static void make_page(struct page *p, const struct ab_trace_facts *f,
                      const struct ab_sites_wanted *wanted)
{
    ab_overview_end(f->look, &p->overview);
    p->r.title = basename(f->path);
    p->r.about = "The calls of a program to its allocator, one by one.";
    p->r.overview = &p->overview;
    p->r.stacks = &p->stacks;
    p->r.steps = p->steps;
    list_facts(p, f);
    list_scopes(p, f);
    p->r.facts = p->facts.items;
    p->r.n_facts = p->facts.n;
    p->r.scope_facts = p->scope_facts.items;
    p->r.n_scope_facts = p->scope_facts.n;
    draw_scopes(p, &f->scopes);
    add_sites(p, f, wanted);
}

enum ab_status ab_trace_page_write(const struct ab_trace_facts *f,
                                   const struct ab_sites_wanted *wanted, struct ab_output *out,
                                   struct ab_err *err)
{
    struct page *p = ab_alloc_zeroed(1, sizeof *p);
    make_page(p, f, wanted);
    ab_trace_report_write(out->to, &p->r);
    free((void *)p->r.sites);
    ab_stacks_fini(&p->stacks);
    free(p);
    return ab_output_commit(out, err);
}
