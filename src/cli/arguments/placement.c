/* SPDX-License-Identifier: MIT
 *
 * Reads the rules of a mapping, and refuses what one process cannot serve.
 */
#include "cli/arguments/placement.h"

#include "base/nearest.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const struct ab_placement_terms *terms;
    const char *where;
    struct ab_placement *out;
    bool has_rest;
    struct ab_route_rule rest;
    char rest_text[AB_PLACEMENT_TEXT_MAX]; /* its back end */
    struct ab_err *err;
};

#define SHOWN(text) AB_SHOWN(256, text)

/* ---- the key ---- */

static enum ab_status fail_key(const struct parser *p, const char *key)
{
    struct ab_text known = {0};
    const char *near = ab_text_nearest(key, p->terms->sets, p->terms->n_sets);
    for (size_t i = 0; i < p->terms->n_sets; i++)
        ab_text_addf(&known, "%s, ", p->terms->sets[i]);
    ab_fail(p->err, AB_USAGE,
            "%s: unknown %s '%s'%s%s%s: %ssize:BYTES, size:FROM-TO, lane:N, thread:N, *", p->where,
            p->terms->sets != NULL ? "set" : "key", SHOWN(key),
            near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'? Allowed" : "; allowed", known.s != NULL ? known.s : "");
    ab_text_fini(&known);
    return AB_USAGE;
}

static enum ab_status read_number(const struct parser *p, const char *key, const char *text,
                                  size_t n, enum ab_unit_kind unit, uint64_t *out)
{
    struct ab_number number;
    const char *wrong = ab_units_parse(text, n, unit, &number);
    if (wrong != NULL)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': '%.*s': %s", p->where, SHOWN(key), (int)n, text,
                       wrong);
    *out = number.whole;
    return AB_OK;
}

/* "64", "1-64" */
static enum ab_status read_range(const struct parser *p, const char *key, const char *text,
                                 enum ab_unit_kind unit, struct ab_route_rule *rule)
{
    const char *dash = strchr(text, '-');
    size_t n = dash != NULL ? (size_t)(dash - text) : strlen(text);
    AB_TRY(read_number(p, key, text, n, unit, &rule->least));
    rule->most = rule->least;
    if (dash != NULL)
        AB_TRY(read_number(p, key, dash + 1, strlen(dash + 1), unit, &rule->most));
    if (rule->most < rule->least)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': the first number must not be above the second",
                       p->where, SHOWN(key));
    return AB_OK;
}

static enum ab_status read_lane(const struct parser *p, const char *key, const char *text,
                                struct ab_route_rule *rule)
{
    rule->by = AB_ROUTE_LANE;
    AB_TRY(read_range(p, key, text, AB_UNIT_COUNT, rule));
    if (rule->most >= p->terms->n_lanes)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': this work has %u thread%s, counted from 0",
                       p->where, SHOWN(key), p->terms->n_lanes, p->terms->n_lanes == 1 ? "" : "s");
    return AB_OK;
}

static enum ab_status read_key(const struct parser *p, const char *key, struct ab_route_rule *rule)
{
    if (strcmp(key, "*") == 0) {
        rule->by = AB_ROUTE_ALL;
        return AB_OK;
    }
    if (strncmp(key, "lane:", 5) == 0)
        return read_lane(p, key, key + 5, rule);
    if (strncmp(key, "thread:", 7) == 0)
        return read_lane(p, key, key + 7, rule);
    if (strncmp(key, "size:", 5) == 0) {
        rule->by = AB_ROUTE_SIZE;
        return read_range(p, key, key + 5, AB_UNIT_BYTES, rule);
    }
    for (size_t i = 0; i < p->terms->n_sets; i++)
        if (strcmp(p->terms->sets[i], key) == 0) {
            *rule = (struct ab_route_rule){.by = AB_ROUTE_GROUP, .least = i, .most = i};
            return AB_OK;
        }
    return fail_key(p, key);
}

/* ---- the back end ---- */

static const char *refusal_of(const struct ab_selection *s)
{
    bool has_handles = s->builtin != NULL &&
                       ab_backend_variant(s->builtin, s->values)->resolve != NULL;
    return s->is_checked || s->fault_n > 0 ? "is not measured, so it cannot be mapped to"
           : s->is_inline ? "is compiled into a loop of its own, so it cannot be mapped to"
           : has_handles  ? "gives handles; only what gives addresses can be mapped to"
                          : NULL;
}

/* The back end's place in the list, new or known. */
static enum ab_status find_heap(struct parser *p, const char *value, uint32_t *heap)
{
    struct ab_selection_list found = {0}, *heaps = &p->out->heaps;
    const char *name = strcmp(value, "general") == 0 ? "glibc" : value;
    enum ab_status status = ab_selection_parse(&name, 1, p->terms->folders, &found, p->err);
    if (status != AB_OK)
        return ab_err_context(p->err, "%s: ", p->where);
    const struct ab_selection *s = &found.items[0];
    const char *why = found.n != 1 ? "stands for several back ends; one is needed" : refusal_of(s);
    for (*heap = 0; why == NULL && *heap < heaps->n; (*heap)++)
        if (strcmp(heaps->items[*heap].name, s->name) == 0)
            break;
    if (why == NULL && *heap < heaps->n && strcmp(heaps->items[*heap].path, s->path) != 0)
        why = "has the name of another library of this mapping; rename one: NAME=PATH";
    if (why == NULL && *heap == AB_ROUTE_HEAPS_MAX)
        why = "is one too many: a mapping has at most 16 back ends";
    if (why != NULL)
        status = ab_fail(p->err, AB_USAGE, "%s: '%s' %s", p->where, SHOWN(value), why);
    else if (*heap == heaps->n)
        heaps->items[heaps->n++] = *s;
    ab_selection_list_fini(&found);
    return status;
}

const struct ab_selection *ab_placement_preload(const struct ab_placement *p)
{
    for (size_t i = 0; i < p->heaps.n; i++)
        if (p->heaps.items[i].source == AB_SOURCE_PRELOAD)
            return &p->heaps.items[i];
    return NULL;
}

/* A process has one malloc: the C library's, or one that is preloaded. */
static enum ab_status check_mallocs(const struct parser *p)
{
    const struct ab_selection *first = NULL;
    for (size_t i = 0; i < p->out->heaps.n; i++) {
        const struct ab_selection *s = &p->out->heaps.items[i];
        if (s->state != AB_SELECTION_OK ||
            (s->source != AB_SOURCE_PRELOAD && s->source != AB_SOURCE_LIBC))
            continue;
        if (first != NULL)
            return ab_fail(p->err, AB_USAGE,
                           "%s: %s and %s are both the process's malloc, and it has one; use one "
                           "of them for both, or a library with functions of its own name "
                           "(./lib.so:prefix=mi_)%s",
                           p->where, first->name, s->name,
                           p->has_rest ? "" : ". What no rule names is glibc's: add '*=BACKEND'");
        first = s;
    }
    return AB_OK;
}

/* A process has one environment. */
static enum ab_status check_environment(const struct parser *p)
{
    const char *seen[AB_SELECTION_ENV_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->out->heaps.n; i++)
        for (uint32_t k = 0; k < p->out->heaps.items[i].n_env; k++) {
            const char *variable = p->out->heaps.items[i].env[k];
            size_t name = strcspn(variable, "=") + 1;
            for (size_t s = 0; s < n; s++)
                if (strncmp(seen[s], variable, name) == 0 && strcmp(seen[s], variable) != 0)
                    return ab_fail(p->err, AB_USAGE, "%s: %s and %s: a process has one environment",
                                   p->where, seen[s], variable);
            if (n == AB_SELECTION_ENV_MAX)
                return ab_fail(p->err, AB_USAGE, "%s: more than %d variables of the environment",
                               p->where, AB_SELECTION_ENV_MAX);
            seen[n++] = variable;
        }
    return AB_OK;
}

/* ---- rules ---- */

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

static bool is_same_key(const struct ab_route_rule *a, const struct ab_route_rule *b)
{
    return a->by == b->by && a->least == b->least && a->most == b->most;
}

static enum ab_status add_text(struct parser *p, const char *key, const char *value)
{
    struct ab_placement *out = p->out;
    if (strlen(out->text) + strlen(key) + strlen(value) + sizeof ",=" > sizeof out->text)
        return ab_fail(p->err, AB_USAGE, "%s: the rules are longer than %zu characters", p->where,
                       sizeof out->text - 1);
    ab_text_join(out->text, sizeof out->text, ",", key);
    strcat(strcat(out->text, "="), value);
    return AB_OK;
}

static enum ab_status add_rule(struct parser *p, char *entry)
{
    struct ab_placement *out = p->out;
    struct ab_route_rule rule = {0};
    char *sign = strchr(entry, '=');
    if (sign == NULL || sign == entry || trim(sign + 1)[0] == 0)
        return ab_fail(p->err, AB_USAGE, "%s: '%s' must be KEY=BACKEND", p->where, SHOWN(entry));
    *sign = 0;
    char *key = trim(entry), *value = trim(sign + 1);
    AB_TRY(read_key(p, key, &rule));
    bool is_twice = rule.by == AB_ROUTE_ALL && p->has_rest;
    for (size_t i = 0; i < out->n_rules; i++)
        is_twice = is_twice || is_same_key(&out->rules[i], &rule);
    if (is_twice)
        return ab_fail(p->err, AB_USAGE, "%s: '%s' is mapped twice", p->where, SHOWN(key));
    if (out->n_rules + 2 > AB_PLACEMENT_RULES_MAX)
        return ab_fail(p->err, AB_USAGE, "%s: more than %d rules", p->where,
                       AB_PLACEMENT_RULES_MAX - 1);
    AB_TRY(find_heap(p, value, &rule.heap));
    if (rule.by == AB_ROUTE_ALL) {
        p->has_rest = true;
        p->rest = rule;
        snprintf(p->rest_text, sizeof p->rest_text, "%s", value);
        return AB_OK;
    }
    out->rules[out->n_rules++] = rule;
    return add_text(p, key, value);
}

/* Commas within braces are the back end's. */
static char *next_comma(char *s)
{
    int depth = 0;
    for (; *s != 0 && (*s != ',' || depth > 0); s++)
        depth += (*s == '{') - (*s == '}');
    return *s == ',' ? s : NULL;
}

static enum ab_status add_rules(struct parser *p, char *text)
{
    for (char *next; text != NULL; text = next) {
        next = next_comma(text);
        if (next != NULL)
            *next++ = 0;
        text = trim(text);
        if (*text == 0)
            return ab_fail(p->err, AB_USAGE, "%s: an empty rule; each must be KEY=BACKEND",
                           p->where);
        AB_TRY(add_rule(p, text));
    }
    return AB_OK;
}

static void name_after(struct ab_placement *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    char stem[sizeof out->name - 1];
    ab_selection_stem(slash != NULL ? slash + 1 : path, stem, sizeof stem);
    char *dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem)
        *dot = 0;
    snprintf(out->name, sizeof out->name, "@%s", stem);
}

/* One rule or several a line; empty lines and what is behind '#' are passed over. */
static enum ab_status add_file(struct parser *p, const char *path)
{
    char where[400], line[AB_PLACEMENT_TEXT_MAX];
    size_t n = 0;
    FILE *f = fopen(path, "re");
    const char *before = p->where;
    enum ab_status status = AB_OK;
    if (f == NULL)
        return ab_fail_errno(p->err, AB_INPUT, "cannot read %s", SHOWN(path));
    while (status == AB_OK && fgets(line, sizeof line, f) != NULL) {
        snprintf(where, sizeof where, "%s:%zu", SHOWN(path), ++n);
        p->where = where;
        if (strchr(line, '\n') == NULL && !feof(f))
            status = ab_fail(p->err, AB_USAGE, "%s: a line must be text of at most %zu characters",
                             where, sizeof line - 2);
        line[strcspn(line, "#")] = 0;
        if (status == AB_OK && *trim(line) != 0)
            status = add_rules(p, trim(line));
    }
    if (status == AB_OK && ferror(f))
        status = ab_fail_errno(p->err, AB_INPUT, "cannot read %s", SHOWN(path));
    p->where = before;
    name_after(p->out, path);
    fclose(f);
    return status;
}

enum ab_status ab_placement_parse(const char *text, const struct ab_placement_terms *terms,
                                  const char *where, struct ab_placement *out, struct ab_err *err)
{
    struct parser p = {
        .terms = terms, .where = where, .out = out, .err = err, .rest_text = "glibc"};
    *out = (struct ab_placement){
        .name = "@map", .heaps.items = calloc(AB_ROUTE_HEAPS_MAX, sizeof out->heaps.items[0])};
    char *copy = strdup(text);
    enum ab_status status = AB_SYSTEM;
    if (copy == NULL || out->heaps.items == NULL)
        ab_fail(err, AB_SYSTEM, "out of memory");
    else
        status = copy[0] == '@' ? add_file(&p, copy + 1) : add_rules(&p, copy);
    free(copy);
    if (status == AB_OK && out->n_rules == 0 && !p.has_rest)
        status = ab_fail(err, AB_USAGE, "%s: no rules; each must be KEY=BACKEND", where);
    if (status == AB_OK && !p.has_rest)
        status = find_heap(&p, "glibc", &p.rest.heap);
    if (status == AB_OK)
        status = check_mallocs(&p);
    if (status == AB_OK)
        status = check_environment(&p);
    if (status != AB_OK)
        return status;
    out->rules[out->n_rules++] = p.rest;
    return add_text(&p, "*", p.rest_text); /* as it was typed: a name alone may hide a path */
}

void ab_placement_fini(struct ab_placement *p)
{
    ab_selection_list_fini(&p->heaps);
}
