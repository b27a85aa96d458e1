/* SPDX-License-Identifier: MIT
 *
 * Phases: how long, on how many lanes, and who does what. A phase without `roles` is one role of
 * all its lanes.
 */
#include "workload/parse/read.h"

#include "base/limits.h"
#include "tape/tape.h"

#include <string.h>

#define LIMIT_COUNT ((UINT64_C(1) << 63) - 1)

/* ---- until ---- */

static const char *const untils[] = {/* by enum ab_until */
                                     "iters(n)", "ops(n)", "allocated(bytes)", "live(bytes)", NULL};
static const char *const later_untils[] = {"seconds(t)", NULL};

static bool read_until_value(struct ab_reader *r, const struct ab_yaml_field *f,
                             const struct ab_value *v, struct ab_phase_def *phase)
{
    struct ab_limits range = {AB_UNIT_COUNT, 1, LIMIT_COUNT};
    unsigned i = AB_UNTIL_ITERS;
    while (untils[i] != NULL && !ab_value_is_call(v, untils[i]))
        i++;
    if (untils[i] == NULL)
        return ab_field_not_in(r, f, v, untils, later_untils);
    phase->until = (enum ab_until)i;
    if (phase->until >= AB_UNTIL_ALLOCATED)
        range.unit = AB_UNIT_BYTES;
    return ab_field_argument(r, f, v, range, &phase->limit);
}

static void read_until(struct ab_reader *r, const struct ab_yaml_field *f,
                       struct ab_phase_def *phase)
{
    struct ab_value v;
    phase->until = AB_UNTIL_ITERS;
    phase->limit = 1;
    if (f->text == NULL)
        return;
    phase->place = f->node->at;
    if (!ab_field_value(r, f, AB_UNIT_COUNT, &v))
        return;
    read_until_value(r, f, &v, phase);
    ab_value_fini(&v);
}

/* ---- each ---- */

static struct ab_yaml_field field_in(const struct ab_reader *r, const struct ab_node *map,
                                     const char *key)
{
    const struct ab_node *node = ab_tree_get(r->tree, map, key);
    return (struct ab_yaml_field){node, node != NULL ? node->text : NULL};
}

static void read_budget(struct ab_reader *r, const struct ab_node *map, struct ab_phase_def *phase)
{
    struct ab_yaml_field f = field_in(r, map, "budget");
    struct ab_number number;
    if (f.text == NULL)
        return;
    const char *bad = ab_units_parse(f.text, strlen(f.text), AB_UNIT_TIME_REAL, &number);
    if (bad != NULL)
        AB_REFUSE_FIELD(r, &f, "'budget': %s", bad);
    else if (number.value < 1 || number.value > (double)AB_ITERATION_BUDGET_MOST_NS)
        AB_REFUSE_FIELD(r, &f, "'budget' " AB_ITERATION_BUDGET_RANGE);
    else
        phase->budget_ns = (uint64_t)(number.value + 0.5);
}

static void read_each(struct ab_reader *r, const struct ab_node *node, struct ab_phase_def *phase)
{
    const struct ab_node *map = ab_tree_get(r->tree, node, "each");
    if (map == NULL)
        return;
    struct ab_yaml_field name = field_in(r, map, "name");
    strcpy(phase->each, "iteration");
    ab_field_name(r, &name, phase->each);
    read_budget(r, map, phase);
    if (phase->until != AB_UNTIL_ITERS)
        ab_diag_add(r->diag, map->key_at, "'each' needs 'until: iters(n)'");
    if (!phase->is_measured)
        ab_diag_add(r->diag, map->key_at, "'each' in a phase that is not measured");
}

/* ---- lanes ---- */

static void read_run_as(struct ab_reader *r, const struct ab_yaml_field *f,
                        struct ab_phase_def *phase)
{
    static const char *const names[] = {"main", NULL};
    unsigned index;
    phase->is_run_by_main = ab_field_word(r, f, names, NULL, &index) && f->text != NULL;
}

/* `lanes` of a phase or a role; 1 where it is absent or wrong. */
static uint32_t read_lanes(struct ab_reader *r, const struct ab_node *node, const char *text)
{
    struct ab_yaml_field f = ab_field_of(r, node, "lanes", text);
    uint64_t n = 1;
    ab_field_number(r, &f, (struct ab_limits){AB_UNIT_COUNT, 1, AB_LANES_MAX}, &n);
    return (uint32_t)n;
}

/* ---- bodies ---- */

static void read_do(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                    unsigned n, struct ab_role *role)
{
    r->first_lane = role->first_lane;
    r->end_lane = role->first_lane + role->n_lanes;
    if (n == 0)
        ab_diag_add(r->diag, list->at, "'do' is empty; a phase needs at least one verb");
    else
        ab_read_body(r, list, raw, n, &role->body, &role->n_body);
}

static void read_role(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_role *raw, struct ab_phase_def *phase)
{
    struct ab_role *role = &phase->roles[phase->n_roles];
    struct ab_entries before = {"roles", phase->roles, phase->n_roles, sizeof *role};
    const struct ab_node *body = ab_tree_get(r->tree, node, "do");
    ab_read_entry_name(r, node, raw->name, &before, role->name);
    role->first_lane = phase->n_lanes;
    role->n_lanes = read_lanes(r, node, raw->lanes);
    phase->n_roles++;
    phase->n_lanes += role->n_lanes;
    if (phase->n_lanes > AB_LANES_MAX) {
        ab_diag_add(r->diag, node->at,
                    "the roles up to here have %u lanes; at most %d are possible", phase->n_lanes,
                    AB_LANES_MAX);
        phase->n_lanes = AB_LANES_MAX - 1;
    }
    if (body == NULL)
        ab_field_missing(r, node, "do", "a role");
    else
        read_do(r, body, raw->body, raw->body_count, role);
}

/* Keys that a phase with roles has no use for. */
static void refuse_beside_roles(struct ab_reader *r, const struct ab_node *node, const char *key)
{
    const struct ab_node *n = ab_tree_get(r->tree, node, key);
    if (n != NULL)
        ab_diag_add(r->diag, n->key_at, "with 'roles', '%s' belongs in each role", key);
}

static void read_roles(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_phase *raw, struct ab_phase_def *phase)
{
    const struct ab_node *list = ab_tree_get(r->tree, node, "roles");
    const struct ab_node *item = ab_tree_first(r->tree, list);
    refuse_beside_roles(r, node, "lanes");
    refuse_beside_roles(r, node, "do");
    phase->roles = ab_read_new_records(r, list, raw->roles_count, sizeof phase->roles[0]);
    if (raw->roles_count == 0)
        ab_diag_add(r->diag, list->at, "'roles' is empty; a phase needs at least one role");
    for (unsigned i = 0; i < raw->roles_count && phase->roles != NULL;
         i++, item = ab_tree_next(r->tree, item))
        read_role(r, item, &raw->roles[i], phase);
}

/* The phase's own `do`: the only role. */
static void read_one_role(struct ab_reader *r, const struct ab_node *node,
                          const struct ab_raw_phase *raw, struct ab_phase_def *phase)
{
    const struct ab_node *body = ab_tree_get(r->tree, node, "do");
    phase->n_lanes = read_lanes(r, node, raw->lanes);
    if (body == NULL) {
        ab_field_missing(r, node, "do", "a phase");
        return;
    }
    phase->roles = ab_read_new_records(r, body, 1, sizeof phase->roles[0]);
    if (phase->roles == NULL)
        return;
    phase->n_roles = 1;
    phase->roles[0].n_lanes = phase->n_lanes;
    read_do(r, body, raw->body, raw->body_count, &phase->roles[0]);
}

static void read_phase(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_phase *raw)
{
    struct ab_workload *w = r->w;
    struct ab_phase_def *phase = &w->phases[w->n_phases];
    struct ab_yaml_field until = ab_field_of(r, node, "until", raw->until);
    struct ab_yaml_field repeat = ab_field_of(r, node, "repeat", raw->repeat);
    struct ab_yaml_field measure = ab_field_of(r, node, "measure", raw->measure);
    struct ab_yaml_field run_as = ab_field_of(r, node, "run_as", raw->run_as);
    struct ab_entries before = {"phases", w->phases, w->n_phases, sizeof *phase};
    *phase = (struct ab_phase_def){.place = node->at, .is_measured = true, .repeat = 1};
    ab_read_entry_name(r, node, raw->name, &before, phase->name);
    w->n_phases++;
    read_until(r, &until, phase);
    ab_field_number(r, &repeat, (struct ab_limits){AB_UNIT_COUNT, 1, LIMIT_COUNT}, &phase->repeat);
    ab_field_bool(r, &measure, &phase->is_measured);
    read_run_as(r, &run_as, phase);
    read_each(r, node, phase);
    if (ab_tree_get(r->tree, node, "roles") != NULL)
        read_roles(r, node, raw, phase);
    else
        read_one_role(r, node, raw, phase);
}

void ab_read_phases(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_phase *raw,
                    unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    bool is_measured = false;
    r->w->phases = ab_read_new_records(r, list, n, sizeof r->w->phases[0]);
    for (unsigned i = 0; i < n && r->w->phases != NULL; i++, node = ab_tree_next(r->tree, node))
        read_phase(r, node, &raw[i]);
    for (size_t i = 0; i < r->w->n_phases; i++)
        is_measured = is_measured || r->w->phases[i].is_measured;
    if (n == 0)
        ab_diag_add(r->diag, list->at, "'phases' is empty; a workload needs at least one phase");
    else if (r->w->n_phases > 0 && !is_measured)
        ab_diag_add(r->diag, list->key_at,
                    "no phase is measured; at least one must not have 'measure: false'");
}
