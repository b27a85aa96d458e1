/* SPDX-License-Identifier: MIT
 *
 * Parses a gate from the outside in: first the comparison sign, then the bound, then the metric
 * from its right end. Names of back ends may contain ':' and '/' (slab:threads=sharded,
 * jemalloc{A=B:C}), but phases, ops and statistics may not.
 */
#include "base/bits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "core/text.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "stats/gate.h"
#include "stats/metric.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FORM "[BACKEND:]PHASE/OP/STAT"

struct span {
    const char *s;
    size_t n;
};

struct parser {
    const char *text;
    bool is_claim;
    const struct ab_gate_scope *scope;
    struct ab_gate gate;
    struct ab_gate_error *error;
    size_t each;      /* index of the phase that '*' stands for */
    struct span star; /* position of '*' in the text; n 0 = there is no '*' */
    bool is_absent;   /* the gate has '*', and the phase `each` has no such op */
};

/* ---- words, and errors that name them ---- */

enum { NAMES_MAX = 96, WORD_BYTES = 256, SHOWN_MOST = 60, LIST_BYTES = 300 };

/* Names that are allowed at some place of a gate, for error messages and to find the nearest
 * one. */
struct names {
    const char *items[NAMES_MAX];
    size_t n;
};

/* Sets the error: its position `at`, and its message. Always returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct parser *p, struct span at,
                                                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(p->error->text, sizeof p->error->text, fmt, args);
    va_end(args);
    p->error->offset = (size_t)(at.s - p->text);
    p->error->n = at.n;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Returns the text from `s` to `end` without blanks around it. */
static struct span between(const char *s, const char *end)
{
    while (s < end && is_blank(*s))
        s++;
    while (s < end && is_blank(end[-1]))
        end--;
    return (struct span){s, (size_t)(end - s)};
}

static bool is_word(struct span x, const char *word)
{
    return strlen(word) == x.n && memcmp(x.s, word, x.n) == 0;
}

/* Returns a short, printable copy of a part of the text, for a message. */
static const char *shown(char buf[WORD_BYTES], struct span x)
{
    char word[SHOWN_MOST + 1];
    AB_FIT(word, "%.*s", (int)(x.n < SHOWN_MOST ? x.n : SHOWN_MOST), x.s);
    return ab_text_printable(buf, WORD_BYTES, word);
}
/* Returns a printable copy of a span, which lives as long as the enclosing block. */
#define SHOWN(x) shown((char[WORD_BYTES]){0}, x)
#define SHOWN_NAME(s) AB_SHOWN(160, s)

static void add_name(struct names *names, const char *name)
{
    if (names->n < NAMES_MAX)
        names->items[names->n++] = name;
}

static const char *list_names(char buf[LIST_BYTES], const struct names *names)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < names->n; i++) {
        const char *name = AB_SHOWN(80, names->items[i]);
        if (used + strlen(name) + 8 > LIST_BYTES)
            return strcat(buf, ", ...");
        used += (size_t)snprintf(buf + used, LIST_BYTES - used, "%s%s", i == 0 ? "" : ", ", name);
    }
    return buf;
}

/* Returns the name that `word` probably means: one that is similar, with or without its "_bytes",
 * otherwise the first that contains the word. NULL = none. */
static const char *find_near(const char *word, const struct names *names)
{
    const char *near = ab_text_nearest(word, names->items, names->n);
    for (size_t i = 0; i < names->n && near == NULL; i++) {
        char stem[WORD_BYTES];
        size_t n = strlen(names->items[i]), end = strlen("_bytes");
        if (n > end && strcmp(names->items[i] + n - end, "_bytes") == 0) {
            AB_FIT(stem, "%.*s", (int)(n - end), names->items[i]);
            near = ab_text_nearest(word, (const char *const[]){stem}, 1) != NULL ? names->items[i]
                                                                                 : NULL;
        }
    }
    for (size_t i = 0; i < names->n && near == NULL && strlen(word) > 2; i++)
        near = strstr(names->items[i], word) != NULL ? names->items[i] : NULL;
    return near;
}

/* Fails with "unknown WHAT 'x'; did you mean 'y'? Allowed are …". */
static bool fail_unknown(struct parser *p, struct span at, const char *what,
                         const struct names *names)
{
    char word[WORD_BYTES], list[LIST_BYTES];
    AB_FIT(word, "%.*s", (int)(at.n < WORD_BYTES ? at.n : WORD_BYTES - 1), at.s);
    const char *near = find_near(word, names);
    list_names(list, names);
    if (near == NULL)
        return fail(p, at, "unknown %s '%s'; allowed are %s", what, SHOWN(at), list);
    return fail(p, at, "unknown %s '%s'; did you mean '%s'? Allowed are %s", what, SHOWN(at),
                AB_SHOWN(80, near), list);
}

/* Fails with "'STAT' is a memory statistic: write PHASE/memory/STAT". */
static bool fail_place(struct parser *p, struct span at, struct span stat, const char *what,
                       const char *op)
{
    return fail(p, at, "'%s' %s: write %s/%s/%s", SHOWN(stat), what,
                SHOWN_NAME(p->gate.metric.phase), op, SHOWN(stat));
}

/* ---- back ends ---- */

/* Returns the name of a back end without its settings: "slab" of "slab:threads=sharded". */
static struct span base_of(struct span name)
{
    size_t n = 0;
    while (n < name.n && name.s[n] != ':' && name.s[n] != '{')
        n++;
    return (struct span){name.s, n};
}

/* Returns the first back end of the run with the same name and other settings; NULL = none. */
static const char *find_kin(const struct ab_gate_scope *scope, struct span name)
{
    struct span base = base_of(name);
    for (size_t i = 0; i < scope->n_backends; i++) {
        struct span here = base_of((struct span){scope->backends[i], strlen(scope->backends[i])});
        if (here.n == base.n && memcmp(here.s, base.s, base.n) == 0)
            return scope->backends[i];
    }
    return NULL;
}

static bool fail_backend(struct parser *p, struct span name)
{
    struct names names = {.n = 0};
    const char *kin = find_kin(p->scope, name);
    if (kin != NULL)
        return fail(p, name, "no back end '%s' in this run; did you mean '%s'?", SHOWN(name),
                    SHOWN_NAME(kin));
    for (size_t i = 0; i < p->scope->n_backends; i++)
        add_name(&names, p->scope->backends[i]);
    return fail_unknown(p, name, "back end", &names);
}

/* Finds a back end by name. *out receives its index, or AB_GATE_ELSEWHERE if it is not in the run;
 * `copy` receives the name. */
static bool read_backend(struct parser *p, struct span name, uint32_t *out, char copy[128])
{
    const struct ab_gate_scope *scope = p->scope;
    struct span base = base_of(name);
    if (name.n == 0)
        return fail(p, (struct span){name.s, 1}, "the name of a back end is missing");
    if (is_word(base, "null"))
        return fail(p, name, "the null back end measures the harness; it has no gates");
    snprintf(copy, 128, "%.*s", (int)(name.n < 128 ? name.n : 127), name.s);
    *out = AB_GATE_ELSEWHERE;
    if (scope->is_partial)
        return true;
    for (size_t i = 0; i < scope->n_backends; i++)
        if (is_word(name, scope->backends[i])) {
            *out = (uint32_t)i;
            return true;
        }
    /* A claim is about the back end exactly as it names it, so other settings in the run are not a
     * mistake. */
    bool is_mistake = !p->is_claim && find_kin(scope, name) != NULL;
    for (size_t i = 0; i < scope->n_known && !is_mistake; i++)
        if (is_word(base, scope->known[i]))
            return true;
    return fail_backend(p, name);
}

/* ---- phases ---- */

/* Returns the first measured phase with this name; NULL = none. */
static const struct ab_gate_phase *phase_named(const struct parser *p, struct span x)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (is_word(x, p->scope->phases[i].name))
            return &p->scope->phases[i];
    return NULL;
}

/* Returns the phase with this name; NULL = there is none. For '*', except in claims, returns the
 * phase with index p->each: ab_gate_parse_each() parses a gate with '*' once for each phase. */
static const struct ab_gate_phase *find_phase(struct parser *p, struct span x)
{
    if (is_word(x, "*") && !p->is_claim && p->each < p->scope->n_phases) {
        p->star = x;
        return &p->scope->phases[p->each];
    }
    return phase_named(p, x);
}

/* Returns the kinds of ops that all phases with this name have, as bits; `phase` NULL = all phases
 * of the run. */
static uint32_t kinds_of(const struct parser *p, const char *phase)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (phase == NULL || strcmp(p->scope->phases[i].name, phase) == 0)
            kinds |= p->scope->phases[i].kinds;
    return kinds;
}

/* ---- statistics of ops and of memory ---- */

static const struct {
    const char *name;
    enum ab_memory_at at;
} places[] = {
    {"memory", AB_AT_FOOTPRINT_PEAK},
    {"footprint_peak", AB_AT_FOOTPRINT_PEAK},
    {"live_peak", AB_AT_LIVE_PEAK},
    {"end", AB_AT_END},
};

/* True if the bound, or its floor, is a size. Then "external.p99" is a number of bytes; otherwise
 * it is the ratio to the live bytes. */
static bool is_in_bytes(const char *text)
{
    struct span whole = between(text, text + strlen(text));
    const char *end = whole.s + whole.n, *word;
    for (word = end; word > whole.s && strchr(" \t<>=", word[-1]) == NULL; word--) {
    }
    return word < end && *word >= '0' && *word <= '9' && end[-1] == 'B';
}

/* True if the run measures this field. A real program has fields of its own, and only a few of
 * those of a workload. */
static bool is_measured(const struct parser *p, const struct ab_field *field)
{
    bool is_program = field->group == AB_FIELD_PROGRAM;
    bool is_of_call = field->group == AB_FIELD_EACH || field->group == AB_FIELD_QUANTILE ||
                      field->group == AB_FIELD_INSIDE;
    return is_program == p->scope->is_exec ||
           (is_of_call && p->scope->n_phases > 0 && p->scope->phases[0].kinds != 0) ||
           field->offset == offsetof(struct ab_result, faults_minor) ||
           field->offset == offsetof(struct ab_result, switches_involuntary);
}

static const struct ab_field *find_field(const struct parser *p, struct span x)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (is_measured(p, &ab_fields[i]) && is_word(x, ab_fields[i].name))
            return &ab_fields[i];
    for (size_t i = 0; i < p->scope->n_named; i++)
        if (is_word(x, p->scope->named[i]->name))
            return p->scope->named[i];
    return NULL;
}

/* True if fields of this kind may follow the word `op`: a moment of the phase, or the word of the
 * kind. */
static bool may_follow(const struct ab_metric_kind *kind, struct span op)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(places) && kind->is_of_memory; i++)
        if (is_word(op, places[i].name))
            return true;
    return kind->place != NULL && is_word(op, kind->place);
}

/* Finds the field `x` among the kinds whose fields may follow `op`. Sets *kind to the field's kind.
 * NULL = there is no such field. */
static const struct ab_number_field *find_number(const struct parser *p, struct span op,
                                                 struct span x, const struct ab_metric_kind **kind)
{
    const struct ab_number_field *found = NULL;
    for (size_t i = 0; i < ab_metric_kind_count && found == NULL; i++) {
        *kind = &ab_metric_kinds[i];
        if ((*kind)->place != NULL && may_follow(*kind, op))
            found = ab_metric_kind_find(*kind, x.s, x.n, is_in_bytes(p->text));
    }
    return found;
}

/* True if `x` names a memory number, which is written after the word "memory". */
static bool is_memory_stat(const struct parser *p, struct span x)
{
    const struct ab_metric_kind *kind;
    return find_number(p, (struct span){"memory", strlen("memory")}, x, &kind) != NULL;
}

static bool is_op_name(struct span x)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        if (is_word(x, places[i].name))
            return true;
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        if (is_word(x, ab_result_op_name(k)))
            return true;
    return false;
}

/* Sets m->at to the moment that `op` names. Returns false if `op` names none. */
static bool set_moment(struct ab_metric *m, struct span op)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
        if (is_word(op, places[i].name)) {
            m->at = places[i].at;
            return true;
        }
    return false;
}

static bool fail_number(struct parser *p, struct span op, struct span stat)
{
    struct names names = {.n = 0};
    if (find_field(p, stat) != NULL)
        return fail_place(p, stat, stat, "is not a memory statistic", "all");
    for (size_t k = 0; k < ab_metric_kind_count; k++) {
        const struct ab_metric_kind *kind = &ab_metric_kinds[k];
        bool follows = kind->place != NULL && may_follow(kind, op);
        for (size_t i = 0; follows && i < (kind->offered != NULL ? kind->n_offered : kind->n); i++)
            add_name(&names, kind->offered != NULL ? kind->offered[i] : kind->fields[i].name);
    }
    return fail_unknown(p, stat, "memory statistic", &names);
}

/* Reads the name of a number that is not a field of results. The name follows the word of its
 * kind. */
static bool read_number(struct parser *p, struct span op, struct span stat)
{
    struct ab_metric *m = &p->gate.metric;
    const struct ab_metric_kind *kind;
    m->number = find_number(p, op, stat, &kind);
    if (m->number == NULL)
        return fail_number(p, op, stat);
    if (kind->where == NULL)
        return true;
    set_moment(m, (struct span){kind->place, strlen(kind->place)});
    return is_word(op, "memory") || is_word(op, kind->place) ||
           fail_place(p, op, stat, kind->where, kind->place);
}

static bool read_stat(struct parser *p, struct span op, struct span stat)
{
    struct ab_metric *m = &p->gate.metric;
    struct names names = {.n = 0};
    m->field = find_field(p, stat);
    if (m->field == NULL && is_memory_stat(p, stat))
        return fail_place(p, op, stat, "is a memory statistic", "memory");
    if (m->field == NULL) {
        for (size_t i = 0; i < p->scope->n_named && m->op == AB_OP_ALL; i++)
            add_name(&names, p->scope->named[i]->name);
        for (size_t i = 0; i < ab_field_count; i++)
            if (is_measured(p, &ab_fields[i]) &&
                (m->op == AB_OP_ALL || ab_fields[i].group != AB_FIELD_ALL))
                add_name(&names, ab_fields[i].name);
        return fail_unknown(p, stat, "statistic", &names);
    }
    return m->field->group != AB_FIELD_ALL || m->op == AB_OP_ALL ||
           fail_place(p, op, stat, "is of all ops of a phase", "all");
}

/* ---- iterations: their name (`each` in a workload) stands in the place of an op ---- */

/* True if `iteration` is the name of the phase's iterations, or AB_GATE_ITERATION. */
static bool has_iteration(const struct ab_gate_phase *phase, struct span iteration)
{
    return phase->iteration != NULL &&
           (is_word(iteration, phase->iteration) || is_word(iteration, AB_GATE_ITERATION));
}

/* Returns the first phase that has iterations of this name; NULL = none. */
static const struct ab_gate_phase *phase_with(const struct parser *p, struct span iteration)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (has_iteration(&p->scope->phases[i], iteration))
            return &p->scope->phases[i];
    return NULL;
}

/* Reads the statistic `stat` of iterations that at least one phase has. If that is not the phase
 * `own`, because the gate has '*', marks the gate as absent for `own`. */
static bool read_iteration(struct parser *p, const struct ab_gate_phase *own, struct span iteration,
                           struct span stat)
{
    struct ab_metric *m = &p->gate.metric;
    struct names names = {.n = 0};
    p->is_absent = !has_iteration(own, iteration);
    const struct ab_gate_phase *phase = p->is_absent ? phase_with(p, iteration) : own;
    m->each = phase->iteration;
    m->number = ab_metric_kind_find(&ab_metric_kinds[AB_METRIC_ITERATION], stat.s, stat.n, false);
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++)
        add_name(&names, ab_iteration_fields[i].name);
    if (m->number == NULL)
        return fail_unknown(p, stat, "statistic of iterations", &names);
    if (ab_iteration_field_needs_budget(m->number) && !phase->has_budget)
        return fail(p, stat,
                    "'%s' needs a budget, and the iterations of phase '%s' have none: "
                    "each: {budget: 16.67ms}, or --budget of a replay",
                    SHOWN(stat), SHOWN_NAME(phase->name));
    return true;
}

/* ---- the metric ---- */

/* Fails with a message that lists the words that are allowed in the place of the op. */
static bool fail_op(struct parser *p, const struct ab_gate_phase *own, struct span op,
                    struct names *names)
{
    char list[LIST_BYTES];
    for (size_t i = 0; i < AB_ARRAY_LEN(places) && !p->scope->is_exec; i++)
        add_name(names, places[i].name);
    for (size_t i = 0; i < p->scope->n_phases; i++) {
        const struct ab_gate_phase *phase = &p->scope->phases[i];
        if (phase->iteration == NULL || (p->star.n == 0 && phase != own))
            continue;
        add_name(names, phase->iteration);
        if (strcmp(phase->iteration, AB_GATE_ITERATION) != 0)
            add_name(names, AB_GATE_ITERATION);
    }
    if (phase_with(p, op) != NULL || is_op_name(op))
        return fail(p, op, "phase '%s' has no %s; it has: %s", SHOWN_NAME(own->name), SHOWN(op),
                    list_names(list, names));
    return fail_unknown(p, op, "op", names);
}

static bool read_op(struct parser *p, struct span op, struct span stat)
{
    struct ab_metric *m = &p->gate.metric;
    struct names names = {.n = 0};
    uint32_t here = kinds_of(p, m->phase), kinds = p->star.n > 0 ? kinds_of(p, NULL) : here;
    for (size_t i = 0; i < ab_metric_kind_count && !p->scope->is_exec; i++)
        if (ab_metric_kinds[i].place != NULL && may_follow(&ab_metric_kinds[i], op)) {
            set_moment(m, op);
            return read_number(p, op, stat);
        }
    for (unsigned k = 0; k <= AB_OP_ALL; k++) {
        bool is_kind = k < AB_OP_KIND_COUNT;
        if (is_kind && (kinds >> k & 1) == 0)
            continue;
        add_name(&names, ab_result_op_name(k));
        if (is_word(op, ab_result_op_name(k))) {
            m->op = k;
            p->is_absent = is_kind && (here >> k & 1) == 0;
            return read_stat(p, op, stat);
        }
    }
    const struct ab_gate_phase *own = phase_named(p, (struct span){m->phase, strlen(m->phase)});
    if (has_iteration(own, op) || (p->star.n > 0 && phase_with(p, op) != NULL))
        return read_iteration(p, own, op, stat);
    return fail_op(p, own, op, &names);
}

/* Fails for PHASE/STAT or OP/STAT, with the full form in the message. */
static bool fail_short(struct parser *p, struct span metric, struct span first, struct span stat)
{
    const struct ab_gate_phase *with = phase_with(p, first);
    const char *phase = p->scope->n_phases > 0 ? p->scope->phases[0].name : "PHASE";
    const char *op = find_field(p, stat) == NULL && is_memory_stat(p, stat) ? "memory" : "all";
    bool is_op = find_phase(p, first) == NULL && (with != NULL || is_op_name(first));
    bool is_phase = first.n > 0 && !is_op;
    if (is_op && with != NULL)
        phase = with->name;
    return fail(p, metric, "a metric is " FORM ": write %s/%s/%s",
                is_phase ? SHOWN(first) : SHOWN_NAME(phase), is_op ? SHOWN(first) : op,
                SHOWN(stat));
}

/* Splits `x` at the last `mark`. *last receives the part after it, *rest the part before it.
 * Returns false if there is no mark. */
static bool cut_last(struct span whole, char mark, struct span *rest, struct span *last)
{
    for (size_t i = whole.n; i-- > 0;)
        if (whole.s[i] == mark) {
            *last = (struct span){whole.s + i + 1, whole.n - i - 1};
            *rest = (struct span){whole.s, i};
            return true;
        }
    return false;
}

/* ---- pinned pages: [BACKEND:]MOMENT/pins/PATTERN/STAT ---- */

static const char pins_part[] = "/pins/";

/* Finds the last "/pins/", because a pattern may contain it as well but what follows may not; n 0 =
 * not found. */
static struct span find_pins(struct span metric)
{
    const size_t n = sizeof pins_part - 1;
    for (size_t i = metric.n; i-- > 0;)
        if (i + n <= metric.n && memcmp(metric.s + i, pins_part, n) == 0)
            return (struct span){metric.s + i, n};
    return (struct span){metric.s, 0};
}

/* Reads a moment. Besides the moments that every run has, it may be a mark of the program or a
 * value of --at. A word that is similar to one of the former is a misspelling. Other words can be
 * checked only after the run. */
static bool read_moment(struct parser *p, struct span x)
{
    char *moment = p->gate.metric.moment;
    const size_t cap = sizeof p->gate.metric.moment;
    struct names names = {.n = 0};
    if (x.n == 0 || x.n >= cap)
        return fail(p, x, "a moment has 1 to %zu characters", cap - 1);
    snprintf(moment, cap, "%.*s", (int)x.n, x.s);
    for (unsigned i = 0; i < AB_PIN_MOMENT_COUNT; i++)
        add_name(&names, ab_pin_moment_names[i]);
    const char *near = ab_text_nearest(moment, names.items, names.n);
    return near == NULL || strcmp(near, moment) == 0 || fail_unknown(p, x, "moment", &names);
}

static bool read_pin_stat(struct parser *p, struct span x)
{
    const struct ab_metric_kind *kind = &ab_metric_kinds[AB_METRIC_PIN];
    struct names names = {.n = 0};
    for (size_t i = 0; i < kind->n; i++)
        add_name(&names, kind->fields[i].name);
    p->gate.metric.number = ab_metric_kind_find(kind, x.s, x.n, false);
    return p->gate.metric.number != NULL || fail_unknown(p, x, "statistic of pins", &names);
}

static bool read_pins(struct parser *p, struct span metric, struct span at)
{
    struct ab_metric *m = &p->gate.metric;
    const char *behind = at.s + at.n;
    struct span head = {metric.s, (size_t)(at.s - metric.s)}, name, moment = head;
    struct span tail = {behind, (size_t)(metric.s + metric.n - behind)}, pattern, stat;
    p->gate.backend = AB_GATE_EACH;
    if (p->scope->is_exec)
        return fail(p, metric, "a real program has no pins: replay its trace");
    if (!cut_last(tail, '/', &pattern, &stat) || pattern.n == 0)
        return fail(p, metric, "a metric of pins is [BACKEND:]MOMENT/pins/PATTERN/STAT");
    if (pattern.n >= sizeof m->pattern)
        return fail(p, pattern, "a pattern has at most %zu characters", sizeof m->pattern - 1);
    if (cut_last(head, ':', &name, &moment) &&
        !read_backend(p, name, &p->gate.backend, p->gate.name))
        return false;
    AB_FIT(m->pattern, "%.*s", (int)pattern.n, pattern.s);
    return read_moment(p, moment) && read_pin_stat(p, stat);
}

static bool read_metric(struct parser *p, struct span metric)
{
    struct span pins = find_pins(metric);
    if (pins.n > 0)
        return read_pins(p, metric, pins);
    struct span stat, op, head, rest, name, phase;
    struct names names = {.n = 0};
    if (metric.n == 0)
        return fail(p, metric, "the metric is missing: " FORM);
    if (!cut_last(metric, '/', &rest, &stat))
        return fail_short(p, metric, (struct span){metric.s, 0}, metric);
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
            add_name(&names, p->scope->phases[i].name);
        return fail_unknown(p, phase, "measured phase", &names);
    }
    p->gate.metric.phase = found->name;
    return read_op(p, op, stat);
}

/* ---- the comparison ---- */

/* Finds the comparison sign, which must be outside of { }. */
static struct span find_compare(const char *text)
{
    size_t depth = 0;
    for (const char *s = text; *s != 0; s++) {
        depth += *s == '{';
        depth -= depth > 0 && *s == '}';
        bool is_sign = strchr("<>!", *s) != NULL ||
                       /* '=' within slab:threads=sharded is not a comparison sign */
                       (*s == '=' && s > text && is_blank(s[-1]));
        if (depth == 0 && is_sign)
            return (struct span){s, strspn(s, "<>=!")};
    }
    return (struct span){text + strlen(text), 0};
}

static bool read_compare(struct parser *p, struct span at)
{
    static const char *const words[] = {
        [AB_CHECK_LESS] = "<",      [AB_CHECK_AT_MOST] = "<=", [AB_CHECK_MORE] = ">",
        [AB_CHECK_AT_LEAST] = ">=", [AB_CHECK_IS] = "=",
    };
    for (unsigned i = p->is_claim ? AB_CHECK_IS : 0; i < AB_ARRAY_LEN(words); i++)
        if (is_word(at, words[i])) {
            p->gate.compare = (enum ab_check_compare)i;
            return true;
        }
    if (p->is_claim)
        return fail(p, at, "a claim is " FORM " = RATIOx BACKEND%s%s", at.n > 0 ? ", not " : "",
                    SHOWN(at));
    if (at.n == 0)
        return fail(p, at, "a gate is " FORM " < BOUND: one of <, <=, >, >= is missing");
    return fail(p, at, "'%s' is not a comparison; use one of <, <=, >, >=", SHOWN(at));
}

/* Checks that '=' is used with counts only, and not to compare a count with a baseline. */
static bool check_count(struct parser *p, struct span compare, struct span bound)
{
    const struct ab_gate *g = &p->gate;
    bool is_count = ab_metric_is_count(&g->metric);
    if (!p->is_claim && g->compare == AB_CHECK_IS &&
        !(is_count && g->against == AB_AGAINST_NOTHING))
        return fail(p, compare,
                    "'=' is not a comparison of what is measured, only of counts such as "
                    "missed = 0; use one of <, <=, >, >=");
    if (is_count && g->against == AB_AGAINST_BASELINE)
        return fail(p, bound,
                    "'missed' grows with the rounds and has no change against a baseline: "
                    "gate missed_percent instead");
    return true;
}

/* ---- the bound: a number in the unit of the metric, a ratio to a back end of the run or to the
 * live bytes, or a change against a baseline ---- */

static bool has_unit(const struct parser *p, const char *unit)
{
    return strcmp(ab_metric_unit(&p->gate.metric), unit) == 0;
}

/* Units of metrics, and the syntax of a bound in each. A metric with another unit has a whole
 * number as bound. */
struct unit {
    const char *name;
    enum ab_unit_kind how;
    double per; /* the parsed value is divided by this number to get the metric's unit */
};

static struct unit unit_of(const struct parser *p)
{
    static const struct unit units[] = {
        {"bytes", AB_UNIT_BYTES_REAL, 1}, {"bytes/h", AB_UNIT_BYTES_REAL, 1},
        {"percent", AB_UNIT_FRACTION, 1}, {"x live", AB_UNIT_FRACTION, 1},
        {"MiB h", AB_UNIT_FRACTION, 1},   {"number", AB_UNIT_FRACTION, 1},
    };
    const double ns = ab_format_ns_of_unit(ab_metric_unit(&p->gate.metric));
    if (ns > 0)
        return (struct unit){NULL, AB_UNIT_TIME_REAL, ns};
    for (size_t i = 0; i < AB_ARRAY_LEN(units); i++)
        if (has_unit(p, units[i].name))
            return units[i];
    bool is_per_op = strcmp(ab_metric_name(&p->gate.metric), "instr_per_op") == 0;
    return (struct unit){NULL, is_per_op ? AB_UNIT_FRACTION : AB_UNIT_COUNT, 1};
}

/* True if the metric is a size of memory, or a growth of memory per hour. */
static bool is_size(const struct parser *p)
{
    return unit_of(p).how == AB_UNIT_BYTES_REAL;
}

static bool read_size(struct parser *p, struct span x, double *out)
{
    struct unit unit = unit_of(p);
    bool is_percent = has_unit(p, "percent");
    struct ab_number number;
    const char *bad = ab_units_parse(x.s, x.n, unit.how, &number);
    if (bad == NULL && is_percent && x.s[x.n - 1] != '%')
        bad = "expected a percentage such as 5%";
    if (bad != NULL)
        return fail(p, x, "'%s' cannot bound %s: %s", SHOWN(x), ab_metric_name(&p->gate.metric),
                    bad);
    *out = is_percent ? number.value * 100 : number.value / unit.per;
    return true;
}

/* Returns the length of NUMBER if the text has the form "NUMBERx NAME"; otherwise 0. */
static size_t factor_length(struct span x)
{
    size_t n = 0;
    while (n < x.n && strchr("0123456789._e", x.s[n]) != NULL)
        n++;
    return n > 0 && n < x.n && x.s[n] == 'x' ? n : 0;
}

static bool read_ratio(struct parser *p, struct span bound, size_t n_factor)
{
    struct ab_gate *g = &p->gate;
    struct span factor = {bound.s, n_factor};
    struct span name = between(bound.s + n_factor + 1, bound.s + bound.n);
    struct ab_number number;
    const char *bad = ab_units_parse(factor.s, factor.n, AB_UNIT_FRACTION, &number);
    if (bad == NULL && number.value <= 0)
        bad = "must be above 0";
    if (bad != NULL)
        return fail(p, factor, "'%s' is not a factor: %s", SHOWN(factor), bad);
    g->bound = number.value;
    if (name.n == 0)
        return fail(p, bound, "%.*sx of what? add a back end, or 'live' for the peak of live bytes",
                    (int)(n_factor < 20 ? n_factor : 20), bound.s);
    if (is_word(name, "live") && !p->is_claim) {
        /* the metric is already a ratio to the live bytes */
        bool is_by_live = has_unit(p, "x live");
        g->against = is_by_live ? AB_AGAINST_NOTHING : AB_AGAINST_LIVE;
        return is_by_live || (is_size(p) && g->metric.number != NULL) ||
               fail(p, name, "'live' bounds sizes of memory, such as rss_peak; %s is in %s",
                    ab_metric_name(&g->metric), ab_metric_unit(&g->metric));
    }
    g->against = AB_AGAINST_BACKEND;
    if (!read_backend(p, name, &g->other, g->other_name))
        return false;
    return g->backend == AB_GATE_EACH || strcmp(g->name, g->other_name) != 0 ||
           fail(p, name, "'%s' compared with itself", SHOWN(name));
}

/* Removes " floor SIZE" from the end of *bound. *floor receives SIZE; n 0 = there is none. */
static bool read_floor(struct parser *p, struct span *bound, struct span *floor)
{
    static const char word[] = "floor";
    const size_t n = sizeof word - 1;
    const char *s = bound->s, *end = s + bound->n;
    floor->n = 0;
    for (size_t i = 1; i + n <= bound->n; i++) {
        if (!is_blank(s[i - 1]) || memcmp(s + i, word, n) != 0 ||
            (i + n < bound->n && !is_blank(s[i + n])))
            continue;
        *floor = between(s + i + n, end);
        *bound = between(s, s + i);
        return floor->n > 0 || fail(p, *bound, "floor: a size is missing, such as floor 20ns");
    }
    return true;
}

/* Reads a change against the baseline, such as "+10%". The bound becomes a factor: 1.1. */
static bool read_change(struct parser *p, struct span bound)
{
    struct ab_number number;
    bool is_less = bound.s[0] == '-';
    const char *bad = ab_units_parse(bound.s + 1, bound.n - 1, AB_UNIT_FRACTION, &number);
    if (bad == NULL && is_less && number.value >= 1)
        bad = "nothing can shrink by 100 % or more";
    if (bad == NULL && number.value > 1000)
        bad = "at most 100000 %";
    if (bad != NULL)
        return fail(p, bound, "'%s' is not a change: %s", SHOWN(bound), bad);
    p->gate.against = AB_AGAINST_BASELINE;
    p->gate.bound = is_less ? 1 - number.value : 1 + number.value;
    return true;
}

/* Fails for a percentage without a sign, as bound of a metric that is not a percentage. Suggests a
 * change with a sign. */
static bool fail_bare_percent(struct parser *p, struct span bound)
{
    if (ab_metric_is_count(&p->gate.metric))
        return fail(p, bound, "'%s' cannot limit a count: gate missed_percent instead",
                    SHOWN(bound));
    return fail(p, bound, "'%s': write +%s for a change against the baseline, or a number in %s",
                SHOWN(bound), SHOWN(bound), ab_metric_unit(&p->gate.metric));
}

/* Reads the bound, after the metric is known. Fills bound, against, other and floor of p->gate. */
static bool read_bound(struct parser *p, struct span bound)
{
    struct span floor;
    if (bound.n == 0)
        return fail(p, bound, "the bound is missing, such as 2us or 0.5x glibc");
    if (!read_floor(p, &bound, &floor))
        return false;
    size_t n_factor = factor_length(bound);
    bool is_percent = bound.s[bound.n - 1] == '%' && !p->is_claim;
    if (is_percent && bound.n > 1 && strchr("+-", bound.s[0]) != NULL)
        return read_change(p, bound) && (floor.n == 0 || read_size(p, floor, &p->gate.floor));
    if (is_percent && !has_unit(p, "percent") && !has_unit(p, "x live"))
        return fail_bare_percent(p, bound);
    if (p->is_claim && (n_factor == 0 || floor.n > 0))
        return fail(p, floor.n > 0 ? floor : bound,
                    "a claim is a ratio to a back end, such as 0.1x glibc");
    if (n_factor > 0 && !read_ratio(p, bound, n_factor))
        return false;
    if (n_factor > 0 && p->gate.against != AB_AGAINST_NOTHING)
        return floor.n == 0 || read_size(p, floor, &p->gate.floor);
    if (floor.n > 0)
        return fail(p, floor, "'floor' belongs to a ratio: 1.1x glibc floor 20ns");
    return n_factor > 0 || read_size(p, bound, &p->gate.bound);
}

/* ---- whole gates ---- */

static bool parse(struct parser *p)
{
    const char *text = p->text;
    struct span compare = find_compare(text), metric = between(text, compare.s);
    struct span bound = between(compare.s + compare.n, text + strlen(text));
    p->gate.text = text;
    if (!read_compare(p, compare) || !read_metric(p, metric) || !read_bound(p, bound) ||
        !check_count(p, compare, bound))
        return false;
    return !p->is_claim || p->gate.backend != AB_GATE_EACH ||
           fail(p, metric, "a claim names its back end: BACKEND:%s", SHOWN(metric));
}

bool ab_gate_is_of_pins(const char *text)
{
    return find_pins((struct span){text, strlen(text)}).n > 0;
}

bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error)
{
    struct parser p = {.text = text, .is_claim = is_claim, .scope = scope, .error = error};
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
        struct parser p = {.text = text, .scope = scope, .error = error, .each = i};
        if (!parse(&p))
            return false;
        bool is_each = p.star.n > 0;
        if (is_each && !p.is_absent && !is_repeated(scope, i)) {
            AB_FIT(p.gate.spelt, "%.*s%s%s", (int)(p.star.s - text), text, scope->phases[i].name,
                   p.star.s + p.star.n);
            out[used++] = p.gate;
        } else if (!is_each) {
            out[used++] = p.gate;
            break;
        }
    }
    *n = used;
    return true;
}
