/* SPDX-License-Identifier: MIT
 *
 * Parses the rules of a mapping, KEY=BACKEND, and refuses combinations that one process cannot
 * serve. A key requires a set, size or thread, a call site of a recorded program, or that the block
 * dies in its scope; several are joined by '&'.
 */
#include "placement/rules.h"

#include "base/nearest.h"
#include "base/units.h"
#include "core/alloc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const struct ab_placement_terms *terms;
    const char *where;
    struct ab_placement_rules *out;
    bool has_rest;
    struct ab_placement_rule rest;
    char rest_text[AB_PLACEMENT_TEXT_MAX]; /* back end of "*" */
    struct ab_err *err;
};

#define SHOWN(text) AB_SHOWN(256, text)

/* ---- the key: what a rule asks of a request ---- */

/* Returns the rule being read. */
static struct ab_placement_rule *rule_of(const struct parser *p)
{
    return &p->out->rules[p->out->n_rules];
}

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

static enum ab_status fail_key(const struct parser *p, const char *key)
{
    static const char *const of_traces[] = {"scope", "site", "size", "lane", "thread"};
    struct ab_text known = {0};
    bool is_trace = p->terms->sets == NULL;
    const char *near = is_trace ? ab_text_nearest(key, of_traces, 5)
                                : ab_text_nearest(key, p->terms->sets, p->terms->n_sets);
    for (size_t i = 0; i < p->terms->n_sets; i++)
        ab_text_addf(&known, "%s, ", p->terms->sets[i]);
    ab_fail(p->err, AB_USAGE,
            "%s: unknown %s '%s'%s%s%s: %s%ssize:BYTES, size:FROM-TO, lane:N, "
            "thread:N, *",
            p->where, is_trace ? "key" : "set", SHOWN(key), near != NULL ? "; did you mean '" : "",
            near != NULL ? near : "", near != NULL ? "'? Allowed" : "; allowed",
            known.s != NULL ? known.s : "", is_trace ? "site:PATTERN, scope, " : "");
    ab_text_fini(&known);
    return AB_USAGE;
}

static enum ab_status read_number(const struct parser *p, const char *key, const char *text,
                                  size_t n, enum ab_unit_kind unit, uint64_t *out)
{
    struct ab_number number;
    char alone[64];
    const char *wrong = ab_units_parse(text, n, unit, &number);
    AB_FIT(alone, "%.*s", (int)n, text);
    if (wrong != NULL)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': '%s': %s", p->where, SHOWN(key), SHOWN(alone),
                       wrong);
    *out = number.whole;
    return AB_OK;
}

static enum ab_status fail_twice(const struct parser *p, const char *key)
{
    return ab_fail(p->err, AB_USAGE, "%s: '%s': asked for twice in one rule", p->where, SHOWN(key));
}

static enum ab_status set_range(const struct parser *p, const char *key,
                                enum ab_placement_range range, uint64_t least, uint64_t most)
{
    if (most < least)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': the first number must not be above the second",
                       p->where, SHOWN(key));
    if (rule_of(p)->ranges[range].is_asked)
        return fail_twice(p, key);
    rule_of(p)->ranges[range].is_asked = true;
    rule_of(p)->ranges[range].least = least;
    rule_of(p)->ranges[range].most = most;
    return AB_OK;
}

/* Reads "64" or "1-64". */
static enum ab_status read_range(const struct parser *p, const char *key, enum ab_unit_kind unit,
                                 enum ab_placement_range range)
{
    const char *text = strchr(key, ':') + 1, *dash = strchr(text, '-');
    size_t n = dash != NULL ? (size_t)(dash - text) : strlen(text);
    uint64_t least, most;
    AB_TRY(read_number(p, key, text, n, unit, &least));
    most = least;
    if (dash != NULL)
        AB_TRY(read_number(p, key, dash + 1, strlen(dash + 1), unit, &most));
    return set_range(p, key, range, least, most);
}

static enum ab_status read_lane(const struct parser *p, const char *key)
{
    AB_TRY(read_range(p, key, AB_UNIT_COUNT, AB_PLACEMENT_LANE));
    if (rule_of(p)->ranges[AB_PLACEMENT_LANE].most >= p->terms->n_lanes)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': this work has %u thread%s, counted from 0",
                       p->where, SHOWN(key), p->terms->n_lanes, p->terms->n_lanes == 1 ? "" : "s");
    return AB_OK;
}

/* Refuses keys for call sites and scopes if the work is no trace. */
static enum ab_status check_trace(const struct parser *p, const char *key)
{
    if (p->terms->sets == NULL)
        return AB_OK;
    return ab_fail(p->err, AB_USAGE,
                   "%s: '%s': only traces have call sites and scopes; a rule of a workload names "
                   "its sets",
                   p->where, SHOWN(key));
}

/* Reads a site pattern. Each pattern is in the list once. */
static enum ab_status read_site(const struct parser *p, const char *key)
{
    struct ab_placement_rules *out = p->out;
    const char *pattern = key + strlen("site:");
    size_t i = 0;
    AB_TRY(check_trace(p, key));
    if (ab_site_pattern_check(pattern, p->err) != AB_OK)
        return ab_err_context(p->err, "%s: ", p->where);
    while (i < out->n_patterns && strcmp(out->patterns[i], pattern) != 0)
        i++;
    if (i == AB_SITE_PATTERNS_MAX)
        return ab_fail(p->err, AB_USAGE, "%s: more than %d patterns of call sites", p->where,
                       AB_SITE_PATTERNS_MAX);
    if (i == out->n_patterns)
        out->patterns[i] = ab_strdup(pattern);
    out->n_patterns += i == out->n_patterns;
    out->sites[out->n_rules] |= UINT64_C(1) << i;
    rule_of(p)->asks_site = true;
    return AB_OK;
}

static enum ab_status read_predicate(const struct parser *p, const char *key)
{
    if (strncmp(key, "lane:", 5) == 0 || strncmp(key, "thread:", 7) == 0)
        return read_lane(p, key);
    if (strncmp(key, "size:", 5) == 0)
        return read_range(p, key, AB_UNIT_BYTES, AB_PLACEMENT_SIZE);
    for (size_t i = 0; i < p->terms->n_sets; i++)
        if (strcmp(p->terms->sets[i], key) == 0)
            return set_range(p, key, AB_PLACEMENT_GROUP, i, i);
    if (strncmp(key, "site:", 5) == 0)
        return read_site(p, key);
    if (strcmp(key, "scope") != 0)
        return fail_key(p, key);
    if (rule_of(p)->asks_scope)
        return fail_twice(p, key);
    rule_of(p)->asks_scope = true;
    return check_trace(p, key);
}

static enum ab_status read_predicates(const struct parser *p, char *key)
{
    for (char *next; key != NULL; key = next) {
        next = strchr(key, '&');
        if (next != NULL)
            *next++ = 0;
        AB_TRY(read_predicate(p, trim(key)));
    }
    return AB_OK;
}

/* Reads a key such as "size:1-64&scope" into the next rule. */
static enum ab_status read_key(struct parser *p, const char *key)
{
    *rule_of(p) = (struct ab_placement_rule){0};
    p->out->sites[p->out->n_rules] = 0;
    if (strcmp(key, "*") == 0)
        return AB_OK;
    char *copy = ab_strdup(key);
    enum ab_status status = read_predicates(p, copy);
    free(copy);
    return status;
}

/* True if the rule being read has no conditions, as "*" has none. */
static bool is_rest(const struct ab_placement_rules *p)
{
    const struct ab_placement_rule *rule = &p->rules[p->n_rules];
    bool asks_nothing = !rule->asks_site && !rule->asks_scope;
    for (unsigned r = 0; r < AB_PLACEMENT_RANGES; r++)
        asks_nothing = asks_nothing && !rule->ranges[r].is_asked;
    return asks_nothing;
}

static bool is_twice(const struct ab_placement_rules *p)
{
    const struct ab_placement_rule *rule = &p->rules[p->n_rules];
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct ab_placement_rule *other = &p->rules[i];
        bool is_same = other->asks_scope == rule->asks_scope && p->sites[i] == p->sites[p->n_rules];
        for (unsigned r = 0; r < AB_PLACEMENT_RANGES; r++)
            is_same = is_same && other->ranges[r].is_asked == rule->ranges[r].is_asked &&
                      other->ranges[r].least == rule->ranges[r].least &&
                      other->ranges[r].most == rule->ranges[r].most;
        if (is_same)
            return true;
    }
    return false;
}

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

/* Sets *heap to the back end's index in the list, and adds it if it is new. Returns NULL, or the
 * reason why it cannot be added. */
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
    if (*heap == AB_PLACEMENT_HEAPS_MAX)
        return "is one too many: a mapping has at most 16 heaps";
    heaps->items[heaps->n++] = *s;
    return NULL;
}

/* Adds "2*arena" as two heaps, "2*arena#1" and "2*arena#2", which are shown together. Returns NULL,
 * or the reason why it cannot. */
static const char *place_twins(struct parser *p, struct ab_selection *s,
                               struct ab_placement_rule *rule)
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

static enum ab_status find_heap(struct parser *p, const char *value, struct ab_placement_rule *rule)
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

const struct ab_selection *ab_rules_preload(const struct ab_placement_rules *p)
{
    for (size_t i = 0; i < p->heaps.n; i++)
        if (p->heaps.items[i].source == AB_SOURCE_PRELOAD)
            return &p->heaps.items[i];
    return NULL;
}

/* Refuses more than one malloc: a process has that of the C library or a preloaded one. */
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

/* Refuses different values of one variable, because a process has one environment. Also refuses
 * purge=. */
static enum ab_status check_environment(const struct parser *p)
{
    const char *seen[AB_SELECTION_ENV_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->out->heaps.n; i++) {
        if (p->out->heaps.items[i].purge_ns > 0)
            return ab_fail(p->err, AB_USAGE, "%s: %s: purge= is for rows of one library", p->where,
                           p->out->heaps.items[i].name);
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
    }
    return AB_OK;
}

/* ---- rules ---- */

static enum ab_status add_text(struct parser *p, const char *key, const char *value)
{
    struct ab_placement_rules *out = p->out;
    if (strlen(out->text) + strlen(key) + strlen(value) + sizeof ",=" > sizeof out->text)
        return ab_fail(p->err, AB_USAGE, "%s: the rules are longer than %zu characters", p->where,
                       sizeof out->text - 1);
    ab_text_join(out->text, sizeof out->text, ",", key);
    strcat(strcat(out->text, "="), value);
    return AB_OK;
}

static enum ab_status add_rule(struct parser *p, char *entry)
{
    struct ab_placement_rules *out = p->out;
    struct ab_placement_rule *rule = &out->rules[out->n_rules];
    char *sign = strchr(entry, '=');
    if (sign == NULL || sign == entry || trim(sign + 1)[0] == 0)
        return ab_fail(p->err, AB_USAGE, "%s: '%s' must be KEY=BACKEND", p->where, SHOWN(entry));
    *sign = 0;
    char *key = trim(entry), *value = trim(sign + 1);
    AB_TRY(read_key(p, key));
    bool asks_nothing = is_rest(out);
    if ((asks_nothing && p->has_rest) || is_twice(out))
        return ab_fail(p->err, AB_USAGE, "%s: '%s' is mapped twice", p->where, SHOWN(key));
    if (out->n_rules + 2 > AB_PLACEMENT_RULES_MAX)
        return ab_fail(p->err, AB_USAGE, "%s: more than %d rules", p->where,
                       AB_PLACEMENT_RULES_MAX - 1);
    AB_TRY(find_heap(p, value, rule));
    if (asks_nothing) {
        p->has_rest = true;
        p->rest = *rule;
        AB_COPY(p->rest_text, value);
        return AB_OK;
    }
    out->n_rules++;
    return add_text(p, key, value);
}

/* Skips commas within braces, which belong to the back end. */
size_t ab_rules_first_bytes(const char *rules)
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
        char *end = text + ab_rules_first_bytes(text);
        next = *end == ',' ? end + 1 : NULL;
        *end = 0;
        text = trim(text);
        if (*text == 0)
            return ab_fail(p->err, AB_USAGE, "%s: an empty rule; each must be KEY=BACKEND",
                           p->where);
        AB_TRY(add_rule(p, text));
    }
    return AB_OK;
}

static void name_after(struct ab_placement_rules *out, const char *path)
{
    char stem[sizeof out->name - 1];
    ab_selection_stem(basename(path), stem, sizeof stem);
    char *dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem)
        *dot = 0;
    AB_FIT(out->name, "@%s", stem);
}

/* Reads a file with one or several rules per line. Ignores empty lines and text after '#'. */
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
        AB_FIT(where, "%s:%zu", SHOWN(path), ++n);
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

enum ab_status ab_rules_parse(const char *text, const struct ab_placement_terms *terms,
                              const char *where, struct ab_placement_rules *out, struct ab_err *err)
{
    struct parser p = {
        .terms = terms, .where = where, .out = out, .err = err, .rest_text = "glibc"};
    *out = (struct ab_placement_rules){
        .name = "@map",
        .heaps.items = ab_alloc_zeroed(AB_PLACEMENT_HEAPS_MAX, sizeof out->heaps.items[0])};
    char *copy = ab_strdup(text);
    enum ab_status status = copy[0] == '@' ? add_file(&p, copy + 1) : add_rules(&p, copy);
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

void ab_rules_fini(struct ab_placement_rules *p)
{
    ab_selection_list_fini(&p->heaps);
    for (size_t i = 0; i < p->n_patterns; i++)
        free(p->patterns[i]);
    p->n_patterns = 0;
}
