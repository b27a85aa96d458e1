/* SPDX-License-Identifier: MIT
 *
 * Divides what the machine did out of a change between two results. Times of back ends of one round
 * were measured next to each other, so that their quotient is taken in each round: it is then a
 * number a round like any other, with an interval of its own.
 */
#include "stats/compare_drift.h"

#include "core/median.h"
#include "core/memory.h"
#include "stats/compare_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPU must explain at least this part of an effect, on logarithms. */
static const double least_share = 0.5;
/* More of the time than this without the CPU makes a result one of a busy machine. */
static const double most_lost = 0.13;

/* ---- witnesses ---- */

bool ab_drift_is_unchanged(const struct ab_backend_info *a, const struct ab_backend_info *b)
{
    return a->build_id[0] != 0 && strcmp(a->build_id, b->build_id) == 0 &&
           strcmp(a->version, b->version) == 0 && strcmp(a->settings, b->settings) == 0 &&
           strcmp(a->map, b->map) == 0;
}

static bool is_witness(const struct ab_drift_question *q, uint32_t base, uint32_t now)
{
    const struct ab_backend_info *a = &q->base->backends[base], *b = &q->now->backends[now];
    return now != q->backend && ab_backend_is_comparable(a) && ab_backend_is_comparable(b) &&
           ab_drift_is_unchanged(a, b);
}

/* ---- times ---- */

static double time_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    if (m == NULL)
        return ab_session_run_time_of_round(s, backend, round);
    double x = ab_metric_of_round(s, backend, m, round);
    return strcmp(ab_metric_unit(m), "1/s") == 0 ? 1 / x : x;
}

static double at_least(double x, double floor)
{
    return x < floor ? floor : x; /* what is missing stays so */
}

/* Time of a back end in each round, divided by that of another where there is one. Free it. */
static double *times_of(const struct ab_session *s, uint32_t backend, uint32_t by,
                        const struct ab_metric *m, double floor)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds + 1, sizeof x[0]);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        uint32_t round = s->rounds[i].index;
        x[i] = at_least(time_of_round(s, backend, m, round), floor);
        if (by != UINT32_MAX)
            x[i] /= at_least(time_of_round(s, by, m, round), floor);
    }
    return x;
}

struct side {
    uint32_t backend, by; /* UINT32_MAX = by nothing */
};

static void measure(const struct ab_drift_question *q, struct side base, struct side now,
                    struct ab_effect *out)
{
    bool is_latency = q->metric != NULL && ab_metric_is_latency(q->metric);
    double floor = is_latency ? ab_compare_floor_ns(q->base, q->now) : (double)NAN;
    double *a = times_of(q->base, base.backend, base.by, q->metric, floor);
    double *b = times_of(q->now, now.backend, now.by, q->metric, floor);
    *out = ab_effect_unpaired(a, q->base->n_rounds, b, q->now->n_rounds);
    free(a);
    free(b);
}

/* ---- several witnesses ---- */

enum middle { LOWER, UPPER };

/* The member at `offset` that at least half of them do not exceed, or reach; n is above 0. */
static double median_of(const struct ab_effect *list, uint32_t n, size_t offset, enum middle which,
                        double *room)
{
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&room[i], (const char *)&list[i] + offset, sizeof room[i]);
        if (isnan(room[i]))
            return NAN;
    }
    ab_median_sort(room, n);
    return room[which == LOWER ? (n - 1) / 2 : n / 2];
}

/* Each bound is one that more than half of the list agree to. */
static struct ab_effect agree(const struct ab_effect *list, uint32_t n, double *room)
{
#define MEDIAN(member, which) median_of(list, n, offsetof(struct ab_effect, member), which, room)
    struct ab_effect e = list[0]; /* rounds and method are alike */
    e.ratio = sqrt(MEDIAN(ratio, LOWER) * MEDIAN(ratio, UPPER));
    e.low = MEDIAN(low, LOWER);
    e.high = MEDIAN(high, UPPER);
    e.sd = MEDIAN(sd, UPPER);
    e.p_larger = MEDIAN(p_larger, UPPER);
    e.p_smaller = MEDIAN(p_smaller, UPPER);
    return e;
#undef MEDIAN
}

struct heard { /* of each witness */
    struct ab_effect *machine, *relative;
    double *room;
    uint32_t n;
};

static void hear(const struct ab_drift_question *q, uint32_t base, uint32_t now, struct heard *h)
{
    struct ab_effect machine, relative;
    measure(q, (struct side){base, UINT32_MAX}, (struct side){now, UINT32_MAX}, &machine);
    measure(q, (struct side){q->base_backend, base}, (struct side){q->backend, now}, &relative);
    if (isnan(machine.ratio) || isnan(relative.ratio))
        return; /* no time of it in one of the results */
    h->machine[h->n] = machine;
    h->relative[h->n++] = relative;
}

static void hear_all(const struct ab_drift_question *q, struct heard *h, struct ab_drift *out)
{
    const char *first = "";
    for (uint32_t i = 0; i < q->now->n_backends; i++) {
        uint32_t base = ab_compare_find(q->base, q->now->backends[i].name), n = h->n;
        if (base == UINT32_MAX || !is_witness(q, base, i))
            continue;
        hear(q, base, i, h);
        if (n == 0 && h->n > 0)
            first = q->now->backends[i].name;
    }
    out->n_witnesses = h->n;
    if (h->n == 0)
        return;
    out->machine = agree(h->machine, h->n, h->room);
    out->relative = agree(h->relative, h->n, h->room);
    snprintf(out->witnesses, sizeof out->witnesses, "%.60s", first);
    if (h->n > 1)
        snprintf(out->witnesses, sizeof out->witnesses, "%.60s and %u other%s", first, h->n - 1,
                 h->n > 2 ? "s" : "");
}

void ab_drift_measure(const struct ab_drift_question *q, struct ab_drift *out)
{
    uint32_t n = q->now->n_backends;
    struct heard h = {.machine = ab_alloc_zeroed((size_t)n + 1, sizeof *h.machine),
                      .relative = ab_alloc_zeroed((size_t)n + 1, sizeof *h.relative),
                      .room = ab_alloc_zeroed((size_t)n + 1, sizeof *h.room)};
    const struct ab_backend_info *a = &q->base->backends[q->base_backend];
    *out = (struct ab_drift){
        .is_unchanged = ab_drift_is_unchanged(a, &q->now->backends[q->backend]),
        .machine = {.ratio = NAN, .low = NAN, .high = NAN},
        .relative = {.ratio = NAN, .low = NAN, .high = NAN}};
    hear_all(q, &h, out);
    free(h.machine);
    free(h.relative);
    free(h.room);
}

/* ---- what they say ---- */

bool ab_drift_has_moved(const struct ab_drift *d, double limit, char *reason, size_t cap)
{
    if (!(fabs(log(d->machine.ratio)) > log1p(limit)))
        return false;
    snprintf(reason, cap,
             "machine drift: unchanged %s %s %.1f %% %s time too; measure both in one run",
             d->witnesses, d->n_witnesses > 1 ? "take" : "takes", 100 * fabs(d->machine.ratio - 1),
             d->machine.ratio > 1 ? "more" : "less");
    return true;
}

/* The loop between the slices, which uses registers alone and is in every result. */
bool ab_drift_is_of_cpu(const struct ab_drift_question *q, const struct ab_effect *effect,
                        double limit, char *reason, size_t cap)
{
    double cpu = log(q->now->noise.canary_quiet_ns / q->base->noise.canary_quiet_ns);
    double moved = log(effect->ratio), sign = moved > 0 ? 1 : -1;
    if (!isfinite(cpu) || sign * cpu < least_share * fabs(moved) ||
        sign * (moved - cpu) > log1p(limit))
        return false;
    snprintf(reason, cap,
             "CPU drift: allocbench's own test loop takes %.1f %% %s time too; measure both in "
             "one run",
             100 * fabs(exp(cpu) - 1), sign > 0 ? "more" : "less");
    return true;
}

/* For which part of its time a session had no CPU: other programs had it, as a rule. 0 = not known:
 * several threads wait for each other, too. */
static double lost_share(const struct ab_session *s)
{
    const struct ab_noise *n = &s->noise;
    return n->slices_s > 0 && n->wall_s > 0 && n->cpu_s > 0 ? 1 - n->cpu_s / n->wall_s : 0;
}

bool ab_drift_is_doubtful(const struct ab_drift_question *q, const struct ab_effect *effect,
                          double limit, char *reason, size_t cap)
{
    double lost = fmax(lost_share(q->base), lost_share(q->now));
    double end = effect->ratio > 1 ? effect->low : 1 / effect->high;
    if (lost <= most_lost || end > 1 + limit)
        return false;
    snprintf(reason, cap,
             "the runs had no CPU for %.0f %% of the time, and the interval is not wholly "
             "beyond the limit; measure both in one run, or when the machine is idle",
             100 * lost);
    return true;
}

/* ---- the time of a comparison ---- */

static bool is_change(enum ab_verdict v)
{
    return v == AB_VERDICT_REGRESSED || v == AB_VERDICT_IMPROVED;
}

static void withhold(struct ab_cell *cell)
{
    cell->verdict = AB_VERDICT_INCONCLUSIVE;
    cell->is_drift = true;
    cell->rounds_needed = 0; /* more of them would not help */
}

/* By the ratio to the witnesses: what the machine did is in both. */
static void judge_beside(const struct ab_drift_question *q, const struct ab_drift *d,
                         struct ab_cell *cell)
{
    bool is_few = isnan(d->relative.low) || isnan(d->relative.high);
    cell->relative = d->relative;
    cell->machine_ratio = d->machine.ratio;
    memcpy(cell->witnesses, d->witnesses, sizeof cell->witnesses);
    if (is_few && cell->verdict == AB_VERDICT_INCONCLUSIVE)
        return; /* with the reason that it has */
    cell->verdict = ab_verdict_of(&d->relative, cell->limit);
    cell->reason[0] = 0;
    cell->rounds_needed = ab_effect_rounds_needed(&d->relative, cell->limit);
    if ((cell->verdict == AB_VERDICT_OK &&
         ab_drift_has_moved(d, cell->limit, cell->reason, sizeof cell->reason)) ||
        (is_change(cell->verdict) &&
         ab_drift_is_doubtful(q, &d->relative, cell->limit, cell->reason, sizeof cell->reason)))
        withhold(cell);
}

static void judge_alone(const struct ab_drift_question *q, struct ab_cell *cell)
{
    const struct ab_effect *e = &cell->effect;
    if (is_change(cell->verdict) &&
        (ab_drift_is_of_cpu(q, e, cell->limit, cell->reason, sizeof cell->reason) ||
         ab_drift_is_doubtful(q, e, cell->limit, cell->reason, sizeof cell->reason)))
        withhold(cell);
    if (cell->reason[0] == 0)
        snprintf(cell->reason, sizeof cell->reason,
                 "no witness: no other library is the same build in both, so it may be the machine "
                 "that changed");
}

static void weigh(const struct ab_comparison *c, struct ab_cell *cell)
{
    struct ab_drift d;
    struct ab_drift_question q = {.base = c->base,
                                  .now = c->now,
                                  .base_backend = ab_compare_find(c->base, cell->base_backend),
                                  .backend = ab_compare_find(c->now, cell->backend)};
    ab_drift_measure(&q, &d);
    if (d.is_unchanged && is_change(cell->verdict))
        cell->verdict = AB_VERDICT_MOVED;
    else if (!d.is_unchanged && d.n_witnesses > 0)
        judge_beside(&q, &d, cell);
    else if (!d.is_unchanged)
        judge_alone(&q, cell);
}

void ab_comparison_weigh_drift(struct ab_comparison *c)
{
    for (uint32_t i = 0; i < c->n_cells && c->base != c->now; i++) {
        struct ab_cell *cell = &c->cells[i];
        if (ab_cell_is_judged(cell) && cell->verdict != AB_VERDICT_FAILED &&
            strcmp(cell->metric, "time") == 0)
            weigh(c, cell);
    }
}
