/* SPDX-License-Identifier: MIT
 *
 * Writes the array that github-action-benchmark takes as `customSmallerIsBetter`: name, unit,
 * value, range, extra. The name identifies a chart, so it contains nothing that changes between
 * runs.
 */
#include "report/sinks/sinks.h"

#include "core/text.h"
#include "document/record_table.h"
#include "report/ci/series.h"
#include "result/shown.h"
#include "stats/compare.h"

#include <math.h>
#include <string.h>

/* True if `a`, the op of a compared cell, is the place `b` of a series. Cells of a whole phase and
 * of memory have no op. */
static bool is_same_op(const char *a, const char *b)
{
    return a == NULL ? strcmp(b, "memory") == 0 || strcmp(b, "all") == 0 : strcmp(a, b) == 0;
}

/* Returns the compared cell with the same number as a series; NULL = none. */
static const struct ab_checked *find_cell(const struct ab_session *s, const struct ab_series *x)
{
    const struct ab_comparison *c = s->comparison;
    for (uint32_t i = 0; c != NULL && i < c->n_cells; i++) {
        const struct ab_checked *cell = &c->cells[i];
        if (cell->phase != NULL && strcmp(cell->phase, x->metric.phase) == 0 &&
            strcmp(cell->backend, s->backends[x->backend].name) == 0 &&
            strcmp(cell->metric, x->name) == 0 && is_same_op(cell->op, x->place))
            return cell;
    }
    return NULL;
}

static void add_extra(const struct ab_session *s, const struct ab_series *x, struct ab_text *t)
{
    const struct ab_backend_info *b = &s->backends[x->backend];
    const struct ab_checked *cell = find_cell(s, x);
    ab_text_addf(t, "%u round%s", s->n_rounds, s->n_rounds == 1 ? "" : "s");
    if (x->is_floor)
        ab_text_add(t, ", below the timer floor");
    if (b->version[0] != 0)
        ab_text_addf(t, "\nversion %s", b->version);
    if (s->tape_sha256 != NULL)
        ab_text_addf(t, "\ntape %.12s", s->tape_sha256);
    if (cell != NULL && isfinite(cell->effect.ratio))
        ab_text_addf(t, "\n%s: %.3fx", ab_check_word(cell), cell->effect.ratio);
    if (cell != NULL && isfinite(cell->effect.low) && isfinite(cell->effect.high))
        ab_text_addf(t, " [%.3f, %.3f]", cell->effect.low, cell->effect.high);
}

struct entry {
    const char *unit;
    double value;
    struct ab_text name, range, extra;
};
static const struct ab_member entry_members[] = {
    AB_TEXT("name", struct entry, name.s),
    AB_TEXT("unit", struct entry, unit),
    AB_NUMBER("value", struct entry, value),
    AB_TEXT("range", struct entry, range.s, AB_WHEN(struct entry, range.s), .flags = AB_OMIT),
    AB_TEXT("extra", struct entry, extra.s),
};
AB_TABLE(entry, struct entry);

static void add_entry(const struct ab_session *s, const struct ab_series *x, void *list)
{
    struct entry e = {.unit = ab_metric_unit(&x->metric), .value = x->value};
    ab_text_addf(&e.name, "%s: %s/%s/%s", s->backends[x->backend].name, x->metric.phase, x->place,
                 x->name);
    if (x->n_rounds > 1)
        ab_text_addf(&e.range, "\u00b1 %.6g", (x->high - x->low) / 2);
    add_extra(s, x, &e.extra);
    ab_json_append(list, ab_record_json(&entry_record, &e, NULL));
    ab_text_fini(&e.name);
    ab_text_fini(&e.range);
    ab_text_fini(&e.extra);
}

void ab_sink_benchmark_json(FILE *to, const struct ab_session *session)
{
    json_t *list = json_array();
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_series_each(session, add_entry, list);
    ab_json_write(list, to, 12);
    ab_format_end(&guard);
}
