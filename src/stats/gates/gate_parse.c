/* SPDX-License-Identifier: MIT
 *
 * Cuts the text from its outside in: comparison, bound, then the metric from its right end,
 * because names of back ends may hold ':' and '/' of their own (slab:threads=sharded,
 * jemalloc{A=B:C}) while phases, ops and statistics may not.
 */
#include "stats/gates/gate.h"

#include "base/bits.h"
#include "core/text.h"
#include "stats/gates/gate_bound.h"
#include "stats/gates/gate_iteration.h"
#include "stats/gates/gate_text.h"
#include "stats/metric/metric_dist.h"

#include <stdio.h>
#include <string.h>

#define FORM "[BACKEND:]PHASE/OP/STAT"

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

/* Numbers of a real program are of no workload, and it has few of a workload's. */
static bool is_measured(const struct ab_gate_parser *p, const struct ab_field *field)
{
    bool is_program = field->group == AB_FIELD_PROGRAM;
    return is_program == p->scope->is_exec ||
           field->offset == offsetof(struct ab_result, faults_minor) ||
           field->offset == offsetof(struct ab_result, switches_involuntary);
}

static const struct ab_field *find_field(const struct ab_gate_parser *p, struct ab_gate_span x)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (is_measured(p, &ab_fields[i]) && ab_gate_is_word(x, ab_fields[i].name))
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

static const struct ab_memory_field *find_memory_field(const struct ab_gate_parser *p,
                                                       struct ab_gate_span x)
{
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (is_memory_name(x, ab_memory_fields[i].name))
            return &ab_memory_fields[i];
    for (size_t i = 0; i < AB_DRAIN_COUNT; i++)
        if (ab_gate_is_word(x, ab_drain_fields[i].name))
            return &ab_drain_fields[i];
    return ab_dist_field_find(x.s, x.n, ab_gate_is_in_bytes(p->text));
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

static const struct ab_gate_phase *find_phase(struct ab_gate_parser *p, struct ab_gate_span x)
{
    if (ab_gate_is_word(x, "*") && !p->is_claim && p->each < p->scope->n_phases) {
        p->star = x;
        return &p->scope->phases[p->each];
    }
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (ab_gate_is_word(x, p->scope->phases[i].name))
            return &p->scope->phases[i];
    return NULL;
}

/* Kinds of all stretches of that name; NULL = of all phases. */
static uint32_t kinds_of(const struct ab_gate_parser *p, const char *phase)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (phase == NULL || strcmp(p->scope->phases[i].name, phase) == 0)
            kinds |= p->scope->phases[i].kinds;
    return kinds;
}

static bool fail_stat(struct ab_gate_parser *p, struct ab_gate_span stat, bool is_memory,
                      bool is_all)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < ab_field_count && !is_memory; i++)
        if (is_measured(p, &ab_fields[i]) && (is_all || ab_fields[i].group != AB_FIELD_ALL))
            ab_gate_add_name(&names, ab_fields[i].name);
    for (size_t i = 0; i < ab_memory_field_count && is_memory; i++)
        ab_gate_add_name(&names, ab_memory_fields[i].name);
    for (size_t i = 0; i < AB_DRAIN_COUNT && is_memory; i++)
        ab_gate_add_name(&names, ab_drain_fields[i].name);
    for (size_t i = 0; i < AB_DIST_SHORT && is_memory; i++)
        ab_gate_add_name(&names, ab_dist_short_names[i]);
    return ab_gate_fail_unknown(p, stat, is_memory ? "memory statistic" : "statistic", &names);
}

static bool read_memory_stat(struct ab_gate_parser *p, struct ab_gate_span op,
                             struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    char phase[160], word[AB_GATE_WORD_BYTES];
    m->memory = find_memory_field(p, stat);
    if (m->memory == NULL && find_field(p, stat) != NULL)
        return ab_gate_fail(p, stat,
                            "'%s' is not a memory statistic: write "
                            "%s/all/%s",
                            ab_gate_shown(word, stat),
                            ab_text_printable(phase, sizeof phase, m->phase),
                            ab_gate_shown(word, stat));
    if (m->memory == NULL)
        return fail_stat(p, stat, true, false);
    if (ab_metric_is_dist(m) && !ab_gate_is_word(op, "memory"))
        return ab_gate_fail(p, op, "'%s' is over all ops of the phase: write %s/memory/%s",
                            ab_gate_shown(word, stat),
                            ab_text_printable(phase, sizeof phase, m->phase),
                            ab_gate_shown(word, stat));
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
    m->field = find_field(p, stat);
    if (m->field == NULL && find_memory_field(p, stat) != NULL)
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

static bool fail_op(struct ab_gate_parser *p, struct ab_gate_span op, bool is_iteration,
                    const struct ab_gate_names *names)
{
    char word[AB_GATE_WORD_BYTES], phase[160], list[AB_GATE_LIST_BYTES];
    if (is_iteration || is_op_name(op))
        return ab_gate_fail(p, op, "phase '%s' has no %s; it has: %s",
                            ab_text_printable(phase, sizeof phase, p->gate.metric.phase),
                            ab_gate_shown(word, op), ab_gate_list_names(list, names));
    return ab_gate_fail_unknown(p, op, "op", names);
}

static bool read_op(struct ab_gate_parser *p, struct ab_gate_span op, struct ab_gate_span stat)
{
    struct ab_gate_names names = {.n = 0};
    uint32_t here = kinds_of(p, p->gate.metric.phase);
    uint32_t kinds = p->star.n > 0 ? kinds_of(p, NULL) : here;
    size_t n_places = p->scope->is_exec ? 0 : AB_ARRAY_LEN(places);
    for (size_t i = 0; i < n_places; i++)
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
            p->is_absent = k < AB_OP_KIND_COUNT && (here >> k & 1) == 0;
            return read_stat(p, op, stat);
        }
    }
    const struct ab_gate_phase *own = ab_gate_phase_named(p, p->gate.metric.phase);
    bool is_iteration = ab_gate_phase_with(p, op) != NULL;
    if (ab_gate_has_iteration(own, op) || (is_iteration && p->star.n > 0))
        return ab_gate_read_iteration(p, op, stat);
    for (size_t i = 0; i < n_places; i++)
        ab_gate_add_name(&names, places[i].name);
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (p->star.n > 0 || &p->scope->phases[i] == own)
            ab_gate_add_iteration(&p->scope->phases[i], &names);
    return fail_op(p, op, is_iteration, &names);
}

/* PHASE/STAT or OP/STAT: what was meant, spelt out. */
static bool fail_short(struct ab_gate_parser *p, struct ab_gate_span metric,
                       struct ab_gate_span first, struct ab_gate_span stat)
{
    char a[AB_GATE_WORD_BYTES], b[AB_GATE_WORD_BYTES], phase[160] = "PHASE";
    const char *op = find_field(p, stat) == NULL && find_memory_field(p, stat) != NULL ? "memory"
                                                                                       : "all";
    if (p->scope->n_phases > 0)
        ab_text_printable(phase, sizeof phase, p->scope->phases[0].name);
    ab_gate_shown(b, stat);
    if (first.n == 0)
        return ab_gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", phase, op, b);
    const struct ab_gate_phase *with = ab_gate_phase_with(p, first);
    if (find_phase(p, first) == NULL && with != NULL)
        ab_text_printable(phase, sizeof phase, with->name);
    if (find_phase(p, first) == NULL && (with != NULL || is_op_name(first)))
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
        if (!ab_gate_read_backend(p, name, &p->gate.backend, p->gate.name))
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
        if (ab_gate_is_word(at, words[i]) && (i == AB_GATE_IS || !p->is_claim)) {
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

static bool parse(struct ab_gate_parser *p)
{
    const char *text = p->text;
    struct ab_gate_span compare = find_compare(text);
    const char *behind = compare.s + compare.n;
    struct ab_gate_span bound = ab_gate_trim((struct ab_gate_span){behind, strlen(behind)});
    p->gate.text = text;
    if (!read_compare(p, compare) ||
        !read_metric(p, ab_gate_trim((struct ab_gate_span){text, (size_t)(compare.s - text)})) ||
        !ab_gate_read_bound(p, bound) || !ab_gate_check_count(p, compare, bound))
        return false;
    if (p->is_claim && p->gate.backend == AB_GATE_EACH) {
        struct ab_gate_span whole = ab_gate_trim(
            (struct ab_gate_span){text, (size_t)(compare.s - text)});
        char word[AB_GATE_WORD_BYTES];
        return ab_gate_fail(p, whole, "a claim names its back end: BACKEND:%s",
                            ab_gate_shown(word, whole));
    }
    return true;
}

bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error)
{
    struct ab_gate_parser p = {.text = text, .is_claim = is_claim, .scope = scope, .error = error};
    if (!parse(&p))
        return false;
    *out = p.gate;
    return true;
}

static bool is_repeated(const struct ab_gate_scope *scope, size_t phase)
{
    for (size_t i = 0; i < phase; i++)
        if (strcmp(scope->phases[i].name, scope->phases[phase].name) == 0)
            return true;
    return false;
}

bool ab_gate_parse_each(const char *text, const struct ab_gate_scope *scope, struct ab_gate *out,
                        size_t *n, struct ab_gate_error *error)
{
    size_t used = 0;
    for (size_t i = 0; i == 0 || i < scope->n_phases; i++) {
        struct ab_gate_parser p = {.text = text, .scope = scope, .error = error, .each = i};
        if (!parse(&p))
            return false;
        bool is_each = p.star.n > 0;
        if (is_each && !p.is_absent && !is_repeated(scope, i)) {
            snprintf(p.gate.spelt, sizeof p.gate.spelt, "%.*s%.100s%s", (int)(p.star.s - text),
                     text, scope->phases[i].name, p.star.s + p.star.n);
            out[used++] = p.gate;
        } else if (!is_each) {
            out[used++] = p.gate;
            break;
        }
    }
    *n = used;
    return true;
}
