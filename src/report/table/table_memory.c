/* SPDX-License-Identifier: MIT
 *
 * What a phase takes at its peak is shown of one run, that with the median peak, so that the bytes
 * of a row add up; all other numbers are medians over the rounds. A dash has the number of the
 * footnote that says why.
 */
#include "report/table/table_memory.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/heaps/table_heap_memory.h"
#include "report/table/sparkline.h"
#include "report/table/table.h"
#include "report/table/table_peak.h"
#include "report/view/memory.h"
#include "report/view/words.h"
#include "stats/aggregate.h"
#include "stats/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = AB_VIEW_MEMORY_PARTS, WHY_BYTES = AB_FOOTNOTE_BYTES };

struct view {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    double *x; /* scratch: one a record */
    struct ab_footnotes notes;
};

/* Median over rounds of a number at `offset` of the records of this kind; NaN = none has it. */
static double median(const struct view *v, uint32_t backend, const char *phase,
                     enum ab_memory_at at, size_t offset)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->s->n_memory; i++) {
        const struct ab_memory *m = &v->s->memory[i];
        double value = *(const double *)((const char *)m + offset);
        if (m->backend == backend && m->at == at && isfinite(value) && strcmp(m->phase, phase) == 0)
            v->x[n++] = value;
    }
    return n == 0 ? NAN : ab_round_range_of(v->x, n).median;
}
#define MEDIAN(member, at) median(v, backend, phase, at, offsetof(struct ab_memory, member))

/* ---- why a number is not there ---- */

/* "-" and the number of the footnote, where the reason of the record has one. */
static void format_dash(struct view *v, char cell[AB_CELL_BYTES], const char *reason,
                        const char *const *whats)
{
    char why[WHY_BYTES];
    ab_view_memory_why(reason, whats, why, sizeof why);
    ab_footnotes_dash(&v->notes, cell, why, v->style.utf8);
}

/* ---- a phase ---- */

static void format_multiple(char cell[AB_CELL_BYTES], double multiple)
{
    char number[AB_CELL_BYTES];
    snprintf(cell, AB_CELL_BYTES, "%.40sx", ab_format_ratio(number, multiple));
}

/* phase NULL = any. */
static bool has_memory(const struct ab_session *s, uint32_t backend, const char *phase)
{
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].backend == backend &&
            (phase == NULL || strcmp(s->memory[i].phase, phase) == 0))
            return ab_backend_status_has_numbers(s->backends[backend].status);
    return false;
}

static const char *const why_peak[] = {AB_WHY_FOOTPRINT, NULL};
static const char *const why_pages[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL};
static const char *const why_multiple[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_RATIOS, NULL};

static void fill_peak(struct view *v, const struct ab_memory *m, const struct ab_peak_scale *scale,
                      struct ab_table_row *row)
{
    struct ab_view_memory_row peak;
    char texts[AB_VIEW_MEMORY_TEXTS][AB_MEMORY_REASON_BYTES];
    ab_view_memory_read(v->s, m, texts, &peak);
    ab_peak_fill(&peak, scale, row->cells, &v->notes, v->style.utf8);
    if (isfinite(m->overhead))
        format_multiple(row->cells[PARTS + 1], m->overhead);
    else
        format_dash(v, row->cells[PARTS + 1], m->reason, why_multiple);
}

struct phase_table {
    const char *name;
    struct ab_peak_scale scale;
    bool has_untouched; /* a column of its own, where there is any or it is not known */
};

/* What stands behind the sum and its multiple, from column `c` on. */
static void fill_rest(struct view *v, uint32_t backend, const struct phase_table *t,
                      const struct ab_memory *m, struct ab_table_row *row)
{
    unsigned c = PARTS + 2;
    const char *phase = t->name;
    const struct ab_memory *last = ab_view_memory_typical(v->s, backend, phase, AB_AT_END);
    double mean = MEDIAN(overhead_mean, AB_AT_FOOTPRINT_PEAK);
    double at_end = MEDIAN(footprint_bytes, AB_AT_END);
    if (t->has_untouched && isfinite(m->untouched_bytes))
        ab_peak_format(row->cells[c++], &t->scale, m->untouched_bytes);
    else if (t->has_untouched)
        format_dash(v, row->cells[c++], m->reason, why_pages);
    if (isfinite(mean))
        format_multiple(row->cells[c++], mean);
    else
        format_dash(v, row->cells[c++], m->reason, why_multiple);
    if (isfinite(at_end))
        ab_peak_format(row->cells[c++], &t->scale, at_end);
    else
        format_dash(v, row->cells[c++], last != NULL ? last->reason : "", why_peak);
    ab_format_count(row->cells[c], MEDIAN(faults_minor, AB_AT_FOOTPRINT_PEAK));
}

static double live_peak(const struct view *v, const char *phase)
{
    double most = NAN;
    for (uint32_t backend = 0; backend < v->s->n_backends; backend++)
        most = fmax(most, MEDIAN(live_peak_bytes, AB_AT_FOOTPRINT_PEAK));
    return most;
}

/* What the numbers of the phase ask of its table. */
static struct phase_table plan(const struct view *v, const char *phase)
{
    struct phase_table t = {.name = phase};
    double most = NAN, untouched = 0;
    for (uint32_t i = 0; i < v->s->n_memory; i++) {
        const struct ab_memory *m = &v->s->memory[i];
        if (strcmp(m->phase, phase) != 0 || !has_memory(v->s, m->backend, phase))
            continue;
        most = fmax(most, fmax(m->footprint_bytes, m->untouched_bytes));
        if (m->at == AB_AT_FOOTPRINT_PEAK)
            untouched = isfinite(m->untouched_bytes) ? fmax(untouched, m->untouched_bytes) : 0x1p60;
    }
    t.scale = ab_peak_scale_of(most);
    t.has_untouched = ab_peak_steps(&t.scale, untouched) > 0;
    return t;
}

static void print_rows(struct view *v, const struct phase_table *phase, struct ab_table *t)
{
    char title[256], live[AB_CELL_BYTES] = "-";
    double most = live_peak(v, phase->name);
    bool is_empty = true;
    if (isfinite(most))
        ab_units_bytes(live, sizeof live, most);
    for (uint32_t b = 0; b < v->s->n_backends; b++) {
        const struct ab_memory *m = ab_view_memory_typical(v->s, b, phase->name,
                                                           AB_AT_FOOTPRINT_PEAK);
        struct ab_table_row *row = m != NULL && has_memory(v->s, b, phase->name)
                                       ? ab_table_add_backend(t, &v->s->backends[b])
                                       : NULL;
        if (row == NULL)
            continue;
        fill_peak(v, m, &phase->scale, row);
        fill_rest(v, b, phase, m, row);
        is_empty = false;
    }
    if (is_empty)
        return;
    snprintf(title, sizeof title, "memory / %s, in %s: live peak %s", phase->name,
             phase->scale.name, live);
    ab_table_line(v->to, v->style, AB_STRONG, title);
    ab_table_print_stacked(v->to, t, v->style);
}

static void print_phase(struct view *v, const char *name)
{
    static const struct ab_table_column columns[] = {
        {"live", 0},   {"internal", 0},  {"external", 0}, {"retained", 0}, {"= peak", 0},
        {"x live", 0}, {"untouched", 0}, {"mean", 0},     {"at end", 0},   {"faults", 0},
    };
    enum { ALL = AB_ARRAY_LEN(columns), UNTOUCHED = PARTS + 2 };
    const struct phase_table phase = plan(v, name);
    struct ab_table_column shown[ALL];
    unsigned n = 0;
    for (unsigned i = 0; i < ALL; i++)
        if (i != UNTOUCHED || phase.has_untouched)
            shown[n++] = columns[i];
    struct ab_table t;
    ab_table_init(&t, shown, n);
    ab_table_add(&t, name, true);
    print_rows(v, &phase, &t);
    ab_table_fini(&t);
}

/* ---- when all is freed, and over time ---- */

static double drained(const struct view *v, uint32_t backend, unsigned when)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->s->n_memory; i++) {
        const struct ab_memory *m = &v->s->memory[i];
        if (m->backend == backend && isfinite(m->drained_bytes[when]))
            v->x[n++] = m->drained_bytes[when];
    }
    return n == 0 ? NAN : ab_round_range_of(v->x, n).median;
}

/* A number of the first round's time line in equal stretches of the op clock; its most. */
static double resample(const struct ab_session *s, uint32_t backend, size_t offset, double *out,
                       unsigned n)
{
    double most = 0;
    for (unsigned i = 0; i < n; i++)
        out[i] = NAN;
    for (uint32_t t = 0; t < s->n_timelines; t++) {
        const struct ab_timeline *line = &s->timelines[t];
        if (line->backend != backend || line->n == 0)
            continue;
        double end = fmax(1, (double)line->points[line->n - 1].position);
        for (uint32_t i = 0; i < line->n; i++) {
            double value = *(const double *)((const char *)&line->points[i] + offset);
            unsigned cell = (unsigned)fmin(n - 1, (double)line->points[i].position / end * n);
            out[cell] = fmax(out[cell], value);
            most = fmax(most, value);
        }
        break;
    }
    return most;
}

static void fill_drain(struct view *v, uint32_t backend, const bool *is_shown,
                       struct ab_table_row *row)
{
    unsigned column = 0;
    char why[WHY_BYTES];
    for (unsigned when = 0; when < AB_DRAIN_COUNT; when++) {
        double bytes = drained(v, backend, when);
        if (!is_shown[when])
            continue;
        if (isfinite(bytes))
            ab_units_bytes(row->cells[column++], AB_CELL_BYTES, bytes);
        else
            ab_footnotes_dash(&v->notes, row->cells[column++],
                              ab_view_memory_why_drained(v->s, backend, why, sizeof why),
                              v->style.utf8);
    }
}

static bool has_external(const struct ab_session *s)
{
    for (uint32_t t = 0; t < s->n_timelines; t++)
        for (uint32_t i = 0; i < s->timelines[t].n; i++)
            if (isfinite(s->timelines[t].points[i].external_bytes))
                return true;
    return false;
}

/* Each over the range of the back end that has most. */
static void fill_line(const struct view *v, uint32_t backend, size_t offset,
                      char cell[AB_CELL_BYTES])
{
    double values[AB_SPARKLINE_MOST], most = 0;
    for (uint32_t b = 0; b < v->s->n_backends; b++)
        if (has_memory(v->s, b, NULL))
            most = fmax(most, resample(v->s, b, offset, values, AB_SPARKLINE_MOST));
    resample(v->s, backend, offset, values, AB_SPARKLINE_MOST);
    ab_sparkline_series(cell, values, AB_SPARKLINE_MOST, most, v->style.utf8);
}

/* Only what was measured of some back end has a column. */
static unsigned choose_columns(const struct view *v, bool *is_shown,
                               struct ab_table_column *columns)
{
    static const char *const titles[AB_DRAIN_COUNT] = {"immediately", "0.1 s later", "1 s later",
                                                       "10 s later", "after purge"};
    unsigned n = 0;
    for (unsigned when = 0; when < AB_DRAIN_COUNT; when++) {
        is_shown[when] = false;
        for (uint32_t b = 0; b < v->s->n_backends; b++)
            is_shown[when] |= has_memory(v->s, b, NULL) && isfinite(drained(v, b, when));
        if (is_shown[when])
            columns[n++] = (struct ab_table_column){titles[when], 0};
    }
    columns[n++] = (struct ab_table_column){"over time", 0};
    if (has_external(v->s))
        columns[n++] = (struct ab_table_column){"external over time", 0};
    return n;
}

static void print_drain(struct view *v)
{
    struct ab_table_column columns[AB_DRAIN_COUNT + 2];
    bool is_shown[AB_DRAIN_COUNT], is_empty = true;
    unsigned n = choose_columns(v, is_shown, columns);
    struct ab_table t;
    const unsigned first_line = n - 1 - has_external(v->s);
    ab_table_init(&t, columns, n);
    ab_table_add(&t, "after free", true);
    for (uint32_t b = 0; b < v->s->n_backends; b++) {
        struct ab_table_row *row = has_memory(v->s, b, NULL)
                                       ? ab_table_add_backend(&t, &v->s->backends[b])
                                       : NULL;
        if (row == NULL)
            continue;
        fill_drain(v, b, is_shown, row);
        fill_line(v, b, offsetof(struct ab_timeline_point, footprint_bytes),
                  row->cells[first_line]);
        if (first_line + 1 < n)
            fill_line(v, b, offsetof(struct ab_timeline_point, external_bytes),
                      row->cells[first_line + 1]);
        is_empty = false;
    }
    if (!is_empty)
        ab_table_print_stacked(v->to, &t, v->style);
    ab_table_fini(&t);
}

/* The columns above, in the words of explain. */
static void print_legend(const struct view *v)
{
    static const char *const words[] = {"live",   "internal",  "external", "retained",
                                        "x live", "untouched", NULL};
    struct ab_text t = {0};
    ab_text_add(&t, "live + internal + external + retained = peak.");
    ab_view_terms_legend(&t, words);
    ab_text_add(&t, " mean: resident by requested bytes, over all ops.");
    if (t.s != NULL)
        ab_table_prose(v->to, v->style, AB_FAINT, t.s);
    ab_text_fini(&t);
}

/* Percentiles of the ratios to the live bytes, from the merged histograms of all rounds: two tables
 * of two kinds each, as wide as a terminal of 80 columns. */

enum { KINDS = 2, COLUMNS = KINDS * AB_DIST_STATS };

static const enum ab_memory_dist_kind halves[][KINDS] = {
    {AB_DIST_EXTERNAL_RATIO, AB_DIST_RETAINED_RATIO},
    {AB_DIST_INTERNAL_RATIO, AB_DIST_OVERHEAD},
};
static const char *const titles[][KINDS] = {{"external p50", "retained p50"},
                                            {"internal p50", "overhead p50"}};

static void format_percent(char cell[AB_CELL_BYTES], double ratio)
{
    char times[AB_CELL_BYTES];
    double percent = ratio * 100;
    if (percent < 999.95)
        snprintf(cell, AB_CELL_BYTES, "%.*f", percent < 9.995 ? 2 : 1, percent);
    else /* a multiple reads better than 25,700 % */
        snprintf(cell, AB_CELL_BYTES, "%.60sx", ab_format_ratio(times, ratio));
}

static void fill(const struct ab_memory_dist *d, char (*cells)[AB_CELL_BYTES],
                 struct ab_footnotes *notes, bool utf8)
{
    for (unsigned i = 0; i < AB_DIST_STATS; i++) {
        char why[AB_FOOTNOTE_BYTES];
        double value = ab_memory_dist_value(d, i);
        ab_memory_dist_why(d, i, why, sizeof why);
        if (isfinite(value))
            format_percent(cells[i], value);
        else
            ab_footnotes_dash(notes, cells[i], why, utf8);
    }
}

/* A row of each back end that this phase was measured of. */
static bool print_half(FILE *to, const struct ab_session *s, const char *phase, unsigned half,
                       struct ab_table_style style, struct ab_footnotes *notes)
{
    struct ab_table_column columns[COLUMNS];
    struct ab_table t;
    bool is_any = false;
    for (unsigned i = 0; i < COLUMNS; i++)
        columns[i] = (struct ab_table_column){i % AB_DIST_STATS == 0
                                                  ? titles[half][i / AB_DIST_STATS]
                                                  : ab_dist_stat_names[i % AB_DIST_STATS],
                                              0};
    ab_table_init(&t, columns, COLUMNS);
    ab_table_add(&t, phase, true);
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_memory_dist d[KINDS];
        if (!ab_session_has_numbers(s, b) ||
            !ab_session_merge_dist(s, b, phase, halves[half][0], AB_DIST_ALL_ROUNDS, &d[0]))
            continue;
        ab_session_merge_dist(s, b, phase, halves[half][1], AB_DIST_ALL_ROUNDS, &d[1]);
        struct ab_table_row *row = ab_table_add_backend(&t, &s->backends[b]);
        for (unsigned k = 0; k < KINDS; k++) {
            if (row != NULL)
                fill(&d[k], row->cells + k * AB_DIST_STATS, notes, style.utf8);
            free(d[k].hdr);
        }
        is_any = true;
    }
    if (is_any)
        ab_table_print_stacked(to, &t, style);
    ab_table_fini(&t);
    return is_any;
}

/* False when nothing of this phase was measured; then nothing is printed. */
static bool table_dists(FILE *to, const struct ab_session *s, const char *phase,
                        struct ab_table_style style, struct ab_footnotes *notes)
{
    char title[256];
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_dists; i++)
        is_any |= strcmp(s->dists[i].phase, phase) == 0 &&
                  ab_session_has_numbers(s, s->dists[i].backend);
    if (!is_any)
        return false;
    snprintf(title, sizeof title, "memory over the ops / %.200s, in %% of live", phase);
    ab_table_line(to, style, AB_STRONG, title);
    for (unsigned half = 0; half < AB_ARRAY_LEN(halves); half++)
        print_half(to, s, phase, half, style, notes);
    return true;
}

void ab_table_memory(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct view v = {.to = to,
                     .s = s,
                     .style = style,
                     .x = ab_alloc_zeroed((size_t)s->n_memory + 1, sizeof *v.x)};
    bool has_dists = false, has_heaps = false;
    if (s->n_memory == 0 || v.x == NULL) {
        free(v.x);
        return;
    }
    for (uint32_t i = 0; i < s->n_phases; i++) {
        if (style.phase != NULL && strcmp(style.phase, s->phases[i]) != 0)
            continue;
        print_phase(&v, s->phases[i]);
        has_heaps |= ab_table_heap_memory(to, s, s->phases[i], style, &v.notes);
        has_dists |= table_dists(to, s, s->phases[i], style, &v.notes);
    }
    print_drain(&v);
    print_legend(&v);
    if (has_dists)
        ab_table_prose(to, style, AB_FAINT,
                       "Over the ops: for half, 90 % and 99 % of the ops of the phase it was at "
                       "most this; max: of 1,000 samples or more; 25.0x: that many times live.");
    if (has_heaps)
        ab_table_prose(to, style, AB_FAINT,
                       "By heap: held: resident pages that hold a block of the heap or held one "
                       "last; of none alone: pages that never held a block. committed: as the heap "
                       "reports it, written to or not.");
    ab_footnotes_print(to, &v.notes, style);
    fputc('\n', to);
    free(v.x);
}
