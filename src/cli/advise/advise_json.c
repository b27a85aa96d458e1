/* SPDX-License-Identifier: MIT
 *
 * Tables of the document of `advise --json`. Unknown values are null.
 */
#include "cli/advise/advise.h"

#include "app/advise/advise_rules.h"
#include "cli/document.h"

/* Returns the view. All tables have the view as their context. */
static const struct ab_advise_view *view_of(const struct ab_writing *x)
{
    return x->context;
}

/* ---- groups ---- */

static bool survivor_row(const void *group, size_t i, void *item)
{
    const struct ab_advice_group *g = group;
    *(struct ab_advice_survivor *)item = g->survivors[i];
    return i < g->n_survivors;
}

static const struct ab_member survivor_members[] = {
    AB_WHOLE("bytes", struct ab_advice_survivor, size, INT64_MAX, 0),
    AB_COUNT(struct ab_advice_survivor, born), AB_COUNT(struct ab_advice_survivor, died)};
AB_TABLE(survivor, struct ab_advice_survivor);

static bool size_row(const void *group, size_t i, void *item)
{
    const struct ab_advice_group *g = group;
    *(struct ab_advice_size *)item = g->sizes[i];
    return i < g->n_sizes;
}

static const struct ab_member size_members[] = {AB_COUNT(struct ab_advice_size, bytes),
                                                AB_COUNT(struct ab_advice_size, calls)};
AB_TABLE(size, struct ab_advice_size);

static json_t *write_heap_name(const struct ab_writing *x)
{
    uint32_t heap = *(const uint32_t *)x->p;
    return heap != AB_ADVICE_NO_HEAP ? ab_json_string(view_of(x)->advice->heaps[heap].name)
                                     : json_null();
}

static json_t *write_more_sizes(const struct ab_writing *x)
{
    return json_boolean(*(const uint32_t *)x->p > AB_ADVICE_SIZES);
}

static json_t *write_containers(const struct ab_writing *x)
{
    json_t *types = json_array();
    for (uint32_t i = 0; i < AB_ADVICE_CONTAINERS; i++)
        if (ab_advice_container_counts(*(const uint32_t *)x->p, i))
            json_array_append_new(types, json_sprintf("std::%s", ab_advice_containers[i].type));
    return types;
}

static json_t *write_nearly_scoped(const struct ab_writing *x)
{
    return json_boolean(ab_advise_is_nearly_scoped(x->record));
}

static bool has_scopes(const void *group, const void *view)
{
    (void)group;
    return ((const struct ab_advise_view *)view)->advice->n_scopes > 0;
}

#define GROUP(is, key, member, ...) AB_MEMBER(is, key, struct ab_advice_group, member, __VA_ARGS__)
#define COUNT(member, ...) AB_COUNT(struct ab_advice_group, member, __VA_ARGS__)
#define OF_SCOPES(member) COUNT(member, .has = has_scopes)

static const struct ab_member group_members[] = {
    GROUP(CHARS, "rule", key),
    GROUP(CHARS, "function", function),
    GROUP(CHARS, "file", file),
    GROUP(WHOLE, "line", line, .flags = AB_ZERO),
    GROUP(CHARS, "module", module),
    GROUP(NAME, "call", call, .name = ab_advice_call_name),
    GROUP(RULE, "containers", containers, .write = write_containers),
    GROUP(NAME, "kind", kind, .name = ab_advice_kind_name),
    GROUP(TEXT, "why", why),
    GROUP(RULE, "heap", heap, .write = write_heap_name),
    AB_EACH(COUNT, calls, resizes, frees, never_freed, bytes, size_least, size_most, align_most),
    AB_EACH(COUNT, live_most_blocks, live_most_bytes),
    AB_NUMBER("pinned_bytes", struct ab_advice_group, pinned_bytes),
    AB_EACH(OF_SCOPES, scope_most_blocks, scope_most_bytes, in_scope, in_next, later, n_survivors),
    GROUP(WHOLE, "outlived_nested", n_stragglers, .has = has_scopes),
    GROUP(WHOLE, "outlived_nested_size", straggler_size,
          AB_WHEN(struct ab_advice_group, n_stragglers)),
    GROUP(WHOLE, "youngest_first", lifo),
    GROUP(WHOLE, "freed_by_another_thread", remote),
    AB_ROWS("sizes", size_row, AB_ADVICE_SIZES, &size_record),
    GROUP(RULE, "has_more_sizes", n_sizes, .write = write_more_sizes),
    GROUP(RULE, "lifetimes", lives, .write = ab_document_lives),
    AB_ROWS("survivors", survivor_row, AB_ADVICE_SURVIVORS, &survivor_record),
    AB_WRITTEN("nearly_scoped", write_nearly_scoped)};
AB_TABLE(group, struct ab_advice_group);

/* ---- the trace ---- */

static const char *const scopes_from[] = {"found", "marks"}, *const groups_by[] = {"size", "site"};

#define ADVICE(key, member, ...) AB_WHOLE(key, struct ab_advice, member, INT64_MAX, 0, __VA_ARGS__)

static const struct ab_member scopes_members[] = {
    ADVICE("n", n_scopes),
    AB_NAME("from", struct ab_advice, is_marked, 2, .names = scopes_from,
            AB_WHEN(struct ab_advice, n_scopes)),
    ADVICE("threads", n_scope_threads, .flags = AB_ZERO)};
AB_TABLE(scopes, struct ab_advice);

static const struct ab_member advice_members[] = {
    AB_CHARS("program", struct ab_advice, program),
    ADVICE("calls", calls),
    ADVICE("events", n_events),
    ADVICE("measured_events", n_before_end),
    ADVICE("threads", n_threads),
    AB_RECORD_HERE("scopes", &scopes_record),
    AB_NAME("by", struct ab_advice, has_sites, 2, .names = groups_by)};
AB_TABLE(advice, struct ab_advice);

static const struct ab_member groups_members[] = {
    AB_LIST("groups", struct ab_advice, groups, n_groups, UINT32_MAX, .record = &group_record)};
AB_TABLE(groups, struct ab_advice);

/* ---- measurements ---- */

#define MEASURED(key, member) \
    AB_NUMBER(key, struct ab_advised_row, member, AB_WHEN(struct ab_advised_row, is_measured))
#define ROW(member) MEASURED(#member, member)

static const struct ab_member row_members[] = {
    AB_CHARS("name", struct ab_advised_row, name),
    AB_CHARS("reason", struct ab_advised_row, reason),
    AB_EACH(ROW, time_ns, memory_bytes, base_time_ns, base_memory_bytes),
    AB_EACH(ROW, held_bytes, base_held_bytes),
    MEASURED("speed", speed.ratio),
    MEASURED("speed_low", speed.low),
    MEASURED("speed_high", speed.high)};
AB_TABLE(row, struct ab_advised_row);

struct heap {
    struct ab_advice_heap h;
    struct ab_advised_row alone;
    char what[80], proposal[80];
    const char *refusal, *threads;
    bool is_used, by_memory;
};

static bool heap_row(const void *view, size_t i, void *item)
{
    const struct ab_advise_view *v = view;
    struct heap *to = item;
    if (i >= v->advice->n_heaps)
        return false;
    *to = (struct heap){.h = v->advice->heaps[i], .alone = v->measured->heaps[i]};
    to->is_used = (v->measured->used >> i & 1) != 0;
    to->refusal = to->is_used ? NULL : ab_advise_refusal(v->measured, i);
    to->by_memory = to->is_used && !ab_advised_is_gain(&to->alone);
    to->threads = ab_advice_is_shared(&to->h) ? "local" : "one";
    ab_advise_what(&to->h, to->what, sizeof to->what);
    ab_advise_proposal(&to->h, to->proposal, sizeof to->proposal);
    return true;
}

#define CALLS(member) AB_WHOLE(#member, struct heap, h.member, INT64_MAX, 0)
#define HEAP(is, key, member, ...) AB_MEMBER(is, key, struct heap, member, __VA_ARGS__)

static const struct ab_member heap_members[] = {
    HEAP(CHARS, "name", h.name),
    HEAP(CHARS, "what", what),
    HEAP(CHARS, "proposal", proposal),
    HEAP(NAME, "kind", h.kind, .name = ab_advice_kind_name),
    HEAP(CHARS, "backend", h.backend),
    HEAP(FLAG, "advised", is_used),
    HEAP(TEXT, "refusal", refusal),
    HEAP(FLAG, "by_memory", by_memory),
    AB_EACH(CALLS, calls, size_most, align, most_blocks, most_bytes),
    HEAP(WHOLE, "capacity_blocks", h.capacity_blocks, .flags = AB_ZERO),
    HEAP(WHOLE, "capacity_bytes", h.capacity_bytes, .flags = AB_ZERO),
    HEAP(WHOLE, "nested_scopes", h.n_nested, AB_WHEN_IS(struct heap, h.kind, AB_ADVICE_NESTED)),
    HEAP(TEXT, "threads", threads),
    HEAP(WHOLE, "freed_by_another_thread", h.n_remote),
    HEAP(RECORD, "alone", alone, .record = &row_record)};
AB_TABLE(heap, struct heap);

static json_t *write_histogram(const struct ab_writing *x)
{
    return ab_json_histogram(*(struct ab_hdr *const *)x->p);
}

static json_t *write_overflow(const struct ab_writing *x)
{
    return ab_json_integer((*(struct ab_hdr *const *)x->p)->overflow);
}

#define WHEN(member) AB_WHEN(struct ab_advised_scopes, member)
#define TIMED(key, member) \
    AB_WHOLE(key, struct ab_advised_scopes, member, INT64_MAX, 0, WHEN(is_known))

static const struct ab_member timed_members[] = {
    AB_NUMBER("worst_ns", struct ab_advised_scopes, worst_ns, WHEN(is_known)),
    TIMED("rounds", n_rounds),
    TIMED("n", n),
    TIMED("n_over_budget", n_missed),
    TIMED("n_scheduler", n_scheduler),
    AB_RULE("hdr_v2", struct ab_advised_scopes, hdr, .write = write_histogram, WHEN(hdr)),
    AB_RULE("overflow", struct ab_advised_scopes, hdr, .write = write_overflow, WHEN(hdr)),
    AB_CHARS("reason", struct ab_advised_scopes, reason)};
AB_TABLE(timed, struct ab_advised_scopes);

static bool is_advised(const void *record, const void *view)
{
    (void)record;
    return ((const struct ab_advise_view *)view)->measured->used != 0;
}

static const struct ab_member budget_members[] = {
    AB_RECORD("before", struct ab_advised_budget, before, &timed_record),
    AB_RECORD("after", struct ab_advised_budget, after, &timed_record, .has = is_advised)};
AB_TABLE(budget, struct ab_advised_budget);

static const struct ab_member nesting_members[] = {
    AB_FLAG("taken", struct ab_advised_nested, is_taken),
    AB_FLAG("by_memory", struct ab_advised_nested, by_memory),
    AB_RECORD("flat", struct ab_advised_nested, flat, &row_record),
    AB_RECORD("nested", struct ab_advised_nested, nested, &row_record)};
AB_TABLE(nesting, struct ab_advised_nested);

/* True if there were nested scopes to decide on. */
static bool is_asked(const void *record, const void *view)
{
    (void)record;
    return ((const struct ab_advise_view *)view)->nested->is_asked;
}

static const struct ab_member asked_members[] = {
    AB_WHOLE("rounds", struct ab_advised, n_rounds, UINT32_MAX, 0),
    AB_NUMBER("limit", struct ab_advised, limit)};
AB_TABLE(asked, struct ab_advised);

static const struct ab_member by_memory_members[] = {
    AB_FLAG("by_memory", struct ab_advised, by_memory)};
AB_TABLE(by_memory, struct ab_advised);

static const struct ab_member base_members[] = {
    AB_RECORD("base", struct ab_advised, base, &row_record)};
AB_TABLE(base, struct ab_advised);

static bool has_together(const void *measured, const void *view)
{
    const struct ab_advised *m = measured;
    (void)view;
    return (m->used | m->small) != 0;
}

static const struct ab_member together_members[] = {
    AB_RECORD("together", struct ab_advised, together, &row_record, .has = has_together),
    AB_RECORD("compiled", struct ab_advised, compiled, &row_record,
              AB_WHEN(struct ab_advised, has_compiled)),
    AB_ARRAY("generals", struct ab_advised, generals, n_generals, AB_ADVISED_GENERALS_MAX,
             .record = &row_record)};
AB_TABLE(together, struct ab_advised);

/* ---- the document ---- */

struct document {
    struct ab_advise_view v;
    const char *answer, *unit;
    /* converts the time of a replay to that of a scope, or of a million calls, as a divisor */
    double units;
    struct ab_text line, rules;
};

#define DOCUMENT(is, key, member, ...) AB_MEMBER(is, key, struct document, member, __VA_ARGS__)
#define PART(member, table) \
    AB_MEMBER(PART, NULL, struct document, v.member, .record = (table), .flags = AB_POINTER)

static const struct ab_member document_members[] = {
    AB_FIXED("schema", "allocbench-advice/1"),
    DOCUMENT(TEXT, "trace", v.trace),
    PART(advice, &advice_record),
    DOCUMENT(NUMBER, "budget_ns", v.budget_ns, .flags = AB_ZERO),
    DOCUMENT(RECORD, "budget", v.budget, .record = &budget_record, .flags = AB_POINTER),
    PART(measured, &asked_record),
    DOCUMENT(TEXT, "answer", answer),
    DOCUMENT(TEXT, "answer_text", line.s),
    PART(measured, &by_memory_record),
    DOCUMENT(TEXT, "unit", unit),
    DOCUMENT(NUMBER, "units", units),
    DOCUMENT(TEXT, "map", rules.s),
    PART(measured, &base_record),
    AB_ROWS("heaps", heap_row, AB_ADVICE_HEAPS_MAX, &heap_record),
    PART(measured, &together_record),
    DOCUMENT(RECORD, "nesting", v.nested, .record = &nesting_record, .has = is_asked,
             .flags = AB_POINTER),
    PART(advice, &groups_record)};
AB_TABLE(document, struct document);

void ab_advise_write_json(FILE *to, const struct ab_advise_view *v)
{
    struct document d = {.v = *v,
                         .answer = ab_advised_answer(v->measured),
                         .unit = ab_advise_unit(v->advice),
                         .units = 1 / ab_advise_unit_time(v->advice, 1),
                         .rules = ab_advise_rules(v->advice, v->measured->used, v->base)};
    ab_advise_answer(v, &d.line);
    ab_json_write(ab_record_json(&document_record, &d, v), to, 12);
    ab_text_fini(&d.line);
    ab_text_fini(&d.rules);
}
