/* SPDX-License-Identifier: MIT
 *
 * The bound of a gate: a number in the unit of the metric, a ratio to a back end of the run or to
 * the live bytes, or a change against a baseline.
 */
#include "stats/gates/gate_bound.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* How a number of this unit is written. */
static enum ab_unit_kind unit_kind(const char *unit)
{
    return strcmp(unit, "ns") == 0             ? AB_UNIT_TIME_REAL
           : strcmp(unit, "bytes") == 0        ? AB_UNIT_BYTES_REAL
           : strcmp(unit, "x live") == 0       ? AB_UNIT_FRACTION
           : strcmp(unit, "percent") == 0      ? AB_UNIT_FRACTION
           : strcmp(unit, "instructions") == 0 ? AB_UNIT_FRACTION
                                               : AB_UNIT_COUNT;
}

static bool read_size(struct ab_gate_parser *p, struct ab_gate_span x, double *out)
{
    const char *unit = ab_metric_unit(&p->gate.metric), *name = ab_metric_name(&p->gate.metric);
    bool is_percent = strcmp(unit, "percent") == 0;
    struct ab_number number;
    char word[AB_GATE_WORD_BYTES];
    const char *bad = ab_units_parse(x.s, x.n, unit_kind(unit), &number);
    if (bad == NULL && is_percent && x.s[x.n - 1] != '%')
        bad = "expected a percentage such as 5%";
    if (bad != NULL)
        return ab_gate_fail(p, x, "'%s' cannot bound %s: %s", ab_gate_shown(word, x), name, bad);
    *out = is_percent ? number.value * 100 : number.value;
    return true;
}

static bool read_factor(struct ab_gate_parser *p, struct ab_gate_span x)
{
    struct ab_number number;
    char word[AB_GATE_WORD_BYTES];
    const char *bad = ab_units_parse(x.s, x.n, AB_UNIT_FRACTION, &number);
    if (bad == NULL && number.value <= 0)
        bad = "must be above 0";
    if (bad != NULL)
        return ab_gate_fail(p, x, "'%s' is not a factor: %s", ab_gate_shown(word, x), bad);
    p->gate.bound = number.value;
    return true;
}

/* The length of NUMBER in "NUMBERx NAME", or 0. */
static size_t factor_length(struct ab_gate_span x)
{
    size_t n = 0;
    while (n < x.n && strchr("0123456789._e", x.s[n]) != NULL)
        n++;
    return n > 0 && n < x.n && x.s[n] == 'x' ? n : 0;
}

static bool read_ratio(struct ab_gate_parser *p, struct ab_gate_span bound, size_t n_factor)
{
    struct ab_gate *g = &p->gate;
    struct ab_gate_span factor = {bound.s, n_factor};
    struct ab_gate_span name = ab_gate_trim(
        (struct ab_gate_span){bound.s + n_factor + 1, bound.n - n_factor - 1});
    const char *unit = ab_metric_unit(&g->metric);
    char word[AB_GATE_WORD_BYTES];
    if (!read_factor(p, factor))
        return false;
    if (name.n == 0)
        return ab_gate_fail(p, bound,
                            "%.*sx of what? add a back end, or 'live' for the peak of "
                            "live bytes",
                            (int)(n_factor < 20 ? n_factor : 20), bound.s);
    snprintf(g->unit, sizeof g->unit, "x %.*s", (int)(name.n < 120 ? name.n : 120), name.s);
    if (ab_gate_is_word(name, "live") && !p->is_claim) {
        bool is_by_live = strcmp(unit, "x live") == 0; /* the number is one already */
        g->against = is_by_live ? AB_GATE_ABSOLUTE : AB_GATE_LIVE;
        if (is_by_live)
            return true;
        if (strcmp(unit, "bytes") == 0 && g->metric.memory != NULL)
            return true;
        return ab_gate_fail(p, name, "'live' bounds sizes of memory, such as rss_peak; %s is in %s",
                            ab_metric_name(&g->metric), unit);
    }
    g->against = AB_GATE_BACKEND;
    if (!ab_gate_read_backend(p, name, &g->other, g->other_name))
        return false;
    if (g->backend != AB_GATE_EACH && strcmp(g->name, g->other_name) == 0)
        return ab_gate_fail(p, name, "'%s' compared with itself", ab_gate_shown(word, name));
    return true;
}

/* Cuts " floor SIZE" off the bound. */
static bool read_floor(struct ab_gate_parser *p, struct ab_gate_span *bound,
                       struct ab_gate_span *floor)
{
    static const char word[] = "floor";
    const size_t n = sizeof word - 1;
    floor->n = 0;
    for (size_t i = 1; i + n <= bound->n; i++) {
        if (!ab_gate_is_blank(bound->s[i - 1]) || memcmp(bound->s + i, word, n) != 0 ||
            (i + n < bound->n && !ab_gate_is_blank(bound->s[i + n])))
            continue;
        *floor = ab_gate_trim((struct ab_gate_span){bound->s + i + n, bound->n - i - n});
        *bound = ab_gate_trim((struct ab_gate_span){bound->s, i});
        if (floor->n == 0)
            return ab_gate_fail(p, *bound, "floor: a size is missing, such as floor 20ns");
        return true;
    }
    return true;
}

/* "+10%" */
static bool is_change(struct ab_gate_span bound)
{
    return bound.n > 1 && (bound.s[0] == '+' || bound.s[0] == '-') && bound.s[bound.n - 1] == '%';
}

/* A percentage of what is no share of anything: a change was meant. */
static bool is_bare_percent(const struct ab_gate_parser *p, struct ab_gate_span bound)
{
    const char *unit = ab_metric_unit(&p->gate.metric);
    return !p->is_claim && bound.s[bound.n - 1] == '%' && strcmp(unit, "percent") != 0 &&
           strcmp(unit, "x live") != 0;
}

/* How much more or less than the baseline: the bound becomes a factor of it. */
static bool read_change(struct ab_gate_parser *p, struct ab_gate_span bound)
{
    struct ab_gate *g = &p->gate;
    struct ab_number number;
    char word[AB_GATE_WORD_BYTES];
    bool is_less = bound.s[0] == '-';
    const char *bad = ab_units_parse(bound.s + 1, bound.n - 1, AB_UNIT_FRACTION, &number);
    if (bad == NULL && is_less && number.value >= 1)
        bad = "nothing can shrink by 100 % or more";
    if (bad == NULL && number.value > 1000)
        bad = "at most 100000 %";
    if (bad != NULL)
        return ab_gate_fail(p, bound, "'%s' is not a change: %s", ab_gate_shown(word, bound), bad);
    g->against = AB_GATE_BASELINE;
    g->bound = is_less ? 1 - number.value : 1 + number.value;
    snprintf(g->unit, sizeof g->unit, "x baseline");
    return true;
}

bool ab_gate_read_bound(struct ab_gate_parser *p, struct ab_gate_span bound)
{
    struct ab_gate_span floor;
    char word[AB_GATE_WORD_BYTES];
    if (bound.n == 0)
        return ab_gate_fail(p, bound, "the bound is missing, such as 2us or 0.5x glibc");
    if (!read_floor(p, &bound, &floor))
        return false;
    size_t n_factor = factor_length(bound);
    if (is_change(bound) && !p->is_claim)
        return read_change(p, bound) && (floor.n == 0 || read_size(p, floor, &p->gate.floor));
    if (is_bare_percent(p, bound) && ab_metric_is_count(&p->gate.metric))
        return ab_gate_fail(p, bound, "'%s' is no bound of a count: gate missed_percent instead",
                            ab_gate_shown(word, bound));
    if (is_bare_percent(p, bound))
        return ab_gate_fail(p, bound,
                            "'%s': write +%s for a change against the baseline, or a number in %s",
                            ab_gate_shown(word, bound), ab_gate_shown(word, bound),
                            ab_metric_unit(&p->gate.metric));
    if (p->is_claim && (n_factor == 0 || floor.n > 0))
        return ab_gate_fail(p, floor.n > 0 ? floor : bound,
                            "a claim is a ratio to a back end, such as 0.1x glibc");
    if (n_factor > 0 && !read_ratio(p, bound, n_factor))
        return false;
    if (n_factor > 0 && p->gate.against != AB_GATE_ABSOLUTE)
        return floor.n == 0 || read_size(p, floor, &p->gate.floor);
    if (floor.n > 0)
        return ab_gate_fail(p, floor, "'floor' belongs to a ratio: 1.1x glibc floor 20ns");
    if (n_factor > 0)
        return true;
    p->gate.against = AB_GATE_ABSOLUTE;
    snprintf(p->gate.unit, sizeof p->gate.unit, "%s", ab_metric_unit(&p->gate.metric));
    return read_size(p, bound, &p->gate.bound);
}
