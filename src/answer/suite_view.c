/* SPDX-License-Identifier: MIT
 *
 * Writes the sentences and grids about several workloads. Ratios of time and memory are relative to
 * the base; less is better in both.
 */
#include "answer/suite_view.h"

#include "answer/findings.h"
#include "answer/words.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 14, TIME = AB_SUITE_COLUMNS, MEMORY = 2 * AB_SUITE_COLUMNS };

static const char *label_of(const struct ab_suite_view *v, uint32_t row)
{
    return ab_backend_label(&v->suite->summary.backends[row]);
}

static const char *label_of_row(const struct ab_suite_view *v, const struct ab_suite_row *row)
{
    return label_of(v, (uint32_t)(row - v->suite->figures.rows));
}

static const char *shown_name(struct ab_suite_view *v, uint32_t row)
{
    char text[4 * NAME + 4];
    return ab_view_texts_addf(&v->texts, "%s",
                              ab_format_label(text, sizeof text, label_of(v, row), NAME, true));
}

/* ---- workloads by allocators ---- */

/* Returns "~" for a ratio that is not clearly different from 1. A memory ratio without spread is
 * exact and gets none. */
static const char *tilde_of(const struct ab_effect *e)
{
    bool is_exact = e->low == e->high && isfinite(e->low);
    return isfinite(e->ratio) && !is_exact && !ab_effect_is_clear(e) ? "~" : "";
}

/* Puts "12.3 ms, 4.00 MiB" for the base and the ratios "0.81, 1.20" for the others. */
static void put_pair(struct ab_grid *g, unsigned column, const struct ab_suite_row *row,
                     const struct ab_suite_cell *c)
{
    char time[AB_CELL_BYTES], memory[AB_CELL_BYTES];
    const struct ab_effect *ratio = c->ratio;
    double ns = c->value[AB_SUITE_TIME], bytes = c->value[AB_SUITE_MEMORY];
    if (c->failure[0] != 0)
        ab_grid_say(g, column, "%s", c->failure);
    else if (row->is_base)
        ab_grid_say(g, column, "%s, %s", isfinite(ns) ? AB_TIME(ns) : "-",
                    isfinite(bytes) ? AB_BYTES(bytes) : "-");
    else
        ab_grid_say(g, column, "%s%s, %s%s", tilde_of(&ratio[AB_SUITE_TIME]),
                    ab_format_ratio(time, ratio[AB_SUITE_TIME].ratio),
                    tilde_of(&ratio[AB_SUITE_MEMORY]),
                    ab_format_ratio(memory, ratio[AB_SUITE_MEMORY].ratio));
}

/* Puts a ratio with its interval; for the base its value, for a failure its reason. */
static void put_effect(struct ab_grid *g, unsigned column, const struct ab_suite_row *row,
                       const struct ab_suite_cell *c, unsigned metric)
{
    char text[AB_CELL_BYTES];
    const struct ab_effect *e = &c->ratio[metric];
    double x = c->value[metric];
    if (c->failure[0] != 0)
        ab_grid_say(g, column, "%s", c->failure);
    else if (row->is_base)
        ab_grid_say(g, column, "%s",
                    !isfinite(x)              ? "-"
                    : metric == AB_SUITE_TIME ? AB_TIME(x)
                                              : AB_BYTES(x));
    else
        ab_grid_say(g, column, "%s%s", tilde_of(e),
                    ab_format_effect(text, e->ratio, e->low, e->high));
}

static void add_work(struct ab_suite_view *v, uint32_t work, const uint32_t *order, uint32_t n)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    struct ab_grid_row *row = ab_grid_add(&v->matrix, f->works[work].name, "");
    if (f->works[work].session == NULL) {
        ab_grid_say(&v->matrix, 0, "no result");
        row->emphasis = AB_BAD;
        return;
    }
    if (f->why[work][0] != 0)
        row->emphasis = AB_FAINT;
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_suite_row *of = &f->rows[order[i]];
        const struct ab_suite_cell *c = &f->cells[(size_t)work * f->n_rows + order[i]];
        put_pair(&v->matrix, i, of, c);
        put_effect(&v->matrix, TIME + i, of, c, AB_SUITE_TIME);
        put_effect(&v->matrix, MEMORY + i, of, c, AB_SUITE_MEMORY);
    }
}

/* Returns a new list of the indexes of the rows, the base first and the others by rank. Sets *n to
 * the number of rows that are shown. */
static uint32_t *order_rows(const struct ab_suite_figures *f, uint32_t *n)
{
    uint32_t *order = ab_alloc_zeroed(f->n_rows + 1u, sizeof order[0]), at = 0;
    if (f->base != UINT32_MAX)
        order[at++] = f->base;
    for (uint32_t r = 0; r < f->n_rows; r++)
        if (r != f->base)
            order[at++] = r;
    *n = at < AB_SUITE_COLUMNS ? at : AB_SUITE_COLUMNS;
    return order;
}

static void make_matrix(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    uint32_t n;
    uint32_t *order = order_rows(f, &n);
    struct ab_grid *g = &v->matrix;
    *g = (struct ab_grid){.session = &v->suite->summary,
                          .rows_are = ab_session_kind_names[v->suite->kind],
                          .n_columns = MEMORY + n,
                          .is_brief_in_markdown = true};
    for (uint32_t i = 0; i < n; i++) {
        const char *name = shown_name(v, order[i]);
        g->columns[i] = (struct ab_grid_column){.title = name, .drop = i};
        g->columns[TIME + i].in_html = ab_view_texts_addf(&v->texts, "#%s, time", name);
        g->columns[MEMORY + i].in_html = ab_view_texts_addf(&v->texts, "#%s, memory", name);
    }
    ab_grid_heading(g, "", "");
    for (uint32_t w = 0; w < f->n_works; w++)
        add_work(v, w, order, n);
    if (n < f->n_rows)
        g->note = ab_view_texts_addf(&g->texts, "  (%u more allocators: --csv)", f->n_rows - n);
    free(order);
}

/* ---- means ---- */

enum { MEAN_TIME, RANK_TIME, MEAN_MEMORY, RANK_MEMORY, BETTER, MEAN_COLUMNS };

static void put_mean(struct ab_grid *g, unsigned column, const struct ab_suite_row *row,
                     unsigned metric)
{
    char text[AB_CELL_BYTES];
    const struct ab_suite_mean *m = &row->mean[metric];
    if (row->is_base)
        ab_grid_say(g, column, "base");
    else
        ab_grid_say(g, column, "%s%s", m->ratio != 1 && !(m->low > 1 || m->high < 1) ? "~" : "",
                    ab_format_effect(text, m->ratio, m->low, m->high));
    if (m->rank > 0)
        ab_grid_say(g, column + 1, "%u", m->rank);
}

static void make_means(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    struct ab_grid *g = &v->means;
    *g = (struct ab_grid){
        .session = &v->suite->summary,
        .rows_are = "allocator",
        .columns = {[MEAN_TIME] = {"mean time", 0, "#mean time"},
                    [RANK_TIME] = {"rank", 2, "#rank"},
                    [MEAN_MEMORY] = {"mean memory", 1, "#mean memory"},
                    [RANK_MEMORY] = {"rank", 2, "#rank"},
                    [BETTER] = {"dominated by", 3, "dominated by"}},
        .n_columns = MEAN_COLUMNS,
        .is_brief_in_markdown = true,
    };
    ab_grid_heading(g, "", "");
    for (uint32_t r = 0; r < f->n_rows; r++) {
        const struct ab_suite_row *row = &f->rows[r];
        if (!row->is_compared)
            continue;
        struct ab_grid_row *line = ab_grid_add(g, label_of(v, r), "");
        const struct ab_suite_mean *m = &row->mean[AB_SUITE_TIME];
        put_mean(g, MEAN_TIME, row, AB_SUITE_TIME);
        put_mean(g, MEAN_MEMORY, row, AB_SUITE_MEMORY);
        ab_grid_say(g, BETTER, "%s",
                    row->better != UINT32_MAX ? shown_name(v, row->better)
                    : isfinite(row->mean[AB_SUITE_MEMORY].ratio) && isfinite(m->ratio) ? "none"
                                                                                       : "-");
        line->emphasis = m->high < 1 ? AB_GOOD : m->low > 1 ? AB_BAD : AB_PLAIN;
    }
}

static void make_dots(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    v->dots = ab_alloc_zeroed(f->n_rows + 1u, sizeof v->dots[0]);
    for (uint32_t r = 0; r < f->n_rows; r++) {
        const struct ab_suite_mean *t = &f->rows[r].mean[AB_SUITE_TIME],
                                   *m = &f->rows[r].mean[AB_SUITE_MEMORY];
        if (isfinite(t->ratio) && isfinite(m->ratio))
            v->dots[v->n_dots++] = (struct ab_suite_dot){
                label_of(v, r), t->ratio, m->ratio, t->low,
                t->high,        m->low,   m->high,  f->rows[r].better == UINT32_MAX};
    }
}

/* ---- sentences ---- */

static void say(struct ab_suite_view *v, struct ab_text *t)
{
    if (t->n > 0 && v->n_sentences < AB_SUITE_SENTENCES)
        v->sentences[v->n_sentences++] = ab_view_texts_addf(&v->texts, "%s", t->s);
    ab_text_fini(t);
}

/* Adds ", but takes 20 % more memory at the peak". The mean of memory is relative to the base, like
 * the mean of time. */
static void add_mean_memory(const struct ab_suite_view *v, const struct ab_suite_row *row,
                            struct ab_text *t)
{
    enum { SAME = 5 }; /* per cent; a smaller difference of memory is called about the same */
    const struct ab_suite_mean *m = &row->mean[AB_SUITE_MEMORY];
    double percent = 100 * (m->ratio - 1);
    char times[AB_CELL_BYTES];
    if (!isfinite(m->ratio) || v->suite->figures.n_counted[AB_SUITE_MEMORY] == 0)
        return;
    const char *tilde = m->low > 1 || m->high < 1 ? "" : "~";
    if (m->ratio >= 2)
        ab_text_addf(t, ", but takes %s%sx the memory at the peak", tilde,
                     ab_format_ratio(times, m->ratio));
    else if (fabs(percent) < SAME)
        ab_text_add(t, ", at about the same peak memory");
    else
        ab_text_addf(t, "%s takes %s%.0f %% %s memory at the peak", percent > 0 ? ", but" : " and",
                     tilde, fabs(percent), percent > 0 ? "more" : "less");
}

/* Says which back end has the least memory in the mean, unless it is the base or `first`. */
static void say_leanest(struct ab_suite_view *v, const struct ab_suite_row *first)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    const struct ab_suite_row *least = NULL, *base = f->rows + f->base;
    struct ab_text t = {0};
    char words[AB_CELL_BYTES * 2];
    for (uint32_t r = 0; r < f->n_rows; r++)
        if (isfinite(f->rows[r].mean[AB_SUITE_MEMORY].ratio) &&
            (least == NULL ||
             f->rows[r].mean[AB_SUITE_MEMORY].ratio < least->mean[AB_SUITE_MEMORY].ratio))
            least = &f->rows[r];
    if (least == NULL || least == first || least == base ||
        !(least->mean[AB_SUITE_MEMORY].ratio < 0.95 * first->mean[AB_SUITE_MEMORY].ratio))
        return;
    const struct ab_suite_mean *m = &least->mean[AB_SUITE_MEMORY];
    ab_text_addf(&t, "Least memory at the peak in the geometric mean: %s (%s%s than %s).",
                 AB_SHOWN(300, label_of_row(v, least)), m->high < 1 || m->low > 1 ? "" : "~",
                 ab_view_change_words(words, sizeof words, m->ratio),
                 AB_SHOWN(300, label_of_row(v, base)));
    say(v, &t);
}

/* Says which back end is fastest in the mean, even if it is the base. */
static void say_fastest(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    const struct ab_suite_row *first = f->rows, *base = f->rows + f->base;
    const char *plural = f->n_counted[AB_SUITE_TIME] == 1 ? "" : "s";
    struct ab_text t = {0};
    char words[AB_CELL_BYTES * 2];
    if (f->base == UINT32_MAX || f->n_rows < 2)
        return;
    if (f->n_counted[AB_SUITE_TIME] == 0) {
        ab_text_addf(&t, "There is no mean, because no %s was completed by every compared row.",
                     ab_session_kind_names[v->suite->kind]);
        say(v, &t);
        return;
    }
    const struct ab_suite_mean *m = &first->mean[AB_SUITE_TIME];
    struct ab_effect speed = {.ratio = 1 / m->ratio, .low = 1 / m->high, .high = 1 / m->low};
    struct ab_view_factor factor = ab_view_factor_of(&speed);
    if (isnan(m->high) && first != base)
        ab_text_addf(&t, "Too few rounds to be sure: %s is %s than %s",
                     AB_SHOWN(300, label_of_row(v, first)),
                     ab_view_factor_words(words, sizeof words, &factor, "faster", "slower"),
                     AB_SHOWN(300, label_of_row(v, base)));
    else if (first == base || !(m->high < 1))
        ab_text_addf(&t, "Nothing is clearly faster than %s", AB_SHOWN(300, label_of_row(v, base)));
    else
        ab_text_addf(&t, "%s is %s than %s", AB_SHOWN(300, label_of_row(v, first)),
                     ab_view_factor_words(words, sizeof words, &factor, "faster", "slower"),
                     AB_SHOWN(300, label_of_row(v, base)));
    ab_text_addf(&t, " in the geometric mean of %u %s%s", f->n_counted[AB_SUITE_TIME],
                 ab_session_kind_names[v->suite->kind], plural);
    bool names_first = first != base && (isnan(m->high) || m->high < 1);
    if (names_first)
        add_mean_memory(v, first, &t);
    ab_text_add(&t, ".");
    say(v, &t);
    say_leanest(v, names_first ? first : base);
}

/* Says "Not in the means: larson (jemalloc: crashed), x, y (no result)." */
static void say_left_out(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    struct ab_text t = {0};
    for (uint32_t w = 0; w < f->n_works && f->base != UINT32_MAX && f->n_rows > 1; w++) {
        bool is_last = w + 1 == f->n_works || strcmp(f->why[w], f->why[w + 1]) != 0;
        if (f->why[w][0] == 0)
            continue;
        ab_text_addf(&t, "%s%s", t.n == 0 ? "Not in the means: " : ", ",
                     AB_SHOWN(300, f->works[w].name));
        if (is_last) /* consecutive workloads with the same reason share it */
            ab_text_addf(&t, " (%s)", AB_SHOWN(AB_SUITE_WHY_BYTES, f->why[w]));
    }
    if (t.n > 0)
        ab_text_add(&t, ".");
    say(v, &t);
    uint32_t n_time = f->n_rows > 1 ? f->n_counted[AB_SUITE_TIME] : 0,
             n_memory = f->n_counted[AB_SUITE_MEMORY];
    if (n_memory == 0 && n_time > 0)
        ab_text_add(&t, "Memory: no mean, because no workload has a peak for every row.");
    else if (n_memory < n_time)
        ab_text_addf(&t, "Memory: the mean covers only the %u of them whose peak is known.",
                     n_memory);
    say(v, &t);
}

static void make_title(struct ab_suite_view *v)
{
    const struct ab_suite_figures *f = &v->suite->figures;
    v->title = ab_view_texts_addf(
        &v->texts, "%u %s%s, %u allocator%s%s%s", f->n_works, ab_session_kind_names[v->suite->kind],
        f->n_works == 1 ? "" : "s", f->n_rows, f->n_rows == 1 ? "" : "s",
        f->base != UINT32_MAX && f->n_rows > 1 ? ": time, peak memory; against " : "",
        f->base != UINT32_MAX && f->n_rows > 1 ? AB_SHOWN(300, label_of(v, f->base)) : "");
}

/* ---- verdicts ---- */

static bool is_verdict(const struct ab_finding *x)
{
    return (strcmp(x->kind, "gate") == 0 || strcmp(x->kind, "comparison") == 0) &&
           !x->is_shown_only;
}

/* Adds the verdicts that did not pass to the list, and counts all verdicts by outcome. */
static void collect(struct ab_suite_view *v, const char *name, const struct ab_session *s,
                    size_t counts[AB_OUTCOME_COUNT])
{
    struct ab_findings all;
    ab_findings_make(s, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct ab_finding *x = &all.items[i];
        if (!is_verdict(x))
            continue;
        counts[x->outcome]++;
        if (x->outcome == AB_OUTCOME_PASSED)
            continue;
        AB_GROW(v->verdicts, v->cap_verdicts, v->n_verdicts);
        v->verdicts[v->n_verdicts++] = ab_view_texts_addf(&v->texts, "%s: %s: %s", x->verdict,
                                                          AB_SHOWN(300, name), x->sentence.s);
    }
    ab_findings_fini(&all);
}

static void make_verdicts(struct ab_suite_view *v)
{
    const struct ab_suite *suite = v->suite;
    struct ab_findings sum = {0};
    struct ab_text t = {0};
    for (uint32_t i = 0; i < suite->n; i++)
        if (suite->items[i].document != NULL)
            collect(v, suite->items[i].name, &suite->items[i].stored.session, sum.counts);
    if (suite->summary.n_gates > 0)
        collect(v, "all", &suite->summary, sum.counts);
    size_t n = 0;
    for (unsigned i = 0; i < AB_OUTCOME_COUNT; i++)
        n += sum.counts[i];
    if (n > 0)
        ab_findings_count(&sum, &t);
    v->n_judged = ab_view_texts_addf(&v->texts, "%s", t.s != NULL ? t.s : "");
    ab_text_fini(&t);
}

void ab_suite_view_make(const struct ab_suite *suite, struct ab_suite_view *out)
{
    struct ab_format_guard guard;
    struct ab_suite_view *v = out;
    *v = (struct ab_suite_view){.suite = suite};
    ab_format_begin(&guard);
    make_title(v);
    say_fastest(v);
    say_left_out(v);
    make_matrix(v);
    make_means(v);
    make_dots(v);
    make_verdicts(v);
    ab_format_end(&guard);
}

void ab_suite_view_fini(struct ab_suite_view *v)
{
    ab_grid_fini(&v->matrix);
    ab_grid_fini(&v->means);
    ab_view_texts_fini(&v->texts);
    free(v->dots);
    free(v->verdicts);
    *v = (struct ab_suite_view){0};
}
