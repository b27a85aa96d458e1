/* SPDX-License-Identifier: MIT
 *
 * Puts the verdicts of gates and comparisons, and what became of the back ends, into sentences.
 */
#include "report/ci/findings.h"

#include "core/memory.h"
#include "report/ci/finding_list.h"
#include "report/format.h"
#include "stats/aggregate.h"
#include "stats/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_place(struct ab_finding *f, const char *place)
{
    size_t n;
    if (!ab_finding_list_place(place, &n, &f->line, &f->column))
        return;
    char *file = ab_strndup(place, n);
    ab_finding_list_text(&f->file, file);
    free(file);
}

/* ---- gates ---- */

static enum ab_finding_outcome outcome_of(const struct ab_gate_result *g)
{
    switch (g->verdict) {
    case AB_GATE_PASS:
        return AB_OUTCOME_PASSED;
    case AB_GATE_SKIPPED:
    case AB_GATE_INCONCLUSIVE:
        return AB_OUTCOME_SKIPPED;
    case AB_GATE_FAIL:
        return g->is_warning ? AB_OUTCOME_WARNED : AB_OUTCOME_FAILED;
    case AB_GATE_NOT_EVALUATED:
        break;
    }
    return g->is_warning ? AB_OUTCOME_WARNED : AB_OUTCOME_ERROR;
}

static const char *words_of(enum ab_gate_verdict verdict)
{
    switch (verdict) {
    case AB_GATE_PASS:
        return "holds";
    case AB_GATE_FAIL:
        return "does not hold";
    case AB_GATE_SKIPPED:
        return "was skipped";
    case AB_GATE_INCONCLUSIVE:
        return "is inconclusive";
    case AB_GATE_NOT_EVALUATED:
        break;
    }
    return "could not be evaluated";
}

/* ": measured 3.04x [3.01, 3.07]; why". */
static void add_measured(const struct ab_gate_result *g, struct ab_text *t)
{
    char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES];
    if (isfinite(g->value))
        ab_text_addf(t, ": measured %s", ab_format_value(value, g->value, g->unit));
    if (isfinite(g->value) && isfinite(g->low) && isfinite(g->high) && g->low < g->high)
        ab_text_addf(t, " [%s, %s]", ab_format_value(low, g->low, g->unit),
                     ab_format_value(high, g->high, g->unit));
    if (g->n_confirm > 0)
        ab_text_addf(t, "; in %u more rounds %s", g->n_confirm,
                     ab_format_value(value, g->confirm_value, g->unit));
    if (g->verdict == AB_GATE_INCONCLUSIVE && g->rounds_needed > 0 && g->rounds_needed < UINT32_MAX)
        ab_text_addf(t, "; about %u rounds would decide it", g->rounds_needed);
    if (g->reason[0] != 0) {
        ab_text_add(t, isfinite(g->value) ? "; " : ": ");
        ab_finding_list_text(t, g->reason);
    }
}

static void add_gate(const struct ab_session *s, const struct ab_gate_result *g,
                     struct ab_findings *out)
{
    const char *name = g->backend < s->n_backends ? s->backends[g->backend].name : NULL;
    struct ab_finding *f = ab_finding_list_add(out, "gate", outcome_of(g),
                                               ab_gate_verdict_name(g->verdict));
    if (f == NULL)
        return;
    ab_finding_list_text(&f->title, g->text);
    if (name != NULL) {
        ab_text_add(&f->title, " [");
        ab_finding_list_text(&f->title, name);
        ab_text_add(&f->title, "]");
    }
    ab_text_add(&f->sentence, "The gate \"");
    ab_finding_list_text(&f->sentence, g->text);
    ab_text_addf(&f->sentence, "\" %s", words_of(g->verdict));
    if (name != NULL) {
        ab_text_add(&f->sentence, " for ");
        ab_finding_list_text(&f->sentence, name);
    }
    add_measured(g, &f->sentence);
    ab_text_add(&f->sentence, ".");
    set_place(f, g->place);
}

/* ---- back ends, and the session itself ---- */

static enum ab_finding_outcome outcome_of_backend(const struct ab_backend_info *b)
{
    if (ab_backend_status_has_numbers(b->status))
        return ab_backend_status_is_aside(b->status) ? AB_OUTCOME_WARNED : AB_OUTCOME_PASSED;
    return b->was_named || b->status != AB_BACKEND_ABSENT ? AB_OUTCOME_ERROR : AB_OUTCOME_SKIPPED;
}

static void add_backend(const struct ab_session *s, uint32_t i, struct ab_findings *out)
{
    const struct ab_backend_info *b = &s->backends[i];
    char cell[AB_CELL_BYTES];
    struct ab_finding *f = ab_finding_list_add(out, "back end", outcome_of_backend(b),
                                               ab_backend_status_name(b->status));
    if (f == NULL)
        return;
    struct ab_round_range time = ab_session_run_time(s, i);
    ab_finding_list_text(&f->title, b->name);
    ab_text_add(&f->title, " is measured");
    ab_text_add(&f->sentence, "The back end ");
    ab_finding_list_text(&f->sentence, b->name);
    if (!ab_backend_status_has_numbers(b->status) || time.n == 0) {
        ab_text_addf(&f->sentence, " was not measured (%s)", ab_backend_status_name(b->status));
    } else {
        f->seconds = time.median / 1e9;
        ab_text_addf(&f->sentence, " was measured: %s for a run, median of %u round%s",
                     ab_format_value(cell, time.median, "ns"), time.n, time.n == 1 ? "" : "s");
        if (b->status != AB_BACKEND_OK)
            ab_text_addf(&f->sentence, "; it is %s and not compared",
                         ab_backend_status_name(b->status));
    }
    if (b->reason[0] != 0) {
        ab_text_add(&f->sentence, ": ");
        ab_finding_list_text(&f->sentence, b->reason);
    }
    ab_text_add(&f->sentence, ".");
}

static void add_incomplete(const struct ab_session *s, struct ab_findings *out)
{
    struct ab_finding *f = ab_finding_list_add(out, "session", AB_OUTCOME_ERROR, "incomplete");
    if (f == NULL)
        return;
    ab_text_add(&f->title, "all rounds are complete");
    ab_text_addf(&f->sentence, "The run was interrupted: %u of %u rounds are complete.",
                 s->n_rounds, s->n_rounds_planned);
}

/* ---- all ---- */

static int compare(const void *a, const void *b)
{
    const struct ab_finding *x = a, *y = b;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Puts the cells of a comparison into sentences. */

static enum ab_finding_outcome outcome_of_cell(const struct ab_cell *c, bool is_advisory)
{
    if (!ab_cell_is_judged(c))
        return AB_OUTCOME_PASSED;
    switch (c->verdict) {
    case AB_VERDICT_REGRESSED:
        return is_advisory ? AB_OUTCOME_WARNED : AB_OUTCOME_FAILED;
    case AB_VERDICT_FAILED:
        return AB_OUTCOME_ERROR;
    case AB_VERDICT_INCONCLUSIVE:
        return AB_OUTCOME_SKIPPED;
    default:
        return AB_OUTCOME_PASSED;
    }
}

/* What gates write where the op stands. */
static const char *place_of(const struct ab_cell *c)
{
    if (c->iteration != NULL || c->op != NULL)
        return c->iteration != NULL ? c->iteration : c->op;
    return strcmp(c->unit, "ns") == 0 ? ab_result_op_name(AB_OP_ALL) : "memory";
}

/* "steady/alloc/p99", as gates spell it; "time of the whole run". */
static void add_name(struct ab_text *t, const struct ab_cell *c)
{
    if (c->phase == NULL) {
        ab_finding_list_text(t, c->metric);
        ab_text_add(t, " of the whole run");
        return;
    }
    ab_finding_list_text(t, c->phase);
    ab_text_add(t, "/");
    ab_finding_list_text(t, place_of(c)); /* a mark's name is of the recorded program */
    ab_text_add(t, "/");
    ab_finding_list_text(t, c->metric);
}

static void add_pair(struct ab_text *t, const struct ab_cell *c)
{
    ab_finding_list_text(t, c->backend);
    if (c->base_backend != NULL && strcmp(c->base_backend, c->backend) != 0) {
        ab_text_add(t, " against ");
        ab_finding_list_text(t, c->base_backend);
    }
}

/* By what the verdict is given, where it is not the ratio itself. */
static void add_relative(struct ab_text *t, const struct ab_cell *c, int digits)
{
    const struct ab_effect *e = &c->relative;
    if (ab_cell_judged_effect(c) != e)
        return;
    ab_text_addf(t, ", %.*fx", digits, e->ratio);
    if (isfinite(e->low) && isfinite(e->high))
        ab_text_addf(t, " [%.*f, %.*f]", digits, e->low, digits, e->high);
    ab_text_add(t, " relative to ");
    ab_finding_list_text(t, c->witnesses);
    ab_text_addf(t, " (unchanged, %.*fx)", digits, c->machine_ratio);
}

static void add_effect(struct ab_text *t, const struct ab_cell *c)
{
    char base[AB_CELL_BYTES], now[AB_CELL_BYTES];
    const struct ab_effect *e = &c->effect;
    int digits = fabs(e->ratio - 1) < 0.1 ? 3 : 2;
    if (isfinite(e->ratio))
        ab_text_addf(t, ", %.*fx", digits, e->ratio);
    if (isfinite(e->ratio) && e->method == AB_EFFECT_EXACT)
        ab_text_add(t, " (exact)");
    else if (isfinite(e->ratio) && isfinite(e->low) && isfinite(e->high))
        ab_text_addf(t, " [%.*f, %.*f]", digits, e->low, digits, e->high);
    if (isfinite(e->ratio))
        ab_text_add(t, " (above 1 is worse)");
    if (isfinite(c->base) && isfinite(c->now))
        ab_text_addf(t, ", base %s, now %s", ab_format_value(base, c->base, c->unit),
                     ab_format_value(now, c->now, c->unit));
    add_relative(t, c, digits);
    if (isfinite(c->limit))
        ab_text_addf(t, ", limit %.3g %%", c->limit * 100);
    if (c->n_confirm > 0 && isfinite(c->confirm_ratio))
        ab_text_addf(t, "; in %u more rounds %.*fx", c->n_confirm, digits, c->confirm_ratio);
    if (c->verdict == AB_VERDICT_INCONCLUSIVE && c->rounds_needed > 0 &&
        c->rounds_needed < UINT32_MAX)
        ab_text_addf(t, "; about %u rounds would decide it", c->rounds_needed);
}

static void add_cell(const struct ab_comparison *comparison, const struct ab_cell *c,
                     struct ab_findings *out)
{
    struct ab_finding *f = ab_finding_list_add(
        out, "comparison", outcome_of_cell(c, comparison->is_advisory && !comparison->is_strict),
        ab_cell_word(c));
    if (f == NULL)
        return;
    f->is_shown_only = !ab_cell_is_judged(c) && c->verdict != AB_VERDICT_FAILED;
    add_name(&f->title, c);
    ab_text_add(&f->title, " [");
    add_pair(&f->title, c);
    ab_text_add(&f->title, "]");
    add_name(&f->sentence, c);
    ab_text_add(&f->sentence, " of ");
    add_pair(&f->sentence, c);
    ab_text_addf(&f->sentence, ": %s", ab_cell_word(c));
    add_effect(&f->sentence, c);
    if (c->reason[0] != 0) {
        ab_text_add(&f->sentence, "; ");
        ab_finding_list_text(&f->sentence, c->reason);
    }
    ab_text_add(&f->sentence, ".");
}

/* Why verdicts do not count, once for all of them; with --strict that is a failure itself. */
static void add_advisory(const struct ab_comparison *comparison, struct ab_findings *out)
{
    struct ab_finding *f = ab_finding_list_add(
        out, "comparison", comparison->is_strict ? AB_OUTCOME_FAILED : AB_OUTCOME_WARNED,
        "advisory");
    if (f == NULL)
        return;
    ab_text_add(&f->title, "base and new can be compared");
    ab_text_addf(&f->sentence, "The comparison is advisory%s: ",
                 comparison->is_strict ? ", and fails with --strict" : " and fails nothing");
    ab_finding_list_text(&f->sentence, comparison->advisory);
    ab_text_add(&f->sentence, ".");
}

/* Adds a finding for each cell. An advisory comparison warns where another fails. */
static void findings_of_comparison(const struct ab_comparison *comparison, struct ab_findings *out)
{
    if (comparison->is_advisory)
        add_advisory(comparison, out);
    for (uint32_t i = 0; i < comparison->n_cells; i++)
        add_cell(comparison, &comparison->cells[i], out);
}

bool ab_findings_make(const struct ab_session *s, struct ab_findings *out)
{
    *out = (struct ab_findings){0};
    if (s->comparison != NULL)
        findings_of_comparison(s->comparison, out);
    for (uint32_t i = 0; i < s->n_gates; i++)
        add_gate(s, &s->gates[i], out);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (!ab_backend_is_null(&s->backends[i]))
            add_backend(s, i, out);
    if (!s->is_complete)
        add_incomplete(s, out);
    if (out->n > 0)
        qsort(out->items, out->n, sizeof out->items[0], compare);
    for (size_t i = 0; i < out->n; i++) {
        out->is_short_of_memory |= out->items[i].title.s == NULL ||
                                   out->items[i].sentence.s == NULL;
        out->counts[out->items[i].outcome] += !out->items[i].is_shown_only;
    }
    return !out->is_short_of_memory;
}

void ab_findings_count(const struct ab_findings *findings, struct ab_text *out)
{
    static const char *const words[AB_OUTCOME_COUNT] = {"failed", "not measured or not evaluated",
                                                        "with a warning", "skipped or inconclusive",
                                                        "passed"};
    const char *between = "";
    for (unsigned i = 0; i < AB_OUTCOME_COUNT; i++) {
        if (findings->counts[i] == 0)
            continue;
        ab_text_addf(out, "%s%zu %s", between, findings->counts[i], words[i]);
        between = ", ";
    }
    if (*between == 0)
        ab_text_add(out, "nothing to judge");
}
