/* SPDX-License-Identifier: MIT
 *
 * Separates changes of the machine from changes of a back end between two results. In each round,
 * the time of a back end is divided by that of a control back end, because both were measured next
 * to each other. This gives one number per round, with an interval of its own.
 */
#include "stats/compare_drift.h"

#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* smallest part of an effect, on logarithms, that a change of the CPU must explain */
static const double least_share = 0.5;
/* Fraction of the time without the CPU above which a result counts as measured on a busy
 * machine. */
static const double most_lost = 0.13;

/* ---- control back ends ---- */

bool ab_drift_is_unchanged(const struct ab_backend_info *a, const struct ab_backend_info *b)
{
    return a->build_id[0] != 0 && strcmp(a->build_id, b->build_id) == 0 &&
           strcmp(a->version, b->version) == 0 && strcmp(a->settings, b->settings) == 0 &&
           strcmp(a->map, b->map) == 0 && strcmp(a->program_sha256, b->program_sha256) == 0;
}

static bool are_twins(const struct ab_backend_info *a, const struct ab_backend_info *b)
{
    return a->combination == b->combination && strcmp(a->program, b->program) == 0 &&
           ab_backend_is_comparable(a) && ab_backend_is_comparable(b) &&
           ab_drift_is_unchanged(a, b) && a->aging.occupancy == b->aging.occupancy &&
           a->aging.multiple == b->aging.multiple;
}

uint32_t ab_drift_twin(const struct ab_session *s, uint32_t backend)
{
    const struct ab_backend_info *own = &s->backends[backend];
    uint32_t base = ab_session_base_of(s, backend);
    if (base != UINT32_MAX && are_twins(&s->backends[base], own))
        return base;
    for (uint32_t i = 0; i < backend; i++)
        if (are_twins(&s->backends[i], own))
            return i;
    return backend;
}

static bool is_control(const struct ab_drift_question *q, uint32_t base, uint32_t now)
{
    const struct ab_backend_info *a = &q->base->backends[base], *b = &q->now->backends[now];
    return now != q->backend && ab_backend_is_comparable(a) && ab_backend_is_comparable(b) &&
           ab_drift_is_unchanged(a, b);
}

/* ---- times ---- */

static double time_of_round(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    double x = ab_metric_of_round(s, backend, m, round);
    return ab_metric_is_rate(m) ? 1 / x : x;
}

static double at_least(double x, double floor)
{
    return x < floor ? floor : x; /* keeps NaN, for which the comparison is false */
}

/* Returns the time of a back end in each round, divided by that of the back end `by`; UINT32_MAX =
 * not divided. The caller frees the array. */
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
    uint32_t backend, by; /* by: control back end whose times are the divisors; UINT32_MAX = none */
};

static void measure(const struct ab_drift_question *q, struct side base, struct side now,
                    struct ab_effect *out)
{
    double floor = ab_metric_floor(q->metric, q->base, q->now);
    double *a = times_of(q->base, base.backend, base.by, q->metric, floor);
    double *b = times_of(q->now, now.backend, now.by, q->metric, floor);
    *out = ab_effect_unpaired(a, q->base->n_rounds, b, q->now->n_rounds);
    free(a);
    free(b);
}

/* ---- several control back ends ---- */

enum middle { LOWER, UPPER };

/* Returns the lower or upper median of the member at `offset` of the effects; NaN if a member is
 * NaN. n must be above 0. */
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

/* Combines several effects into one, whose bounds hold for more than half of the list. */
static struct ab_effect agree(const struct ab_effect *list, uint32_t n, double *room)
{
#define MEDIAN(member, which) median_of(list, n, offsetof(struct ab_effect, member), which, room)
    struct ab_effect e = list[0]; /* rounds and method are the same in all effects */
    e.ratio = sqrt(MEDIAN(ratio, LOWER) * MEDIAN(ratio, UPPER));
    e.low = MEDIAN(low, LOWER);
    e.high = MEDIAN(high, UPPER);
    e.sd = MEDIAN(sd, UPPER);
    e.p_larger = MEDIAN(p_larger, UPPER);
    e.p_smaller = MEDIAN(p_smaller, UPPER);
    return e;
#undef MEDIAN
}

/* Computes *out from all control back ends. The arrays `machine` and `relative` are scratch space
 * for one effect per back end. */
static void ask(const struct ab_drift_question *q, struct ab_effect *machine,
                struct ab_effect *relative, struct ab_drift *out)
{
    const char *first = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->now->n_backends; i++) {
        uint32_t base = ab_session_backend(q->base, q->now->backends[i].name);
        if (base == UINT32_MAX || !is_control(q, base, i) ||
            q->now->backends[i].combination != q->now->backends[q->backend].combination)
            continue;
        measure(q, (struct side){base, UINT32_MAX}, (struct side){i, UINT32_MAX}, &machine[n]);
        measure(q, (struct side){q->base_backend, base}, (struct side){q->backend, i},
                &relative[n]);
        if (isnan(machine[n].ratio) || isnan(relative[n].ratio))
            continue; /* one of the results has no time of this control back end */
        first = n == 0 ? q->now->backends[i].name : first;
        n++;
    }
    out->n_controls = n;
    if (n == 0)
        return;
    double *room = ab_alloc_zeroed(n, sizeof *room);
    out->machine = agree(machine, n, room);
    out->relative = agree(relative, n, room);
    free(room);
    AB_FIT(out->controls, "%.60s", first);
    if (n > 1)
        AB_FIT(out->controls, "%.60s and %u other%s", first, n - 1, n > 2 ? "s" : "");
}

void ab_drift_measure(const struct ab_drift_question *q, struct ab_drift *out)
{
    const struct ab_effect none = {.ratio = NAN, .low = NAN, .high = NAN};
    size_t most = (size_t)q->now->n_backends + 1;
    struct ab_effect *machine = ab_alloc_zeroed(2 * most, sizeof *machine);
    *out = (struct ab_drift){
        .is_unchanged = ab_drift_is_unchanged(&q->base->backends[q->base_backend],
                                              &q->now->backends[q->backend]),
        .machine = none,
        .relative = none};
    ask(q, machine, machine + most, out);
    free(machine);
}

/* ---- conclusions ---- */

/* True if the times of the control back ends changed by more than the limit. Writes the reason. */
static bool has_moved(const struct ab_drift *d, double limit, char *reason, size_t cap)
{
    if (!(fabs(log(d->machine.ratio)) > log1p(limit)))
        return false;
    snprintf(reason, cap,
             "machine drift: unchanged %s %s %.1f %% %s time too; measure both in one run",
             d->controls, d->n_controls > 1 ? "take" : "takes", 100 * fabs(d->machine.ratio - 1),
             d->machine.ratio > 1 ? "more" : "less");
    return true;
}

/* True if a change of the CPU may explain at least half of the effect, and the rest is within the
 * limit. Used if there are no control back ends. The speed of the CPU is read from the canary, a
 * loop between slices, which uses registers only and is in every result. */
static bool is_of_cpu(const struct ab_drift_question *q, const struct ab_effect *effect,
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

/* Returns the fraction of its time in which a session had no CPU, usually because other programs
 * used it. 0 = not known. With several threads it is not known either, because threads wait for
 * each other. */
static double lost_share(const struct ab_session *s)
{
    const struct ab_noise *n = &s->noise;
    return n->slices_s > 0 && n->wall_s > 0 && n->cpu_s > 0 ? 1 - n->cpu_s / n->wall_s : 0;
}

/* True if other programs may explain the effect: more than 13 % of the time was lost to them, and
 * the interval is not wholly beyond the limit. Such a loss is an error that all rounds of a result
 * share. */
static bool is_of_others(const struct ab_drift_question *q, const struct ab_effect *effect,
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

bool ab_drift_is_doubtful(const struct ab_drift_question *q, const struct ab_drift *d,
                          const struct ab_effect *effect, double limit, bool is_change,
                          char *reason, size_t cap)
{
    if (!is_change)
        return d->n_controls > 0 && has_moved(d, limit, reason, cap);
    return (d->n_controls == 0 && is_of_cpu(q, effect, limit, reason, cap)) ||
           is_of_others(q, effect, limit, reason, cap);
}
