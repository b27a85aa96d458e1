/* SPDX-License-Identifier: MIT
 *
 * The cells of a comparison: for each back end the time of the whole run, which has a limit, then
 * what is only shown (time of each phase, percentiles of each op, peak memory). What keeps a back
 * end from being compared becomes a failed cell, never silence.
 */
#include "stats/compare.h"

#include "base/bits.h"
#include "core/grow.h"
#include "core/memory.h"
#include "result/session.h"
#include "stats/compare_drift.h"
#include "stats/compare_notes.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double least_count_change = 0.001; /* of what is counted, to be worth a word */
/* Percentiles that a comparison shows. */
static const char *const shown_quantiles[] = {"p50", "p99", "p99.5", "p99.9"};

/* One back end against another. */
struct pair {
    struct ab_comparison *c;
    uint32_t base, now; /* in their sessions */
    double limit;
    bool is_paired; /* by rounds of one session */
};

typedef double round_number(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round);

/* ---- cells ---- */

static struct ab_cell *add_cell(struct ab_comparison *c)
{
    AB_GROW(c->cells, c->cap_cells, c->n_cells);
    c->cells[c->n_cells] = (struct ab_cell){
        .base = NAN,
        .now = NAN,
        .effect = {.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN},
        .limit = NAN,
        .confirm_ratio = NAN,
        .relative = {.ratio = NAN, .low = NAN, .high = NAN, .sd = NAN},
        .machine_ratio = NAN,
    };
    return &c->cells[c->n_cells++];
}

static struct ab_cell *add_pair_cell(const struct pair *p)
{
    struct ab_cell *cell = add_cell(p->c);
    cell->backend = p->c->now->backends[p->now].name;
    cell->base_backend = p->c->base->backends[p->base].name;
    return cell;
}

/* The number of each round, at least `floor`; free it. */
static double *collect(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                       round_number *number, double floor)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds + 1, sizeof x[0]);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        x[i] = number(s, backend, m, s->rounds[i].index);
        if (x[i] < floor)
            x[i] = floor;
    }
    return x;
}

/* Returns the larger of both sides' clock floors, below which latencies say nothing. */
static double floor_of(const struct ab_session *base, const struct ab_session *now,
                       const struct ab_metric *m)
{
    if (m == NULL || !ab_metric_is_latency(m))
        return -INFINITY;
    return ab_compare_floor_ns(base, now);
}

/* The ratio is that of the two numbers beside it. */
static void show(struct ab_cell *cell, double floor)
{
    double base = cell->base < floor ? floor : cell->base;
    double now = cell->now < floor ? floor : cell->now;
    if (isfinite(cell->effect.ratio) && isfinite(now) && base > 0)
        cell->effect = ab_effect_shown(&cell->effect, now / base);
}

/* Counted and not timed, by what the allocator does and not by when: one round may do. */
static bool is_counted(const struct ab_metric *m)
{
    static const char *const units[] = {"instructions", "calls", "faults"};
    for (size_t i = 0; m != NULL && i < AB_ARRAY_LEN(units); i++)
        if (strcmp(ab_metric_unit(m), units[i]) == 0)
            return true;
    return false;
}

/* Rounds in which no iteration is missed count: by their differences. */
static struct ab_effect effect_of(const struct pair *p, const struct ab_metric *m,
                                  const double *base, const double *now)
{
    uint32_t n_base = p->c->base->n_rounds, n = p->c->now->n_rounds;
    if (m != NULL && m->iteration != NULL && ab_iteration_field_needs_budget(m->iteration))
        return ab_effect_by_mean(base, n_base, now, n, p->is_paired);
    return p->is_paired ? ab_effect_paired(base, now, n) : ab_effect_unpaired(base, n_base, now, n);
}

static void measure(const struct pair *p, const struct ab_metric *m, round_number *number,
                    struct ab_effect *effect)
{
    const struct ab_session *s[2] = {p->c->base, p->c->now};
    double floor = floor_of(s[0], s[1], m);
    double *base = collect(s[0], p->base, m, number, floor);
    double *now = collect(s[1], p->now, m, number, floor);
    if (is_counted(m))
        *effect = ab_effect_counted(base, s[0]->n_rounds, now, s[1]->n_rounds);
    else if (m != NULL && !ab_metric_iterations_have_ratio(s[0], p->base, m, s[1], p->now))
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

static void forgive(const struct pair *p, struct ab_cell *cell)
{
    if (fabs(cell->now - cell->base) < ab_compare_step_ns(p->c->base, p->c->now) &&
        !isnan(cell->effect.low))
        snprintf(cell->reason, sizeof cell->reason,
                 "the difference is below two steps of the clock");
}

void ab_compare_metric(const struct ab_session *base, uint32_t base_backend,
                       const struct ab_session *now, uint32_t backend, const struct ab_metric *m,
                       struct ab_effect *effect)
{
    struct ab_comparison c = {.base = base, .now = now};
    struct pair p = {.c = &c, .base = base_backend, .now = backend, .is_paired = base == now};
    measure(&p, m, ab_metric_of_round, effect);
}

/* Two zeros have no ratio: none is missed, then as now. */
static void set_equal(struct ab_cell *cell)
{
    cell->effect.ratio = cell->effect.low = cell->effect.high = 1;
    cell->effect.method = AB_EFFECT_EXACT;
    snprintf(cell->reason, sizeof cell->reason, "0 on both sides");
}

static void add_metric(const struct pair *p, const struct ab_metric *m)
{
    double base = ab_metric_value(p->c->base, p->base, m);
    double now = ab_metric_value(p->c->now, p->now, m);
    if ((isnan(base) && isnan(now)) || !ab_compare_is_alike(p->c->base, p->c->now, m))
        return; /* neither has enough ops for it, or each another part of them */
    struct ab_cell *cell = add_pair_cell(p);
    measure(p, m, ab_metric_of_round, &cell->effect);
    cell->phase = m->phase;
    cell->op = ab_metric_is_latency(m) ? ab_result_op_name(m->op) : NULL;
    cell->iteration = m->iteration != NULL ? m->each : NULL;
    cell->metric = ab_metric_name(m);
    cell->unit = ab_metric_unit(m);
    cell->base = base;
    cell->now = now;
    show(cell, floor_of(p->c->base, p->c->now, m));
    if (ab_metric_is_latency(m))
        forgive(p, cell);
    else if (m->iteration != NULL && base == 0 && now == 0)
        set_equal(cell);
    else if (is_counted(m) && fabs(cell->effect.ratio - 1) < least_count_change)
        snprintf(cell->reason, sizeof cell->reason, "the difference is below 0.1 %%");
}

/* ---- the whole run ---- */

static bool is_program(const struct ab_session *s)
{
    return strcmp(s->kind, AB_KIND_EXEC) == 0;
}

static double time_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    (void)m;
    return ab_session_run_time_of_round(s, backend, round);
}

static double median_time(const struct ab_session *s, uint32_t backend)
{
    double *x = collect(s, backend, NULL, time_of_round, -INFINITY);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_rounds; i++)
        if (isfinite(x[i]))
            x[n++] = x[i];
    double median = ab_round_range_of(x, n).median;
    free(x);
    return median;
}

static double rss_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                           uint32_t round)
{
    (void)m;
    return ab_session_rss_peak_of_round(s, backend, round);
}

static void judge(struct ab_cell *cell, double limit)
{
    const struct ab_effect *e = &cell->effect;
    uint32_t least = e->n_base < e->n_new ? e->n_base : e->n_new;
    cell->limit = limit;
    if (isnan(e->ratio)) {
        cell->verdict = AB_VERDICT_FAILED;
        snprintf(cell->reason, sizeof cell->reason, "no time was measured on %s side",
                 isnan(cell->base) && isnan(cell->now) ? "either"
                 : isnan(cell->base)                   ? "the base's"
                                                       : "the new");
        return;
    }
    cell->verdict = ab_verdict_of(e, limit); /* too few rounds have no interval */
    if (cell->verdict != AB_VERDICT_INCONCLUSIVE)
        return;
    cell->rounds_needed = ab_effect_rounds_needed(e, limit);
    if (least < AB_EFFECT_MIN_ROUNDS)
        snprintf(cell->reason, sizeof cell->reason,
                 "too few rounds: the base has %u, the new result %u, at least %d are needed",
                 e->n_base, e->n_new, AB_EFFECT_MIN_ROUNDS);
    bool is_unknown = cell->rounds_needed == UINT32_MAX ||
                      cell->rounds_needed < AB_EFFECT_MIN_ROUNDS;
    if (least < AB_EFFECT_MIN_ROUNDS && is_unknown) /* of so few not even the noise is known */
        cell->rounds_needed = AB_EFFECT_MIN_ROUNDS;
}

/* The quotient of two medians is what a reader sees, the estimate from all rounds errs less: both
 * must be beyond the limit. */
static void judge_both(struct ab_cell *cell, const struct ab_effect *estimate, double limit)
{
    judge(cell, limit);
    enum ab_verdict shown = cell->verdict;
    bool is_change = shown == AB_VERDICT_REGRESSED || shown == AB_VERDICT_IMPROVED;
    if (!is_change || ab_verdict_of(estimate, limit) == shown)
        return;
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->rounds_needed = ab_effect_rounds_needed(estimate, limit);
    snprintf(cell->reason, sizeof cell->reason,
             "estimated from all rounds it is %+.1f %%, within the limit",
             100 * (estimate->ratio - 1));
}

static void add_time(const struct pair *p)
{
    struct ab_cell *cell = add_pair_cell(p);
    measure(p, NULL, time_of_round, &cell->effect);
    cell->metric = "time";
    cell->unit = "ns";
    cell->base = median_time(p->c->base, p->base);
    cell->now = median_time(p->c->now, p->now);
    const struct ab_effect estimate = cell->effect;
    show(cell, -INFINITY);
    judge_both(cell, &estimate, p->limit);
}

static void add_memory(const struct pair *p)
{
    double base = ab_session_rss_peak(p->c->base, p->base).median;
    double now = ab_session_rss_peak(p->c->now, p->now).median;
    if (isnan(base) && isnan(now))
        return; /* strict order, or no such pass */
    struct ab_cell *cell = add_pair_cell(p);
    measure(p, NULL, rss_of_round, &cell->effect);
    cell->metric = "rss_peak_bytes";
    cell->unit = "bytes";
    cell->base = base;
    cell->now = now;
    show(cell, -INFINITY);
}

/* ---- phases and ops ---- */

static const struct ab_field *field_named(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    return NULL;
}

static void add_op(const struct pair *p, const char *phase, unsigned op)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(shown_quantiles); i++) {
        struct ab_metric m = {.phase = phase, .field = field_named(shown_quantiles[i]), .op = op};
        if (m.field != NULL)
            add_metric(p, &m);
    }
}

/* Adds the cells of iterations, where both results have timed them. */
static void add_iterations(const struct pair *p, const char *phase)
{
    static const unsigned shown[] = {AB_ITERATION_P50, AB_ITERATION_P99,
                                     AB_ITERATION_MISSED_PERCENT};
    const struct ab_iterations *now = ab_session_iterations(p->c->now, phase);
    for (size_t i = 0; i < AB_ARRAY_LEN(shown) && now != NULL; i++) {
        struct ab_metric m = {
            .phase = phase, .iteration = &ab_iteration_fields[shown[i]], .each = now->name};
        if (ab_session_iterations(p->c->base, phase) != NULL)
            add_metric(p, &m);
    }
}

static void add_phase(const struct pair *p, const char *phase)
{
    const struct ab_session *s = p->c->now;
    struct ab_metric time = {.phase = phase, .field = field_named("ns_per_op"), .op = AB_OP_ALL};
    struct ab_metric count = {
        .phase = phase, .field = field_named("instr_per_op"), .op = AB_OP_ALL};
    if (s->n_phases > 1 && time.field != NULL)
        add_metric(p, &time);
    if (count.field != NULL) /* where they were counted */
        add_metric(p, &count);
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++)
        if (ab_session_has_op(s, phase, op))
            add_op(p, phase, op);
    add_iterations(p, phase);
}

/* CPU time, memory and faults of a real program. */
static void add_program(const struct pair *p)
{
    static const char *const shown[] = {
        "cpu_ns",      "user_ns", "system_ns", "resident_peak_bytes", "resident_mean_bytes",
        "faults_minor"};
    for (size_t i = 0; i < AB_ARRAY_LEN(shown) && p->c->now->n_phases > 0; i++) {
        struct ab_metric m = {
            .phase = p->c->now->phases[0], .field = field_named(shown[i]), .op = AB_OP_ALL};
        if (m.field != NULL)
            add_metric(p, &m);
    }
}

static void add_numbers(const struct pair *p)
{
    const struct ab_session *s = p->c->now;
    add_time(p);
    if (is_program(s)) {
        add_program(p);
        return;
    }
    for (uint32_t i = 0; i < s->n_phases; i++)
        if (!ab_session_phase_is_repeated(s, i))
            add_phase(p, s->phases[i]);
    add_memory(p);
}

/* ---- back ends ---- */

static void add_failure(struct ab_comparison *c, const struct ab_backend_info *b, const char *of,
                        const char *what)
{
    struct ab_cell *cell = add_cell(c);
    cell->backend = cell->base_backend = b->name;
    cell->metric = "time";
    cell->unit = "ns";
    cell->verdict = AB_VERDICT_FAILED;
    snprintf(cell->reason, sizeof cell->reason, "%s %s%s%.100s", of, what,
             b->reason[0] != 0 ? ": " : "", b->reason);
}

/* Was left out of both alike: not installed, or not able to do this work. */
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
        ab_comparison_note(p->c, "%.120s is %s in both results: not compared", now->name,
                           ab_backend_status_name(now->status));
        return;
    }
    bool is_base = !ab_backend_is_comparable(base);
    snprintf(what, sizeof what, "is %s", ab_backend_status_name((is_base ? base : now)->status));
    add_failure(p->c, is_base ? base : now,
                p->is_paired ? "it"
                : is_base    ? "in the base it"
                             : "in the new result it",
                what);
}

/* Notes back ends of the base that the new result was not asked to measure. */
static void note_missing(struct ab_comparison *c)
{
    for (uint32_t i = 0; i < c->base->n_backends; i++) {
        const struct ab_backend_info *b = &c->base->backends[i];
        if (ab_backend_is_null(b) || ab_compare_find(c->now, b->name) != UINT32_MAX)
            continue;
        ab_comparison_note(c, "%.120s of the base was not run: not compared", b->name);
    }
}

static void fill(struct ab_comparison *c, double limit)
{
    for (uint32_t i = 0; i < c->now->n_backends; i++) {
        const struct ab_backend_info *b = &c->now->backends[i];
        struct pair p = {
            .c = c, .base = ab_compare_find(c->base, b->name), .now = i, .limit = limit};
        if (ab_backend_is_null(b))
            continue;
        if (p.base == UINT32_MAX)
            ab_comparison_note(c, "%.120s is not in the base: not compared", b->name);
        else if (strcmp(c->base->backends[p.base].map, b->map) != 0)
            ab_comparison_note_rules(c, &c->base->backends[p.base], b);
        else
            add_back_end(&p);
    }
    note_missing(c);
    ab_comparison_describe(c);
}

void ab_compare_results(const struct ab_session *base, const struct ab_session *now, double limit,
                        struct ab_comparison *out)
{
    *out = (struct ab_comparison){.base = base, .now = now};
    fill(out, limit);
    ab_comparison_weigh_drift(out);
}

/* It was not asked for, or it did not do all the work: no failure. */
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
        struct pair p = {.c = out, .base = base, .now = i, .limit = limit, .is_paired = true};
        const struct ab_backend_info *b = &session->backends[i];
        if (i == base || ab_backend_is_null(b))
            continue;
        if (is_left_out(b))
            ab_comparison_note(out, "%.120s is %s: not compared", b->name,
                               ab_backend_status_name(b->status));
        else
            add_back_end(&p);
    }
}

/* Takes verdicts back: those that new rounds do not confirm, and those that are significant alone
 * but not after correction for all comparisons. */

static bool is_suspicious(const struct ab_cell *cell)
{
    return ab_cell_is_judged(cell) && cell->verdict == AB_VERDICT_REGRESSED;
}

uint32_t ab_comparison_suspicious(const struct ab_comparison *c, bool *is_concerned)
{
    uint32_t n = 0, i;
    for (uint32_t k = 0; k < c->n_cells; k++) {
        const struct ab_cell *cell = &c->cells[k];
        if (!is_suspicious(cell))
            continue;
        if ((i = ab_compare_find(c->now, cell->backend)) != UINT32_MAX)
            is_concerned[i] = true;
        if (c->base == c->now && (i = ab_compare_find(c->now, cell->base_backend)) != UINT32_MAX)
            is_concerned[i] = true;
        n++;
    }
    return n;
}

static const struct ab_cell *find_cell(const struct ab_comparison *c, const struct ab_cell *like)
{
    for (uint32_t i = 0; i < c->n_cells; i++)
        if (ab_cell_is_judged(&c->cells[i]) && strcmp(c->cells[i].metric, like->metric) == 0 &&
            strcmp(c->cells[i].backend, like->backend) == 0 &&
            strcmp(c->cells[i].base_backend, like->base_backend) == 0)
            return &c->cells[i];
    return NULL;
}

void ab_comparison_confirm(struct ab_comparison *c, const struct ab_comparison *again)
{
    for (uint32_t i = 0; i < c->n_cells; i++) {
        struct ab_cell *cell = &c->cells[i];
        const struct ab_cell *other = is_suspicious(cell) ? find_cell(again, cell) : NULL;
        if (other == NULL || other->verdict == AB_VERDICT_FAILED)
            continue; /* not measured again: it stands */
        cell->n_confirm = other->effect.n_new;
        cell->confirm_ratio = ab_cell_judged_effect(other)->ratio;
        if (other->verdict == AB_VERDICT_REGRESSED)
            continue;
        cell->verdict = AB_VERDICT_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "%+.1f %% at first, %+.1f %% in %u more rounds: not confirmed",
                 100 * (ab_cell_judged_effect(cell)->ratio - 1), 100 * (cell->confirm_ratio - 1),
                 other->effect.n_new);
    }
}

/* ---- jointly ---- */

struct family { /* of cells that are judged together */
    struct ab_comparison *list;
    size_t n_list;
    bool is_judged, is_larger;
    struct ab_cell **cells;
    double *p;
    size_t n;
};

static void compare_confirm_collect(struct family *f)
{
    f->n = 0;
    for (size_t i = 0; i < f->n_list; i++)
        for (uint32_t k = 0; k < f->list[i].n_cells; k++) {
            struct ab_cell *cell = &f->list[i].cells[k];
            const struct ab_effect *e = ab_cell_judged_effect(cell);
            double p = f->is_larger ? e->p_larger : e->p_smaller;
            if (ab_cell_is_judged(cell) != f->is_judged || isnan(p))
                continue;
            f->cells[f->n] = cell;
            f->p[f->n++] = p;
        }
}

static bool says_so(const struct family *f, const struct ab_cell *cell)
{
    if (f->is_judged)
        return cell->verdict == (f->is_larger ? AB_VERDICT_REGRESSED : AB_VERDICT_IMPROVED);
    return strcmp(ab_cell_word(cell), f->is_larger ? "worse" : "better") == 0;
}

static void join(struct family *f)
{
    compare_confirm_collect(f);
    ab_effect_holm(f->p, f->n);
    for (size_t i = 0; i < f->n; i++) {
        struct ab_cell *cell = f->cells[i];
        if (f->p[i] <= AB_EFFECT_ALPHA || !says_so(f, cell))
            continue;
        if (f->is_judged)
            cell->verdict = AB_VERDICT_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "significant alone, not after correction for %zu comparisons", f->n);
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
