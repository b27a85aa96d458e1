/* SPDX-License-Identifier: MIT
 *
 * Finds the back ends of all sessions, their ratios, and the workloads that count. Computes means
 * and ranks, and finds for each row one that dominates it. Judges gates on means.
 */
#include "stats/suite_means.h"

#include "core/alloc.h"
#include "core/text.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_suite_metric_names[AB_SUITE_METRICS] = {"time", "memory"};

static const struct ab_effect no_effect = {
    .ratio = NAN, .low = NAN, .high = NAN, .sd = NAN, .p_larger = NAN, .p_smaller = NAN};

/* ---- rows ---- */

static uint32_t row_of(const struct ab_suite_figures *f, const char *name)
{
    uint32_t i = 0;
    while (i < f->n_rows && strcmp(f->rows[i].name, name) != 0)
        i++;
    return i < f->n_rows ? i : UINT32_MAX;
}

/* Returns the index of the back end with this name in the session of a workload; UINT32_MAX =
 * none. */
static uint32_t backend_in(const struct ab_suite_work *w, const char *name)
{
    const struct ab_session *s = w->session;
    for (uint32_t b = 0; s != NULL && b < s->n_backends; b++)
        if (s->backends[b].combination == w->combination &&
            ab_backend_is_named(&s->backends[b], name))
            return b;
    return UINT32_MAX;
}

static uint32_t add_row(struct ab_suite_figures *f, const char *name, const char *full_name)
{
    struct ab_suite_row *row = &f->rows[f->n_rows];
    *row = (struct ab_suite_row){0};
    AB_COPY(row->name, name);
    row->full_name = full_name;
    return f->n_rows++;
}

static void add_rows(struct ab_suite_figures *f)
{
    size_t most = 0;
    for (uint32_t w = 0; w < f->n_works; w++)
        most += f->works[w].session != NULL ? f->works[w].session->n_backends : 0;
    f->rows = ab_alloc_zeroed(most + 1, sizeof f->rows[0]);
    for (uint32_t w = 0; w < f->n_works; w++) {
        const struct ab_session *s = f->works[w].session;
        for (uint32_t b = 0; s != NULL && b < s->n_backends; b++) {
            const struct ab_backend_info *info = &s->backends[b];
            bool is_shown = !ab_backend_is_null(info) && info->status != AB_BACKEND_ABSENT;
            const char *name = AB_OWN_NAME(info);
            uint32_t row = row_of(f, name);
            if (is_shown && row == UINT32_MAX)
                row = add_row(f, name, info->full_name);
            if (is_shown && ab_backend_is_comparable(info))
                f->rows[row].is_compared = true;
        }
    }
}

static void find_base(struct ab_suite_figures *f, const char *base)
{
    char own[AB_BACKEND_NAME_BYTES];
    for (uint32_t w = 0; w < f->n_works && base == NULL; w++) {
        const struct ab_session *s = f->works[w].session;
        uint32_t b = s != NULL ? ab_session_base(s) : UINT32_MAX;
        if (b != UINT32_MAX)
            base = ab_backend_own_name(&s->backends[b], own);
    }
    f->base = base != NULL ? row_of(f, base) : UINT32_MAX;
    if (f->base != UINT32_MAX)
        f->rows[f->base].is_base = true;
}

/* ---- cells ---- */

static const struct ab_suite_cell *cell_at(const struct ab_suite_figures *f, uint32_t work,
                                           uint32_t row)
{
    return &f->cells[(size_t)work * f->n_rows + row];
}

static bool is_too_little(const struct ab_suite_work *w)
{
    return ab_session_is_too_little(w->session, w->combination, &(double){0}, &(double){0});
}

static void fill_cell(const struct ab_suite_figures *f, uint32_t work, uint32_t row,
                      struct ab_suite_cell *cell)
{
    const struct ab_suite_work *of = &f->works[work];
    const struct ab_session *s = of->session;
    uint32_t b = backend_in(of, f->rows[row].name);
    uint32_t base = f->base != UINT32_MAX ? backend_in(of, f->rows[f->base].name) : UINT32_MAX;
    *cell = (struct ab_suite_cell){
        .value = {NAN, NAN}, .ratio = {no_effect, no_effect}, .failure = ""};
    if (b == UINT32_MAX || !ab_backend_is_comparable(&s->backends[b]))
        cell->failure = b != UINT32_MAX ? ab_backend_status_name(s->backends[b].status)
                                        : "no result";
    if (b == UINT32_MAX || !ab_session_has_numbers(s, b))
        return;
    cell->value[AB_SUITE_TIME] = ab_session_run_time(s, b).median;
    const struct ab_metric *peak = f->is_of_readings ? &ab_metric_run_rss
                                                     : ab_session_peak_metric(s);
    cell->value[AB_SUITE_MEMORY] = ab_metric_value(s, b, peak);
    if (cell->failure[0] != 0 || base == UINT32_MAX ||
        !ab_backend_is_comparable(&s->backends[base]) || is_too_little(of))
        return;
    cell->ratio[AB_SUITE_TIME] = ab_session_speed(s, base, b, NULL);
    cell->ratio[AB_SUITE_MEMORY] = ab_metric_ratio(s, b, base, peak).effect;
}

/* Writes why a workload cannot count for the means; "" = it can. */
static void find_why(const struct ab_suite_figures *f, uint32_t work, char *why)
{
    const struct ab_suite_work *of = &f->works[work];
    const char *plain = of->session == NULL         ? of->reason
                        : !of->session->is_complete ? "interrupted"
                        : f->base == UINT32_MAX     ? "nothing to compare with"
                        : is_too_little(of)         ? "too little work"
                                                    : "";
    snprintf(why, AB_SUITE_WHY_BYTES, "%s",
             of->session == NULL && plain[0] == 0 ? "no result" : plain);
    for (uint32_t row = 0; row < f->n_rows && why[0] == 0; row++) {
        const struct ab_suite_cell *cell = cell_at(f, work, row);
        if (!f->rows[row].is_compared)
            continue;
        if (cell->failure[0] != 0)
            snprintf(why, AB_SUITE_WHY_BYTES, "%.100s: %s", f->rows[row].name, cell->failure);
        else if (!isfinite(cell->ratio[AB_SUITE_TIME].ratio))
            snprintf(why, AB_SUITE_WHY_BYTES, "%.100s: no time to compare", f->rows[row].name);
    }
}

/* ---- means ---- */

static bool is_counted(const struct ab_suite_figures *f, uint32_t work, unsigned metric)
{
    bool is = f->why[work][0] == 0;
    for (uint32_t row = 0; row < f->n_rows && is; row++) {
        double ratio = cell_at(f, work, row)->ratio[metric].ratio;
        is = !f->rows[row].is_compared || (isfinite(ratio) && ratio > 0);
    }
    return is;
}

/* Returns the 95th percentile of Student's distribution, by its expansion around the normal
 * distribution (Abramowitz and Stegun 26.7.5). The error is below 0.001 from five degrees of
 * freedom on. */
static double student(double freedom)
{
    const double z = 1.6448536269514722, z2 = z * z;
    double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96,
           g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + (g1 + (g2 + g3 / freedom) / freedom) / freedom;
}

static struct ab_suite_mean mean_of(const struct ab_suite_figures *f, uint32_t row, unsigned metric)
{
    double sum = 0, variance = 0, welch = 0;
    uint32_t k = f->n_counted[metric];
    for (uint32_t w = 0; w < f->n_works; w++) {
        const struct ab_effect *e = &cell_at(f, w, row)->ratio[metric];
        if (!is_counted(f, w, metric))
            continue;
        double v = acos(0) * e->sd * e->sd / e->n_new; /* NaN if there is one round */
        sum += log(e->ratio);
        variance += v;
        welch += v * v / (e->n_new - 1.0);
    }
    struct ab_suite_mean m = {.ratio = NAN, .low = NAN, .high = NAN, .freedom = NAN};
    if (k == 0)
        return m;
    m.ratio = exp(sum / k);
    m.freedom = variance == 0 ? INFINITY : variance * variance / welch;
    /* true also if `freedom` is NaN; a single workload needs as many rounds */
    if (!(m.freedom >= AB_EFFECT_MIN_ROUNDS - 1))
        return m;
    double half = student(m.freedom) * sqrt(variance) / k;
    m.low = m.ratio * exp(-half);
    m.high = m.ratio * exp(half);
    return m;
}

/* Fills why, n_counted and the means of all rows. The mean of the base is 1 by definition. */
static void fill_means(struct ab_suite_figures *f)
{
    for (uint32_t w = 0; w < f->n_works; w++)
        find_why(f, w, f->why[w]);
    for (unsigned m = 0; m < AB_SUITE_METRICS; m++) {
        for (uint32_t w = 0; w < f->n_works; w++)
            f->n_counted[m] += is_counted(f, w, m);
        for (uint32_t r = 0; r < f->n_rows; r++) {
            f->rows[r].mean[m] = (struct ab_suite_mean){NAN, NAN, NAN, NAN, 0};
            if (f->rows[r].is_compared)
                f->rows[r].mean[m] = mean_of(f, r, m);
        }
    }
}

static void fill_ranks(struct ab_suite_figures *f)
{
    for (unsigned m = 0; m < AB_SUITE_METRICS; m++)
        for (uint32_t r = 0; r < f->n_rows; r++) {
            double ratio = f->rows[r].mean[m].ratio;
            uint32_t rank = 1;
            for (uint32_t k = 0; k < f->n_rows; k++)
                rank += f->rows[k].mean[m].ratio < ratio;
            f->rows[r].mean[m].rank = isfinite(ratio) ? rank : 0;
        }
}

/* Finds for each row the fastest of the rows that dominate it: not slower, not larger, and better
 * in time or memory. */
static void find_better(struct ab_suite_figures *f)
{
    for (uint32_t r = 0; r < f->n_rows; r++) {
        double time = f->rows[r].mean[AB_SUITE_TIME].ratio,
               memory = f->rows[r].mean[AB_SUITE_MEMORY].ratio, best = INFINITY;
        f->rows[r].better = UINT32_MAX;
        for (uint32_t k = 0; k < f->n_rows; k++) {
            double t = f->rows[k].mean[AB_SUITE_TIME].ratio,
                   b = f->rows[k].mean[AB_SUITE_MEMORY].ratio;
            if (t <= time && b <= memory && (t < time || b < memory) && t < best) {
                best = t;
                f->rows[r].better = k;
            }
        }
    }
}

/* Sorts the rows by rank in time. Rows without a rank come last, in their previous order. */
static void sort_rows(struct ab_suite_figures *f)
{
    for (uint32_t i = 1; i < f->n_rows; i++)
        for (uint32_t k = i; k > 0; k--) {
            uint32_t a = f->rows[k - 1].mean[AB_SUITE_TIME].rank - 1u,
                     /* rank 0 (no rank) becomes UINT32_MAX */
                b = f->rows[k].mean[AB_SUITE_TIME].rank - 1u;
            if (a <= b)
                break;
            struct ab_suite_row row = f->rows[k];
            f->rows[k] = f->rows[k - 1];
            f->rows[k - 1] = row;
            for (uint32_t w = 0; w < f->n_works; w++) {
                struct ab_suite_cell *c = &f->cells[(size_t)w * f->n_rows + k], cell = *c;
                *c = c[-1];
                c[-1] = cell;
            }
        }
    for (uint32_t r = 0; r < f->n_rows; r++)
        if (f->rows[r].is_base)
            f->base = r;
}

static void make(const struct ab_suite_work *works, uint32_t n, const char *base,
                 bool is_of_readings, struct ab_suite_figures *out)
{
    struct ab_suite_figures f = {.works = works, .n_works = n, .is_of_readings = is_of_readings};
    add_rows(&f);
    find_base(&f, base);
    f.cells = ab_alloc_zeroed((size_t)n * f.n_rows + 1, sizeof f.cells[0]);
    f.why = ab_alloc_zeroed((size_t)n + 1, sizeof f.why[0]);
    for (uint32_t w = 0; w < n; w++)
        for (uint32_t r = 0; r < f.n_rows; r++)
            fill_cell(&f, w, r, &f.cells[(size_t)w * f.n_rows + r]);
    fill_means(&f);
    fill_ranks(&f);
    sort_rows(&f);
    find_better(&f);
    *out = f;
}

void ab_suite_figures_make(const struct ab_suite_work *works, uint32_t n, const char *base,
                           struct ab_suite_figures *out)
{
    make(works, n, base, false, out);
}

void ab_suite_figures_fini(struct ab_suite_figures *f)
{
    free(f->rows);
    free(f->cells);
    free(f->why);
    *f = (struct ab_suite_figures){0};
}

/* ---- gates on means ---- */

bool ab_suite_gate_is_mean(const char *text)
{
    static const char mean[] = AB_SUITE_MEAN "/";
    const char *at = text + strspn(text, " \t"), *end = at + strcspn(at, "<>=");
    if (strncmp(at, mean, sizeof mean - 1) == 0)
        return true;
    for (; at < end; at++)
        if (*at == ':' && strncmp(at + 1, mean, sizeof mean - 1) == 0)
            return true;
    return false;
}

static bool is_of_time(const struct ab_gate *g)
{
    return g->metric.field != NULL && g->metric.op == AB_OP_ALL &&
           strcmp(g->metric.field->name, "ns_per_op") == 0;
}

/* True if the gate bounds the mean of this number (`name`) of memory records. */
static bool is_of(const struct ab_gate *g, const char *name)
{
    return g->metric.number != NULL && strcmp(g->metric.number->name, name) == 0;
}

bool ab_suite_gate_parse(const char *text, const char *const *known, size_t n_known,
                         struct ab_gate *out, struct ab_gate_error *error)
{
    static const struct ab_gate_phase mean = {.name = AB_SUITE_MEAN, .kinds = 1};
    const char **names = ab_alloc_zeroed(n_known + 1, sizeof names[0]);
    struct ab_gate_scope scope = {
        .phases = &mean, .n_phases = 1, .backends = names, .n_backends = n_known + 1};
    struct ab_gate gate;
    names[0] = AB_SUITE_BASE;
    for (size_t i = 0; i < n_known; i++)
        names[i + 1] = known[i];
    bool is_read = ab_gate_parse(text, false, &scope, &gate, error);
    free(names);
    if (!is_read)
        return false;
    bool is_mean = is_of_time(&gate) || is_of(&gate, "peak_bytes") ||
                   is_of(&gate, "rss_peak_bytes");
    *error = (struct ab_gate_error){.n = strlen(text)};
    if (!is_mean)
        AB_FIT(error->text, "a mean over workloads is of " AB_SUITE_MEAN
                            "/all/ns_per_op or " AB_SUITE_MEAN "/memory/peak_bytes");
    else if (gate.against != AB_AGAINST_BACKEND)
        AB_FIT(error->text,
               "a mean over workloads is a ratio: write a bound such as 1.05x " AB_SUITE_BASE);
    if (error->text[0] != 0)
        return false;
    *out = gate;
    return true;
}

static void judge_mean(const struct ab_suite_figures *f, const struct ab_gate *g,
                       const struct ab_suite_row *row, struct ab_checked *c)
{
    unsigned metric = is_of_time(g) ? AB_SUITE_TIME : AB_SUITE_MEMORY;
    const struct ab_suite_mean *m = &row->mean[metric];
    struct ab_effect e = no_effect;
    e.ratio = m->ratio;
    e.low = m->low;
    e.high = m->high;
    e.n_base = e.n_new = f->n_counted[metric];
    e.method = isnan(m->ratio) ? AB_EFFECT_NONE : isnan(m->low) ? AB_EFFECT_FEW : AB_EFFECT_PAIRED;
    c->effect = e;
    if (isnan(m->ratio))
        AB_FIT(c->reason, "no workload counts: %s",
               row->is_compared ? f->n_works > 0 ? f->why[0] : "there is none"
                                : "it has no numbers to compare");
    else if (isnan(m->low))
        c->verdict = ab_check_holds(g->compare, m->ratio, g->bound) ? AB_VERDICT_PASS
                                                                    : AB_VERDICT_FAIL;
    else
        c->verdict = ab_check_decide(&e, g->compare, g->bound);
    c->status = c->verdict == AB_VERDICT_PASS           ? AB_OK
                : c->verdict == AB_VERDICT_INCONCLUSIVE ? AB_INCONCLUSIVE
                                                        : AB_GATE;
}

static struct ab_checked mean_check(const struct ab_gate *g)
{
    return (struct ab_checked){.base_backend = g->other_name,
                               .phase = AB_SUITE_MEAN,
                               .op = ab_metric_of(&g->metric),
                               .metric = ab_metric_name(&g->metric),
                               .unit = ab_metric_unit(&g->metric),
                               .base = NAN,
                               .now = NAN,
                               .effect = no_effect,
                               .relative = no_effect,
                               .machine_ratio = NAN,
                               .bound = g->bound,
                               .confirm = NAN,
                               .low = NAN,
                               .high = NAN,
                               .verdict = AB_VERDICT_NOT_EVALUATED,
                               .against = AB_AGAINST_BACKEND,
                               .status = AB_GATE,
                               .text = g->text,
                               .place = g->place};
}

/* Judges a gate on the named row, or on each compared row except the one that it compares with.
 * Returns the number of entries. */
static uint32_t judge_gate(const struct ab_suite_figures *f, const struct ab_gate *g,
                           struct ab_checked *out)
{
    bool is_each = g->backend == AB_GATE_EACH;
    const char *other = strcmp(g->other_name, AB_SUITE_BASE) != 0 ? g->other_name
                        : f->base != UINT32_MAX                   ? f->rows[f->base].name
                                                                  : NULL;
    struct ab_suite_figures by;
    uint32_t n = 0;
    make(f->works, f->n_works, other, is_of(g, "rss_peak_bytes"), &by);
    for (uint32_t r = 0; r < by.n_rows; r++) {
        const struct ab_suite_row *row = &by.rows[r];
        if (is_each ? row->is_base || !row->is_compared : strcmp(row->name, g->name) != 0)
            continue;
        out[n] = mean_check(g);
        out[n].backend = f->rows[row_of(f, row->name)].name;
        judge_mean(&by, g, row, &out[n++]);
    }
    if (n == 0) {
        out[0] = mean_check(g);
        AB_FIT(out[0].reason, "there is no %s in these workloads",
               is_each ? "other back end" : g->name);
        n = 1;
    }
    ab_suite_figures_fini(&by);
    return n;
}

struct ab_checked *ab_suite_gates_judge(const struct ab_suite_figures *f,
                                        const struct ab_gate *gates, size_t n_gates, uint32_t *n)
{
    struct ab_checked *list = ab_alloc_zeroed(n_gates * (f->n_rows + 1u) + 1, sizeof list[0]);
    *n = 0;
    for (size_t i = 0; i < n_gates; i++)
        *n += judge_gate(f, &gates[i], list + *n);
    return list;
}
