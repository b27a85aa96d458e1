/* SPDX-License-Identifier: MIT
 *
 * Cuts the text from its outside in: comparison, bound, then the metric from its right end,
 * because names of back ends may hold ':' and '/' of their own (slab:threads=sharded,
 * jemalloc{A=B:C}) while phases, ops and statistics may not.
 */
#include "base/bits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "core/text.h"
#include "stats/gate.h"
#include "stats/metric.h"
#include "stats/metric_dist.h"

#include <stdarg.h>
#include <stddef.h>
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

struct ab_gate_span {
    const char *s;
    size_t n;
};

struct ab_gate_parser {
    const char *text;
    bool is_claim;
    const struct ab_gate_scope *scope;
    struct ab_gate gate;
    struct ab_gate_error *error;
    size_t each;              /* the phase of the scope that '*' stands for */
    struct ab_gate_span star; /* … where it was written; n 0 = nowhere */
    bool is_absent;           /* '*', and this phase has no such op */
};

enum { AB_GATE_NAMES_MAX = 64, AB_GATE_WORD_BYTES = 256, AB_GATE_LIST_BYTES = 300 };

/* Names for "allowed are" and for the nearest one. */
struct ab_gate_names {
    const char *items[AB_GATE_NAMES_MAX];
    size_t n;
};

/* Words of a gate's text, errors that name them, and names of back ends. */

/* Says what is wrong with `at`; false. */
__attribute__((format(printf, 3, 4))) static bool gate_fail(struct ab_gate_parser *p,
                                                            struct ab_gate_span at, const char *fmt,
                                                            ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(p->error->text, sizeof p->error->text, fmt, args);
    va_end(args);
    p->error->offset = (size_t)(at.s - p->text);
    p->error->n = at.n;
    return false;
}

static bool gate_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static struct ab_gate_span gate_trim(struct ab_gate_span x)
{
    for (; x.n > 0 && gate_is_blank(x.s[0]); x.n--)
        x.s++;
    while (x.n > 0 && gate_is_blank(x.s[x.n - 1]))
        x.n--;
    return x;
}

static bool gate_is_word(struct ab_gate_span x, const char *word)
{
    return strlen(word) == x.n && memcmp(x.s, word, x.n) == 0;
}

/* A copy that ends; what is too long for a name is cut. */
static const char *gate_word(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x)
{
    snprintf(buf, AB_GATE_WORD_BYTES, "%.*s",
             (int)(x.n < AB_GATE_WORD_BYTES ? x.n : AB_GATE_WORD_BYTES - 1), x.s);
    return buf;
}

/* The same for a message: printable, and short. */
static const char *gate_shown(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x)
{
    char word[AB_GATE_WORD_BYTES];
    gate_word(word, (struct ab_gate_span){x.s, x.n < 60 ? x.n : 60});
    return ab_text_printable(buf, AB_GATE_WORD_BYTES, word);
}

static void gate_add_name(struct ab_gate_names *names, const char *name)
{
    if (names->n < AB_GATE_NAMES_MAX)
        names->items[names->n++] = name;
}

static const char *gate_list_names(char buf[AB_GATE_LIST_BYTES], const struct ab_gate_names *names)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < names->n; i++) {
        char name[80];
        ab_text_printable(name, sizeof name, names->items[i]);
        if (used + strlen(name) + 8 > AB_GATE_LIST_BYTES)
            return strcat(buf, ", ...");
        used += (size_t)snprintf(buf + used, AB_GATE_LIST_BYTES - used, "%s%s", i == 0 ? "" : ", ",
                                 name);
    }
    return buf;
}

/* "unknown WHAT 'x'; did you mean 'y'? Allowed are …" */
static bool gate_fail_unknown(struct ab_gate_parser *p, struct ab_gate_span at, const char *what,
                              const struct ab_gate_names *names)
{
    char word[AB_GATE_WORD_BYTES], quoted[AB_GATE_WORD_BYTES], list[AB_GATE_LIST_BYTES], name[80];
    char hint[120] = "; allowed are";
    const char *near = ab_text_nearest(gate_word(word, at), names->items, names->n);
    if (near != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'? Allowed are",
                 ab_text_printable(name, sizeof name, near));
    return gate_fail(p, at, "unknown %s '%s'%s %s", what, gate_shown(quoted, at), hint,
                     gate_list_names(list, names));
}

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
        gate_add_name(&names, p->scope->backends[i]);
    for (size_t i = 0; i < names.n; i++) {
        const char *here = names.items[i];
        struct ab_gate_span base = base_of((struct ab_gate_span){here, strlen(here)}),
                            own = base_of(name);
        char quoted[AB_GATE_WORD_BYTES], is[160];
        if (base.n == own.n && memcmp(base.s, own.s, own.n) == 0)
            return gate_fail(p, name, "no back end '%s' in this run; did you mean '%s'?",
                             gate_shown(quoted, name), ab_text_printable(is, sizeof is, here));
    }
    return gate_fail_unknown(p, name, "back end", &names);
}

/* The back end of this name, its index or AB_GATE_ELSEWHERE; `copy` gets the name. */
static bool gate_read_backend(struct ab_gate_parser *p, struct ab_gate_span name, uint32_t *out,
                              char copy[128])
{
    const struct ab_gate_scope *scope = p->scope;
    struct ab_gate_span base = base_of(name);
    if (name.n == 0)
        return gate_fail(p, (struct ab_gate_span){name.s, 1}, "the name of a back end is missing");
    if (gate_is_word(base, "null"))
        return gate_fail(p, name, "the null back end measures the harness; it has no gates");
    snprintf(copy, 128, "%.*s", (int)(name.n < 128 ? name.n : 127), name.s);
    for (size_t i = 0; i < scope->n_backends; i++)
        if (gate_is_word(name, scope->backends[i])) {
            *out = (uint32_t)i;
            return true;
        }
    for (size_t i = 0; i < scope->n_backends; i++) {
        const char *here = scope->backends[i];
        struct ab_gate_span other = base_of((struct ab_gate_span){here, strlen(here)});
        /* A claim is about the one that it names, and settings of a run are no mistake in it. */
        if (other.n == base.n && memcmp(other.s, base.s, base.n) == 0 && !p->is_claim)
            return fail_backend(p, name);
    }
    for (size_t i = 0; i < scope->n_known; i++)
        if (gate_is_word(base, scope->known[i])) {
            *out = AB_GATE_ELSEWHERE;
            return true;
        }
    return fail_backend(p, name);
}

/* Is the bound a size, or its floor? It separates "external.p99" in bytes from that by live bytes. */
static bool gate_is_in_bytes(const char *text)
{
    const char *end = text + strlen(text), *word;
    while (end > text && gate_is_blank(end[-1]))
        end--;
    for (word = end; word > text && strchr(" \t<>=", word[-1]) == NULL; word--) {
    }
    return word < end && *word >= '0' && *word <= '9' && end[-1] == 'B';
}

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
        if (is_measured(p, &ab_fields[i]) && gate_is_word(x, ab_fields[i].name))
            return &ab_fields[i];
    return NULL;
}

static bool is_memory_name(struct ab_gate_span x, const char *name)
{
    size_t n = strlen(name);
    static const char tail[] = "_bytes";
    return gate_is_word(x, name) || (n == x.n + sizeof tail - 1 && memcmp(x.s, name, x.n) == 0 &&
                                     strcmp(name + x.n, tail) == 0);
}

static const struct ab_memory_field *find_memory_field(const struct ab_gate_parser *p,
                                                       struct ab_gate_span x)
{
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (is_memory_name(x, ab_memory_fields[i].name))
            return &ab_memory_fields[i];
    for (size_t i = 0; i < AB_DRAIN_COUNT; i++)
        if (gate_is_word(x, ab_drain_fields[i].name))
            return &ab_drain_fields[i];
    return ab_dist_field_find(x.s, x.n, gate_is_in_bytes(p->text));
}

static bool is_op_name(struct ab_gate_span x)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        if (gate_is_word(x, places[i].name))
            return true;
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        if (gate_is_word(x, ab_result_op_name(k)))
            return true;
    return false;
}

static const struct ab_gate_phase *find_phase(struct ab_gate_parser *p, struct ab_gate_span x)
{
    if (gate_is_word(x, "*") && !p->is_claim && p->each < p->scope->n_phases) {
        p->star = x;
        return &p->scope->phases[p->each];
    }
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (gate_is_word(x, p->scope->phases[i].name))
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
            gate_add_name(&names, ab_fields[i].name);
    for (size_t i = 0; i < ab_memory_field_count && is_memory; i++)
        gate_add_name(&names, ab_memory_fields[i].name);
    for (size_t i = 0; i < AB_DRAIN_COUNT && is_memory; i++)
        gate_add_name(&names, ab_drain_fields[i].name);
    for (size_t i = 0; i < AB_DIST_SHORT && is_memory; i++)
        gate_add_name(&names, ab_dist_short_names[i]);
    return gate_fail_unknown(p, stat, is_memory ? "memory statistic" : "statistic", &names);
}

static bool read_memory_stat(struct ab_gate_parser *p, struct ab_gate_span op,
                             struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    char phase[160], word[AB_GATE_WORD_BYTES];
    m->memory = find_memory_field(p, stat);
    if (m->memory == NULL && find_field(p, stat) != NULL)
        return gate_fail(p, stat,
                         "'%s' is not a memory statistic: write "
                         "%s/all/%s",
                         gate_shown(word, stat), ab_text_printable(phase, sizeof phase, m->phase),
                         gate_shown(word, stat));
    if (m->memory == NULL)
        return fail_stat(p, stat, true, false);
    if (ab_metric_is_dist(m) && !gate_is_word(op, "memory"))
        return gate_fail(p, op, "'%s' is over all ops of the phase: write %s/memory/%s",
                         gate_shown(word, stat), ab_text_printable(phase, sizeof phase, m->phase),
                         gate_shown(word, stat));
    bool is_drain = m->memory >= ab_drain_fields && m->memory < ab_drain_fields + AB_DRAIN_COUNT;
    if (is_drain && !gate_is_word(op, "memory") && !gate_is_word(op, "end"))
        return gate_fail(p, op,
                         "'%s' is measured at the end: write "
                         "%s/end/%s",
                         gate_shown(word, stat), ab_text_printable(phase, sizeof phase, m->phase),
                         gate_shown(word, stat));
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
        return gate_fail(p, op,
                         "'%s' is a memory statistic: write "
                         "%s/memory/%s",
                         gate_shown(word, stat), phase, gate_shown(word, stat));
    if (m->field == NULL)
        return fail_stat(p, stat, false, m->op == AB_OP_ALL);
    if (m->field->group == AB_FIELD_ALL && m->op != AB_OP_ALL)
        return gate_fail(p, op, "'%s' is of all ops of a phase: write %s/all/%s", m->field->name,
                         phase, m->field->name);
    return true;
}

static bool fail_op(struct ab_gate_parser *p, struct ab_gate_span op, bool is_iteration,
                    const struct ab_gate_names *names)
{
    char word[AB_GATE_WORD_BYTES], phase[160], list[AB_GATE_LIST_BYTES];
    if (is_iteration || is_op_name(op))
        return gate_fail(p, op, "phase '%s' has no %s; it has: %s",
                         ab_text_printable(phase, sizeof phase, p->gate.metric.phase),
                         gate_shown(word, op), gate_list_names(list, names));
    return gate_fail_unknown(p, op, "op", names);
}

/* Iterations stand where an op stands, under the name that `each` gives them; ops come first. */

/* Is this what the iterations of the phase are called, or AB_GATE_ITERATION? */
static bool gate_has_iteration(const struct ab_gate_phase *phase, struct ab_gate_span iteration)
{
    return phase->iteration != NULL && (gate_is_word(iteration, phase->iteration) ||
                                        gate_is_word(iteration, AB_GATE_ITERATION));
}

/* The names that they go by. */
static void gate_add_iteration(const struct ab_gate_phase *phase, struct ab_gate_names *names)
{
    if (phase->iteration == NULL)
        return;
    gate_add_name(names, phase->iteration);
    if (strcmp(phase->iteration, AB_GATE_ITERATION) != 0)
        gate_add_name(names, AB_GATE_ITERATION);
}

/* The first phase whose iterations have this name; NULL = none. */
static const struct ab_gate_phase *gate_phase_with(const struct ab_gate_parser *p,
                                                   struct ab_gate_span iteration)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (gate_has_iteration(&p->scope->phases[i], iteration))
            return &p->scope->phases[i];
    return NULL;
}

/* NULL = none of this name is measured. */
static const struct ab_gate_phase *gate_phase_named(const struct ab_gate_parser *p,
                                                    const char *phase)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (strcmp(p->scope->phases[i].name, phase) == 0)
            return &p->scope->phases[i];
    return NULL;
}

static bool gate_iteration_fail_stat(struct ab_gate_parser *p, struct ab_gate_span stat)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++)
        gate_add_name(&names, ab_iteration_fields[i].name);
    return gate_fail_unknown(p, stat, "statistic of iterations", &names);
}

/* Reads STAT of `iteration`, which is the name of some phase's: of the metric's phase, or with '*' of
 * another one, then the gate is absent here. */
static bool gate_read_iteration(struct ab_gate_parser *p, struct ab_gate_span iteration,
                                struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    const struct ab_gate_phase *phase = gate_phase_named(p, m->phase);
    char shown[160], word[AB_GATE_WORD_BYTES];
    p->is_absent = !gate_has_iteration(phase, iteration);
    if (p->is_absent)
        phase = gate_phase_with(p, iteration);
    m->each = phase->iteration;
    m->iteration = ab_iteration_field_find(stat.s, stat.n);
    if (m->iteration == NULL)
        return gate_iteration_fail_stat(p, stat);
    if (ab_iteration_field_needs_budget(m->iteration) && !phase->has_budget)
        return gate_fail(p, stat,
                         "'%s' needs a budget, and the iterations of phase '%s' have none: "
                         "each: {budget: 16.67ms}, or --budget of a replay",
                         gate_shown(word, stat),
                         ab_text_printable(shown, sizeof shown, phase->name));
    return true;
}

/* After the bound: '=' is for counts, and counts have no change against a baseline. */
static bool gate_check_count(struct ab_gate_parser *p, struct ab_gate_span compare,
                             struct ab_gate_span bound)
{
    const struct ab_gate *g = &p->gate;
    bool is_count = ab_metric_is_count(&g->metric);
    if (!p->is_claim && g->compare == AB_GATE_IS && !(is_count && g->against == AB_GATE_ABSOLUTE))
        return gate_fail(p, compare,
                         "'=' is not a comparison of what is measured, only of counts such as "
                         "missed = 0; use one of <, <=, >, >=");
    if (is_count && g->against == AB_GATE_BASELINE)
        return gate_fail(p, bound,
                         "'missed' grows with the rounds and has no change against a baseline: "
                         "gate missed_percent instead");
    return true;
}

static bool read_op(struct ab_gate_parser *p, struct ab_gate_span op, struct ab_gate_span stat)
{
    struct ab_gate_names names = {.n = 0};
    uint32_t here = kinds_of(p, p->gate.metric.phase);
    uint32_t kinds = p->star.n > 0 ? kinds_of(p, NULL) : here;
    size_t n_places = p->scope->is_exec ? 0 : AB_ARRAY_LEN(places);
    for (size_t i = 0; i < n_places; i++)
        if (gate_is_word(op, places[i].name)) {
            p->gate.metric.at = places[i].at;
            return read_memory_stat(p, op, stat);
        }
    for (unsigned k = 0; k <= AB_OP_ALL; k++) {
        if (k < AB_OP_KIND_COUNT && (kinds >> k & 1) == 0)
            continue;
        gate_add_name(&names, ab_result_op_name(k));
        if (gate_is_word(op, ab_result_op_name(k))) {
            p->gate.metric.op = k;
            p->is_absent = k < AB_OP_KIND_COUNT && (here >> k & 1) == 0;
            return read_stat(p, op, stat);
        }
    }
    const struct ab_gate_phase *own = gate_phase_named(p, p->gate.metric.phase);
    bool is_iteration = gate_phase_with(p, op) != NULL;
    if (gate_has_iteration(own, op) || (is_iteration && p->star.n > 0))
        return gate_read_iteration(p, op, stat);
    for (size_t i = 0; i < n_places; i++)
        gate_add_name(&names, places[i].name);
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (p->star.n > 0 || &p->scope->phases[i] == own)
            gate_add_iteration(&p->scope->phases[i], &names);
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
    gate_shown(b, stat);
    if (first.n == 0)
        return gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", phase, op, b);
    const struct ab_gate_phase *with = gate_phase_with(p, first);
    if (find_phase(p, first) == NULL && with != NULL)
        ab_text_printable(phase, sizeof phase, with->name);
    if (find_phase(p, first) == NULL && (with != NULL || is_op_name(first)))
        return gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", phase,
                         gate_shown(a, first), b);
    return gate_fail(p, metric, "a metric is " FORM ": write %s/%s/%s", gate_shown(a, first), op,
                     b);
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
        return gate_fail(p, metric, "the metric is missing: " FORM);
    if (!cut_last(metric, '/', &rest, &stat))
        return fail_short(p, metric, (struct ab_gate_span){metric.s, 0}, metric);
    if (!cut_last(rest, '/', &head, &op))
        return fail_short(p, metric, rest, stat);
    p->gate.backend = AB_GATE_EACH;
    phase = head;
    const struct ab_gate_phase *found = find_phase(p, head);
    if (found == NULL && cut_last(head, ':', &name, &phase)) {
        if (!gate_read_backend(p, name, &p->gate.backend, p->gate.name))
            return false;
        found = find_phase(p, phase);
    }
    if (found == NULL) {
        for (size_t i = 0; i < p->scope->n_phases; i++)
            gate_add_name(&names, p->scope->phases[i].name);
        return gate_fail_unknown(p, phase, "measured phase", &names);
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
            gate_is_blank(s[-1])) /* not slab:threads=sharded */
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
        if (gate_is_word(at, words[i]) && (i == AB_GATE_IS || !p->is_claim)) {
            p->gate.compare = (enum ab_gate_compare)i;
            return true;
        }
    if (p->is_claim)
        return gate_fail(p, at, "a claim is " FORM " = RATIOx BACKEND%s%s",
                         at.n > 0 ? ", not " : "", at.n > 0 ? gate_shown(word, at) : "");
    if (at.n == 0)
        return gate_fail(p, at, "a gate is " FORM " < BOUND: one of <, <=, >, >= is missing");
    return gate_fail(p, at,
                     "'%s' is not a comparison; use one of <, <=, >, "
                     ">=",
                     gate_shown(word, at));
}

/* The bound of a gate: a number in the unit of the metric, a ratio to a back end of the run or to
 * the live bytes, or a change against a baseline. */

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
        return gate_fail(p, x, "'%s' cannot bound %s: %s", gate_shown(word, x), name, bad);
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
        return gate_fail(p, x, "'%s' is not a factor: %s", gate_shown(word, x), bad);
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
    struct ab_gate_span name = gate_trim(
        (struct ab_gate_span){bound.s + n_factor + 1, bound.n - n_factor - 1});
    const char *unit = ab_metric_unit(&g->metric);
    char word[AB_GATE_WORD_BYTES];
    if (!read_factor(p, factor))
        return false;
    if (name.n == 0)
        return gate_fail(p, bound,
                         "%.*sx of what? add a back end, or 'live' for the peak of "
                         "live bytes",
                         (int)(n_factor < 20 ? n_factor : 20), bound.s);
    snprintf(g->unit, sizeof g->unit, "x %.*s", (int)(name.n < 120 ? name.n : 120), name.s);
    if (gate_is_word(name, "live") && !p->is_claim) {
        bool is_by_live = strcmp(unit, "x live") == 0; /* the number is one already */
        g->against = is_by_live ? AB_GATE_ABSOLUTE : AB_GATE_LIVE;
        if (is_by_live)
            return true;
        if (strcmp(unit, "bytes") == 0 && g->metric.memory != NULL)
            return true;
        return gate_fail(p, name, "'live' bounds sizes of memory, such as rss_peak; %s is in %s",
                         ab_metric_name(&g->metric), unit);
    }
    g->against = AB_GATE_BACKEND;
    if (!gate_read_backend(p, name, &g->other, g->other_name))
        return false;
    if (g->backend != AB_GATE_EACH && strcmp(g->name, g->other_name) == 0)
        return gate_fail(p, name, "'%s' compared with itself", gate_shown(word, name));
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
        if (!gate_is_blank(bound->s[i - 1]) || memcmp(bound->s + i, word, n) != 0 ||
            (i + n < bound->n && !gate_is_blank(bound->s[i + n])))
            continue;
        *floor = gate_trim((struct ab_gate_span){bound->s + i + n, bound->n - i - n});
        *bound = gate_trim((struct ab_gate_span){bound->s, i});
        if (floor->n == 0)
            return gate_fail(p, *bound, "floor: a size is missing, such as floor 20ns");
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
        return gate_fail(p, bound, "'%s' is not a change: %s", gate_shown(word, bound), bad);
    g->against = AB_GATE_BASELINE;
    g->bound = is_less ? 1 - number.value : 1 + number.value;
    snprintf(g->unit, sizeof g->unit, "x baseline");
    return true;
}

/* Once the metric is read: fills bound, against, other, floor and unit of p->gate. */
static bool gate_read_bound(struct ab_gate_parser *p, struct ab_gate_span bound)
{
    struct ab_gate_span floor;
    char word[AB_GATE_WORD_BYTES];
    if (bound.n == 0)
        return gate_fail(p, bound, "the bound is missing, such as 2us or 0.5x glibc");
    if (!read_floor(p, &bound, &floor))
        return false;
    size_t n_factor = factor_length(bound);
    if (is_change(bound) && !p->is_claim)
        return read_change(p, bound) && (floor.n == 0 || read_size(p, floor, &p->gate.floor));
    if (is_bare_percent(p, bound) && ab_metric_is_count(&p->gate.metric))
        return gate_fail(p, bound, "'%s' is no bound of a count: gate missed_percent instead",
                         gate_shown(word, bound));
    if (is_bare_percent(p, bound))
        return gate_fail(
            p, bound, "'%s': write +%s for a change against the baseline, or a number in %s",
            gate_shown(word, bound), gate_shown(word, bound), ab_metric_unit(&p->gate.metric));
    if (p->is_claim && (n_factor == 0 || floor.n > 0))
        return gate_fail(p, floor.n > 0 ? floor : bound,
                         "a claim is a ratio to a back end, such as 0.1x glibc");
    if (n_factor > 0 && !read_ratio(p, bound, n_factor))
        return false;
    if (n_factor > 0 && p->gate.against != AB_GATE_ABSOLUTE)
        return floor.n == 0 || read_size(p, floor, &p->gate.floor);
    if (floor.n > 0)
        return gate_fail(p, floor, "'floor' belongs to a ratio: 1.1x glibc floor 20ns");
    if (n_factor > 0)
        return true;
    p->gate.against = AB_GATE_ABSOLUTE;
    snprintf(p->gate.unit, sizeof p->gate.unit, "%s", ab_metric_unit(&p->gate.metric));
    return read_size(p, bound, &p->gate.bound);
}

static bool parse(struct ab_gate_parser *p)
{
    const char *text = p->text;
    struct ab_gate_span compare = find_compare(text);
    const char *behind = compare.s + compare.n;
    struct ab_gate_span bound = gate_trim((struct ab_gate_span){behind, strlen(behind)});
    p->gate.text = text;
    if (!read_compare(p, compare) ||
        !read_metric(p, gate_trim((struct ab_gate_span){text, (size_t)(compare.s - text)})) ||
        !gate_read_bound(p, bound) || !gate_check_count(p, compare, bound))
        return false;
    if (p->is_claim && p->gate.backend == AB_GATE_EACH) {
        struct ab_gate_span whole = gate_trim(
            (struct ab_gate_span){text, (size_t)(compare.s - text)});
        char word[AB_GATE_WORD_BYTES];
        return gate_fail(p, whole, "a claim names its back end: BACKEND:%s",
                         gate_shown(word, whole));
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
