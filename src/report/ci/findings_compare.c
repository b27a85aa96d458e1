/* SPDX-License-Identifier: MIT
 *
 * Puts the cells of a comparison into sentences.
 */
#include "report/ci/findings_compare.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

static enum ab_finding_outcome outcome_of(const struct ab_cell *c, bool is_advisory)
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
        out, "comparison", outcome_of(c, comparison->is_advisory && !comparison->is_strict),
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

void ab_findings_of_comparison(const struct ab_comparison *comparison, struct ab_findings *out)
{
    if (comparison->is_advisory)
        add_advisory(comparison, out);
    for (uint32_t i = 0; i < comparison->n_cells; i++)
        add_cell(comparison, &comparison->cells[i], out);
}
