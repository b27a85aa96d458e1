/* SPDX-License-Identifier: MIT
 *
 * Turns the rules of a mapping into a row to run: its heaps as the worker opens them, the preloaded
 * library, and the description.
 */
#include "app/placement_rows.h"

#include "app/backend_choice.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "placement/placement.h"
#include "placement/rules.h"
#include "symbols/site_match.h"
#include "trace_tools/origins.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct sets { /* the sets of a workload, and which back ends they name with `via` */
    const char **names;
    size_t n;
    char *via; /* "set=BACKEND,…" for sets with `via`; NULL = none */
};

static void list_sets(const struct ab_workload *w, struct sets *out)
{
    struct ab_text via = {0};
    *out = (struct sets){0};
    if (w == NULL)
        return;
    out->names = ab_alloc_zeroed(ab_workload_count_sets(w) + 1, sizeof out->names[0]);
    for (size_t i = 0; i < ab_workload_count_sets(w); i++) {
        out->names[out->n++] = ab_workload_set_name(w, i);
        if (ab_workload_set_via(w, i) != NULL)
            ab_text_addf(&via, "%s%s=%s", via.s != NULL ? "," : "", ab_workload_set_name(w, i),
                         ab_workload_set_via(w, i));
    }
    out->via = via.s;
}

static bool is_taken(const struct ab_selection_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

/* Adds a row for the mapping. The row shows the reason if one of its heaps is missing. */
static enum ab_status add_row(struct ab_selection_list *list, struct ab_placement_rules *p,
                              struct ab_err *err)
{
    char stem[sizeof p->name];
    if (list->n >= AB_SELECTION_MAX)
        return ab_fail(err, AB_USAGE, "more than %d back ends", AB_SELECTION_MAX);
    memcpy(stem, p->name, sizeof stem);
    for (unsigned n = 2; is_taken(list, p->name); n++)
        AB_FIT(p->name, "%.60s%u", stem, n);
    struct ab_selection *row = &list->items[list->n++];
    *row = (struct ab_selection){
        .source = AB_SOURCE_BUILTIN, .was_named = true, .is_placement = true};
    AB_COPY(row->name, p->name);
    for (size_t i = 0; i < p->heaps.n && row->state == AB_SELECTION_OK; i++) {
        const struct ab_selection *heap = &p->heaps.items[i];
        row->state = heap->state;
        if (heap->state != AB_SELECTION_OK)
            AB_FIT(row->reason, "%s %s", heap->name, heap->reason);
    }
    return AB_OK;
}

static enum ab_status check_strangers(const struct ab_measure_request *asked,
                                      const struct ab_placement_rules *p, const char *at,
                                      struct ab_err *err)
{
    bool is_chosen = asked->maps.are_stored || !asked->backends.allows_plugins;
    for (size_t i = 0; is_chosen && i < p->heaps.n; i++)
        if (ab_case_check_stranger(&p->heaps.items[i], asked->maps.are_stored, "--map", err) !=
            AB_OK)
            return ab_err_context(err, "%s: ", at);
    return AB_OK;
}

/* Checks each `via` by itself, so that an error has its position. The values of all sets together
 * make one mapping. */
static enum ab_status check_via(const struct ab_measure_request *asked, const struct ab_workload *w,
                                const struct ab_placement_terms *terms, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < ab_workload_count_sets(w) && status == AB_OK; i++) {
        const char *via = ab_workload_set_via(w, i);
        char *at = via == NULL ? NULL : ab_workload_set_via_place(w, i);
        struct ab_text rules = {0}, where = {0};
        struct ab_placement_rules p;
        if (via == NULL)
            continue;
        ab_text_addf(&rules, "*=%s", via);
        ab_text_addf(&where, "%s: via", at != NULL ? at : "");
        status = ab_rules_parse(rules.s, terms, where.s, &p, err);
        if (status == AB_OK)
            status = check_strangers(asked, &p, where.s, err);
        ab_rules_fini(&p);
        ab_text_fini(&rules);
        ab_text_fini(&where);
        free(at);
    }
    return status;
}

static enum ab_status read_map(const struct ab_measure_request *asked, const char *text,
                               const struct ab_placement_terms *terms,
                               struct ab_placement_rules *out, struct ab_err *err)
{
    AB_TRY(ab_rules_parse(text, terms, "--map", out, err));
    return asked->maps.are_stored ? check_strangers(asked, out, "--map", err) : AB_OK;
}

enum ab_status ab_placement_rows_read(const struct ab_measure_request *asked,
                                      const struct ab_subject *subject,
                                      struct ab_selection_list *list, struct ab_placement_rows *out,
                                      struct ab_err *err)
{
    struct sets sets;
    enum ab_status status = AB_OK;
    *out = (struct ab_placement_rows){.first = list->n};
    out->items = ab_alloc_zeroed(asked->maps.n + 1, sizeof out->items[0]);
    out->placements = ab_alloc_zeroed(asked->maps.n + 1, sizeof out->placements[0]);
    out->nulls = ab_alloc_zeroed(asked->maps.n + 1, sizeof out->nulls[0]);
    list_sets(subject->workload, &sets);
    const struct ab_placement_terms terms = {subject->workload != NULL ? sets.names : NULL, sets.n,
                                             subject->map->image->n_lanes, asked->backends.path};
    for (size_t i = 0; i < asked->maps.n && status == AB_OK; i++)
        if ((status = read_map(asked, asked->maps.rules[i], &terms, &out->items[out->n++], err)) ==
            AB_OK)
            status = add_row(list, &out->items[i], err);
    if (asked->maps.n == 0 && sets.via != NULL && status == AB_OK &&
        (status = check_via(asked, subject->workload, &terms, err)) == AB_OK &&
        (status = ab_rules_parse(sets.via, &terms, "via", &out->items[out->n++], err)) == AB_OK)
        status = add_row(list, &out->items[0], err);
    if (status == AB_OK && out->n > 0 && sets.n > AB_GROUPS_MAX)
        status = ab_fail(err, AB_USAGE, "a workload of more than %d sets cannot be mapped",
                         AB_GROUPS_MAX);
    free(sets.names);
    free(sets.via);
    return status;
}

/* ---- making ---- */

static enum ab_placement_inlined inlined_of(const struct ab_selection *s)
{
    const char *name = s->is_inline ? s->builtin->name : "";
    return strcmp(name, "arena") == 0  ? AB_PLACEMENT_ARENA
           : strcmp(name, "pool") == 0 ? AB_PLACEMENT_POOL
           : strcmp(name, "slab") == 0 ? AB_PLACEMENT_SLAB
                                       : AB_PLACEMENT_CALLED;
}

static void fill_heap(const struct ab_selection *s, struct ab_placement_heap *heap)
{
    *heap = (struct ab_placement_heap){.source = s->source, .want_dev = s->dev, .want_ino = s->ino};
    AB_COPY(heap->name, s->name);
    AB_COPY(heap->builtin, s->builtin != NULL ? s->builtin->name : "");
    AB_COPY(heap->path, s->path);
    AB_COPY(heap->prefix, s->prefix);
    AB_COPY(heap->params, s->params);
    memcpy(heap->values, s->values, sizeof heap->values);
    heap->inlined = inlined_of(s);
}

/* True if the worker may replace the heap by a new one while it is empty. A program resets an arena
 * when its blocks are dead, but the recording does not show the reset. Heaps that free single
 * blocks need no reset. For a plug-in, the worker decides. A workload has its own resets. */
static bool may_renew(const struct ab_subject *subject, const struct ab_selection *s)
{
    if (subject->workload != NULL || ab_source_boundary(s->source) != AB_BOUNDARY_HEAP)
        return false;
    return s->builtin == NULL ||
           (s->never_frees && ab_backend_variant(s->builtin, s->values)->reset != NULL);
}

/* True if the heap may be opened for fewer lanes. Built-ins with a part per lane index their parts
 * by the lane's number in the whole work. */
static bool may_narrow(const struct ab_selection *s)
{
    return s->builtin != NULL && ab_backend_variant(s->builtin, s->values)->thread_enter == NULL;
}

static enum ab_status make_one(const struct ab_placement_rules *p, const struct ab_subject *subject,
                               const struct ab_origins *origins, struct ab_placement *out,
                               struct ab_err *err)
{
    struct ab_placement_heap *heaps = ab_alloc_zeroed(p->heaps.n, sizeof heaps[0]);
    for (size_t i = 0; i < p->heaps.n; i++) {
        fill_heap(&p->heaps.items[i], &heaps[i]);
        heaps[i].renews = may_renew(subject, &p->heaps.items[i]);
        heaps[i].narrows = may_narrow(&p->heaps.items[i]);
    }
    const struct ab_placement_plan plan = {.rules = p->rules,
                                           .n_rules = p->n_rules,
                                           .heaps = heaps,
                                           .n_heaps = (uint32_t)p->heaps.n,
                                           .origins = origins->bytes,
                                           .n_origins = origins->n,
                                           .is_part = subject->is_part};
    enum ab_status status = ab_placement_make(&plan, subject->map, subject->tape->groups, out, err);
    free(heaps);
    return status;
}

/* Returns the first row that sends the same requests to the same number of heaps as `row`, so that
 * both have the same null placement. */
static size_t null_of(const struct ab_placement_rows *rows, size_t row)
{
    size_t i = 0;
    while (strcmp(rows->placements[i].sha256, rows->placements[row].sha256) != 0)
        i++;
    return i;
}

struct ab_placement_trace { /* begins as {path, is_partial, wish, scopes} */
    const char *path;       /* path of the trace; "" = the work is not a trace */
    bool is_partial;        /* True to accept a trace without its end */
    enum ab_scopes_wish wish;
    const struct ab_scopes *scopes; /* known scopes; NULL = searched for when a rule needs scopes */
    struct ab_scopes found;
};

/* Finds out for which stacks and scopes of a trace the rules of a mapping hold. If a pattern fits
 * no stack, the error suggests the nearest name in the trace. */

#define SHOWN(text) AB_SHOWN(256, text)

struct asking {
    struct ab_placement_rules *placement;
    struct ab_placement_trace *trace;
    const char *where;
    struct ab_site_table sites;
    /* compares stacks with patterns; NULL = no rule needs call sites */
    struct ab_site_matcher *matcher;
    struct ab_err *err;
};

static bool asks_scope(const struct ab_placement_rules *p)
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
        const struct ab_walk file = {.path = trace->path, .is_partial = trace->is_partial};
        AB_TRY(ab_scopes_find(&file, trace->wish, &trace->found, a->err));
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

/* ---- patterns that no stack matches ---- */

struct name_list {
    const char **names;
    size_t n, cap;
    size_t n_unread; /* modules whose file is missing or has changed */
};

static void add_name(struct name_list *list, const char *name, size_t n)
{
    if (n == 0)
        return;
    AB_GROW(list->names, list->cap, list->n);
    list->names[list->n++] = ab_strndup(name, n);
}

static void list_symbol(const struct ab_symbol *s, struct name_list *out)
{
    char line[600];
    add_name(out, s->function, strcspn(s->function, "(@."));
    AB_FIT(line, "%s:%d", basename(s->file), s->line);
    add_name(out, line, s->line > 0 ? strlen(line) : 0);
}

/* Lists the names of each frame, such as "parse_number" and "json.c:120". */
static void list_names(const struct ab_site_table *sites, struct name_list *out)
{
    struct ab_site_names names;
    ab_site_names_init(&names, sites);
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

/* Sets, for each rule, the classes of stacks that match all site patterns of the rule. */
static void set_classes(struct ab_placement_rules *p, const struct ab_origins *origins)
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

/* Sets the `classes` of the rules and *out. *out is empty if no rule needs call sites or scopes.
 * Error texts begin with `where`. Fails with AB_USAGE if the trace lacks scopes or sites, or if a
 * pattern matches nothing in it. */
static enum ab_status placement_ask_trace(struct ab_placement_rules *p,
                                          struct ab_placement_trace *trace, const char *where,
                                          struct ab_origins *out, struct ab_err *err)
{
    struct asking a = {.placement = p, .trace = trace, .where = where, .err = err};
    *out = (struct ab_origins){0};
    enum ab_status status = ask(&a, out);
    ab_site_matcher_close(a.matcher);
    ab_site_table_fini(&a.sites);
    return status;
}

static void placement_trace_fini(struct ab_placement_trace *trace)
{
    ab_scopes_fini(&trace->found);
    *trace = (struct ab_placement_trace){0};
}

enum ab_status ab_placement_rows_make(const struct ab_measure_request *asked,
                                      struct ab_placement_rows *rows,
                                      const struct ab_subject *subject, struct ab_err *err)
{
    struct ab_placement_trace trace = {.path = subject->file != NULL ? subject->file
                                                                     : subject->path,
                                       .is_partial = asked->replay.is_partial,
                                       .wish = asked->scopes_wish,
                                       .scopes = subject->scopes};
    struct ab_origins origins;
    enum ab_status status = AB_OK;
    rows->n_phases = subject->map->image->n_phases;
    for (size_t i = 0; i < rows->n && status == AB_OK; i++) {
        status = placement_ask_trace(&rows->items[i], &trace, "--map", &origins, err);
        if (status == AB_OK)
            status = make_one(&rows->items[i], subject, &origins, &rows->placements[i], err);
        if (status == AB_OK && null_of(rows, i) == i)
            status = ab_placement_make_null(&rows->placements[i], &rows->nulls[i], err);
        ab_origins_fini(&origins);
    }
    placement_trace_fini(&trace);
    return status;
}

/* ---- cases ---- */

/* Sets the environment variables that the heaps need in their process. */
static void fill_environment(const struct ab_placement_rules *p, struct ab_case *c)
{
    size_t n = 0, most = sizeof c->env / sizeof c->env[0] - 1;
    for (size_t i = 0; i < p->heaps.n; i++)
        for (uint32_t k = 0; k < p->heaps.items[i].n_env && n < most; k++)
            c->env[n++] = p->heaps.items[i].env[k];
}

static void raise(uint64_t *most, uint64_t x)
{
    if (x > *most)
        *most = x;
}

/* Returns the length of s cut to `most` bytes, without splitting a UTF-8 character. */
static size_t whole_characters(const char *s, size_t n, size_t most)
{
    if (n <= most)
        return n;
    while (most > 0 && ((unsigned char)s[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Appends a key to a list such as "frame, size:1-64". If there is no room, "…" stands for the
 * rest. */
static void add_key(char *keys, size_t cap, const char *key, size_t n)
{
    static const char more[] = ", \u2026", cut[] = "\u2026";
    size_t at = strlen(keys), room = cap - sizeof more, end = sizeof cut - 1;
    bool is_full = at >= end && strcmp(keys + at - end, cut) == 0;
    if (is_full)
        return;
    if (at == 0 && n > room)
        snprintf(keys, cap, "%.*s%s", (int)whole_characters(key, n, room), key, cut);
    else if (at + (at > 0 ? 2 : 0) + n > room)
        snprintf(keys + at, cap - at, "%s", more);
    else
        snprintf(keys + at, cap - at, "%s%.*s", at > 0 ? ", " : "", (int)n, key);
}

/* Describes the libraries, as far as they are known before the worker opens them. */
static void describe_libraries(const struct ab_placement_rules *p,
                               const struct ab_placement *placement, struct ab_backend_info *info)
{
    for (uint32_t h = 0; h < p->heaps.n; h++) {
        uint32_t shown = ab_placement_shown(ab_placement_heap_at(placement->image, 0), h);
        struct ab_mapped_heap *heap = &info->heaps[shown];
        AB_COPY(heap->version, p->heaps.items[h].version);
        AB_COPY(heap->build_id, p->heaps.items[h].build_id);
    }
}

/* Describes which keys each heap serves, from the text KEY=BACKEND,… in the order of the rules. */
static void describe_rules(const struct ab_placement_rules *p, const struct ab_placement *placement,
                           struct ab_backend_info *info)
{
    const struct ab_placement_heap *heaps = ab_placement_heap_at(placement->image, 0);
    const char *at = p->text;
    for (size_t i = 0; i < p->n_rules && *at != 0; i++) {
        struct ab_mapped_heap *heap = &info->heaps[ab_placement_shown(heaps, p->rules[i].heap)];
        add_key(heap->keys, sizeof heap->keys, at, strcspn(at, "="));
        at += ab_rules_first_bytes(at);
        at += *at == ',';
    }
}

/* Describes the heaps. Heaps with the same name are described as one. */
static void describe_heaps(const struct ab_placement *placement, uint32_t n_phases,
                           struct ab_backend_info *info)
{
    const struct ab_placement_heap *heaps = ab_placement_heap_at(placement->image, 0);
    for (uint32_t h = 0; h < placement->image->n_heaps; h++) {
        uint32_t shown = ab_placement_shown(heaps, h);
        struct ab_mapped_heap *out = &info->heaps[shown];
        info->n_heaps = shown + 1 > info->n_heaps ? shown + 1 : info->n_heaps;
        AB_FIT(out->name, "%.*s", ab_placement_shown_name(heaps[h].name), heaps[h].name);
        out->n_requests += heaps[h].facts.total_blocks;
        if (__builtin_add_overflow(out->requested_bytes, heaps[h].facts.total_bytes,
                                   &out->requested_bytes))
            out->requested_bytes = UINT64_MAX;
        for (uint32_t p = 0; p < n_phases; p++) {
            raise(&out->live_peak_blocks, placement->uses[p][shown].live_peak_blocks);
            raise(&out->live_peak_bytes, placement->uses[p][shown].live_peak_bytes);
        }
    }
}

void ab_placement_rows_fill(const struct ab_placement_rows *rows, size_t row, struct ab_case *c,
                            struct ab_backend_info *info)
{
    if (row < rows->first || row - rows->first >= rows->n)
        return;
    const struct ab_placement_rules *p = &rows->items[row - rows->first];
    const struct ab_placement *placement = &rows->placements[row - rows->first];
    const struct ab_selection *preload = ab_rules_preload(p);
    *c = (struct ab_case){
        .source = preload != NULL ? AB_SOURCE_PRELOAD : AB_SOURCE_BUILTIN,
        .boundary = AB_BOUNDARY_PLACED,
        .path = preload != NULL ? preload->path : NULL,
        .prefix = "",
        .params = "",
        .placement = placement,
        .null_placement = &rows->nulls[null_of(rows, row - rows->first)],
    };
    fill_environment(p, c);
    AB_COPY(info->map, p->text);
    memcpy(info->rules.placement, placement->sha256, sizeof info->rules.placement);
    describe_heaps(placement, rows->n_phases, info);
    info->rules.n = (uint32_t)p->n_rules;
    memcpy(info->rules.n_requests, placement->n_requests, sizeof info->rules.n_requests);
    describe_rules(p, placement, info);
    describe_libraries(p, placement, info);
}

void ab_placement_rows_fini(struct ab_placement_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        ab_rules_fini(&rows->items[i]);
        ab_placement_close(&rows->placements[i]);
        ab_placement_close(&rows->nulls[i]);
    }
    free(rows->items);
    free(rows->nulls);
    free(rows->placements);
    *rows = (struct ab_placement_rows){0};
}
