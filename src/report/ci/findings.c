/* SPDX-License-Identifier: MIT
 *
 * Puts the verdicts of gates, and what became of the back ends, into sentences; those of
 * comparisons are in findings_compare.c.
 */
#include "report/ci/findings.h"

#include "core/memory.h"
#include "report/ci/finding_list.h"
#include "report/ci/findings_compare.h"
#include "report/format.h"
#include "stats/aggregate.h"

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

bool ab_findings_make(const struct ab_session *s, struct ab_findings *out)
{
    *out = (struct ab_findings){0};
    if (s->comparison != NULL)
        ab_findings_of_comparison(s->comparison, out);
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
