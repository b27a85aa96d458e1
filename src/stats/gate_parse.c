/* SPDX-License-Identifier: MIT
 *
 * Cuts the text from its outside in: comparison, bound, then the metric from its right end,
 * because names of back ends may hold ':' and '/' of their own (slab:threads=sharded,
 * jemalloc{A=B:C}) while phases, ops and statistics may not.
 */
#include "stats/gate.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/text.h"
#include "stats/gate_text.h"

#include <stdio.h>
#include <string.h>

#define FORM "[BACKEND:]PHASE/OP/STAT"

/* ---- back ends ---- */

/* Without its settings: "slab" of "slab:threads=sharded". */
static struct ab_gate_span base_of(struct ab_gate_span name)
{
    size_t n = 0;
    while (n < name.n && name.s[n] != ':' && name.s[n] != '{')
        n++;
    return (struct ab_gate_span){name.s, n};
}

static bool fail_backend(struct ab_gate_parser *p, struct ab_gate_span name)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < p->scope->n_backends; i++)
        ab_gate_add_name(&names, p->scope->backends[i]);
    for (size_t i = 0; i < names.n; i++) {
        const char *here = names.items[i];
        struct ab_gate_span base = base_of((struct ab_gate_span){here, strlen(here)}),
                            own = base_of(name);
        char quoted[AB_GATE_WORD_BYTES], is[160];
        if (base.n == own.n && memcmp(base.s, own.s, own.n) == 0)
            return ab_gate_fail(p, name, "no back end '%s' in this run; did you mean '%s'?",
                                ab_gate_shown(quoted, name),
                                ab_text_printable(is, sizeof is, here));
    }
    return ab_gate_fail_unknown(p, name, "back end", &names);
}

static bool read_backend(struct ab_gate_parser *p, struct ab_gate_span name, uint32_t *out,
                         char copy[128])
{
    const struct ab_gate_scope *scope = p->scope;
    struct ab_gate_span base = base_of(name);
    if (name.n == 0)
        return ab_gate_fail(p, (struct ab_gate_span){name.s, 1},
                            "the name of a back end is missing");
    if (ab_gate_is_word(base, "null"))
        return ab_gate_fail(p, name, "the null back end measures the harness; it has no gates");
    snprintf(copy, 128, "%.*s", (int)(name.n < 128 ? name.n : 127), name.s);
    for (size_t i = 0; i < scope->n_backends; i++)
        if (ab_gate_is_word(name, scope->backends[i])) {
            *out = (uint32_t)i;
            return true;
        }
    for (size_t i = 0; i < scope->n_backends; i++) {
        const char *here = scope->backends[i];
        struct ab_gate_span other = base_of((struct ab_gate_span){here, strlen(here)});
        if (other.n == base.n && memcmp(other.s, base.s, base.n) == 0)
            return fail_backend(p, name);
    }
    for (size_t i = 0; i < scope->n_known; i++)
        if (ab_gate_is_word(base, scope->known[i])) {
            *out = AB_GATE_ELSEWHERE;
            return true;
        }
    return fail_backend(p, name);
}

/* ---- phase, op, statistic ---- */

static const struct {
    const char *name;
    enum ab_memory_at at;
} places[] = {
    {"memory", AB_AT_FOOTPRINT_PEAK},
    {"footprint_peak", AB_AT_FOOTPRINT_PEAK},
    {"live_peak", AB_AT_LIVE_PEAK},
    {"end", AB_AT_END},
};

static const struct ab_field *find_field(struct ab_gate_span x)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_gate_is_word(x, ab_fields[i].name))
            return &ab_fields[i];
    return NULL;
}

static bool is_memory_name(struct ab_gate_span x, const char *name)
{
    size_t n = strlen(name);
    static const char tail[] = "_bytes";
    return ab_gate_is_word(x, name) || (n == x.n + sizeof tail - 1 && memcmp(x.s, name, x.n) == 0 &&
                                        strcmp(name + x.n, tail) == 0);
}

static const struct ab_memory_field *find_memory_field(struct ab_gate_span x)
{
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (is_memory_name(x, ab_memory_fields[i].name))
            return &ab_memory_fields[i];
    for (size_t i = 0; i < AB_DRAIN_COUNT; i++)
        if (ab_gate_is_word(x, ab_drain_fields[i].name))
            return &ab_drain_fields[i];
    return NULL;
}

static bool is_op_name(struct ab_gate_span x)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        if (ab_gate_is_word(x, places[i].name))
            return true;
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        if (ab_gate_is_word(x, ab_result_op_name(k)))
            return true;
    return false;
}

static const struct ab_gate_phase *find_phase(const struct ab_gate_parser *p, struct ab_gate_span x)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (ab_gate_is_word(x, p->scope->phases[i].name))
            return &p->scope->phases[i];
    return NULL;
}

/* Kinds of all stretches of that name. */
static uint32_t kinds_of(const struct ab_gate_parser *p, const char *phase)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (strcmp(p->scope->phases[i].name, phase) == 0)
            kinds |= p->scope->phases[i].kinds;
    return kinds;
}

static bool fail_stat(struct ab_gate_parser *p, struct ab_gate_span stat, bool is_memory,
                      bool is_all)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < ab_field_count && !is_memory; i++)
        if (is_all || ab_fields[i].group != AB_FIELD_ALL)
            ab_gate_add_name(&names, ab_fields[i].name);
    for (size_t i = 0; i < ab_memory_field_count && is_memory; i++)
        ab_gate_add_name(&names, ab_memory_fields[i].name);
    for (size_t i = 0; i < AB_DRAIN_COUNT && is_memory; i++)
        ab_gate_add_name(&names, ab_drain_fields[i].name);
    return ab_gate_fail_unknown(p, stat, is_memory ? "memory statistic" : "statistic", &names);
}

static bool read_memory_stat(struct ab_gate_parser *p, struct ab_gate_span op,
                             struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    char phase[160], word[AB_GATE_WORD_BYTES];
    m->memory = find_memory_field(stat);
    if (m->memory == NULL && find_field(stat) != NULL)
        return ab_gate_fail(p, stat,
                            "'%s' is not a memory statistic: write "
                            "%s/all/%s",
                            ab_gate_shown(word, stat),
                            ab_text_printable(phase, sizeof phase, m->phase),
                            ab_gate_shown(word, stat));
    if (m->memory == NULL)
        return fail_stat(p, stat, true, false);
    bool is_drain = m->memory >= ab_drain_fields && m->memory < ab_drain_fields + AB_DRAIN_COUNT;
    if (is_drain && !ab_gate_is_word(op, "memory") && !ab_gate_is_word(op, "end"))
        return ab_gate_fail(p, op,
                            "'%s' is measured at the end: write "
                            "%s/end/%s",
                            ab_gate_shown(word, stat),
                            ab_text_printable(phase, sizeof phase, m->phase),
                            ab_gate_shown(word, stat));
    if (is_drain)
        m->at = AB_AT_END;
    return true;
}

static bool read_stat(struct ab_gate_parser *p, struct ab_gate_span op, struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    char phase[160], word[AB_GATE_WORD_BYTES];
    ab_text_printable(phase, sizeof phase, m->phase);
    m->field = find_field(stat);
    if (m->field == NULL && find_memory_field(stat) != NULL)
        return ab_gate_fail(p, op,
                            "'%s' is a memory statistic: write "
                            "%s/memory/%s",
                            ab_gate_shown(word, stat), phase, ab_gate_shown(word, stat));
    if (m->field == NULL)
        return fail_stat(p, stat, false, m->op == AB_OP_ALL);
    if (m->field->group == AB_FIELD_ALL && m->op != AB_OP_ALL)
        return ab_gate_fail(p, op, "'%s' is of all ops of a phase: write %s/all/%s", m->field->name,
                            phase, m->field->name);
    return true;
}

static bool read_op(struct ab_gate_parser *p, struct ab_gate_span op, struct ab_gate_span stat)
{
    struct ab_gate_names names = {.n = 0};
    uint32_t kinds = kinds_of(p, p->gate.metric.phase);
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        if (ab_gate_is_word(op, places[i].name)) {
            p->gate.metric.at = places[i].at;
            return read_memory_stat(p, op, stat);
        }
    for (unsigned k = 0; k <= AB_OP_ALL; k++) {
        if (k < AB_OP_KIND_COUNT && (kinds >> k & 1) == 0)
            continue;
        ab_gate_add_name(&names, ab_result_op_name(k));
        if (ab_gate_is_word(op, ab_result_op_name(k))) {
            p->gate.metric.op = k;
            return read_stat(p, op, stat);
        }
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        ab_gate_add_name(&names, places[i].name);
    char word[AB_GATE_WORD_BYTES], phase[160], list[AB_GATE_LIST_BYTES];
    if (is_op_name(op))
        return ab_gate_fail(p, op, "phase '%s' has no %s; it has: %s",
                            ab_text_printable(phase, sizeof phase, p->gate.metric.phase),
                            ab_gate_shown(word, op), ab_gate_list_names(list, &names));
    return ab_gate_fail_unknown(p, op, "op", &names);
}

/* PHASE/STAT or OP/STAT: what was meant, spelt out. */
static bool fail_short(struct ab_gate_parser *p, struct ab_gate_span metric,
                       struct ab_gate_span first, struct ab_gate_span stat)
{
    char a[AB_GATE_WORD_BYTES], b[AB_GATE_WORD_BYTES], phase[160] = "PHASE";
    const char *op = find_field(stat) == NULL && find_memory_field(stat) != NULL ? "memory" : "all";
    if (p->scope->n_phases > 0)
        ab_text_printable(phase, sizeof phase, p->scope->phases[0].name);
    ab_gate_shown(b, stat);
    if (first.n == 0)
        return ab_gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", phase, op, b);
    if (find_phase(p, first) == NULL && is_op_name(first))
        return ab_gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", phase,
                            ab_gate_shown(a, first), b);
    return ab_gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", ab_gate_shown(a, first),
                        op, b);
}

/* The last part after `mark`; *rest is what is before it. False when there is no mark. */
static bool cut_last(struct ab_gate_span whole, char mark, struct ab_gate_span *rest,
                     struct ab_gate_span *last)
{
    for (size_t i = whole.n; i-- > 0;)
        if (whole.s[i] == mark) {
            *last = (struct ab_gate_span){whole.s + i + 1, whole.n - i - 1};
            *rest = (struct ab_gate_span){whole.s, i};
            return true;
        }
    return false;
}

static bool read_metric(struct ab_gate_parser *p, struct ab_gate_span metric)
{
    struct ab_gate_span stat, op, head, rest, name, phase;
    struct ab_gate_names names = {.n = 0};
    if (metric.n == 0)
        return ab_gate_fail(p, metric, "the metric is missing: " FORM);
    if (!cut_last(metric, '/', &rest, &stat))
        return fail_short(p, metric, (struct ab_gate_span){metric.s, 0}, metric);
    if (!cut_last(rest, '/', &head, &op))
        return fail_short(p, metric, rest, stat);
    p->gate.backend = AB_GATE_EACH;
    phase = head;
    const struct ab_gate_phase *found = find_phase(p, head);
    if (found == NULL && cut_last(head, ':', &name, &phase)) {
        if (!read_backend(p, name, &p->gate.backend, p->gate.name))
            return false;
        found = find_phase(p, phase);
    }
    if (found == NULL) {
        for (size_t i = 0; i < p->scope->n_phases; i++)
            ab_gate_add_name(&names, p->scope->phases[i].name);
        return ab_gate_fail_unknown(p, phase, "measured phase", &names);
    }
    p->gate.metric.phase = found->name;
    return read_op(p, op, stat);
}

/* ---- the bound ---- */

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
    if (!read_backend(p, name, &g->other, g->other_name))
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

static bool read_bound(struct ab_gate_parser *p, struct ab_gate_span bound)
{
    struct ab_gate_span floor;
    char word[AB_GATE_WORD_BYTES];
    if (bound.n == 0)
        return ab_gate_fail(p, bound, "the bound is missing, such as 2us or 0.5x glibc");
    if (!read_floor(p, &bound, &floor))
        return false;
    size_t n_factor = factor_length(bound);
    if ((bound.s[0] == '+' || bound.s[0] == '-') && bound.s[bound.n - 1] == '%')
        return ab_gate_fail(
            p, bound,
            "'%s' is a change against a baseline, which this version does not "
            "compare with; write a ratio to a back end of the same run, such as 1.1x glibc",
            ab_gate_shown(word, bound));
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

/* ---- the whole ---- */

/* The comparison, not looked for within { }. */
static struct ab_gate_span find_compare(const char *text)
{
    size_t depth = 0;
    for (const char *s = text; *s != 0; s++) {
        depth += *s == '{';
        depth -= depth > 0 && *s == '}';
        size_t n = depth == 0 && strchr("<>!", *s) != NULL ? strspn(s, "<>=!") : 0;
        if (depth == 0 && *s == '=' && s > text &&
            ab_gate_is_blank(s[-1])) /* not slab:threads=sharded */
            n = strspn(s, "<>=!");
        if (n > 0)
            return (struct ab_gate_span){s, n};
    }
    return (struct ab_gate_span){text + strlen(text), 0};
}

static bool read_compare(struct ab_gate_parser *p, struct ab_gate_span at)
{
    static const char *const words[] = {
        [AB_GATE_LESS] = "<",      [AB_GATE_AT_MOST] = "<=", [AB_GATE_MORE] = ">",
        [AB_GATE_AT_LEAST] = ">=", [AB_GATE_IS] = "=",
    };
    char word[AB_GATE_WORD_BYTES];
    for (unsigned i = 0; i < AB_ARRAY_LEN(words); i++)
        if (ab_gate_is_word(at, words[i]) && (i == AB_GATE_IS) == p->is_claim) {
            p->gate.compare = (enum ab_gate_compare)i;
            return true;
        }
    if (p->is_claim)
        return ab_gate_fail(p, at, "a claim is " FORM " = RATIOx BACKEND%s%s",
                            at.n > 0 ? ", not " : "", at.n > 0 ? ab_gate_shown(word, at) : "");
    if (at.n == 0)
        return ab_gate_fail(p, at, "a gate is " FORM " < BOUND: one of <, <=, >, >= is missing");
    return ab_gate_fail(p, at,
                        "'%s' is not a comparison; use one of <, <=, >, "
                        ">=",
                        ab_gate_shown(word, at));
}

bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error)
{
    struct ab_gate_parser p = {.text = text, .is_claim = is_claim, .scope = scope, .error = error};
    struct ab_gate_span compare = find_compare(text);
    const char *behind = compare.s + compare.n;
    p.gate.text = text;
    if (!read_compare(&p, compare) ||
        !read_metric(&p, ab_gate_trim((struct ab_gate_span){text, (size_t)(compare.s - text)})) ||
        !read_bound(&p, ab_gate_trim((struct ab_gate_span){behind, strlen(behind)})))
        return false;
    if (is_claim && p.gate.backend == AB_GATE_EACH) {
        struct ab_gate_span whole = ab_gate_trim(
            (struct ab_gate_span){text, (size_t)(compare.s - text)});
        char word[AB_GATE_WORD_BYTES];
        return ab_gate_fail(&p, whole, "a claim names its back end: BACKEND:%s",
                            ab_gate_shown(word, whole));
    }
    *out = p.gate;
    return true;
}
