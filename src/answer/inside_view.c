/* SPDX-License-Identifier: MIT
 *
 * Shows where the CPU time of a real program goes (`exec --inside`): inside and outside of the
 * allocator, with intervals, against the base. Also checks whether the two parts add up to the CPU
 * time without the interposer.
 */
#include "answer/inside_view.h"

#include "answer/program_view.h"
#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If the interposer changes the program's CPU time by more than this share, the report says so. */
static const double allowed_change = 0.02;

static const struct {
    const char *field, *title, *in_html, *where;
} parts[AB_INSIDE_PARTS] = {
    [AB_INSIDE_A_CALL] = {"inside_ns_per_call", "in malloc, a call", "#in malloc, a call", ""},
    [AB_INSIDE_IN] = {"inside_ns", "in malloc, in all", "#in malloc", "in malloc"},
    [AB_INSIDE_OUT] = {"outside_ns", "outside of malloc", "#outside", "outside"},
    [AB_INSIDE_SUM] = {NULL, "both together", "#together", ""},
};

static bool has_inside(const struct ab_session *s)
{
    const struct ab_field *f = ab_field_find("inside_ns");
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == AB_OP_ALL && ab_field_exists(f, &s->results[i]))
            return true;
    return false;
}

/* Writes the value of a part in each round to out[]. `more` is scratch space for as many values,
 * which only AB_INSIDE_SUM needs. */
static void collect(const struct ab_session *s, uint32_t backend, unsigned part, double *out,
                    double *more)
{
    if (part != AB_INSIDE_SUM) {
        ab_program_rounds(s, backend, ab_field_find(parts[part].field), out);
        return;
    }
    collect(s, backend, AB_INSIDE_IN, out, NULL);
    collect(s, backend, AB_INSIDE_OUT, more, NULL);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        out[i] += more[i];
}

static double median_of(const struct ab_session *s, double *x)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++)
        if (isfinite(x[i]))
            x[kept++] = x[i];
    return ab_median(x, kept);
}

/* Computes the parts such that the shown values are consistent: the shown sum is the sum of the two
 * shown parts, and each shown change is the difference of two shown values. */
void ab_inside_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                  struct ab_inside_part out[AB_INSIDE_PARTS])
{
    const uint32_t n = s->n_rounds;
    double *now = ab_alloc_zeroed((size_t)n * 4 + 1, sizeof now[0]), *of_base = now + n,
           *more = of_base + n, *zero = more + n;
    bool has_base = base < s->n_backends && base != backend;
    for (unsigned i = 0; i < AB_INSIDE_PARTS; i++) {
        double base_value = NAN;
        collect(s, backend, i, now, more);
        if (has_base)
            collect(s, base, i, of_base, more);
        out[i].value = ab_effect_difference(zero, now, n);
        out[i].change = has_base ? ab_effect_difference(of_base, now, n)
                                 : ab_effect_difference(NULL, NULL, 0);
        if (has_base)
            base_value = median_of(s, of_base);
        double value = median_of(s, now);
        out[i].value = ab_effect_shown(&out[i].value, value);
        out[i].change = ab_effect_shown(&out[i].change, value - base_value);
    }
    struct ab_inside_part *sum = &out[AB_INSIDE_SUM], *in = &out[AB_INSIDE_IN],
                          *outside = &out[AB_INSIDE_OUT];
    sum->value = ab_effect_shown(&sum->value, in->value.ratio + outside->value.ratio);
    sum->change = ab_effect_shown(&sum->change, in->change.ratio + outside->change.ratio);
    free(now);
}

bool ab_inside_is_clear(const struct ab_effect *difference)
{
    return difference->low > 0 || difference->high < 0;
}

/* ---- in words ---- */

static const char *signed_time(char *buf, size_t cap, double ns)
{
    snprintf(buf, cap, "%s%s", ns < 0 ? "-" : "", AB_TIME(fabs(ns)));
    return buf;
}
#define SIGNED(ns) signed_time((char[40]){0}, 40, ns)

/* Writes "[1.2 ms, 3 ms]"; "" if there are too few rounds for an interval. */
static const char *interval_of(char *buf, size_t cap, double low, double high)
{
    buf[0] = 0;
    if (isfinite(low) && isfinite(high))
        snprintf(buf, cap, "[%s, %s]", SIGNED(low), SIGNED(high));
    return buf;
}

static const char *change_words(char *buf, size_t cap, const struct ab_effect *e)
{
    snprintf(buf, cap, "%s%s %s", ab_inside_is_clear(e) ? "" : "~", AB_TIME(fabs(e->ratio)),
             e->ratio > 0 ? "more" : "less");
    return buf;
}

/* Writes the interval of a change. If the change is reported as "less", the interval is negated. */
static const char *change_interval(char *buf, size_t cap, const struct ab_effect *e)
{
    return e->ratio > 0 ? interval_of(buf, cap, e->low, e->high)
                        : interval_of(buf, cap, -e->high, -e->low);
}

static const char *more_or_less(const struct ab_effect *e)
{
    return e->ratio > 0 ? "more" : "less";
}

/* Adds "310 ms less CPU time [300 ms, 320 ms]". */
static void say_sum(struct ab_text *t, const struct ab_effect *e)
{
    char interval[100];
    if (!ab_inside_is_clear(e))
        ab_text_add(t, "no clear difference in CPU time");
    else
        ab_text_addf(t, "%s %s CPU time %s", AB_TIME(fabs(e->ratio)), more_or_less(e),
                     change_interval(interval, sizeof interval, e));
}

/* Adds the differences in malloc and outside. Only a clear difference is reported as one. */
static void say_parts(struct ab_text *t, const struct ab_inside_part *all)
{
    const struct ab_effect *in = &all[AB_INSIDE_IN].change, *out = &all[AB_INSIDE_OUT].change,
                           *sum = &all[AB_INSIDE_SUM].change;
    bool is_in = ab_inside_is_clear(in), is_out = ab_inside_is_clear(out);
    if (is_in && is_out && ab_inside_is_clear(sum) && (in->ratio > 0) == (sum->ratio > 0) &&
        (out->ratio > 0) == (sum->ratio > 0)) {
        ab_text_addf(t, ", of which %s in malloc and %s outside", AB_TIME(fabs(in->ratio)),
                     AB_TIME(fabs(out->ratio)));
        return;
    }
    if (!is_in && !is_out) {
        ab_text_add(t, ab_inside_is_clear(sum) ? ", but no clear difference inside or outside of "
                                                 "malloc alone"
                                               : ", nor inside or outside of malloc alone");
        return;
    }
    for (unsigned i = AB_INSIDE_IN; i <= AB_INSIDE_OUT; i++) {
        const struct ab_effect *e = &all[i].change;
        ab_text_add(t, i == AB_INSIDE_IN ? ": " : ", ");
        if (ab_inside_is_clear(e))
            ab_text_addf(t, "%s %s %s", AB_TIME(fabs(e->ratio)), more_or_less(e), parts[i].where);
        else
            ab_text_addf(t, "%s no clear difference", parts[i].where);
    }
}

const char *ab_inside_sentence(const struct ab_view *v, uint32_t row, char *buf, size_t cap)
{
    const struct ab_view_rank *rank = &v->ranking.rows[row];
    struct ab_inside_part all[AB_INSIDE_PARTS];
    struct ab_text t = {0};
    if (rank->standing == AB_VIEW_FAILED || rank->is_base || v->ranking.base == UINT32_MAX)
        return NULL;
    ab_inside_of(v->session, rank->backend, v->ranking.base, all);
    const struct ab_effect *sum = &all[AB_INSIDE_SUM].change;
    if (!isfinite(sum->low) || !isfinite(sum->high))
        return NULL;
    ab_text_addf(&t, "%s: ", ab_backend_label(&v->session->backends[rank->backend]));
    say_sum(&t, sum);
    say_parts(&t, all);
    snprintf(buf, cap, "%s.", t.s);
    ab_text_fini(&t);
    return buf;
}

/* ---- the interposer ---- */

/* Returns the time inside plus outside of malloc, divided by the CPU time of the plain runs, which
 * have no interposer. */
static struct ab_effect against_plain(const struct ab_session *s, uint32_t backend)
{
    double *sum = ab_alloc_zeroed((size_t)s->n_rounds * 3 + 1, sizeof sum[0]),
           *plain = sum + s->n_rounds, *more = plain + s->n_rounds;
    collect(s, backend, AB_INSIDE_SUM, sum, more);
    ab_program_rounds(s, backend, ab_field_find("cpu_ns"), plain);
    struct ab_effect e = ab_effect_paired(plain, sum, s->n_rounds);
    free(sum);
    return e;
}

static double median_field(const struct ab_session *s, uint32_t backend, const char *field)
{
    double *x = ab_alloc_zeroed(s->n_rounds + 1u, sizeof x[0]);
    ab_program_rounds(s, backend, ab_field_find(field), x);
    double median = median_of(s, x);
    free(x);
    return median;
}

/* Adds by how much the CPU time differs from the plain runs: "glibc 1.4 % more [0.2 %, 2.6 %]". */
static void add_excess(struct ab_text *t, const char *name, const struct ab_effect *e)
{
    double sign = e->ratio > 1 ? 100 : -100, low = sign * (e->low - 1), high = sign * (e->high - 1);
    ab_text_addf(t, "%s%s %.1f %% %s [%.1f %%, %.1f %%]", t->n > 0 ? ", " : "", name,
                 sign * (e->ratio - 1), sign > 0 ? "more" : "less", fmin(low, high),
                 fmax(low, high));
}

const char *ab_inside_check(const struct ab_view *v, char *buf, size_t cap)
{
    const struct ab_session *s = v->session;
    struct ab_text beyond = {0};
    double most = 0, most_a_call = 0, most_share = 0;
    unsigned n = 0;
    if (!has_inside(s))
        return NULL;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const uint32_t backend = v->ranking.rows[i].backend;
        double cost = median_field(s, backend, "interposer_ns"),
               calls = median_field(s, backend, "n_calls"),
               plain = median_field(s, backend, "cpu_ns");
        struct ab_effect e = against_plain(s, backend);
        if (v->ranking.rows[i].standing == AB_VIEW_FAILED || !isfinite(cost) || !(calls > 0))
            continue;
        most = fmax(most, cost);
        most_a_call = fmax(most_a_call, cost / calls);
        most_share = fmax(most_share, cost / plain);
        if (!isfinite(e.low) || !isfinite(e.high))
            continue;
        n++;
        if ((e.low > 1 || e.high < 1) && fabs(e.ratio - 1) > allowed_change)
            add_excess(&beyond, ab_backend_label(&s->backends[backend]), &e);
    }
    if (!(most > 0)) { /* no allocator has numbers */
        ab_text_fini(&beyond);
        return NULL;
    }
    int done = snprintf(buf, cap,
                        "The interposer, which times the calls, took up to %s per run (%s per "
                        "call, including its start). This is %.2g %% of the CPU time and is in "
                        "neither part.",
                        AB_TIME(most), AB_TIME(most_a_call), 100 * most_share);
    if (beyond.n > 0)
        snprintf(buf + done, cap - (size_t)done,
                 " With the interposer the program's CPU time differs from the plain runs by "
                 "more than 2 %%: %.300s. The difference counts as outside, so compare only "
                 "allocators with each other.",
                 beyond.s);
    else if (n > 0)
        snprintf(buf + done, cap - (size_t)done,
                 " The time inside and the time outside of malloc add up to the CPU time of the "
                 "plain runs, within 2 %% or the interval.");
    ab_text_fini(&beyond);
    return buf;
}

/* ---- tables ---- */

static void put_section(struct ab_grid *g, const struct ab_view *v, unsigned part)
{
    char words[100], interval[100];
    ab_grid_heading(g, parts[part].title, "");
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        struct ab_inside_part all[AB_INSIDE_PARTS];
        if (rank->standing == AB_VIEW_FAILED)
            continue;
        ab_inside_of(v->session, rank->backend, v->ranking.base, all);
        const struct ab_effect *value = &all[part].value, *change = &all[part].change;
        struct ab_grid_row *row = ab_grid_add_backend(g, rank->backend);
        if (isfinite(value->ratio))
            ab_grid_say(g, 0, "%s %s", SIGNED(value->ratio),
                        interval_of(interval, sizeof interval, value->low, value->high));
        else
            ab_grid_put(g, 0, AB_GRID_TEXT, NAN, NULL);
        if (rank->is_base)
            ab_grid_say(g, 1, "base");
        else if (isfinite(change->ratio))
            ab_grid_say(g, 1, "%s %s", change_words(words, sizeof words, change),
                        change_interval(interval, sizeof interval, change));
        else
            ab_grid_put(g, 1, AB_GRID_TEXT, NAN, NULL);
        if (ab_inside_is_clear(change))
            row->emphasis = change->ratio < 0 ? AB_GOOD : AB_BAD;
    }
}

/* Fills the terminal's table, with a section for each part. */
static void make_sections(const struct ab_view *v, struct ab_grid *g)
{
    *g = (struct ab_grid){.session = v->session, .n_columns = 2};
    g->columns[0].title = ab_grid_median(v->session);
    g->columns[1].title = ab_grid_versus(g, "vs", v->ranking.base, 20);
    for (unsigned i = 0; i < AB_INSIDE_PARTS; i++)
        put_section(g, v, i);
}

/* Fills the table of pages, with a column with bars for each part. Bars show the share of the
 * longest sum, so that inside and outside can be compared. */
static void make_columns(const struct ab_view *v, struct ab_grid *g)
{
    double most = 0;
    struct ab_inside_part all[AB_INSIDE_PARTS];
    *g = (struct ab_grid){
        .session = v->session, .rows_are = "allocator", .n_columns = AB_INSIDE_PARTS};
    for (unsigned i = 0; i < AB_INSIDE_PARTS; i++)
        g->columns[i].in_html = parts[i].in_html;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        ab_inside_of(v->session, v->ranking.rows[i].backend, v->ranking.base, all);
        most = fmax(most, all[AB_INSIDE_SUM].value.ratio);
    }
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const uint32_t backend = v->ranking.rows[i].backend;
        if (!ab_view_shows(v->session, backend))
            continue;
        ab_inside_of(v->session, backend, v->ranking.base, all);
        ab_grid_add_backend(g, backend)->emphasis = AB_PLAIN;
        for (unsigned c = 0; c < AB_INSIDE_PARTS; c++) {
            char words[100], interval[100];
            const struct ab_effect *change = &all[c].change, *value = &all[c].value;
            struct ab_grid_cell *cell = ab_grid_put(g, c, AB_GRID_TIME, value->ratio, NULL);
            if (c != AB_INSIDE_A_CALL && most > 0)
                cell->share = fmax(0, value->ratio / most);
            bool has_change = isfinite(change->ratio);
            cell->below = ab_view_texts_addf(
                &g->texts, "%s", has_change ? change_words(words, sizeof words, change) : "");
            cell->interval = ab_view_texts_addf(
                &g->texts, "%s",
                has_change ? change_interval(interval, sizeof interval, change)
                           : interval_of(interval, sizeof interval, value->low, value->high));
        }
    }
}

/* ---- calls ---- */

/* Returns the result with the longest call of all rounds; NULL = none. */
static const struct ab_result *find_longest(const struct ab_session *s, uint32_t backend,
                                            unsigned op)
{
    const struct ab_result *most = NULL;
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const struct ab_result *r = ab_session_find(s, backend, AB_PROGRAM_PHASE, op,
                                                    s->rounds[i].index);
        if (r != NULL && isfinite(r->max) && (most == NULL || r->max > most->max))
            most = r;
    }
    return most;
}

/* Puts where the longest call occurred: "#1210 of thread 1, 64 B, at 1.2 s". */
static void put_place(struct ab_grid *g, unsigned column, const struct ab_result *r)
{
    char size[40] = "";
    if (r == NULL || !isfinite(r->max_call)) {
        ab_grid_put(g, column, AB_GRID_TEXT, NAN, "the call could not be recorded");
        return;
    }
    if (isfinite(r->max_size_bytes))
        snprintf(size, sizeof size, ", %s", AB_BYTES(r->max_size_bytes));
    ab_grid_say(g, column, "#%.0f of thread %.0f%s, at %s", r->max_call, r->max_thread, size,
                AB_TIME(r->max_at_ns));
}

static void add_calls(struct ab_grid *g, const struct ab_session *s, uint32_t backend, unsigned op)
{
    static const char *const names[] = {"n_calls", "p50", "p99", "p99.9", "max", "entered_calls"};
    const struct ab_result *longest = find_longest(s, backend, op);
    ab_grid_add_backend(g, backend);
    for (unsigned i = 0; i < AB_ARRAY_LEN(names); i++) {
        struct ab_metric m = ab_metric_of_op(AB_PROGRAM_PHASE, op, names[i]);
        bool is_faults = i == AB_ARRAY_LEN(names) - 1, is_count = i == 0 || is_faults;
        ab_grid_put(g, i, is_count ? AB_GRID_AMOUNT : AB_GRID_TIME,
                    strcmp(names[i], "max") != 0 ? ab_metric_value(s, backend, &m)
                    : longest != NULL            ? longest->max
                                                 : (double)NAN,
                    is_faults ? "too few calls were checked for faults and sleeps"
                              : "too few calls were timed");
    }
    put_place(g, AB_ARRAY_LEN(names), longest);
}

/* Fills the table of CPU time in the allocator and outside of it. Adds a sentence for each back end
 * but the base, and whether the parts add up. */
bool ab_inside_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const bool is_terminal = at->surface == AB_TERMINAL;
    char buf[800];
    if (!has_inside(v->session))
        return false;
    (is_terminal ? make_sections : make_columns)(v, g);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const char *sentence = ab_inside_sentence(v, i, buf, sizeof buf);
        if (sentence != NULL)
            ab_view_texts_addf(&g->sentences, "%s", sentence);
    }
    const char *check = ab_inside_check(v, buf, sizeof buf);
    ab_view_texts_addf(&g->closing, "%s%s",
                       is_terminal ? ""
                                   : "Each number is the median of the rounds; below it stands "
                                     "the difference from the base, with its 90 % interval. ",
                       check != NULL ? check : "");
    return true;
}

/* Fills the table of the calls of one kind: their number, how long they took, where the longest
 * occurred, and how many of them faulted or slept. */
bool ab_inside_calls_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_session *s = v->session;
    const unsigned op = at->number;
    if (at->surface == AB_TERMINAL && !at->is_verbose)
        return false;
    if (!has_inside(s) || op >= AB_OP_ALL || !ab_session_has_op(s, AB_PROGRAM_PHASE, op))
        return false;
    *g = (struct ab_grid){.session = s,
                          .rows_are = "allocator",
                          .columns = {{"calls", 0, "#calls"},
                                      {"p50", 1, "#p50"},
                                      {"p99", 1, "#p99"},
                                      {"p99.9", 0, "#p99.9"},
                                      {"max", 0, "#max"},
                                      {"faulted", 0, "#faulted or slept"},
                                      {"where max was", 0, "where the longest was"}},
                          .n_columns = 7};
    g->caption = ab_view_texts_addf(&g->texts, "Calls of %s in the program", ab_result_op_name(op));
    ab_grid_heading(g, ab_result_op_name(op), "");
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        if (v->ranking.rows[i].standing != AB_VIEW_FAILED)
            add_calls(g, s, v->ranking.rows[i].backend, op);
    return true;
}
