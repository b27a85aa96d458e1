/* SPDX-License-Identifier: MIT
 *
 * Reads what a rule asks of a request: its set, size or thread, where a recorded program called from,
 * whether its block dies in its scope; joined by '&'.
 */
#include "app/placement_key.h"

#include "base/nearest.h"
#include "base/units.h"
#include "core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const struct ab_placement_terms *terms;
    const char *where;
    struct ab_placement *out;
    struct ab_route_rule *rule;
    struct ab_err *err;
};

#define SHOWN(text) AB_SHOWN(256, text)

char *ab_placement_trim(char *s)
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
    snprintf(alone, sizeof alone, "%.*s", (int)n, text);
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

static enum ab_status set_range(const struct parser *p, const char *key, enum ab_route_range range,
                                uint64_t least, uint64_t most)
{
    if (most < least)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': the first number must not be above the second",
                       p->where, SHOWN(key));
    if (p->rule->ranges[range].is_asked)
        return fail_twice(p, key);
    p->rule->ranges[range].is_asked = true;
    p->rule->ranges[range].least = least;
    p->rule->ranges[range].most = most;
    return AB_OK;
}

/* "64", "1-64" */
static enum ab_status read_range(const struct parser *p, const char *key, enum ab_unit_kind unit,
                                 enum ab_route_range range)
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
    AB_TRY(read_range(p, key, AB_UNIT_COUNT, AB_ROUTE_LANE));
    if (p->rule->ranges[AB_ROUTE_LANE].most >= p->terms->n_lanes)
        return ab_fail(p->err, AB_USAGE, "%s: '%s': this work has %u thread%s, counted from 0",
                       p->where, SHOWN(key), p->terms->n_lanes, p->terms->n_lanes == 1 ? "" : "s");
    return AB_OK;
}

/* Only a recording knows where it was called from, and when its blocks die. */
static enum ab_status check_trace(const struct parser *p, const char *key)
{
    if (p->terms->sets == NULL)
        return AB_OK;
    return ab_fail(p->err, AB_USAGE,
                   "%s: '%s': only traces have call sites and scopes; a rule of a workload names "
                   "its sets",
                   p->where, SHOWN(key));
}

/* Each pattern is in the list once. */
static enum ab_status read_site(const struct parser *p, const char *key)
{
    struct ab_placement *out = p->out;
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
    p->rule->asks_site = true;
    return AB_OK;
}

static enum ab_status read_predicate(const struct parser *p, const char *key)
{
    if (strncmp(key, "lane:", 5) == 0 || strncmp(key, "thread:", 7) == 0)
        return read_lane(p, key);
    if (strncmp(key, "size:", 5) == 0)
        return read_range(p, key, AB_UNIT_BYTES, AB_ROUTE_SIZE);
    for (size_t i = 0; i < p->terms->n_sets; i++)
        if (strcmp(p->terms->sets[i], key) == 0)
            return set_range(p, key, AB_ROUTE_GROUP, i, i);
    if (strncmp(key, "site:", 5) == 0)
        return read_site(p, key);
    if (strcmp(key, "scope") != 0)
        return fail_key(p, key);
    if (p->rule->asks_scope)
        return fail_twice(p, key);
    p->rule->asks_scope = true;
    return check_trace(p, key);
}

static enum ab_status read_predicates(const struct parser *p, char *key)
{
    for (char *next; key != NULL; key = next) {
        next = strchr(key, '&');
        if (next != NULL)
            *next++ = 0;
        AB_TRY(read_predicate(p, ab_placement_trim(key)));
    }
    return AB_OK;
}

enum ab_status ab_placement_read_key(const char *key, const struct ab_placement_terms *terms,
                                     const char *where, struct ab_placement *out,
                                     struct ab_err *err)
{
    const struct parser p = {terms, where, out, &out->rules[out->n_rules], err};
    *p.rule = (struct ab_route_rule){0};
    out->sites[out->n_rules] = 0;
    if (strcmp(key, "*") == 0)
        return AB_OK;
    char *copy = ab_strdup(key);
    enum ab_status status = read_predicates(&p, copy);
    free(copy);
    return status;
}

bool ab_placement_is_rest(const struct ab_placement *p)
{
    const struct ab_route_rule *rule = &p->rules[p->n_rules];
    bool is_rest = !rule->asks_site && !rule->asks_scope;
    for (unsigned r = 0; r < AB_ROUTE_RANGES; r++)
        is_rest = is_rest && !rule->ranges[r].is_asked;
    return is_rest;
}

bool ab_placement_is_twice(const struct ab_placement *p)
{
    const struct ab_route_rule *rule = &p->rules[p->n_rules];
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct ab_route_rule *other = &p->rules[i];
        bool is_same = other->asks_scope == rule->asks_scope && p->sites[i] == p->sites[p->n_rules];
        for (unsigned r = 0; r < AB_ROUTE_RANGES; r++)
            is_same = is_same && other->ranges[r].is_asked == rule->ranges[r].is_asked &&
                      other->ranges[r].least == rule->ranges[r].least &&
                      other->ranges[r].most == rule->ranges[r].most;
        if (is_same)
            return true;
    }
    return false;
}
