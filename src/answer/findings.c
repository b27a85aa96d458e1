/* SPDX-License-Identifier: MIT
 *
 * Converts the verdicts of gates and comparisons, and the status of back ends, into sentences.
 */
#include "answer/findings.h"

#include "core/alloc.h"
#include "result/shown.h"
#include "stats/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ab_finding_text(struct ab_text *to, const char *s)
{
    size_t cap = 4 * strlen(s) + 1;
    char *printable = ab_alloc(cap);
    ab_text_add(to, ab_text_printable(printable, cap, s));
    free(printable);
}

/* Adds formatted text, made printable because names in it may be hostile. */
__attribute__((format(printf, 2, 3))) static void say(struct ab_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    ab_finding_text(t, text);
    free(text);
}

static struct ab_finding *add(struct ab_findings *all, const char *kind,
                              enum ab_finding_outcome outcome, const char *verdict)
{
    AB_GROW_ZEROED(all->items, all->cap, all->n);
    struct ab_finding *f = &all->items[all->n];
    *f = (struct ab_finding){
        .outcome = outcome, .kind = kind, .verdict = verdict, .seconds = NAN, .index = all->n++};
    return f;
}

void ab_findings_fini(struct ab_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        ab_text_fini(&findings->items[i].title);
        ab_text_fini(&findings->items[i].sentence);
        ab_text_fini(&findings->items[i].file);
    }
    free(findings->items);
    *findings = (struct ab_findings){0};
}

/* Splits the place of a gate, as the configuration reader writes it ("web.yaml:31:5"), into file,
 * line and column. Other places, such as "--gate", are ignored. */
static void set_place(struct ab_finding *f, const char *place)
{
    const char *last = strrchr(place, ':'), *middle = last;
    unsigned line, column;
    char rest;
    while (middle != NULL && middle > place && *--middle != ':') {
    }
    if (middle == NULL || middle == place ||
        sscanf(middle, ":%u:%u%c", &line, &column, &rest) != 2 || line == 0)
        return;
    say(&f->file, "%.*s", (int)(middle - place), place);
    f->line = line;
    f->column = column;
}

/* ---- checks ---- */

/* Returns the outcome of a check. With `only_warns`, a check that fails is only a warning. */
static enum ab_finding_outcome outcome_of(const struct ab_checked *c, bool only_warns)
{
    switch (c->verdict) {
    case AB_VERDICT_FAIL:
        return only_warns ? AB_OUTCOME_WARNED : AB_OUTCOME_FAILED;
    case AB_VERDICT_NOT_EVALUATED:
        return c->is_warning ? AB_OUTCOME_WARNED : AB_OUTCOME_ERROR;
    case AB_VERDICT_SKIPPED:
    case AB_VERDICT_INCONCLUSIVE:
        return AB_OUTCOME_SKIPPED;
    default:
        return AB_OUTCOME_PASSED;
    }
}

static void say_rounds_needed(struct ab_text *t, const struct ab_checked *c)
{
    if (c->verdict == AB_VERDICT_INCONCLUSIVE && c->rounds_needed > 0 &&
        c->rounds_needed < UINT32_MAX)
        say(t, "; about %u rounds would decide it", c->rounds_needed);
}

/* Adds the measured value, its interval and the reason: ": measured 3.04x [3.01, 3.07]; why". */
static void say_measured(struct ab_text *t, const struct ab_checked *g)
{
    char value[AB_CELL_BYTES], low[AB_CELL_BYTES], high[AB_CELL_BYTES], unit[160];
    const struct ab_effect *e = &g->effect;
    bool is_known = isfinite(e->ratio);
    ab_check_unit(g, unit, sizeof unit);
    if (is_known)
        say(t, ": measured %s", ab_format_value(value, e->ratio, unit));
    if (is_known && isfinite(e->low) && isfinite(e->high) && e->low < e->high)
        say(t, " [%s, %s]", ab_format_value(low, e->low, unit),
            ab_format_value(high, e->high, unit));
    if (g->n_confirm > 0)
        say(t, "; in %u more rounds %s", g->n_confirm, ab_format_value(value, g->confirm, unit));
    say_rounds_needed(t, g);
    if (g->reason[0] != 0)
        say(t, "%s%s", is_known ? "; " : ": ", g->reason);
}

static void add_gate(const struct ab_checked *g, struct ab_findings *out)
{
    static const char *const words[AB_VERDICT_COUNT] = {
        [AB_VERDICT_PASS] = "holds",
        [AB_VERDICT_FAIL] = "does not hold",
        [AB_VERDICT_NOT_EVALUATED] = "could not be evaluated",
        [AB_VERDICT_SKIPPED] = "was skipped",
        [AB_VERDICT_INCONCLUSIVE] = "is inconclusive",
    };
    struct ab_finding *f = add(out, "gate", outcome_of(g, g->is_warning), ab_check_word(g));
    const char *name = g->backend != NULL ? g->backend : "";
    bool is_here = g->backend != NULL;
    say(&f->title, "%s%s%s%s", g->text, is_here ? " [" : "", name, is_here ? "]" : "");
    say(&f->sentence, "The gate \"%s\" %s%s%s", g->text, words[g->verdict], is_here ? " for " : "",
        name);
    say_measured(&f->sentence, g);
    say(&f->sentence, ".");
    set_place(f, g->place);
}

/* Adds the name of the checked number as gates spell it, "steady/alloc/p99", or "time of the whole
 * run". */
static void say_name(struct ab_text *t, const struct ab_checked *c)
{
    const char *place = c->iteration != NULL         ? c->iteration
                        : c->op != NULL              ? c->op
                        : strcmp(c->unit, "ns") == 0 ? ab_result_op_name(AB_OP_ALL)
                                                     : "memory";
    if (c->phase == NULL)
        say(t, "%s of the whole run", c->metric);
    else
        say(t, "%s/%s/%s", c->phase, place, c->metric);
}

/* Adds the back ends that are compared: "jemalloc" or "jemalloc against glibc". */
static void say_pair(struct ab_text *t, const struct ab_checked *c)
{
    bool is_one = c->base_backend == NULL || strcmp(c->base_backend, c->backend) == 0;
    say(t, "%s%s%s", c->backend, is_one ? "" : " against ", is_one ? "" : c->base_backend);
}

static void say_ratio(struct ab_text *t, const struct ab_effect *e, int digits, bool is_exact)
{
    say(t, ", %.*fx", digits, e->ratio);
    if (is_exact)
        say(t, " (exact)");
    else if (isfinite(e->low) && isfinite(e->high))
        say(t, " [%.*f, %.*f]", digits, e->low, digits, e->high);
}

static void say_effect(struct ab_text *t, const struct ab_checked *c)
{
    char base[AB_CELL_BYTES], now[AB_CELL_BYTES];
    const struct ab_effect *e = &c->effect;
    int digits = fabs(e->ratio - 1) < 0.1 ? 3 : 2;
    if (isfinite(e->ratio)) {
        say_ratio(t, e, digits, e->method == AB_EFFECT_EXACT);
        say(t, " (above 1 is worse)");
    }
    if (isfinite(c->base) && isfinite(c->now))
        say(t, ", base %s, now %s", ab_format_value(base, c->base, c->unit),
            ab_format_value(now, c->now, c->unit));
    if (ab_check_judged_effect(c) == &c->relative) { /* the verdict depends on this ratio */
        say_ratio(t, &c->relative, digits, false);
        say(t, " relative to %s (unchanged, %.*fx)", c->controls, digits, c->machine_ratio);
    }
    if (isfinite(c->bound))
        say(t, ", limit %.3g %%", c->bound * 100);
    if (c->n_confirm > 0 && isfinite(c->confirm))
        say(t, "; in %u more rounds %.*fx", c->n_confirm, digits, c->confirm);
    say_rounds_needed(t, c);
}

static void add_cell(const struct ab_comparison *comparison, const struct ab_checked *c,
                     struct ab_findings *out)
{
    bool is_judged = ab_check_is_judged(c);
    struct ab_finding *f = add(
        out, "comparison",
        !is_judged ? AB_OUTCOME_PASSED
                   : outcome_of(c, comparison->is_advisory && !comparison->is_strict),
        ab_check_word(c));
    f->is_shown_only = !is_judged;
    say_name(&f->title, c);
    say(&f->title, " [");
    say_pair(&f->title, c);
    say(&f->title, "]");
    say_name(&f->sentence, c);
    say(&f->sentence, " of ");
    say_pair(&f->sentence, c);
    say(&f->sentence, ": %s", ab_check_word(c));
    say_effect(&f->sentence, c);
    say(&f->sentence, "%s%s.", c->reason[0] != 0 ? "; " : "", c->reason);
}

/* Adds one finding that says why the verdicts of a comparison are only advice. With --strict, this
 * finding is itself a failure. */
static void add_advisory(const struct ab_comparison *c, struct ab_findings *out)
{
    struct ab_finding *f = add(out, "comparison",
                               c->is_strict ? AB_OUTCOME_FAILED : AB_OUTCOME_WARNED, "advisory");
    say(&f->title, "base and new can be compared");
    say(&f->sentence, "The comparison is advisory%s: %s.",
        c->is_strict ? ", and fails with --strict" : " and fails nothing", c->advisory);
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
    const char *status = ab_backend_status_name(b->status);
    char cell[AB_CELL_BYTES];
    struct ab_finding *f = add(out, "back end", outcome_of_backend(b), status);
    struct ab_round_range time = ab_session_run_time(s, i);
    say(&f->title, "%s is measured", b->name);
    say(&f->sentence, "The back end %s", b->name);
    if (!ab_backend_status_has_numbers(b->status) || time.n == 0) {
        say(&f->sentence, " was not measured (%s)", status);
    } else {
        f->seconds = time.median / 1e9;
        say(&f->sentence, " was measured: a run takes %s, the median of %u round%s",
            ab_format_value(cell, time.median, "ns"), time.n, time.n == 1 ? "" : "s");
        if (b->status != AB_BACKEND_OK)
            say(&f->sentence, "; it is %s and not compared", status);
    }
    say(&f->sentence, "%s%s.", b->reason[0] != 0 ? ": " : "", b->reason);
}

static void add_incomplete(const struct ab_session *s, struct ab_findings *out)
{
    struct ab_finding *f = add(out, "session", AB_OUTCOME_ERROR, "incomplete");
    say(&f->title, "all rounds are complete");
    say(&f->sentence, "The run was interrupted: %u of %u rounds are complete.", s->n_rounds,
        s->n_rounds_planned);
}

/* ---- all ---- */

static int compare(const void *a, const void *b)
{
    const struct ab_finding *x = a, *y = b;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_and_count(struct ab_findings *all)
{
    if (all->n > 0)
        qsort(all->items, all->n, sizeof all->items[0], compare);
    for (size_t i = 0; i < all->n; i++)
        all->counts[all->items[i].outcome] += !all->items[i].is_shown_only;
}

void ab_findings_of_gates(const struct ab_checked *gates, uint32_t n, struct ab_findings *out)
{
    *out = (struct ab_findings){0};
    for (uint32_t i = 0; i < n; i++)
        add_gate(&gates[i], out);
    sort_and_count(out);
}

void ab_findings_make(const struct ab_session *s, struct ab_findings *out)
{
    const struct ab_comparison *c = s->comparison;
    *out = (struct ab_findings){0};
    if (c != NULL && c->is_advisory)
        add_advisory(c, out);
    for (uint32_t i = 0; c != NULL && i < c->n_cells; i++)
        add_cell(c, &c->cells[i], out);
    for (uint32_t i = 0; i < s->n_gates; i++)
        add_gate(&s->gates[i], out);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (!ab_backend_is_null(&s->backends[i]))
            add_backend(s, i, out);
    if (!s->is_complete)
        add_incomplete(s, out);
    sort_and_count(out);
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
