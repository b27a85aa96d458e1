/* SPDX-License-Identifier: MIT
 *
 * From the rules of a mapping to the origins of a trace's allocations. A pattern that no stack fits is
 * a misspelling: all names of the trace are looked through for one like it.
 */
#include "cli/arguments/placement_trace.h"

#include "base/nearest.h"
#include "core/grow.h"
#include "core/memory.h"
#include "core/text.h"
#include "symbols/site_match.h"
#include "symbols/site_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN(text) AB_SHOWN(256, text)

struct asking {
    struct ab_placement *placement;
    struct ab_placement_trace *trace;
    const char *where;
    struct ab_site_table sites;
    struct ab_site_matcher *matcher; /* NULL: no rule asks for sites */
    struct ab_err *err;
};

static bool asks_scope(const struct ab_placement *p)
{
    bool asks = false;
    for (size_t i = 0; i < p->n_rules; i++)
        asks = asks || p->rules[i].asks_scope || p->rules[i].heap != p->rules[i].odd_heap;
    return asks;
}

static enum ab_status find_scopes(struct asking *a)
{
    struct ab_placement_trace *trace = a->trace;
    if (trace->scopes == NULL) {
        AB_TRY(ab_scopes_find(trace->path, trace->is_partial, trace->wish, &trace->found, a->err));
        trace->scopes = &trace->found;
    }
    if (trace->scopes->from != AB_SCOPES_NONE)
        return AB_OK;
    return ab_fail(
        a->err, AB_USAGE,
        "%s: this trace has no scopes: no marks, and no moments, again and again, at which "
        "all that was allocated lately is dead. Rules without `scope` and `2*` need none",
        a->where);
}

/* ---- patterns that nothing fits ---- */

struct name_list {
    const char **names;
    size_t n, cap;
    size_t n_unread; /* modules whose file is gone or another one */
};

static void add_name(struct name_list *list, const char *name, size_t n)
{
    char *copy = n == 0 || !AB_GROW(list->names, list->cap, list->n) ? NULL : ab_strndup(name, n);
    if (copy != NULL)
        list->names[list->n++] = copy;
}

static void list_symbol(const struct ab_symbol *s, struct name_list *out)
{
    char line[600];
    const char *slash = strrchr(s->file, '/');
    add_name(out, s->function, strcspn(s->function, "(@."));
    snprintf(line, sizeof line, "%.500s:%d", slash != NULL ? slash + 1 : s->file, s->line);
    add_name(out, line, s->line > 0 ? strlen(line) : 0);
}

/* "parse_number" and "json.c:120" of each frame; fewer where memory runs out. */
static void list_names(const struct ab_site_table *sites, struct name_list *out)
{
    struct ab_site_names names;
    if (!ab_site_names_init(&names, sites))
        return;
    for (size_t i = 0; i < sites->n_frames; i++) {
        struct ab_site_named named = ab_site_names_find(&names, &sites->frames[i]);
        for (size_t k = 0; k < named.n; k++)
            list_symbol(&named.items[k], out);
    }
    for (size_t i = 0; i < sites->n_modules; i++)
        out->n_unread += names.modules[i].is_tried && names.modules[i].state != AB_SYMBOLS_OPEN;
    ab_site_names_fini(&names);
}

static enum ab_status fail_pattern(const struct asking *a, const char *pattern)
{
    struct name_list list = {0};
    list_names(&a->sites, &list);
    const char *near = ab_text_nearest(pattern, list.names, list.n);
    ab_fail(a->err, AB_USAGE, "%s: 'site:%s' fits no allocation of the trace%s%s%s%s", a->where,
            SHOWN(pattern),
            near != NULL ? "; did you mean '" : "; `allocbench trace info --sites` shows them",
            near != NULL ? near : "", near != NULL ? "'?" : "",
            list.n_unread > 0
                ? ". Programs or libraries that have changed since, or are gone, have "
                  "no names there"
                : "");
    for (size_t i = 0; i < list.n; i++)
        free((char *)list.names[i]);
    free(list.names);
    return AB_USAGE;
}

/* ---- sites ---- */

static uint64_t match(void *user, const struct ab_site_table *table, uint32_t stack)
{
    struct asking *a = user;
    (void)table;
    return ab_site_matcher_mask(a->matcher, stack);
}

static enum ab_status open_matcher(struct asking *a)
{
    enum ab_status status = AB_OK;
    if (a->placement->n_patterns == 0)
        return AB_OK;
    a->matcher = ab_site_matcher_open(&a->sites, NULL, NULL);
    if (a->matcher == NULL)
        return ab_fail(a->err, AB_SYSTEM, "out of memory");
    for (size_t i = 0; i < a->placement->n_patterns && status == AB_OK; i++)
        status = ab_site_matcher_add(a->matcher, a->placement->patterns[i], a->err);
    return status;
}

static enum ab_status check_patterns(const struct asking *a, const struct ab_origins *origins)
{
    uint64_t met = 0;
    if (a->matcher == NULL)
        return AB_OK;
    if (origins->n_without_site == origins->n)
        return ab_fail(a->err, AB_USAGE,
                       "%s: this trace has no call sites; `allocbench record --sites` records them",
                       a->where);
    for (unsigned c = 0; c < origins->n_classes; c++)
        met |= origins->patterns[c];
    for (size_t i = 0; i < a->placement->n_patterns; i++)
        if ((met >> i & 1) == 0)
            return fail_pattern(a, a->placement->patterns[i]);
    return AB_OK;
}

/* Which classes all patterns of a rule fit. */
static void set_classes(struct ab_placement *p, const struct ab_origins *origins)
{
    for (size_t i = 0; i < p->n_rules; i++) {
        p->rules[i].classes = 0;
        for (unsigned c = 0; c < origins->n_classes; c++)
            if ((origins->patterns[c] & p->sites[i]) == p->sites[i])
                p->rules[i].classes |= UINT64_C(1) << c;
    }
}

static enum ab_status ask(struct asking *a, struct ab_origins *out)
{
    bool wants_scopes = asks_scope(a->placement);
    if (wants_scopes)
        AB_TRY(find_scopes(a));
    AB_TRY(open_matcher(a));
    if (!wants_scopes && a->matcher == NULL)
        return AB_OK;
    const struct ab_origins_wish wish = {.path = a->trace->path,
                                         .is_partial = a->trace->is_partial,
                                         .scopes = wants_scopes ? a->trace->scopes : NULL,
                                         .match = a->matcher != NULL ? match : NULL,
                                         .user = a};
    AB_TRY(ab_origins_find(&wish, &a->sites, out, a->err));
    AB_TRY(check_patterns(a, out));
    set_classes(a->placement, out);
    return AB_OK;
}

enum ab_status ab_placement_ask_trace(struct ab_placement *p, struct ab_placement_trace *trace,
                                      const char *where, struct ab_origins *out, struct ab_err *err)
{
    struct asking a = {.placement = p, .trace = trace, .where = where, .err = err};
    *out = (struct ab_origins){0};
    enum ab_status status = ask(&a, out);
    ab_site_matcher_close(a.matcher);
    ab_site_table_fini(&a.sites);
    return status;
}

void ab_placement_trace_fini(struct ab_placement_trace *trace)
{
    ab_scopes_fini(&trace->found);
    *trace = (struct ab_placement_trace){0};
}
