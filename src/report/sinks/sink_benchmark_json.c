/* SPDX-License-Identifier: MIT
 *
 * The array that github-action-benchmark takes as `customSmallerIsBetter`: name, unit, value,
 * range, extra. A name is the name of a chart, so it holds nothing that changes from run to run.
 */
#include "report/sinks/sinks.h"

#include "core/text.h"
#include "report/ci/series.h"
#include "report/format.h"
#include "report/json.h"
#include "stats/compare.h"

#include <math.h>
#include <string.h>

struct document {
    json_t *list;
};

/* Cells of a phase and of memory name no op. */
static bool is_same_op(const char *a, const char *b)
{
    return a == NULL ? strcmp(b, "memory") == 0 || strcmp(b, "all") == 0 : strcmp(a, b) == 0;
}

/* What a comparison says of this number; NULL = nothing. */
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

static json_t *take_text(struct ab_text *t)
{
    json_t *value = ab_json_string(t->s);
    ab_text_fini(t);
    return value;
}

static void add_entry(const struct ab_session *s, const struct ab_series *x, void *user)
{
    struct document *d = user;
    json_t *o = json_object();
    struct ab_text name = {0}, extra = {0}, range = {0};
    ab_text_addf(&name, "%s: %s/%s/%s", s->backends[x->backend].name, x->metric.phase, x->place,
                 x->name);
    ab_json_put(o, "name", take_text(&name));
    ab_json_put(o, "unit", ab_json_string(ab_metric_unit(&x->metric)));
    ab_json_put(o, "value", ab_json_real(x->value));
    if (x->n_rounds > 1) {
        ab_text_addf(&range, "\u00b1 %.6g", (x->high - x->low) / 2);
        ab_json_put(o, "range", take_text(&range));
    }
    add_extra(s, x, &extra);
    ab_json_put(o, "extra", take_text(&extra));
    ab_json_append(d->list, o);
}

bool ab_sink_benchmark_json(FILE *to, const struct ab_session *session)
{
    struct document d = {.list = json_array()};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_series_each(session, add_entry, &d);
    ab_json_write(d.list, to, 12);
    ab_format_end(&guard);
    return true;
}
