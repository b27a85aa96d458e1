/* SPDX-License-Identifier: MIT
 *
 * Sets: their kind, and the keys that only some kinds have. How many instances a set has follows
 * from the phases that use it, so slots are given out after them.
 */
#include "workload/parse/read.h"

#include "core/memory.h"

static const char *const kinds[] = {"slots", "list", "region", "queue", NULL};
static const char *const later_kinds[] = {"window", NULL};
static const char *const pers[] = {"lane", "all", NULL};
static const char *const orders[] = {"fifo", "lifo", NULL};
static const char *const policies[] = {"block", "drop", "free", NULL};

static bool read_count(const struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_set *raw, struct ab_set_def *set)
{
    struct ab_yaml_field f = ab_field_of(r, node, "count", raw->count);
    struct ab_limits range = {AB_UNIT_COUNT, 1, AB_MAX_POSITIONS};
    uint64_t n = 0;
    bool grows = set->kind == AB_SET_LIST || set->kind == AB_SET_REGION;
    if (f.text == NULL)
        return grows || set->kind == AB_SET_QUEUE || ab_field_missing(r, node, "count", "a set");
    set->place = ab_node_place(f.node, 0, strlen(f.text));
    if (grows)
        return AB_REFUSE_FIELD(r, &f, "a %s grows with what is allocated; it has no 'count'",
                               kinds[set->kind]);
    if (!ab_field_number(r, &f, range, &n))
        return false;
    set->count = (uint32_t)n;
    return true;
}

static bool read_queue(const struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_set *raw, struct ab_set_def *set)
{
    const struct ab_yaml_field fields[] = {ab_field_of(r, node, "unit", raw->unit),
                                           ab_field_of(r, node, "order", raw->order),
                                           ab_field_of(r, node, "on_full", raw->on_full)};
    struct ab_limits range = {AB_UNIT_COUNT, 1, AB_MAX_POSITIONS};
    unsigned order = 0, policy = AB_ON_FULL_BLOCK;
    uint64_t unit = 1;
    set->unit = 1;
    for (size_t i = 0; set->kind != AB_SET_QUEUE && i < 3; i++)
        if (fields[i].text != NULL)
            return AB_REFUSE_FIELD(r, &fields[i], "'%s' is for sets of kind queue",
                                   fields[i].node->key);
    if (!ab_field_number(r, &fields[0], range, &unit) ||
        !ab_field_word(r, &fields[1], orders, NULL, &order) ||
        !ab_field_word(r, &fields[2], policies, NULL, &policy))
        return false;
    if (fields[2].text != NULL && set->count == 0)
        return AB_REFUSE_FIELD(r, &fields[2],
                               "a queue without 'count' is never full: 'on_full' does not apply");
    set->unit = (uint32_t)unit;
    set->is_lifo = order == 1;
    set->on_full = (enum ab_on_full)policy;
    return true;
}

/* Whether there is such a back end is for those to say who open them. */
static bool read_via(const struct ab_reader *r, const struct ab_node *node,
                     const struct ab_raw_set *raw, struct ab_set_def *set)
{
    struct ab_yaml_field f = ab_field_of(r, node, "via", raw->via);
    if (f.text == NULL)
        return true;
    if (f.text[0] == 0 || strchr(f.text, ',') != NULL)
        return AB_REFUSE_FIELD(r, &f, "'via' must be one back end, as -b takes it; found '%s'",
                               AB_QUOTED(f.text, strlen(f.text)));
    set->via_place = ab_node_place(f.node, 0, strlen(f.text));
    set->via = ab_strdup(f.text);
    return true;
}

static void read_set(struct ab_reader *r, const struct ab_node *node, const struct ab_raw_set *raw)
{
    struct ab_workload *w = r->w;
    struct ab_set_def *set = &w->sets[w->n_sets];
    struct ab_yaml_field kind = ab_field_of(r, node, "kind", raw->kind);
    struct ab_yaml_field per = ab_field_of(r, node, "per", raw->per);
    struct ab_entries before = {"sets", w->sets, w->n_sets, sizeof *set};
    unsigned kind_index = AB_SET_SLOTS, per_index = 0;
    set->place = node->at;
    bool has_name = ab_read_entry_name(r, node, raw->name, &before, set->name);
    w->n_sets += has_name; /* known by name, even when the rest is wrong */
    r->has_nameless_set = r->has_nameless_set || !has_name;
    bool ok = ab_field_word(r, &kind, kinds, later_kinds, &kind_index);
    set->kind = (enum ab_set_kind)kind_index;
    ok = read_via(r, node, raw, set) && ok;
    ok = ab_field_word(r, &per, pers, NULL, &per_index) && ok;
    set->is_shared = per_index == 1;
    if (ok || kind.text == NULL) /* of an unknown kind nothing more can be said */
        ok = read_count(r, node, raw, set) && read_queue(r, node, raw, set) && ok;
    set->is_broken = !ok;
}

void ab_read_sets(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_set *raw,
                  unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    r->w->sets = ab_read_new_records(r, list, n, sizeof r->w->sets[0]);
    for (unsigned i = 0; i < n && r->w->sets != NULL; i++, node = ab_tree_next(r->tree, node))
        read_set(r, node, &raw[i]);
}

void ab_place_sets(struct ab_reader *r)
{
    uint64_t base = 0, positions = 0;
    for (size_t i = 0; i < r->w->n_sets; i++) {
        struct ab_set_def *set = &r->w->sets[i];
        bool is_used = set->end_lane > set->first_lane;
        if (!is_used)
            set->end_lane = set->first_lane + 1;
        uint64_t n_lanes = set->end_lane - set->first_lane;
        uint64_t n = (uint64_t)set->count * (set->is_shared ? 1 : n_lanes);
        if (set->kind != AB_SET_SLOTS)
            continue;
        if ((positions += n) > AB_MAX_POSITIONS) {
            ab_diag_add(r->diag, set->place,
                        "all sets together have %llu positions; at most %llu are possible",
                        (unsigned long long)positions, (unsigned long long)AB_MAX_POSITIONS);
            return;
        }
        set->is_moving = set->is_moving || (set->is_shared && n_lanes > 1);
        set->base = (uint32_t)base;
        base += set->is_moving ? 0 : n;
    }
}
