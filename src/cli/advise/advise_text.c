/* SPDX-License-Identifier: MIT
 *
 * Prints an advice: a row for each proposal, below it its measurements, then the places of its
 * allocations in the source.
 */
#include "cli/advise/advise.h"

#include "answer/words.h"
#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_SHOWN = 4, SURVIVORS_SHOWN = 12, PROPOSAL_WIDTH = 20 };

/* ---- rows ---- */

static const char *change(const struct ab_advise_view *v, const struct ab_advised_row *row,
                          char *buf, size_t cap)
{
    const struct ab_advice *a = v->advice;
    if (!row->is_measured)
        snprintf(buf, cap, "n/a");
    else
        snprintf(buf, cap, "%s -> %s", AB_TIME(ab_advise_unit_time(a, row->base_time_ns)),
                 AB_TIME(ab_advise_unit_time(a, row->time_ns)));
    return buf;
}

static void print_line(FILE *to, const char *name, const char *what, double share,
                       const char *proposal, const char *change)
{
    char percent[32] = "";
    if (!isnan(share))
        snprintf(percent, sizeof percent, "%.1f %%", 100 * share);
    if (change[0] != 0)
        fprintf(to, "%-2s %-23s %8s  %-*s %s\n", name, what, percent, PROPOSAL_WIDTH, proposal,
                change);
    else
        fprintf(to, "%-2s %-23s %8s  %s\n", name, what, percent, proposal);
}

static void put_prose(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                      struct ab_text *line)
{
    if (line->s != NULL)
        ab_table_prose(to, style, emphasis, line->s);
    ab_text_fini(line);
}

static void add_reason(struct ab_text *line, const char *before, const struct ab_advised_row *row)
{
    ab_text_addf(line, "%s%s%s", before,
                 strcmp(row->reason, AB_ADVISED_TOO_FAST) == 0 ? "" : "not measured: ",
                 AB_SHOWN(512, row->reason));
}

/* Writes "2.00x faster [1.96, 2.04]" or "1.10x slower [1.05, 1.20]" to buf. Returns buf. */
static const char *speed_text(char buf[AB_CELL_BYTES], const struct ab_effect *e)
{
    struct ab_view_factor factor = ab_view_factor_of(e);
    return ab_view_factor_text(buf, &factor, "faster", "slower");
}

/* Prints the measured gain of a row with its interval, and its memory. If the row was not measured,
 * prints why. */
static void print_measured(FILE *to, const struct ab_advised_row *row, struct ab_table_style style)
{
    char speed[AB_CELL_BYTES], before[32], after[32];
    struct ab_text line = {0};
    const struct ab_effect *e = &row->speed;
    if (!row->is_measured) {
        add_reason(&line, "   ", row);
    } else {
        ab_text_addf(&line, "   %s%s; memory %s -> %s", speed_text(speed, e),
                     isnan(e->low) ? " (too few rounds for an interval)" : "",
                     ab_advise_memory(row->base_memory_bytes, before, sizeof before),
                     ab_advise_memory(row->memory_bytes, after, sizeof after));
        if (ab_advised_holds_less(row))
            ab_text_addf(&line, ", held by live blocks %s -> %s",
                         ab_advise_memory(row->base_held_bytes, before, sizeof before),
                         ab_advise_memory(row->held_bytes, after, sizeof after));
        if (!ab_advised_is_gain(row) && ab_advised_is_memory_gain(row))
            ab_text_add(&line, ": a gain in memory");
    }
    put_prose(to, style, AB_PLAIN, &line);
}

static const char *place_of(const struct ab_advice_group *g, char *buf, size_t cap)
{
    char function[sizeof g->function];
    ab_wrappers_bare_name(g->function, function, sizeof function);
    if (g->file[0] != 0 && g->column > 0)
        snprintf(buf, cap, "%s:%d:%d %s", AB_SHOWN(128, g->file), g->line, g->column,
                 AB_SHOWN(128, function));
    else if (g->file[0] != 0 && g->line > 0)
        snprintf(buf, cap, "%s:%d %s", AB_SHOWN(128, g->file), g->line, AB_SHOWN(128, function));
    /* names the library that has the function */
    else if (function[0] != 0 && strstr(g->module, ".so") != NULL)
        snprintf(buf, cap, "%s %s", AB_SHOWN(128, g->module), AB_SHOWN(128, function));
    else if (function[0] != 0)
        snprintf(buf, cap, "%s", AB_SHOWN(128, function));
    else
        snprintf(buf, cap, "%s", AB_SHOWN(300, g->key[0] != 0 ? g->key : "not known"));
    return buf;
}

/* Counts the groups with indices from `begin` to before `end` that belong to `heap` and are shown
 * as `place`. Without line numbers, several calls of one function look the same. */
static size_t count_same(const struct ab_advice *a, size_t heap, const char *place, size_t begin,
                         size_t end)
{
    char other[400];
    size_t n = 0;
    for (size_t i = begin; i < end; i++)
        n += a->groups[i].heap == heap &&
             strcmp(place_of(&a->groups[i], other, sizeof other), place) == 0;
    return n;
}

static void print_places(FILE *to, const struct ab_advise_view *v, size_t heap,
                         struct ab_table_style style)
{
    const struct ab_advice *a = v->advice;
    struct ab_text line = {0};
    size_t n = 0;
    char place[400];
    for (size_t i = 0; i < a->n_groups; i++) {
        if (a->groups[i].heap != heap)
            continue;
        place_of(&a->groups[i], place, sizeof place);
        if (count_same(a, heap, place, 0, i) > 0 || n++ >= PLACES_SHOWN)
            continue;
        size_t same = count_same(a, heap, place, i, a->n_groups);
        ab_text_addf(&line, "%s%s", line.s == NULL ? "   " : ", ", place);
        if (same > 1)
            ab_text_addf(&line, " (%zu calls in it)", same);
    }
    if (n > PLACES_SHOWN)
        ab_text_addf(&line, " and %zu more", n - PLACES_SHOWN);
    put_prose(to, style, AB_FAINT, &line);
}

/* Prints how many bytes the call sites of heap `h` pin in the general malloc. */
static void print_pinned(FILE *to, const struct ab_advise_view *v, const struct ab_advice_heap *h,
                         struct ab_table_style style)
{
    struct ab_text line = {0};
    if (v->pins == NULL || !(h->pinned_bytes >= v->advice->least_pinned))
        return;
    ab_text_addf(&line, "   pins %s of %s resident under %s (at op %u)", AB_BYTES(h->pinned_bytes),
                 AB_BYTES(v->pins->resident_bytes), AB_SHOWN(128, v->base), v->pins->position);
    put_prose(to, style, AB_PLAIN, &line);
}

/* Appends how nested scopes compare with one arena for the whole scope. */
static void add_nested(struct ab_text *line, const struct ab_advised_nested *n)
{
    char speed[AB_CELL_BYTES], before[32], after[32];
    const struct ab_effect *e = &n->nested.speed;
    if (!n->nested.is_measured || !n->flat.is_measured) {
        add_reason(line, "", n->nested.is_measured ? &n->flat : &n->nested);
        return;
    }
    ab_text_addf(line, "%s than in the arena of the scope, memory %s -> %s", speed_text(speed, e),
                 ab_advise_memory(n->nested.base_memory_bytes, before, sizeof before),
                 ab_advise_memory(n->nested.memory_bytes, after, sizeof after));
    if (n->by_memory)
        ab_text_add(line, ": a gain in memory");
}

static void print_nested(FILE *to, const struct ab_advise_view *v, const struct ab_advice_heap *h,
                         struct ab_table_style style)
{
    struct ab_text line = {0};
    if (h->kind != AB_ADVICE_NESTED)
        return;
    ab_text_addf(&line, "   %llu nested scopes", (unsigned long long)h->n_nested);
    if (v->advice->n_scopes > 0)
        ab_text_addf(&line, ", %.3g a scope", (double)h->n_nested / (double)v->advice->n_scopes);
    if (v->nested != NULL && v->nested->is_asked) {
        ab_text_add(&line, "; ");
        add_nested(&line, v->nested);
    }
    put_prose(to, style, AB_PLAIN, &line);
}

/* Returns the other values of threads= that a replay can measure for the heap; NULL = none. Blocks
 * that die with a save point or with the scope of one thread need an arena of that thread. */
static const char *other_forms(const struct ab_advice_heap *h)
{
    bool is_own = h->kind == AB_ADVICE_STACK || h->kind == AB_ADVICE_NESTED ||
                  h->is_of_thread_scopes;
    return h->kind == AB_ADVICE_POOL   ? "lockfree, sharded, mutex"
           : h->kind == AB_ADVICE_SLAB ? "sharded, mutex"
           : is_own                    ? NULL
                                       : "mutex";
}

/* Prints how threads use a heap that several of them share. Prints nothing for other heaps. */
static void print_threads(FILE *to, const struct ab_advice_heap *h, struct ab_table_style style)
{
    struct ab_text line = {0};
    const char *others = other_forms(h);
    bool is_freed = h->kind == AB_ADVICE_POOL || h->kind == AB_ADVICE_SLAB;
    if (!ab_advice_is_shared(h))
        return;
    ab_text_add(&line, "   threads=local: one heap for each thread");
    if (h->n_remote > 0)
        ab_text_addf(&line,
                     "; %llu of %llu frees are by another thread than the one that "
                     "allocated%s",
                     (unsigned long long)h->n_remote, (unsigned long long)h->frees,
                     is_freed ? ", through the queue of its heap"
                              : ", which the code no longer "
                                "needs");
    if (!is_freed)
        ab_text_add(&line,
                    "; replays do not reset it, so the program needs less memory than shown");
    if (others != NULL)
        ab_text_addf(&line, "; to measure others (%s): replay --map '...=%.*s%.*s'", others,
                     (int)(strlen(h->backend) - strlen("local")), h->backend,
                     (int)strcspn(others, ","), others);
    put_prose(to, style, AB_PLAIN, &line);
}

static void print_heap(FILE *to, const struct ab_advise_view *v, size_t i,
                       struct ab_table_style style)
{
    const struct ab_advice_heap *h = &v->advice->heaps[i];
    const struct ab_advised_row *row = &v->measured->heaps[i];
    char proposal[80], what[80], times[80], refused[160];
    bool is_used = (v->measured->used >> i & 1) != 0;
    double share = v->advice->calls > 0 ? (double)h->calls / (double)v->advice->calls : (double)NAN;
    ab_advise_proposal(h, proposal, sizeof proposal);
    print_line(to, h->name, ab_advise_what(h, what, sizeof what), share,
               is_used ? proposal : "malloc (keep)", change(v, row, times, sizeof times));
    if (!is_used) {
        snprintf(refused, sizeof refused, "   %s: %s", proposal, ab_advise_refusal(v->measured, i));
        ab_table_prose(to, style, AB_PLAIN, refused);
    }
    print_measured(to, row, style);
    print_pinned(to, v, h, style);
    print_nested(to, v, h, style);
    print_threads(to, h, style);
    print_places(to, v, i, style);
}

/* Prints the share of the calls that no proposal covers. */
static void print_rest(FILE *to, const struct ab_advise_view *v)
{
    const struct ab_advice *a = v->advice;
    uint64_t calls = a->calls;
    for (size_t i = 0; i < a->n_heaps; i++)
        calls -= a->heaps[i].calls;
    if (calls > 0)
        print_line(to, "", "the rest", (double)calls / (double)a->calls, "malloc (keep)", "");
}

/* ---- the other parts of the text ---- */

/* Returns the first heap of the kind; NULL = none. */
static const struct ab_advice_heap *heap_of_kind(const struct ab_advice *a,
                                                 enum ab_advice_kind kind)
{
    for (size_t i = 0; i < a->n_heaps; i++)
        if (a->heaps[i].kind == kind)
            return &a->heaps[i];
    return NULL;
}

/* Appends a hint that two proposed heaps may be one. Scopes that were found without marks may end
 * too early, so that blocks of a frame seem to die in the next frame. */
static void say_one_heap_may_do(struct ab_text *line, const struct ab_advice *a)
{
    const struct ab_advice_heap *frame = heap_of_kind(a, AB_ADVICE_FRAME),
                                *next = heap_of_kind(a, AB_ADVICE_DOUBLE);
    if (!a->is_marked && frame != NULL && next != NULL)
        ab_text_addf(line,
                     " Scopes that were found, not marked, can end too early: with marks, heaps "
                     "%s and %s may be one.",
                     frame->name, next->name);
}

static void print_scopes(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    if (v->scopes == NULL || v->advice->n_scope_threads > 1 || v->scopes->n == 0)
        return;
    ab_scopes_ask(&line, v->scopes, ab_scopes_median_calls(v->scopes), v->advice->time_us);
    say_one_heap_may_do(&line, v->advice);
    put_prose(to, style, AB_PLAIN, &line);
}

static void print_n_scopes(FILE *to, const struct ab_advice *a)
{
    fprintf(to, "%llu scopes", (unsigned long long)a->n_scopes);
    if (a->n_scope_threads > 1)
        fprintf(to, " of %u threads", a->n_scope_threads);
    fprintf(to, " (%s), %.0f allocations a scope", a->is_marked ? "marked" : "found",
            (double)a->calls / (double)a->n_scopes);
}

static void print_head(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    const struct ab_advice *a = v->advice;
    fprintf(to, "%s: ", AB_SHOWN(300, v->trace));
    if (a->n_scopes > 0)
        print_n_scopes(to, a);
    else
        fprintf(to, "no scopes, %llu allocations", (unsigned long long)a->calls);
    fprintf(to, "; %s\n",
            a->has_sites ? "by call site"
                         : "the trace has no call sites (record --sites), so "
                           "blocks are grouped by size");
    print_scopes(to, v, style);
    if (v->measured->base.is_measured)
        fprintf(to, "time in allocator calls today (%s): %s a %s\n", v->base,
                AB_TIME(ab_advise_unit_time(a, v->measured->base.time_ns)), ab_advise_unit(a));
    uint64_t n_after = a->n_events - a->n_before_end;
    if (n_after > 0)
        fprintf(to, "excluded: %llu call%s after the last scope\n", (unsigned long long)n_after,
                n_after == 1 ? "" : "s");
}

/* Prints the legend of the columns. */
static void print_legend(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    ab_text_addf(
        &line,
        "time: in calls of the allocator, all served by %s -> with the proposal, as median of the "
        "rounds; [low, high]: 90 %% interval; memory: peak resident.",
        AB_SHOWN(128, v->base));
    put_prose(to, style, AB_FAINT, &line);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return AB_COMPARE(*x, *y);
}

/* Sets `scopes` to the scopes in which the known survivors were allocated, sorted and without
 * duplicates. Returns the number of scopes. */
static size_t scopes_of(const struct ab_advice_group *g, uint64_t scopes[AB_ADVICE_SURVIVORS])
{
    size_t n = 0, kept = 0;
    for (; n < g->n_survivors && n < AB_ADVICE_SURVIVORS; n++)
        scopes[n] = g->survivors[n].born;
    qsort(scopes, n, sizeof scopes[0], by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || scopes[kept - 1] != scopes[i])
            scopes[kept++] = scopes[i];
    return kept;
}

static void print_survivor(FILE *to, const struct ab_advise_view *v,
                           const struct ab_advice_group *g)
{
    char place[400];
    uint64_t scopes[AB_ADVICE_SURVIVORS];
    size_t n = scopes_of(g, scopes);
    bool has_more = g->n_survivors > AB_ADVICE_SURVIVORS;
    fprintf(to, "  %s  %s  scope%s", place_of(g, place, sizeof place),
            AB_BYTES(g->survivors[0].size), n > 1 || has_more ? "s" : "");
    for (size_t i = 0; i < n; i++)
        if (scopes[i] >= v->advice->n_scopes)
            fprintf(to, "%s after the last", i > 0 ? "," : "");
        else
            fprintf(to, "%s %llu", i > 0 ? "," : "", (unsigned long long)scopes[i]);
    fprintf(to, "%s -> %s\n", has_more ? ", ..." : "",
            g->heap == AB_ADVICE_NO_HEAP ? "malloc" : v->advice->heaps[g->heap].name);
}

static void print_survivors(FILE *to, const struct ab_advise_view *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->advice->n_groups; i++) {
        if (!ab_advise_is_nearly_scoped(&v->advice->groups[i]) || n++ >= SURVIVORS_SHOWN)
            continue;
        if (n == 1)
            fprintf(to, "\n"
                        "not in an arena of a scope, because some of their blocks outlive it\n"
                        "(place, size, scopes in which these blocks are allocated -> where all "
                        "are freed)\n");
        print_survivor(to, v, &v->advice->groups[i]);
    }
    if (n > SURVIVORS_SHOWN)
        fprintf(to, "  and %zu more (--json lists all)\n", n - SURVIVORS_SHOWN);
}

/* Prints the call sites that are not in a nested scope because some of their blocks outlive
 * it, and the heap that serves them instead. */
static void print_stragglers(FILE *to, const struct ab_advise_view *v)
{
    char place[400];
    size_t n = 0;
    for (size_t i = 0; i < v->advice->n_groups; i++) {
        const struct ab_advice_group *g = &v->advice->groups[i];
        if (g->n_stragglers == 0)
            continue;
        if (n++ == 0)
            fprintf(to, "\n"
                        "not in a nested scope, because some of their blocks outlive it\n"
                        "(place, size, number of its blocks -> where all are freed)\n");
        fprintf(to, "  %s  %s  %llu of %llu -> %s\n", place_of(g, place, sizeof place),
                AB_BYTES(g->straggler_size), (unsigned long long)g->n_stragglers,
                (unsigned long long)g->calls,
                g->heap == AB_ADVICE_NO_HEAP ? "malloc" : v->advice->heaps[g->heap].name);
    }
}

/* Prints the call sites with nested scopes that gain nothing. All their blocks are in the arena of
 * the whole scope. */
static void print_not_nested(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    char place[400];
    size_t n = 0;
    if (v->nested == NULL || !v->nested->is_asked || v->nested->is_taken)
        return;
    ab_text_add(&line, "no nested scopes for ");
    for (size_t i = 0; i < v->other->n_groups; i++)
        if (v->other->groups[i].kind == AB_ADVICE_NESTED && n++ < PLACES_SHOWN)
            ab_text_addf(&line, "%s%s", n > 1 ? ", " : "",
                         place_of(&v->other->groups[i], place, sizeof place));
    if (n > PLACES_SHOWN)
        ab_text_addf(&line, " and %zu more", n - PLACES_SHOWN);
    ab_text_add(&line, ": ");
    add_nested(&line, v->nested);
    fputc('\n', to);
    put_prose(to, style, AB_PLAIN, &line);
}

/* Prints the time with the heaps as generated by --code: inlined, and without frees of arena
 * blocks. */
static void print_compiled(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    char times[80], speed[AB_CELL_BYTES];
    const struct ab_advised_row *row = &v->measured->compiled;
    struct ab_text line = {0};
    print_line(to, "", "compiled in (--code)", NAN, "", change(v, row, times, sizeof times));
    if (row->is_measured)
        ab_text_addf(&line, "   %s", speed_text(speed, &row->speed));
    else
        add_reason(&line, "   ", row);
    put_prose(to, style, AB_PLAIN, &line);
}

static void print_together(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    char times[80];
    const struct ab_advised *m = v->measured;
    /* if not, the row is shown only if heaps gain alone, because it explains why nothing is
     * advised */
    bool gains = m->used != 0;
    for (size_t i = 0; i < v->advice->n_heaps; i++)
        gains |= ab_advised_pays(&m->heaps[i]);
    if (!gains)
        return;
    print_line(to, "", "together", NAN, "", change(v, &m->together, times, sizeof times));
    print_measured(to, &m->together, style);
    if (m->has_compiled)
        print_compiled(to, v, style);
}

static void print_generals(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    char times[80], name[160];
    for (size_t i = 0; i < v->measured->n_generals; i++) {
        const struct ab_advised_row *row = &v->measured->generals[i];
        const char *what = i == 0 ? "everything in" : "";
        snprintf(name, sizeof name, "%s", AB_SHOWN(128, row->name));
        if (strlen(name) > PROPOSAL_WIDTH) { /* too long for the column, such as a row of --sweep */
            fprintf(to, "   %s%s%s\n", what, i == 0 ? " " : "", name);
            what = "";
            name[0] = 0;
        }
        print_line(to, "", what, NAN, name, change(v, row, times, sizeof times));
        print_measured(to, row, style);
    }
}

static void add_scopes(struct ab_text *line, const struct ab_advise_view *v, double whole_ns,
                       const struct ab_advised_scopes *x)
{
    double mean = ab_advise_unit_time(v->advice, whole_ns), percent = 100 * mean / v->budget_ns;
    /* times are those of one lane */
    const char *whose = v->advice->n_threads > 1 ? " of one thread" : "";
    if (isnan(mean))
        ab_text_add(line, "n/a on average");
    else
        ab_text_addf(line, percent < 10 ? "%s on average (%.2g %%)" : "%s on average (%.0f %%)",
                     AB_TIME(mean), percent);
    if (!x->is_known)
        ab_text_addf(line, ", n/a in the worst: %s", AB_SHOWN(192, x->reason));
    else
        ab_text_addf(line, ", %s in the worst%s (%u round%s); %llu of %llu scopes%s missed it",
                     AB_TIME(x->worst_ns), whose, x->n_rounds, x->n_rounds == 1 ? "" : "s",
                     (unsigned long long)x->n_missed, (unsigned long long)x->n, whose);
}

static void print_budget(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    const struct ab_advised *m = v->measured;
    struct ab_text line = {0};
    if (v->budget == NULL)
        return;
    uint64_t n_scheduler = v->budget->before.n_scheduler + v->budget->after.n_scheduler;
    ab_text_addf(&line, "budget of %s a scope: ", AB_TIME(v->budget_ns));
    if (v->advice->n_scopes == 0) {
        ab_text_addf(&line, "n/a: %s", v->budget->before.reason);
    } else {
        ab_text_add(&line, "allocation takes ");
        add_scopes(&line, v, m->used != 0 ? m->together.base_time_ns : m->base.time_ns,
                   &v->budget->before);
    }
    if (v->advice->n_scopes > 0 && m->used != 0) {
        ab_text_add(&line, ". With the advice ");
        add_scopes(&line, v, m->together.time_ns, &v->budget->after);
    }
    if (n_scheduler > 0)
        ab_text_addf(&line, ". Left out: %llu scopes in which the scheduler took the CPU",
                     (unsigned long long)n_scheduler);
    ab_text_add(&line, ".");
    fputc('\n', to);
    put_prose(to, style, AB_PLAIN, &line);
}

static void print_answer(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    ab_text_add(&line, "Advice: ");
    ab_advise_answer(v, &line);
    fputc('\n', to);
    put_prose(to, style, AB_STRONG, &line);
}

void ab_advise_print(FILE *to, const struct ab_advise_view *v, struct ab_table_style style)
{
    char title[80];
    print_head(to, v, style);
    print_answer(to, v, style);
    print_budget(to, v, style);
    snprintf(title, sizeof title, "time per %s", ab_advise_unit(v->advice));
    fputc('\n', to);
    fprintf(to, "%-2s %-23s %8s  %-*s %s\n", "", "what", "calls", PROPOSAL_WIDTH, "proposal",
            title);
    for (size_t i = 0; i < v->advice->n_heaps; i++)
        print_heap(to, v, i, style);
    print_rest(to, v);
    print_together(to, v, style);
    print_generals(to, v, style);
    print_legend(to, v, style);
    print_survivors(to, v);
    print_stragglers(to, v);
    print_not_nested(to, v, style);
}
