/* SPDX-License-Identifier: MIT
 *
 * Computes the cells of a comparison. The first cell of each back end is the time of the whole run,
 * which has a limit. Cells without a limit follow: the time of each phase, percentiles of each op,
 * peak memory. A back end that cannot be compared gets a failed cell, so that it is never dropped
 * silently.
 */
#include "stats/compare.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/session.h"
#include "stats/compare_drift.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* changes of a count that are smaller than this fraction are not reported as changes */
static const double least_count_change = 0.001;
static const char *const shown_quantiles[] = {"p50", "p99", "p99.5", "p99.9"};

__attribute__((format(printf, 2, 3))) static void note(struct ab_comparison *c, const char *fmt,
                                                       ...)
{
    va_list args;
    char text[AB_COMPARE_NOTE_BYTES];
    AB_GROW(c->notes, c->cap_notes, c->n_notes);
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    /* names may contain any bytes */
    ab_text_printable(c->notes[c->n_notes++], AB_COMPARE_NOTE_BYTES, text);
}

/* ---- checks whether two results may be compared ---- */

enum ab_status ab_compare_check_whole(const struct ab_session *s, const char *label,
                                      struct ab_err *err)
{
    const char *command = ab_session_resume_commands[s->kind];
    if (s->n_rounds == 0)
        return ab_fail(err, AB_INPUT, "%s has no round: nothing to compare", label);
    if (!s->is_complete && command == NULL)
        return ab_fail(err, AB_INPUT, "%s is incomplete, %u of %u rounds; measure it again", label,
                       s->n_rounds, s->n_rounds_planned);
    if (!s->is_complete)
        return ab_fail(err, AB_INPUT,
                       "%s is incomplete, %u of %u rounds; complete it with\n"
                       "  allocbench %s --resume '%s'",
                       label, s->n_rounds, s->n_rounds_planned, command, label);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (!ab_backend_is_null(&s->backends[i]) && ab_session_has_numbers(s, i))
            return AB_OK;
    return ab_fail(err, AB_BACKEND, "%s has no numbers: every back end in it failed", label);
}

/* True if the tapes are the same. If both sessions have combinations of values, true if some row
 * did the same work in both. */
static bool is_same_work(const struct ab_session *a, const struct ab_session *b)
{
    if (a->tape_sha256[0] != 0 && strcmp(a->tape_sha256, b->tape_sha256) == 0)
        return true;
    if (a->n_combinations == 0 || b->n_combinations == 0)
        return false;
    for (uint32_t i = 0; i < a->n_backends; i++) {
        uint32_t k = ab_session_backend(b, a->backends[i].name);
        if (k != UINT32_MAX && ab_session_is_same_work(a, i, b, k))
            return true;
    }
    return false;
}

/* True if both sessions replayed one trace, but wrote to its blocks in different ways (--touch). */
static bool has_other_writes(const struct ab_session *base, const struct ab_session *now)
{
    const char *was = ab_session_setting(base, "touch"), *is = ab_session_setting(now, "touch");
    return was != NULL && is != NULL && strcmp(was, is) != 0 && base->config_sha256 != NULL &&
           now->config_sha256 != NULL && base->config_sha256[0] != 0 &&
           strcmp(base->config_sha256, now->config_sha256) == 0;
}

enum ab_status ab_compare_check_work(const struct ab_session *base, const char *base_label,
                                     const struct ab_session *now, const char *now_label,
                                     struct ab_err *err)
{
    char names[2][128];
    ab_text_printable(names[0], sizeof names[0], base->name);
    ab_text_printable(names[1], sizeof names[1], now->name);
    if (!is_same_work(base, now) && has_other_writes(base, now))
        return ab_fail(err, AB_USAGE,
                       "other writes: %s replayed %s with touch=%.60s, %s with touch=%.60s; blocks "
                       "that are written to otherwise take other time and memory: choose one of "
                       "them for both (--touch)",
                       base_label, names[0], ab_session_setting(base, "touch"), now_label,
                       ab_session_setting(now, "touch"));
    if (!is_same_work(base, now))
        return ab_fail(
            err, AB_USAGE,
            "different work: %s ran %s (digest %.12s), %s ran %s (digest %.12s); only "
            "the same workload or trace with the same parameters and seed can be compared",
            base_label, names[0], base->tape_sha256, now_label, names[1], now->tape_sha256);
    if (base->is_strict != now->is_strict)
        return ab_fail(
            err, AB_USAGE, "different work: %s was measured with --order strict, %s was not",
            base->is_strict ? base_label : now_label, base->is_strict ? now_label : base_label);
    for (uint32_t i = 0; i < base->n_backends; i++)
        for (uint32_t k = 0; k < now->n_backends; k++)
            if (!ab_backend_is_null(&base->backends[i]) &&
                strcmp(base->backends[i].name, now->backends[k].name) == 0)
                return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "%s and %s have no back end in common; measure both libraries under one name: "
                   "-b NAME=PATH",
                   base_label, now_label);
}

/* ---- differences that do not prevent a comparison ---- */

static const char *or_unknown(const char *s)
{
    return s[0] != 0 ? s : "unknown";
}

/* Notes differences in the parts of the fingerprint (result/environment.c). */
static void describe_machine(struct ab_comparison *c)
{
    /* the machines of the two results; if these were measured on several, a pair that differs */
    const struct ab_host *a, *b;
    struct ab_text t = {0};
    if (ab_sessions_share_host(c->base, c->now, &a, &b))
        return;
    bool is_known = a->fingerprint[0] != 0 && b->fingerprint[0] != 0;
    c->is_advisory = true;
    ab_text_add(&t, is_known ? "another machine or system: " : "the machine is not known: ");
    if (strcmp(a->name, b->name) != 0)
        ab_text_addf(&t, "node %.48s, now %.48s; ", or_unknown(a->name), or_unknown(b->name));
    if (strcmp(a->cpu, b->cpu) != 0)
        ab_text_addf(&t, "CPU %.48s, now %.48s; ", or_unknown(a->cpu), or_unknown(b->cpu));
    if (a->cpus_online != b->cpus_online)
        ab_text_addf(&t, "%u CPUs, now %u; ", a->cpus_online, b->cpus_online);
    if (strcmp(a->kernel, b->kernel) != 0)
        ab_text_addf(&t, "kernel %.40s, now %.40s; ", or_unknown(a->kernel), or_unknown(b->kernel));
    if (strcmp(a->libc, b->libc) != 0)
        ab_text_addf(&t, "%.24s, now %.24s; ", or_unknown(a->libc), or_unknown(b->libc));
    ab_text_printable(c->advisory, sizeof c->advisory, t.s);
    for (size_t n = strlen(c->advisory); strchr("; :", c->advisory[n - 1]) != NULL; n--)
        c->advisory[n - 1] = 0;
    ab_text_fini(&t);
}

static void note_text(struct ab_comparison *c, const char *what, const char *a, const char *b)
{
    char shown[2][90];
    if (strcmp(a, b) == 0)
        return;
    ab_text_printable(shown[0], sizeof shown[0], or_unknown(a));
    ab_text_printable(shown[1], sizeof shown[1], or_unknown(b));
    note(c, "%s: %s, now %s", what, shown[0], shown[1]);
}

static void note_library(struct ab_comparison *c, const struct ab_backend_info *a,
                         const struct ab_backend_info *b)
{
    char what[200], name[160];
    ab_text_printable(name, sizeof name, b->name);
    AB_FIT(what, "%s, version", name);
    note_text(c, what, a->version, b->version);
    AB_FIT(what, "%s, build id", name);
    note_text(c, what, a->build_id, b->build_id);
    if (strcmp(a->settings, b->settings) != 0)
        note(c, "%s, settings: %.90s, now %.90s", name, a->settings[0] != 0 ? a->settings : "none",
             b->settings[0] != 0 ? b->settings : "none");
}

/* True if the same other code ran between calls of the allocator in both (--between). It changes
 * the latencies of the calls. */
static bool has_same_code_between(const struct ab_session *base, const struct ab_session *now)
{
    const char *a = ab_session_setting(base, "between"), *b = ab_session_setting(now, "between");
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

/* True if both results count positions in the work in the same way. If the work has only
 * operations, both ways of counting give the same number. */
static bool has_same_positions(const struct ab_session *base, const struct ab_session *now)
{
    return base->counts_ops == now->counts_ops || base->n_tape_ops == now->n_tape_ops;
}

static void note_settings(struct ab_comparison *c)
{
    const char *const *a = c->base->settings, *const *b = c->now->settings;
    struct ab_text t[2] = {{0}, {0}};
    for (; a != NULL && *a != NULL; a++)
        ab_text_addf(&t[0], "%s%s", t[0].n > 0 ? " " : "", *a);
    for (; b != NULL && *b != NULL; b++)
        ab_text_addf(&t[1], "%s%s", t[1].n > 0 ? " " : "", *b);
    if (!has_same_code_between(c->base, c->now))
        note(c, "other code between calls (--between): latencies are not compared");
    if (!has_same_positions(c->base, c->now))
        note(
            c,
            "operations were counted with what writes to blocks (config.tape.counts) in one of the "
            "two: nothing is compared by their number");
    note_text(c, "settings", t[0].s != NULL ? t[0].s : "none", t[1].s != NULL ? t[1].s : "none");
    ab_text_fini(&t[0]);
    ab_text_fini(&t[1]);
}

/* Notes that two rows with the same name have different placement rules, because the name does not
 * show the rules. */
static void note_rules(struct ab_comparison *c, const struct ab_backend_info *a,
                       const struct ab_backend_info *b)
{
    note(c, "%.80s has other rules: %.90s, now %.90s: not compared", b->name,
         a->map[0] != 0 ? a->map : "none", b->map[0] != 0 ? b->map : "none");
}

/* Notes differences in the iterations. Numbers of missed iterations are comparable only if the
 * budgets are the same. A result without iterations has no row for them. */
static void note_iterations(struct ab_comparison *c)
{
    char phase[100], was[32], is[32];
    for (uint32_t i = 0; i < c->now->n_phases; i++) {
        if (ab_session_phase_is_repeated(c->now, i))
            continue;
        const struct ab_iterations *a = ab_session_iterations(c->base, c->now->phases[i]);
        const struct ab_iterations *b = ab_session_iterations(c->now, c->now->phases[i]);
        double budget[2] = {a != NULL ? a->budget_ns : (double)NAN,
                            b != NULL ? b->budget_ns : (double)NAN};
        bool is_same = budget[0] == budget[1] || (isnan(budget[0]) && isnan(budget[1]));
        ab_text_printable(phase, sizeof phase, c->now->phases[i]);
        if ((a == NULL) != (b == NULL))
            note(c, "%s: iterations were timed in %s alone: not compared", phase,
                 a != NULL ? "the base" : "the new result");
        if (a != NULL && b != NULL && !is_same)
            note(c, "%s: budget of an iteration: %s, now %s: missed ones are not compared", phase,
                 isnan(budget[0]) ? "none" : ab_units_time(was, sizeof was, budget[0]),
                 isnan(budget[1]) ? "none" : ab_units_time(is, sizeof is, budget[1]));
    }
}

/* Describes all differences between the two results. Another machine makes the comparison advisory;
 * every other difference becomes a note. */
static void describe(struct ab_comparison *c)
{
    const struct ab_session *a = c->base, *b = c->now;
    describe_machine(c);
    for (uint32_t i = 0; i < a->n_backends; i++)
        for (uint32_t k = 0; k < b->n_backends; k++)
            if (strcmp(a->backends[i].name, b->backends[k].name) == 0)
                note_library(c, &a->backends[i], &b->backends[k]);
    const char *version[2] = {a->tool.version != NULL ? a->tool.version : AB_VERSION,
                              b->tool.version != NULL ? b->tool.version : AB_VERSION};
    note_text(c, "allocbench", version[0], version[1]);
    note_text(c, "transparent huge pages", a->host.thp, b->host.thp);
    note_text(c, "CPU governor", a->host.governor, b->host.governor);
    note_settings(c);
    note_iterations(c);
}

/* A back end, and the back end that it is compared with. */
struct pair {
    struct ab_comparison *c;
    uint32_t base, now; /* indices in the sessions `base` and `now` */
    double limit;
    bool is_paired; /* both are in one session, so that their numbers are paired by rounds */
};

/* ---- cells ---- */

static struct ab_checked *add_cell(struct ab_comparison *c)
{
    AB_GROW(c->cells, c->cap_cells, c->n_cells);
    c->cells[c->n_cells] = (struct ab_checked){
        .base = NAN,
        .now = NAN,
        .effect = {.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN},
        .bound = NAN,
        .confirm = NAN,
        .relative = {.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN},
        .machine_ratio = NAN,
    };
    return &c->cells[c->n_cells++];
}

static struct ab_checked *add_pair_cell(const struct pair *p)
{
    struct ab_checked *cell = add_cell(p->c);
    cell->backend = p->c->now->backends[p->now].name;
    cell->base_backend = p->c->base->backends[p->base].name;
    cell->against = p->is_paired ? AB_AGAINST_BACKEND : AB_AGAINST_BASELINE;
    return cell;
}

/* Returns an array with the number of each round, but at least `floor`. The caller frees the
 * array. */
static double *collect(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                       double floor)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds + 1, sizeof x[0]);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        x[i] = ab_metric_of_round(s, backend, m, s->rounds[i].index);
        if (x[i] < floor)
            x[i] = floor;
    }
    return x;
}

/* Sets the effect's ratio to the quotient of the two numbers that the cell shows. */
static void show(struct ab_checked *cell, double floor)
{
    double base = cell->base < floor ? floor : cell->base;
    double now = cell->now < floor ? floor : cell->now;
    if (isfinite(cell->effect.ratio) && isfinite(now) && base > 0)
        cell->effect = ab_effect_shown(&cell->effect, now / base);
}

/* True for counts that depend on the allocator alone, not on timing. One round measures them
 * exactly. */
static bool is_counted(const struct ab_metric *m)
{
    static const char *const units[] = {"instructions", "calls", "faults"};
    for (size_t i = 0; i < AB_ARRAY_LEN(units); i++)
        if (strcmp(ab_metric_unit(m), units[i]) == 0)
            return true;
    return false;
}

/* Returns the effect. Numbers that may be 0 or negative (missed iterations, a difference of times)
 * are compared by differences, because they have no ratio in such rounds. */
static struct ab_effect effect_of(const struct pair *p, const struct ab_metric *m,
                                  const double *base, const double *now)
{
    uint32_t n_base = p->c->base->n_rounds, n = p->c->now->n_rounds;
    if ((m->number != NULL && ab_iteration_field_needs_budget(m->number)) ||
        strcmp(ab_metric_name(m), "outside_ns") == 0)
        return ab_effect_by_mean(base, n_base, now, n, p->is_paired);
    return p->is_paired ? ab_effect_paired(base, now, n) : ab_effect_unpaired(base, n_base, now, n);
}

static void measure(const struct pair *p, const struct ab_metric *m, struct ab_effect *effect)
{
    const struct ab_session *s[2] = {p->c->base, p->c->now};
    double floor = ab_metric_floor(m, s[0], s[1]);
    double *base = collect(s[0], p->base, m, floor);
    double *now = collect(s[1], p->now, m, floor);
    if (is_counted(m))
        *effect = ab_effect_counted(base, s[0]->n_rounds, now, s[1]->n_rounds);
    else if (!ab_metric_iterations_have_ratio(s[0], p->base, m, s[1], p->now))
        *effect = ab_effect_paired(NULL, NULL, 0);
    else
        *effect = effect_of(p, m, base, now);
    free(base);
    free(now);
}

double ab_compare_step_ns(const struct ab_session *base, const struct ab_session *now)
{
    return 2 * fmax(1, fmax(base->timer.quantum_ns, now->timer.quantum_ns));
}

static void forgive(const struct pair *p, struct ab_checked *cell)
{
    if (fabs(cell->now - cell->base) < ab_compare_step_ns(p->c->base, p->c->now) &&
        !isnan(cell->effect.low))
        AB_FIT(cell->reason, "the difference is below two steps of the clock");
}

void ab_compare_metric(const struct ab_session *base, uint32_t base_backend,
                       const struct ab_session *now, uint32_t backend, const struct ab_metric *m,
                       struct ab_effect *effect)
{
    struct ab_comparison c = {.base = base, .now = now};
    struct pair p = {.c = &c, .base = base_backend, .now = backend, .is_paired = base == now};
    measure(&p, m, effect);
}

/* Sets the ratio to 1 if both numbers are 0: neither side missed a budget. */
static void set_equal(struct ab_checked *cell)
{
    cell->effect.ratio = cell->effect.low = cell->effect.high = 1;
    cell->effect.method = AB_EFFECT_EXACT;
    AB_FIT(cell->reason, "0 on both sides");
}

static struct ab_checked *add_number(const struct pair *p, const struct ab_metric *m)
{
    struct ab_checked *cell = add_pair_cell(p);
    measure(p, m, &cell->effect);
    cell->phase = m->phase;
    cell->op = ab_metric_is_latency(m) ? ab_result_op_name(m->op) : NULL;
    cell->iteration = m->each;
    cell->metric = ab_metric_name(m);
    cell->unit = ab_metric_unit(m);
    cell->base = ab_metric_value(p->c->base, p->base, m);
    cell->now = ab_metric_value(p->c->now, p->now, m);
    return cell;
}

/* Adds a cell without a limit. Adds nothing if the metric is known for neither side (too few ops,
 * or the pass was left out), or if the sides measured different parts of the work. */
static void add_metric(const struct pair *p, const struct ab_metric *m)
{
    if (!ab_compare_is_alike(p->c->base, p->c->now, m))
        return;
    struct ab_checked *cell = add_number(p, m);
    if (isnan(cell->base) && isnan(cell->now)) {
        p->c->n_cells--;
        return;
    }
    show(cell, ab_metric_floor(m, p->c->base, p->c->now));
    if (ab_metric_is_latency(m))
        forgive(p, cell);
    else if (ab_metric_is(m, AB_METRIC_ITERATION) && cell->base == 0 && cell->now == 0)
        set_equal(cell);
    else if (is_counted(m) && fabs(cell->effect.ratio - 1) < least_count_change)
        AB_FIT(cell->reason, "the difference is below 0.1 %%");
}

/* ---- the whole run ---- */

enum ab_verdict ab_verdict_of(const struct ab_effect *effect, double limit)
{
    enum ab_verdict v = ab_check_decide(effect, AB_CHECK_AT_MOST, 1 + limit);
    bool is_better = effect->high < 1 && effect->ratio < 1 / (1 + limit);
    return v == AB_VERDICT_PASS && is_better ? AB_VERDICT_IMPROVED : v;
}

static void judge(struct ab_checked *cell, double limit)
{
    const struct ab_effect *e = &cell->effect;
    uint32_t least = e->n_base < e->n_new ? e->n_base : e->n_new;
    cell->bound = limit;
    if (isnan(e->ratio)) {
        cell->verdict = AB_VERDICT_NOT_EVALUATED;
        AB_FIT(cell->reason, "no time was measured on %s side",
               isnan(cell->base) && isnan(cell->now) ? "either"
               : isnan(cell->base)                   ? "the base's"
                                                     : "the new");
        return;
    }
    /* inconclusive if there are too few rounds, because there is no interval */
    cell->verdict = ab_verdict_of(e, limit);
    if (cell->verdict != AB_VERDICT_INCONCLUSIVE)
        return;
    cell->rounds_needed = ab_effect_rounds_needed(e, limit);
    if (least < AB_EFFECT_MIN_ROUNDS)
        AB_FIT(cell->reason,
               "too few rounds: the base has %u, the new result %u, at least %d are needed",
               e->n_base, e->n_new, AB_EFFECT_MIN_ROUNDS);
    bool is_unknown = cell->rounds_needed == UINT32_MAX ||
                      cell->rounds_needed < AB_EFFECT_MIN_ROUNDS;
    /* with so few rounds the noise is not known either, so asks for the minimum */
    if (least < AB_EFFECT_MIN_ROUNDS && is_unknown)
        cell->rounds_needed = AB_EFFECT_MIN_ROUNDS;
}

static bool is_change(enum ab_verdict v)
{
    return v == AB_VERDICT_FAIL || v == AB_VERDICT_IMPROVED;
}

/* Judges by two ratios: the quotient of the medians, which a reader sees, and the estimate from all
 * rounds, which is more accurate. For a change, both must be beyond the limit. */
static void judge_both(struct ab_checked *cell, const struct ab_effect *estimate, double limit)
{
    judge(cell, limit);
    enum ab_verdict shown = cell->verdict;
    if (!is_change(shown) || ab_verdict_of(estimate, limit) == shown)
        return;
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->rounds_needed = ab_effect_rounds_needed(estimate, limit);
    AB_FIT(cell->reason, "estimated from all rounds it is %+.1f %%, within the limit",
           100 * (estimate->ratio - 1));
}

static void add_time(const struct pair *p)
{
    struct ab_checked *cell = add_number(p, &ab_metric_run_time);
    const struct ab_effect estimate = cell->effect;
    show(cell, -INFINITY);
    judge_both(cell, &estimate, p->limit);
}

/* ---- changes of the machine ---- */

static void withhold(struct ab_checked *cell)
{
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->is_drift = true;
    cell->rounds_needed = 0; /* more rounds would not help */
}

/* Judges by the ratio to the control back ends, because a change of the machine affects these as
 * well. The ratio is that of the two changes that are shown, so that a reader can recompute it. As
 * in judge_both, the estimate from the rounds must be beyond the limit too. Returns false if there
 * are too few rounds; the cell then keeps its reason. */
static bool judge_beside(const struct ab_drift *d, struct ab_checked *cell)
{
    bool is_few = isnan(d->relative.low) || isnan(d->relative.high);
    cell->relative = ab_effect_shown(&d->relative, cell->effect.ratio / d->machine.ratio);
    cell->machine_ratio = d->machine.ratio;
    memcpy(cell->controls, d->controls, sizeof cell->controls);
    if (is_few && cell->verdict == AB_VERDICT_INCONCLUSIVE)
        return false;
    cell->verdict = ab_verdict_of(&cell->relative, cell->bound);
    cell->reason[0] = 0;
    cell->rounds_needed = ab_effect_rounds_needed(&d->relative, cell->bound);
    if (is_change(cell->verdict) && ab_verdict_of(&d->relative, cell->bound) != cell->verdict) {
        cell->verdict = AB_VERDICT_INCONCLUSIVE;
        AB_FIT(cell->reason, "estimated from all rounds it is %+.1f %%, within the limit",
               100 * (d->relative.ratio - 1));
    }
    return true;
}

/* Corrects the verdict on the time of the whole run for changes of the machine between the two
 * results. */
static void weigh_drift(const struct pair *p, struct ab_checked *cell)
{
    struct ab_drift d;
    struct ab_drift_question q = {p->c->base, p->c->now, p->base, p->now, &ab_metric_run_time};
    if (cell->verdict == AB_VERDICT_NOT_EVALUATED)
        return;
    ab_drift_measure(&q, &d);
    if (d.is_unchanged) {
        cell->verdict = is_change(cell->verdict) ? AB_VERDICT_MOVED : cell->verdict;
        return;
    }
    if (d.n_controls > 0 && !judge_beside(&d, cell))
        return;
    if ((is_change(cell->verdict) || cell->verdict == AB_VERDICT_PASS) &&
        ab_drift_is_doubtful(&q, &d, ab_check_judged_effect(cell), cell->bound,
                             is_change(cell->verdict), cell->reason, sizeof cell->reason))
        withhold(cell);
    if (d.n_controls == 0 && cell->reason[0] == 0)
        AB_FIT(cell->reason,
               "no witness: no other library is the same build in both, so it may be the machine "
               "that changed");
}

/* ---- phases and ops ---- */

static void add_op_metric(const struct pair *p, const char *phase, unsigned op, const char *name)
{
    struct ab_metric m = ab_metric_of_op(phase, op, name);
    add_metric(p, &m);
}

/* Adds the cells of iterations if both results have timed iterations. */
static void add_iterations(const struct pair *p, const char *phase)
{
    static const unsigned shown[] = {AB_ITERATION_P50, AB_ITERATION_P99,
                                     AB_ITERATION_MISSED_PERCENT};
    const struct ab_iterations *now = ab_session_iterations(p->c->now, phase);
    for (size_t i = 0; i < AB_ARRAY_LEN(shown) && now != NULL; i++) {
        struct ab_metric m = {
            .phase = phase, .number = &ab_iteration_fields[shown[i]], .each = now->name};
        if (ab_session_iterations(p->c->base, phase) != NULL)
            add_metric(p, &m);
    }
}

static void add_percentiles(const struct pair *p, const char *phase)
{
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++)
        for (size_t i = 0; i < AB_ARRAY_LEN(shown_quantiles); i++)
            if (ab_session_has_op(p->c->now, phase, op))
                add_op_metric(p, phase, op, shown_quantiles[i]);
}

static void add_phase(const struct pair *p, const char *phase)
{
    const struct ab_session *s = p->c->now;
    if (s->n_phases > 1)
        add_op_metric(p, phase, AB_OP_ALL, "ns_per_op");
    /* adds nothing if instructions were not counted */
    add_op_metric(p, phase, AB_OP_ALL, "instr_per_op");
    add_percentiles(p, phase);
    add_iterations(p, phase);
}

/* Adds CPU time, memory and faults of a real program. With --inside, also adds the numbers of its
 * allocator calls. */
static void add_program(const struct pair *p)
{
    static const char *const shown[] = {"cpu_ns",
                                        "user_ns",
                                        "system_ns",
                                        "resident_peak_bytes",
                                        "resident_mean_bytes",
                                        "resident_loaded_bytes",
                                        "resident_rested_bytes",
                                        "faults_minor",
                                        "inside_ns",
                                        "inside_ns_per_call",
                                        "outside_ns"};
    const struct ab_session *s = p->c->now;
    for (uint32_t i = 0; i < s->n_named && s->n_phases > 0; i++)
        add_metric(
            p, &(struct ab_metric){.phase = s->phases[0], .op = AB_OP_ALL, .field = s->named[i]});
    for (size_t i = 0; i < AB_ARRAY_LEN(shown) && s->n_phases > 0; i++)
        add_op_metric(p, s->phases[0], AB_OP_ALL, shown[i]);
    for (uint32_t i = 0; i < s->n_phases; i++)
        add_percentiles(p, s->phases[i]);
}

static void add_numbers(const struct pair *p)
{
    const struct ab_session *s = p->c->now;
    add_time(p);
    if (!p->is_paired)
        weigh_drift(p, &p->c->cells[p->c->n_cells - 1]);
    if (ab_session_is_exec(s)) {
        add_program(p);
        return;
    }
    for (uint32_t i = 0; i < s->n_phases; i++)
        if (!ab_session_phase_is_repeated(s, i))
            add_phase(p, s->phases[i]);
    bool has_peaks = ab_session_has_peaks(p->c->base) && ab_session_has_peaks(s);
    add_metric(p, has_peaks ? &ab_metric_run_peak : &ab_metric_run_rss);
}

/* ---- back ends ---- */

static void add_failure(struct ab_comparison *c, const struct ab_backend_info *b, const char *of,
                        const char *what)
{
    struct ab_checked *cell = add_cell(c);
    cell->backend = cell->base_backend = b->name;
    cell->metric = "time";
    cell->unit = "ns";
    cell->verdict = AB_VERDICT_NOT_EVALUATED;
    AB_FIT(cell->reason, "%s %s%s%s", of, what, b->reason[0] != 0 ? ": " : "", b->reason);
}

/* True if both results left the back end out for the same reason: not installed, or not able to do
 * this work. */
static bool is_out_of_both(const struct ab_backend_info *a, const struct ab_backend_info *b)
{
    return a->status == b->status &&
           (ab_backend_status_is_aside(a->status) ||
            (a->status == AB_BACKEND_ABSENT && !a->was_named && !b->was_named));
}

static void add_back_end(const struct pair *p)
{
    const struct ab_backend_info *base = &p->c->base->backends[p->base];
    const struct ab_backend_info *now = &p->c->now->backends[p->now];
    char what[64];
    if (ab_backend_is_comparable(base) && ab_backend_is_comparable(now)) {
        add_numbers(p);
        return;
    }
    if (is_out_of_both(base, now)) {
        note(p->c, "%s is %s in both results: not compared", now->name,
             ab_backend_status_name(now->status));
        return;
    }
    bool is_base = !ab_backend_is_comparable(base);
    AB_FIT(what, "is %s", ab_backend_status_name((is_base ? base : now)->status));
    add_failure(p->c, is_base ? base : now,
                p->is_paired ? "it"
                : is_base    ? "in the base it"
                             : "in the new result it",
                what);
}

/* Notes back ends of the base that were not requested for the new result. */
static void note_missing(struct ab_comparison *c)
{
    for (uint32_t i = 0; i < c->base->n_backends; i++) {
        const struct ab_backend_info *b = &c->base->backends[i];
        if (ab_backend_is_null(b) || ab_session_backend(c->now, b->name) != UINT32_MAX)
            continue;
        note(c, "%s of the base was not run: not compared", b->name);
    }
}

static void fill(struct ab_comparison *c, double limit)
{
    for (uint32_t i = 0; i < c->now->n_backends; i++) {
        const struct ab_backend_info *b = &c->now->backends[i];
        struct pair p = {
            .c = c, .base = ab_session_backend(c->base, b->name), .now = i, .limit = limit};
        if (ab_backend_is_null(b))
            continue;
        if (p.base == UINT32_MAX)
            note(c, "%s is not in the base: not compared", b->name);
        else if (c->now->n_combinations > 0 && !ab_session_is_same_work(c->base, p.base, c->now, i))
            note(c, "%s did other work in the base (digest %.12s, now %.12s): not compared",
                 b->name, ab_session_digest(c->base, p.base), ab_session_digest(c->now, i));
        else if (strcmp(c->base->backends[p.base].map, b->map) != 0)
            note_rules(c, &c->base->backends[p.base], b);
        else
            add_back_end(&p);
    }
    note_missing(c);
    describe(c);
}

void ab_compare_results(const struct ab_session *base, const struct ab_session *now, double limit,
                        struct ab_comparison *out)
{
    *out = (struct ab_comparison){.base = base, .now = now};
    out->is_unsealed = base->is_unsealed || now->is_unsealed;
    fill(out, limit);
}

/* True if the back end's absence is not a failure: nobody requested it and it is not installed, or
 * it cannot do all the work. */
static bool is_left_out(const struct ab_backend_info *b)
{
    return ab_backend_status_is_aside(b->status) ||
           (b->status == AB_BACKEND_ABSENT && !b->was_named);
}

void ab_compare_backends(const struct ab_session *session, uint32_t base, double limit,
                         struct ab_comparison *out)
{
    *out = (struct ab_comparison){.base = session, .now = session};
    for (uint32_t i = 0; i < session->n_backends; i++) {
        uint32_t of_row = ab_session_row(session, base, i);
        struct pair p = {.c = out, .base = of_row, .now = i, .limit = limit, .is_paired = true};
        const struct ab_backend_info *b = &session->backends[i];
        if (i == of_row || ab_backend_is_null(b))
            continue;
        if (of_row == UINT32_MAX || is_left_out(b))
            note(out, "%s is %s: not compared", b->name, ab_backend_status_name(b->status));
        else
            add_back_end(&p);
    }
}

/* ---- correction for many comparisons ---- */

/* Withdraws verdicts that are significant alone, but not after correction for the number of
 * comparisons. */

/* cells that are corrected together: those with a limit or those without, in one direction */
struct family {
    struct ab_comparison *list;
    size_t n_list;
    bool is_judged, is_larger;
    struct ab_checked **cells;
    double *p;
    size_t n;
};

static void collect_family(struct family *f)
{
    f->n = 0;
    for (size_t i = 0; i < f->n_list; i++)
        for (uint32_t k = 0; k < f->list[i].n_cells; k++) {
            struct ab_checked *cell = &f->list[i].cells[k];
            const struct ab_effect *e = ab_check_judged_effect(cell);
            double p = f->is_larger ? e->p_larger : e->p_smaller;
            if (ab_check_is_judged(cell) != f->is_judged || isnan(p))
                continue;
            f->cells[f->n] = cell;
            f->p[f->n++] = p;
        }
}

static bool says_so(const struct family *f, const struct ab_checked *cell)
{
    return f->is_judged ? cell->verdict == (f->is_larger ? AB_VERDICT_FAIL : AB_VERDICT_IMPROVED)
                        : ab_check_direction(cell) == (f->is_larger ? 1 : -1);
}

static void join(struct family *f)
{
    collect_family(f);
    ab_effect_holm(f->p, f->n);
    for (size_t i = 0; i < f->n; i++) {
        struct ab_checked *cell = f->cells[i];
        if (f->p[i] <= AB_EFFECT_ALPHA || !says_so(f, cell))
            continue;
        if (f->is_judged)
            cell->verdict = AB_VERDICT_INCONCLUSIVE;
        AB_FIT(cell->reason, "significant alone, not after correction for %zu comparisons", f->n);
    }
}

void ab_comparisons_join(struct ab_comparison *list, size_t n)
{
    size_t n_cells = 0;
    for (size_t i = 0; i < n; i++)
        n_cells += list[i].n_cells;
    struct family f = {.list = list,
                       .n_list = n,
                       .cells = ab_alloc_zeroed(n_cells + 1, sizeof *f.cells),
                       .p = ab_alloc_zeroed(n_cells + 1, sizeof *f.p)};
    for (unsigned i = 0; i < 4; i++) {
        f.is_judged = (i & 1) != 0;
        f.is_larger = (i & 2) != 0;
        join(&f);
    }
    for (size_t i = 0; i < n; i++)
        list[i].is_joint = true;
    free(f.cells);
    free(f.p);
}

/* ---- whole comparisons ---- */

void ab_comparison_fini(struct ab_comparison *c)
{
    free(c->cells);
    free(c->notes);
    *c = (struct ab_comparison){0};
}

uint32_t ab_comparison_count(const struct ab_comparison *c, enum ab_verdict verdict)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_cells; i++)
        n += ab_check_is_judged(&c->cells[i]) && c->cells[i].verdict == verdict;
    return n;
}

enum ab_status ab_comparison_status(const struct ab_comparison *c)
{
    if (ab_comparison_count(c, AB_VERDICT_NOT_EVALUATED) > 0)
        return AB_BACKEND;
    if (ab_comparison_count(c, AB_VERDICT_FAIL) > 0 && !c->is_advisory)
        return AB_GATE;
    return ab_comparison_count(c, AB_VERDICT_INCONCLUSIVE) > 0 ? AB_INCONCLUSIVE : AB_OK;
}

bool ab_compare_is_alike(const struct ab_session *base, const struct ab_session *now,
                         const struct ab_metric *m)
{
    const struct ab_counting *a = &base->counting, *b = &now->counting;
    bool is_whole = a->n_ops == base->n_tape_ops && b->n_ops == now->n_tape_ops;
    if (ab_metric_is_by_position(m) && !has_same_positions(base, now))
        return false;
    if (!ab_metric_iterations_are_alike(base, now, m) ||
        (ab_metric_pass(m) == AB_PASS_LATENCY && !has_same_code_between(base, now)))
        return false;
    return strcmp(ab_metric_name(m), "instr_per_op") != 0 ||
           (strcmp(a->method, b->method) == 0 &&
            (is_whole || (a->n_ops == b->n_ops && has_same_positions(base, now))));
}
