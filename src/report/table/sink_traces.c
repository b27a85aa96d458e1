/* SPDX-License-Identifier: MIT
 *
 * Copies the ranking of each session, and prints them one below the other.
 */
#include "report/table/sink_traces.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "report/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, VERSUS, PEAK, COLUMNS };

static struct ab_trace_sum *add(struct ab_trace_sums *sums, const char *trace, uint32_t n_rows)
{
    sums->items = ab_realloc(sums->items, sums->n + 1, sizeof sums->items[0]);
    struct ab_trace_sum *sum = &sums->items[sums->n++];
    *sum = (struct ab_trace_sum){.trace = ab_strdup(trace),
                                 .rows = ab_alloc_zeroed((size_t)n_rows + 1, sizeof sum->rows[0]),
                                 .n_rows = n_rows};
    return sum;
}

static void copy_row(const struct ab_session *s, const struct ab_view_rank *rank,
                     bool is_too_little, struct ab_trace_row *row)
{
    const struct ab_backend_info *b = &s->backends[rank->backend];
    ab_backend_own_name(b, row->name); /* a trace has no params */
    if (rank->standing == AB_VIEW_FAILED)
        snprintf(row->failure, sizeof row->failure, "%s", ab_backend_status_name(b->status));
    row->is_aside = rank->standing == AB_VIEW_ASIDE;
    row->is_base = rank->is_base;
    row->run_ns = rank->run_ns.median;
    row->peak_bytes = rank->peak_bytes;
    row->vs = rank->vs;
    if (is_too_little)
        row->vs = (struct ab_view_factor){.times = NAN, .low = NAN, .high = NAN};
}

void ab_trace_sums_add(struct ab_trace_sums *sums, const struct ab_session *session)
{
    struct ab_view v;
    ab_view_make(session, &v);
    struct ab_trace_sum *sum = add(sums, session->name, v.ranking.n_rows);
    sum->is_too_little = ab_view_warnings_find(&v.warnings, "little-work") != NULL;
    for (uint32_t i = 0; i < sum->n_rows; i++)
        copy_row(session, &v.ranking.rows[i], sum->is_too_little, &sum->rows[i]);
    ab_view_fini(&v);
}

void ab_trace_sums_add_failed(struct ab_trace_sums *sums, const char *trace)
{
    add(sums, trace, 0);
}

void ab_trace_sums_fini(struct ab_trace_sums *sums)
{
    for (size_t i = 0; i < sums->n; i++) {
        free(sums->items[i].trace);
        free(sums->items[i].rows);
    }
    free(sums->items);
    *sums = (struct ab_trace_sums){0};
}

/* ---- printed ---- */

static void fill_versus(const struct ab_trace_row *from, char cell[AB_CELL_BYTES])
{
    if (from->is_base || !isfinite(from->vs.times)) {
        snprintf(cell, AB_CELL_BYTES, "%s", from->is_base ? "base" : "-");
        return;
    }
    ab_view_factor_text(cell, &from->vs, "faster", "slower");
}

static void add_row(const struct ab_trace_row *from, struct ab_table *t)
{
    char label[AB_TABLE_LABEL_BYTES];
    snprintf(label, sizeof label, "%s%s", from->name, from->is_aside ? " (not compared)" : "");
    struct ab_table_row *row = ab_table_add(t, label, false);
    if (from->failure[0] != 0) {
        snprintf(row->cells[TIME], AB_CELL_BYTES, "%s", from->failure);
        row->emphasis = AB_BAD;
        return;
    }
    snprintf(row->cells[TIME], AB_CELL_BYTES, "-");
    snprintf(row->cells[PEAK], AB_CELL_BYTES, "-");
    if (isfinite(from->run_ns))
        ab_units_time(row->cells[TIME], AB_CELL_BYTES, from->run_ns);
    if (isfinite(from->peak_bytes))
        ab_units_bytes(row->cells[PEAK], AB_CELL_BYTES, from->peak_bytes);
    fill_versus(from, row->cells[VERSUS]);
    if (from->is_aside)
        row->emphasis = AB_FAINT;
    else if (from->vs.is_clear)
        row->emphasis = from->vs.is_less ? AB_BAD : AB_GOOD;
}

/* ---- in one sentence ---- */

static const struct ab_trace_row *base_of(const struct ab_trace_sum *sum)
{
    for (uint32_t i = 0; i < sum->n_rows; i++)
        if (sum->rows[i].is_base)
            return &sum->rows[i];
    return NULL;
}

/* The base of all traces that have a result; NULL: there is none, or not one. */
static const char *common_base(const struct ab_trace_sums *sums)
{
    const char *name = NULL;
    for (size_t i = 0; i < sums->n; i++) {
        const struct ab_trace_row *base = base_of(&sums->items[i]);
        if (sums->items[i].n_rows == 0)
            continue;
        if (base == NULL || (name != NULL && strcmp(name, base->name) != 0))
            return NULL;
        name = base->name;
    }
    return name;
}

/* In how many traces `name` is clearly faster than the base. */
static size_t count_wins(const struct ab_trace_sums *sums, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < sums->n; i++)
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++) {
            const struct ab_trace_row *row = &sums->items[i].rows[k];
            n += strcmp(row->name, name) == 0 && !row->is_base && !row->is_aside &&
                 row->failure[0] == 0 && row->vs.is_clear && !row->vs.is_less;
        }
    return n;
}

static bool is_seen_before(const struct ab_trace_sums *sums, size_t trace, const char *name)
{
    for (size_t i = 0; i < trace; i++)
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++)
            if (strcmp(sums->items[i].rows[k].name, name) == 0)
                return true;
    return false;
}

/* Names of those that win in `n` traces, in the order of the tables. */
static void add_winners(const struct ab_trace_sums *sums, size_t n, struct ab_text *to)
{
    size_t n_named = 0;
    for (size_t i = 0; i < sums->n; i++)
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++) {
            const char *name = sums->items[i].rows[k].name;
            if (!is_seen_before(sums, i, name) && count_wins(sums, name) == n)
                ab_text_addf(to, "%s%s", n_named++ == 0 ? ": " : ", ",
                             AB_SHOWN(4 * sizeof sums->items[i].rows[k].name, name));
        }
}

/* "Clearly faster than glibc in 2 of 3 traces: mimalloc, slab." Of those that win most often, and of
 * the traces that can be compared. */
static void print_sentence(FILE *to, const struct ab_trace_sums *sums, const char *base,
                           struct ab_table_style style)
{
    struct ab_text t = {0};
    size_t n_compared = 0, most = 0;
    for (size_t i = 0; i < sums->n; i++) {
        n_compared += sums->items[i].n_rows > 0 && !sums->items[i].is_too_little;
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++) {
            size_t n = count_wins(sums, sums->items[i].rows[k].name);
            most = n > most ? n : most;
        }
    }
    if (most > 0)
        ab_text_addf(&t, "Clearly faster than %s in %zu of %zu trace%s", AB_SHOWN(512, base), most,
                     n_compared, n_compared == 1 ? "" : "s");
    else if (n_compared > 0)
        ab_text_addf(&t, "Nothing is clearly faster than %s in any trace", AB_SHOWN(512, base));
    else
        ab_text_add(&t, "No trace has enough work for a comparison");
    if (most > 0)
        add_winners(sums, most, &t);
    ab_text_add(&t, ".");
    ab_table_note(to, style, AB_STRONG, &t);
}

void ab_sink_traces(FILE *to, const struct ab_trace_sums *sums, struct ab_table_style style)
{
    const char *base = common_base(sums);
    char line[64], shown[AB_CELL_BYTES * 4] = "base", versus[AB_CELL_BYTES * 4 + 8];
    struct ab_table t;
    bool has_too_little = false;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    if (base != NULL)
        ab_format_label(shown, sizeof shown, base, 20, style.utf8);
    snprintf(versus, sizeof versus, "vs %s", shown);
    const struct ab_table_column columns[COLUMNS] = {
        [TIME] = {"whole run", 0}, [VERSUS] = {versus, 0}, [PEAK] = {"peak", 1}};
    snprintf(line, sizeof line, "%zu traces", sums->n);
    ab_table_line(to, style, AB_STRONG, line);
    if (base != NULL)
        print_sentence(to, sums, base, style);
    ab_table_init(&t, columns, COLUMNS);
    for (size_t i = 0; i < sums->n; i++) {
        ab_table_add(&t, sums->items[i].trace, true);
        for (uint32_t k = 0; k < sums->items[i].n_rows; k++)
            add_row(&sums->items[i].rows[k], &t);
        if (sums->items[i].n_rows == 0)
            ab_table_add(&t, "no result, see above", false);
        has_too_little = has_too_little || sums->items[i].is_too_little;
    }
    ab_table_print(to, &t, style);
    if (has_too_little)
        ab_table_line(to, style, AB_FAINT, "-: too little work for a comparison");
    ab_table_fini(&t);
    ab_format_end(&guard);
}
