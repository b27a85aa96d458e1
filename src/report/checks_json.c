/* SPDX-License-Identifier: MIT
 *
 * The members of each kind of check, in the order of the document; one walk writes them, one reads
 * them.
 */
#include "report/checks_json.h"

#include "base/bits.h"
#include "core/memory.h"
#include "report/format.h"
#include "report/stored_reader.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    NAME,      /* const char *, null where it is NULL or "" */
    TEXT,      /* char[n], null where it is "" */
    REAL,      /* double */
    WHOLE,     /* uint32_t */
    ROUNDS,    /* uint32_t; not known and never are both null */
    CHOICE,    /* an enum: one of n names */
    JUDGED,    /* the same, null without a limit; */
    DIRECTION, /* instead of it, which follows from the numbers */
    EXIT_CODE, /* of the status */
    UNIT,      /* what a gate's number is to, and its unit */
    LEVEL,     /* of a gate */
    RELATIVE,  /* an object, where there are witnesses */
};

struct member {
    const char *key;
    enum kind kind;
    size_t offset; /* in struct ab_checked */
    size_t n;
    const char *const *names;
    bool is_later; /* stored results may lack it */
};

#define AT(member) offsetof(struct ab_checked, member)
#define ROOM(member) AT(member), sizeof((struct ab_checked *)0)->member

static const struct member relative_members[] = {
    {"witnesses", TEXT, ROOM(witnesses)}, {"machine_ratio", REAL, AT(machine_ratio)},
    {"ratio", REAL, AT(relative.ratio)},  {"low", REAL, AT(relative.low)},
    {"high", REAL, AT(relative.high)},    {.key = NULL},
};

static const struct member cell_members[] = {
    {"backend", NAME, AT(backend)},
    {"base_backend", NAME, AT(base_backend)},
    {"phase", NAME, AT(phase)},
    {"op", NAME, AT(op)},
    {"iteration", NAME, AT(iteration), .is_later = true},
    {"metric", NAME, AT(metric)},
    {"unit", NAME, AT(unit)},
    {"base", REAL, AT(base)},
    {"new", REAL, AT(now)},
    {"ratio", REAL, AT(effect.ratio)},
    {"low", REAL, AT(effect.low)},
    {"high", REAL, AT(effect.high)},
    {"method", CHOICE, AT(effect.method), AB_EFFECT_METHOD_COUNT, ab_effect_method_names},
    {"n_base", WHOLE, AT(effect.n_base)},
    {"n_new", WHOLE, AT(effect.n_new)},
    {"relative", RELATIVE, 0, .is_later = true},
    {"limit", REAL, AT(bound)},
    {"verdict", JUDGED, AT(verdict), AB_VERDICT_COUNT, ab_comparison_verdicts},
    {"direction", DIRECTION, 0},
    {"rounds_needed", ROUNDS, AT(rounds_needed)},
    {"confirm_rounds", WHOLE, AT(n_confirm)},
    {"confirm_ratio", REAL, AT(confirm)},
    {"reason", TEXT, ROOM(reason)},
    {.key = NULL},
};

static const struct member gate_members[] = {
    {"gate", NAME, AT(text)},
    {"place", NAME, AT(place)},
    {"backend", NAME, AT(backend)},
    {"verdict", CHOICE, AT(verdict), AB_VERDICT_COUNT, ab_gate_verdicts},
    {"exit_code", EXIT_CODE, 0},
    {"value", REAL, AT(effect.ratio)},
    {"bound", REAL, AT(bound)},
    {"unit", UNIT, 0},
    {"reason", TEXT, ROOM(reason)},
    {"low", REAL, AT(effect.low), .is_later = true},
    {"high", REAL, AT(effect.high), .is_later = true},
    {"level", LEVEL, 0, .is_later = true},
    {"confirm_rounds", WHOLE, AT(n_confirm), .is_later = true},
    {"confirm_value", REAL, AT(confirm), .is_later = true},
    {"rounds_needed", ROUNDS, AT(rounds_needed), .is_later = true},
    {.key = NULL},
};

/* Written only. */
static const struct member claim_members[] = {
    {"claim", NAME, AT(text)},
    {"place", NAME, AT(place)},
    {"says", NAME, AT(says)},
    {"source", NAME, AT(source)},
    {"backend", NAME, AT(backend)},
    {"base", NAME, AT(base_backend)},
    {"phase", NAME, AT(phase)},
    {"op", NAME, AT(op)},
    {"stat", NAME, AT(metric)},
    {"claimed", REAL, AT(bound)},
    {"measured", REAL, AT(effect.ratio)},
    {"low", REAL, AT(low)},
    {"high", REAL, AT(high)},
    {"interval_low", REAL, AT(effect.low)},
    {"interval_high", REAL, AT(effect.high)},
    {"net", REAL, AT(relative.ratio)},
    {"net_interval_low", REAL, AT(relative.low)},
    {"net_interval_high", REAL, AT(relative.high)},
    {"n_rounds", WHOLE, AT(effect.n_new)},
    {"reason", TEXT, ROOM(reason)},
    {.key = NULL},
};

static const char *const levels[] = {"error", "warn"};

/* ---- writing ---- */

static json_t *check_json(const struct ab_checked *c, const struct member *of);

static json_t *member_json(const struct ab_checked *c, const struct member *m)
{
    const char *at = (const char *)c + m->offset;
    const uint32_t whole = *(const uint32_t *)at;
    char unit[160];
    switch (m->kind) {
    case NAME:
        return ab_json_string(*(const char *const *)at);
    case TEXT:
        return ab_json_string(at);
    case REAL:
        return ab_json_real(*(const double *)at);
    case WHOLE:
        return ab_json_integer(whole);
    case ROUNDS:
        return whole == 0 || whole == UINT32_MAX ? json_null() : ab_json_integer(whole);
    case CHOICE:
        return ab_json_string(m->names[whole]);
    case JUDGED:
        return ab_check_is_judged(c) ? ab_json_string(m->names[whole]) : json_null();
    case DIRECTION:
        return ab_check_is_judged(c) ? json_null() : ab_json_string(ab_check_word(c));
    case EXIT_CODE:
        return ab_json_integer((uint64_t)ab_status_exit_code(c->status));
    case UNIT:
        return ab_json_string(ab_check_unit(c, unit, sizeof unit));
    case LEVEL:
        return ab_json_string(levels[c->is_warning]);
    case RELATIVE:
        return check_json(c, relative_members);
    }
    return json_null();
}

static json_t *check_json(const struct ab_checked *c, const struct member *of)
{
    json_t *o = json_object();
    for (const struct member *m = of; m->key != NULL; m++) {
        bool is_left_out = (m->kind == RELATIVE && ab_check_judged_effect(c) == &c->effect) ||
                           (m->offset == AT(iteration) && c->iteration == NULL);
        if (!is_left_out)
            ab_json_put(o, m->key, member_json(c, m));
    }
    return o;
}

static json_t *list_json(const struct ab_checked *list, uint32_t n, const struct member *of)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < n; i++)
        ab_json_append(array, check_json(&list[i], of));
    return array;
}

json_t *ab_gates_json(const struct ab_session *s)
{
    return list_json(s->gates, s->n_gates, gate_members);
}

json_t *ab_claims_json(const struct ab_session *s)
{
    return list_json(s->claims, s->n_claims, claim_members);
}

json_t *ab_comparison_json(const struct ab_comparison *c)
{
    if (c == NULL)
        return json_null();
    json_t *o = json_object(), *notes = json_array();
    ab_json_put(o, "base", ab_json_string(c->base_label));
    ab_json_put(o, "new", ab_json_string(c->now_label));
    ab_json_put(o, "tape_sha256", ab_json_string(c->now->tape_sha256));
    ab_json_put(o, "advisory", ab_json_string(c->advisory));
    for (uint32_t i = 0; i < c->n_notes; i++)
        ab_json_append(notes, ab_json_string(c->notes[i]));
    ab_json_put(o, "notes", notes);
    if (c->is_joint)
        ab_json_put(o, "jointly", json_true());
    ab_json_put(o, "cells", list_json(c->cells, c->n_cells, cell_members));
    return o;
}

void ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code)
{
    struct ab_format_guard guard;
    json_t *o = json_object(), *list = json_array();
    ab_format_begin(&guard);
    ab_json_put(o, "schema", ab_json_string("allocbench-compare/1"));
    ab_json_put(o, "version", ab_json_string(AB_VERSION));
    ab_json_put(o, "exit_code", ab_json_integer((uint64_t)exit_code));
    for (size_t i = 0; i < n; i++) {
        json_t *one = ab_comparison_json(&comparisons[i]);
        ab_json_put(one, "gates", ab_gates_json(comparisons[i].now));
        ab_json_append(list, one);
    }
    ab_json_put(o, "comparisons", list);
    ab_json_write(o, to, 12);
    ab_format_end(&guard);
}

/* ---- reading ---- */

/* Text, or NULL where there is null: such as the phase of what is of the whole run. */
static const char *text_or_null(struct ab_json_reader *r, const struct ab_json_node *o,
                                const char *key)
{
    const char *text = ab_json_text(r, o, key);
    return text[0] != 0 ? text : NULL;
}

/* One of a list in which some numbers have no name. */
static uint32_t read_choice(struct ab_json_reader *r, const struct ab_json_node *o,
                            const struct member *m)
{
    const char *choices[AB_VERDICT_COUNT];
    uint32_t numbers[AB_VERDICT_COUNT], n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->names[i] != NULL) {
            choices[n] = m->names[i];
            numbers[n++] = i;
        }
    return numbers[ab_json_one_of(r, o, m->key, choices, n)];
}

/* What a result says to end with, as a status. */
static enum ab_status read_status(struct ab_json_reader *r, const struct ab_json_node *o,
                                  const char *key)
{
    static const enum ab_status allowed[] = {AB_OK, AB_GATE, AB_CONFIG, AB_INCONCLUSIVE};
    uint64_t code = ab_json_whole(r, o, key, UINT8_MAX, UINT8_MAX);
    for (size_t i = 0; i < AB_ARRAY_LEN(allowed); i++)
        if ((uint64_t)ab_status_exit_code(allowed[i]) == code)
            return allowed[i];
    ab_json_fail(r, o, "%s is not one of a gate", key);
    return AB_OK;
}

/* "x glibc" is the only place where a stored gate says what its number is a factor of. */
static void set_unit(struct ab_checked *c, const char *unit)
{
    bool is_factor = strncmp(unit, "x ", 2) == 0;
    c->unit = unit;
    c->base_backend = is_factor ? unit + 2 : "";
    c->against = !is_factor                                 ? AB_AGAINST_NOTHING
                 : strcmp(c->base_backend, "live") == 0     ? AB_AGAINST_LIVE
                 : strcmp(c->base_backend, "baseline") == 0 ? AB_AGAINST_BASELINE
                                                            : AB_AGAINST_BACKEND;
}

static void read_members(struct ab_json_reader *r, const struct ab_json_node *o,
                         const struct member *of, struct ab_checked *c);

static void read_member(struct ab_json_reader *r, const struct ab_json_node *o,
                        const struct member *m, struct ab_checked *c)
{
    char *at = (char *)c + m->offset;
    switch (m->kind) {
    case NAME:
        *(const char **)at = text_or_null(r, o, m->key);
        break;
    case TEXT:
        ab_json_text_into(r, o, m->key, at, m->n);
        break;
    case REAL:
        *(double *)at = ab_json_number(r, o, m->key);
        break;
    case WHOLE:
        *(uint32_t *)at = (uint32_t)ab_json_whole(r, o, m->key, UINT32_MAX, 0);
        break;
    case ROUNDS:
        *(uint32_t *)at = (uint32_t)ab_json_whole(r, o, m->key, UINT32_MAX - 1, 0);
        break;
    case JUDGED:
        if (text_or_null(r, o, m->key) == NULL) {
            if (!isnan(c->bound))
                ab_json_fail(r, o, "has a limit and no verdict");
            break;
        } /* fall through */
    case CHOICE:
        *(uint32_t *)at = read_choice(r, o, m);
        break;
    case DIRECTION:
        break;
    case EXIT_CODE:
        c->status = read_status(r, o, m->key);
        break;
    case UNIT:
        set_unit(c, ab_json_text(r, o, m->key));
        break;
    case LEVEL:
        c->is_warning = ab_json_one_of(r, o, m->key, levels, AB_ARRAY_LEN(levels)) == 1;
        break;
    case RELATIVE: {
        struct ab_json_node inner = ab_json_object(r, o, m->key);
        read_members(r, &inner, relative_members, c);
        break;
    }
    }
}

static void read_members(struct ab_json_reader *r, const struct ab_json_node *o,
                         const struct member *of, struct ab_checked *c)
{
    for (const struct member *m = of; m->key != NULL; m++)
        if (!m->is_later || ab_json_has(r, o, m->key))
            read_member(r, o, m, c);
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* The list o[key]; *n are those that were read. */
static struct ab_checked *read_list(struct ab_stored_reader *stored, const struct ab_json_node *o,
                                    const char *key, const struct member *of, uint32_t *n)
{
    const struct ab_effect none = {
        .ratio = NAN, .low = NAN, .high = NAN, .sd = NAN, .p_larger = NAN, .p_smaller = NAN};
    struct ab_json_reader *r = &stored->json;
    struct ab_json_node list = ab_json_array(r, o, key);
    size_t most = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    struct ab_checked *checks = ab_stored_records(stored, most, sizeof *checks);
    for (*n = 0; *n < most && r->status == AB_OK; (*n)++) {
        struct ab_json_node item = ab_json_item_object(r, &list, *n);
        struct ab_checked *c = &checks[*n];
        *c = (struct ab_checked){
            .effect = none, .relative = none, .machine_ratio = NAN, .confirm = NAN};
        read_members(r, &item, of, c);
        c->unit = or_empty(c->unit);
        c->base_backend = or_empty(c->base_backend);
        if (of == gate_members) {
            c->text = or_empty(c->text);
            c->place = or_empty(c->place);
            if (c->backend != NULL)
                ab_stored_backend(stored, &item, "backend");
            continue;
        }
        bool is_judged = !isnan(c->bound) && c->verdict != AB_VERDICT_NOT_EVALUATED;
        if (is_judged && !(isfinite(c->effect.ratio) && c->effect.ratio > 0))
            ab_json_fail(r, &item, "has a verdict and no ratio");
        if (c->backend == NULL || c->metric == NULL)
            ab_json_fail(r, &item, "must name a back end and a metric");
    }
    return checks;
}

static void read_notes(struct ab_stored_reader *stored, const struct ab_json_node *o,
                       struct ab_comparison *c)
{
    struct ab_json_reader *r = &stored->json;
    struct ab_json_node list = ab_json_array(r, o, "notes");
    size_t n = ab_json_count(r, &list, AB_STORED_RECORDS_MAX);
    c->notes = ab_stored_records(stored, n, sizeof c->notes[0]);
    for (size_t i = 0; i < n && r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *text = json_string_value(item.json);
        if (text == NULL || strlen(text) >= AB_COMPARE_NOTE_BYTES)
            ab_json_fail(r, &item, "must be a text below %d bytes", AB_COMPARE_NOTE_BYTES);
        else
            strcpy(c->notes[c->n_notes++], text);
    }
}

static void read_comparison(struct ab_stored_reader *r, const struct ab_json_node *document,
                            struct ab_stored *stored)
{
    struct ab_json_node o = ab_json_object(&r->json, document, "comparison");
    struct ab_session *s = r->session, *base = ab_alloc_zeroed(1, sizeof *base);
    struct ab_comparison *c = ab_alloc_zeroed(1, sizeof *c);
    stored->comparison = c;
    stored->compared_with = base;
    c->base = base;
    c->now = s;
    c->base_label = text_or_null(&r->json, &o, "base");
    c->now_label = text_or_null(&r->json, &o, "new");
    ab_json_text_into(&r->json, &o, "advisory", c->advisory, sizeof c->advisory);
    c->is_advisory = c->advisory[0] != 0;
    c->is_joint = ab_json_has(&r->json, &o, "jointly") && ab_json_flag(&r->json, &o, "jointly");
    read_notes(r, &o, c);
    c->cells = read_list(r, &o, "cells", cell_members, &c->n_cells);
    for (uint32_t i = 0; i < c->n_cells; i++)
        base->n_rounds = c->cells[i].effect.n_base > base->n_rounds ? c->cells[i].effect.n_base
                                                                    : base->n_rounds;
    if (c->base_label == NULL && c->now_label == NULL) /* of back ends with their base */
        c->base = s;
    s->comparison = c;
}

enum ab_status ab_stored_read_checks(const char *path, struct ab_stored *stored, struct ab_err *err)
{
    struct ab_session *s = &stored->session;
    struct ab_stored_reader r = {.json = {.file = path, .err = err}, .session = s};
    struct ab_json_node document = {.json = stored->document};
    s->gates = read_list(&r, &document, "gates", gate_members, &s->n_gates);
    if (ab_json_has(&r.json, &document, "comparison") &&
        !json_is_null(json_object_get(document.json, "comparison")))
        read_comparison(&r, &document, stored);
    return r.json.status;
}
