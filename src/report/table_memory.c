/* SPDX-License-Identifier: MIT
 *
 * Medians over the blocks. Why a number is not there is said once beneath, not in the cells.
 */
#include "report/table_memory.h"

#include "core/bits.h"
#include "core/text.h"
#include "core/units.h"
#include "report/sparkline.h"
#include "report/table.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct view {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    double *x; /* scratch: one a record */
};

/* Median over blocks of a number at `offset` of the records of this kind; NaN = none has it. */
static double median(const struct view *v, uint32_t backend, const char *phase,
                     enum ab_memory_at at, size_t offset)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->s->n_memory; i++) {
        const struct ab_memory *m = &v->s->memory[i];
        double value = *(const double *)((const char *)m + offset);
        if (m->backend == backend && m->at == at && isfinite(value) &&
            strcmp(m->phase, phase) == 0)
            v->x[n++] = value;
    }
    return n == 0 ? NAN : ab_spread_of(v->x, n).median;
}
#define MEDIAN(member, at) median(v, backend, phase, at, offsetof(struct ab_memory, member))

static void format_bytes(char cell[AB_CELL_BYTES], double bytes)
{
    if (isfinite(bytes))
        ab_units_bytes(cell, AB_CELL_BYTES, bytes);
    else
        snprintf(cell, AB_CELL_BYTES, "-");
}

static void format_share(char cell[AB_CELL_BYTES], double share)
{
    if (isfinite(share))
        snprintf(cell, AB_CELL_BYTES, fabs(share) < 0.0995 ? "%.1f%%" : "%.0f%%",
                 fabs(share) < 0.0005 ? 0.0 : fmin(share, 1e6) * 100); /* no -0.0% */
    else
        snprintf(cell, AB_CELL_BYTES, "-");
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

static void fill_phase(const struct view *v, uint32_t backend, const char *phase,
                       struct ab_table_row *row)
{
    const enum ab_memory_at peak = AB_AT_FOOTPRINT_PEAK;
    format_bytes(row->cells[0], MEDIAN(rss_peak_bytes, peak));
    format_share(row->cells[1], MEDIAN(overhead_peak, peak));
    format_share(row->cells[2], MEDIAN(internal, peak));
    format_share(row->cells[3], MEDIAN(spread, peak));
    format_share(row->cells[4], MEDIAN(retained, peak));
    format_share(row->cells[5], MEDIAN(overhead_mean, peak));
    format_bytes(row->cells[6], MEDIAN(footprint_bytes, AB_AT_END));
    ab_format_count(row->cells[7], MEDIAN(faults_minor, peak));
}

static double live_peak(const struct view *v, const char *phase)
{
    double most = NAN;
    for (uint32_t backend = 0; backend < v->s->n_backends; backend++)
        most = fmax(most, MEDIAN(live_peak_bytes, AB_AT_FOOTPRINT_PEAK));
    return most;
}

static void print_phase(const struct view *v, const char *phase)
{
    static const struct ab_table_column columns[] = {
        {"peak", 0},    {"overhead", 0}, {"internal", 2}, {"spread", 3},
        {"retained", 4}, {"mean", 6},    {"at end", 5},   {"faults", 7},
    };
    struct ab_table t;
    char title[256], live[AB_CELL_BYTES];
    bool is_empty = true;
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    format_bytes(live, live_peak(v, phase));
    snprintf(title, sizeof title, "%s", phase);
    ab_table_add(&t, title, true);
    for (uint32_t b = 0; b < v->s->n_backends; b++) {
        struct ab_table_row *row =
            has_memory(v->s, b, phase) ? ab_table_add_backend(&t, &v->s->backends[b]) : NULL;
        if (row != NULL)
            fill_phase(v, b, phase, row);
        is_empty = is_empty && row == NULL;
    }
    snprintf(title, sizeof title, "memory / %s: live peak %s", phase, live);
    if (!is_empty) {
        ab_table_line(v->to, v->style, AB_STRONG, title);
        ab_table_print(v->to, &t, v->style);
    }
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
    return n == 0 ? NAN : ab_spread_of(v->x, n).median;
}

/* The footprint of the first block's time line in equal stretches of the op clock; its most. */
static double resample(const struct ab_session *s, uint32_t backend, double *out, unsigned n)
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
            unsigned cell = (unsigned)fmin(n - 1, (double)line->points[i].position / end * n);
            out[cell] = fmax(out[cell], line->points[i].footprint_bytes);
            most = fmax(most, line->points[i].footprint_bytes);
        }
        break;
    }
    return most;
}

static void print_drain(const struct view *v)
{
    static const struct ab_table_column columns[] = {
        {"at once", 0}, {"0.1s", 3}, {"1s", 4}, {"10s", 5}, {"purged", 1}, {"over time", 6},
    };
    struct ab_table t;
    double values[AB_SPARKLINE_MOST], most = 0;
    bool is_empty = true;
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    ab_table_add(&t, "left when all is freed", true);
    for (uint32_t b = 0; b < v->s->n_backends; b++)
        if (has_memory(v->s, b, NULL))
            most = fmax(most, resample(v->s, b, values, AB_SPARKLINE_MOST));
    for (uint32_t b = 0; b < v->s->n_backends; b++) {
        struct ab_table_row *row =
            has_memory(v->s, b, NULL) ? ab_table_add_backend(&t, &v->s->backends[b]) : NULL;
        if (row == NULL)
            continue;
        for (unsigned when = 0; when < AB_DRAIN_COUNT; when++)
            format_bytes(row->cells[when], drained(v, b, when));
        resample(v->s, b, values, AB_SPARKLINE_MOST);
        ab_sparkline_series(row->cells[5], values, AB_SPARKLINE_MOST, most, v->style.utf8);
        is_empty = false;
    }
    if (!is_empty)
        ab_table_print(v->to, &t, v->style);
    ab_table_fini(&t);
}

/* ---- why some are not known ---- */

enum { PARTS_MAX = 32, PART_BYTES = 160 };

/* The parts of "a; b; c" that are new go to the list. */
static void collect_parts(const char *reason, char parts[PARTS_MAX][PART_BYTES], unsigned *n)
{
    for (const char *p = reason; *p != 0;) {
        const char *end = strstr(p, "; ");
        size_t bytes = end != NULL ? (size_t)(end - p) : strlen(p);
        char part[PART_BYTES];
        bool is_known = false;
        snprintf(part, sizeof part, "%.*s", (int)(bytes < PART_BYTES ? bytes : PART_BYTES - 1), p);
        for (unsigned i = 0; i < *n && !is_known; i++)
            is_known = strcmp(parts[i], part) == 0;
        if (!is_known && *n < PARTS_MAX)
            memcpy(parts[(*n)++], part, sizeof part);
        p += bytes + (end != NULL ? 2 : 0);
    }
}

static bool concerns(const struct ab_session *s, uint32_t backend, const char *part)
{
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].backend == backend && strstr(s->memory[i].reason, part) != NULL)
            return true;
    return false;
}

/* "part (glibc, arena)", without the names where it concerns all. */
static void add_part(const struct view *v, struct ab_text *note, const char *part)
{
    uint32_t n_shown = 0, n_concerned = 0;
    char shown[PART_BYTES * 4], name[sizeof v->s->backends[0].name * 4];
    for (uint32_t b = 0; b < v->s->n_backends; b++) {
        bool is_shown = ab_backend_status_has_numbers(v->s->backends[b].status);
        n_shown += is_shown;
        n_concerned += is_shown && concerns(v->s, b, part);
    }
    if (n_concerned == 0)
        return;
    ab_text_addf(note, "%s%s", note->s == NULL ? "-: not known, because: " : "; ",
                 ab_text_printable(shown, sizeof shown, part));
    const char *between = " (";
    for (uint32_t b = 0; b < v->s->n_backends && n_concerned < n_shown; b++)
        if (ab_backend_status_has_numbers(v->s->backends[b].status) && concerns(v->s, b, part)) {
            ab_text_addf(note, "%s%s", between,
                         ab_text_printable(name, sizeof name, v->s->backends[b].name));
            between = ", ";
        }
    if (n_concerned < n_shown)
        ab_text_add(note, ")");
}

static void print_reasons(const struct view *v)
{
    char parts[PARTS_MAX][PART_BYTES];
    unsigned n = 0;
    struct ab_text note = {0};
    for (uint32_t i = 0; i < v->s->n_memory; i++)
        collect_parts(v->s->memory[i].reason, parts, &n);
    for (unsigned i = 0; i < n; i++)
        add_part(v, &note, parts[i]);
    if (note.s != NULL)
        ab_table_prose(v->to, v->style, AB_FAINT, note.s);
    ab_text_fini(&note);
}

void ab_table_memory(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct view v = {to, s, style, calloc((size_t)s->n_memory + 1, sizeof *v.x)};
    if (s->n_memory == 0 || v.x == NULL) {
        free(v.x);
        return;
    }
    for (uint32_t i = 0; i < s->n_phases; i++)
        print_phase(&v, s->phases[i]);
    print_drain(&v);
    ab_table_prose(to, style, AB_FAINT,
                   "peak: resident bytes that the heap added. overhead: peak by live peak. At the "
                   "peak it is made of internal (rounding of sizes), spread (live blocks among free "
                   "ones, headers) and retained (caches, pages not given back): "
                   "1+overhead = (1+internal)(1+spread)(1+retained). mean: overhead over the ops.");
    print_reasons(&v);
    fputc('\n', to);
    free(v.x);
}
