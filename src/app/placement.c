/* SPDX-License-Identifier: MIT
 *
 * Reads the rules of a mapping, and refuses what one process cannot serve. What a rule asks for:
 * placement_key.c.
 */
#include "app/placement_key.h"

#include "core/memory.h"

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

/* ---- the back end ---- */

static const char *refusal_of(const struct ab_selection *s)
{
    bool has_handles = s->builtin != NULL &&
                       ab_backend_variant(s->builtin, s->values)->resolve != NULL;
    bool is_null = s->builtin != NULL && strcmp(s->builtin->name, "null") == 0;
    return s->is_checked || s->fault_n > 0 ? "is not measured, so it cannot be mapped to"
           : s->has_cursor ? "allocates in rows; inline+arena and inline+pool can be mapped to"
           : s->is_inline && is_null
               ? "is the price of the loop; arena, pool and slab can be mapped to"
           : has_handles ? "gives handles; only what gives addresses can be mapped to"
                         : NULL;
}

/* The back end's place in the list, new or known. NULL, or why it cannot have one. */
static const char *place_heap(struct ab_selection_list *heaps, const struct ab_selection *s,
                              uint32_t *heap)
{
    for (*heap = 0; *heap < heaps->n; (*heap)++)
        if (strcmp(heaps->items[*heap].name, s->name) == 0)
            break;
    if (*heap < heaps->n)
        return strcmp(heaps->items[*heap].path, s->path) == 0
                   ? NULL
                   : "has the name of another library of this mapping; rename one: NAME=PATH";
    if (*heap == AB_ROUTE_HEAPS_MAX)
        return "is one too many: a mapping has at most 16 heaps";
    heaps->items[heaps->n++] = *s;
    return NULL;
}

/* "arena" as "2*arena#1" and "2*arena#2"; shown together, as "2*arena". */
static const char *place_twins(struct parser *p, struct ab_selection *s, struct ab_route_rule *rule)
{
    size_t n = strlen(s->name);
    if (p->terms->sets != NULL)
        return "takes turns by the scopes of a trace, which a workload has not";
    if (ab_source_boundary(s->source) != AB_BOUNDARY_HEAP)
        return "has one heap, not two";
    if (n + sizeof "2*#1" > sizeof s->name)
        return "has too long a name";
    memmove(s->name + 2, s->name, n);
    memcpy(s->name, "2*", 2);
    memcpy(s->name + 2 + n, "#1", sizeof "#1");
    const char *why = place_heap(&p->out->heaps, s, &rule->heap);
    s->name[n + 3] = '2';
    return why != NULL ? why : place_heap(&p->out->heaps, s, &rule->odd_heap);
}

static enum ab_status find_heap(struct parser *p, const char *value, struct ab_route_rule *rule)
{
    struct ab_selection_list found = {0};
    bool is_double = strncmp(value, "2*", 2) == 0;
    const char *asked = is_double ? value + 2 : value;
    size_t n_digits = strspn(value, "0123456789");
    if (n_digits > 0 && value[n_digits] == '*' && !is_double)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': two heaps take turns, as 2*BACKEND", p->where,
                       SHOWN(value));
    const char *name = strcmp(asked, "general") == 0 ? "glibc" : asked;
    enum ab_status status = ab_selection_parse(&name, 1, p->terms->folders, &found, p->err);
    if (status != AB_OK)
        return ab_err_context(p->err, "%s: ", p->where);
    struct ab_selection *s = &found.items[0];
    const char *why = found.n != 1 ? "stands for several back ends; one is needed" : refusal_of(s);
    if (why == NULL && is_double) {
        why = place_twins(p, s, rule);
    } else if (why == NULL) {
        why = place_heap(&p->out->heaps, s, &rule->heap);
        rule->odd_heap = rule->heap;
    }
    if (why != NULL)
        status = ab_fail(p->err, AB_USAGE, "%s: '%s' %s", p->where, SHOWN(asked), why);
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
    struct ab_route_rule *rule = &out->rules[out->n_rules];
    char *sign = strchr(entry, '=');
    if (sign == NULL || sign == entry || ab_placement_trim(sign + 1)[0] == 0)
        return ab_fail(p->err, AB_USAGE, "%s: '%s' must be KEY=BACKEND", p->where, SHOWN(entry));
    *sign = 0;
    char *key = ab_placement_trim(entry), *value = ab_placement_trim(sign + 1);
    AB_TRY(ab_placement_read_key(key, p->terms, p->where, out, p->err));
    bool is_rest = ab_placement_is_rest(out);
    if ((is_rest && p->has_rest) || ab_placement_is_twice(out))
        return ab_fail(p->err, AB_USAGE, "%s: '%s' is mapped twice", p->where, SHOWN(key));
    if (out->n_rules + 2 > AB_PLACEMENT_RULES_MAX)
        return ab_fail(p->err, AB_USAGE, "%s: more than %d rules", p->where,
                       AB_PLACEMENT_RULES_MAX - 1);
    AB_TRY(find_heap(p, value, rule));
    if (is_rest) {
        p->has_rest = true;
        p->rest = *rule;
        snprintf(p->rest_text, sizeof p->rest_text, "%s", value);
        return AB_OK;
    }
    out->n_rules++;
    return add_text(p, key, value);
}

/* Commas within braces are the back end's. */
size_t ab_placement_rule_bytes(const char *rules)
{
    int depth = 0;
    size_t n = 0;
    for (; rules[n] != 0 && (rules[n] != ',' || depth > 0); n++)
        depth += (rules[n] == '{') - (rules[n] == '}');
    return n;
}

static enum ab_status add_rules(struct parser *p, char *text)
{
    for (char *next; text != NULL; text = next) {
        char *end = text + ab_placement_rule_bytes(text);
        next = *end == ',' ? end + 1 : NULL;
        *end = 0;
        text = ab_placement_trim(text);
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
        if (status == AB_OK && *ab_placement_trim(line) != 0)
            status = add_rules(p, ab_placement_trim(line));
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
        .name = "@map",
        .heaps.items = ab_alloc_zeroed(AB_ROUTE_HEAPS_MAX, sizeof out->heaps.items[0])};
    char *copy = ab_strdup(text);
    enum ab_status status = AB_SYSTEM;
    if (out->heaps.items == NULL)
        ab_fail(err, AB_SYSTEM, "out of memory");
    else
        status = copy[0] == '@' ? add_file(&p, copy + 1) : add_rules(&p, copy);
    free(copy);
    if (status == AB_OK && out->n_rules == 0 && !p.has_rest)
        status = ab_fail(err, AB_USAGE, "%s: no rules; each must be KEY=BACKEND", where);
    if (status == AB_OK && !p.has_rest)
        status = find_heap(&p, "glibc", &p.rest);
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
    for (size_t i = 0; i < p->n_patterns; i++)
        free(p->patterns[i]);
    p->n_patterns = 0;
}
