/* SPDX-License-Identifier: MIT
 *
 * The blocks of a workload, top to bottom, because names must be known before they are used.
 * Records and tree nodes are walked side by side: the values from libcyaml, the places from the
 * pre-scan.
 */
#include "workload/parse/read.h"

#include "base/nearest.h"
#include "core/memory.h"
#include "workload/parse/dist_read.h"
#include "workload/parse/gate_lines.h"

#include <stdlib.h>
#include <string.h>

static void read_sets(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_set *raw,
                      unsigned n);
static void place_sets(struct ab_reader *r);

#define LIMIT_COUNT ((UINT64_C(1) << 63) - 1)

/* ---- params ---- */

/* The text after `name=` in --set, or NULL. The last one counts. */
static const char *find_set(const struct ab_workload_options *options, const char *name)
{
    const char *found = NULL;
    size_t n = strlen(name);
    for (size_t i = 0; options->sets != NULL && options->sets[i] != NULL; i++)
        if (strncmp(options->sets[i], name, n) == 0 && options->sets[i][n] == '=')
            found = options->sets[i] + n + 1;
    return found;
}

static bool check_param_name(const struct ab_reader *r, const struct ab_node *node,
                             const char *name)
{
    size_t n = strcspn(name, ".-");
    struct ab_yaml_field f = ab_field_of(r, node, "name", name);
    if (name[n] != 0)
        return ab_field_fail(r, &f, n, 1,
                             "a param's name cannot contain '%c': $a-b is a subtraction", name[n]);
    if (name[0] >= '0' && name[0] <= '9')
        return AB_REFUSE_FIELD(r, &f, "a param's name must begin with a letter");
    return true;
}

static bool read_param_value(struct ab_reader *r, const struct ab_node *node, const char *raw,
                             const char *set, struct ab_param_value *p)
{
    struct ab_yaml_field f = ab_field_of(r, node, "value", raw);
    struct ab_value_error error;
    p->value = (struct ab_value){.whole = 1, .number = 1}; /* after an error: no errors from it */
    if (f.text == NULL)
        return ab_field_missing(r, node, "value", "a param");
    p->text = ab_strdup(set != NULL ? set : f.text);
    bool ok = ab_value_parse(p->text, &r->w->params, AB_UNIT_COUNT, &p->value, &error);
    if (ok && p->value.kind != AB_VALUE_CALL)
        return true;
    if (ok) {
        error = (struct ab_value_error){.offset = p->value.offset,
                                        .n = p->value.n,
                                        .text = "the value of a param must be a number or a word"};
        ab_value_fini(&p->value);
        p->value = (struct ab_value){.whole = 1, .number = 1};
    }
    if (set == NULL)
        return AB_REFUSE_VALUE(r, &f, &error, "'value': %s", error.text);
    ab_diag_add(r->diag, (struct ab_place){0}, "--set %s=%s: %s", p->name,
                AB_QUOTED(set, strlen(set)), error.text);
    return false;
}

static void read_params(struct ab_reader *r, const struct ab_node *list,
                        const struct ab_raw_param *raw, unsigned n,
                        const struct ab_workload_options *options)
{
    struct ab_params *params = &r->w->params;
    const struct ab_node *node = ab_tree_first(r->tree, list);
    params->items = ab_read_new_records(r, list, n, sizeof params->items[0]);
    for (unsigned i = 0; i < n && params->items != NULL; i++, node = ab_tree_next(r->tree, node)) {
        struct ab_param_value *p = &params->items[params->n];
        struct ab_entries before = {"params", params->items, params->n, sizeof *p};
        if (ab_read_entry_name(r, node, raw[i].name, &before, p->name) &&
            check_param_name(r, node, p->name)) {
            read_param_value(r, node, raw[i].value, find_set(options, p->name), p);
            params->n++; /* even when its value is wrong: the name is known */
        } else {
            r->has_nameless_param = true;
        }
    }
}

/* Every --set must name a param. */
static void report_unknown(struct ab_reader *r, const char *word, const char *near,
                           const char *const *names, size_t n)
{
    struct ab_text list = {0};
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&list, "%s%s", i == 0 ? "" : ", ", names[i]);
    ab_diag_add(r->diag, (struct ab_place){0}, "--set: unknown param '%s'; %s%s%sits params are %s",
                word, near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'? " : "", list.s != NULL ? list.s : "");
    ab_text_fini(&list);
}

static void check_sets(struct ab_reader *r, const struct ab_workload_options *options)
{
    const char *names[AB_MAX_ENTRIES];
    const struct ab_params *params = &r->w->params;
    for (size_t i = 0; i < params->n; i++)
        names[i] = params->items[i].name;
    for (size_t i = 0; options->sets != NULL && options->sets[i] != NULL; i++) {
        const char *set = options->sets[i];
        size_t n = strcspn(set, "=");
        char word[200], name[AB_NAME_MAX + 1] = "";
        memcpy(name, set, n < AB_NAME_MAX ? n : AB_NAME_MAX);
        ab_diag_quote(word, sizeof word, set, n);
        bool is_known = false;
        for (size_t p = 0; p < params->n && !is_known; p++)
            is_known = strcmp(params->items[p].name, name) == 0;
        const char *near = ab_text_nearest(name, names, params->n);
        if (set[n] != '=')
            ab_diag_add(r->diag, (struct ab_place){0}, "--set %s: must be NAME=VALUE", word);
        else if (!is_known && params->n == 0)
            ab_diag_add(r->diag, (struct ab_place){0},
                        "--set: unknown param '%s'; the workload has no params", word);
        else if (!is_known)
            report_unknown(r, word, near, names, params->n);
    }
}

static void list_params(struct ab_workload *w)
{
    w->param_texts = ab_alloc_zeroed(w->params.n + 1, sizeof w->param_texts[0]);
    for (size_t i = 0; i < w->params.n; i++) {
        const struct ab_param_value *p = &w->params.items[i];
        struct ab_text t = {0};
        if (p->value.kind == AB_VALUE_WHOLE)
            ab_text_addf(&t, "%s=%llu", p->name, (unsigned long long)p->value.whole);
        else
            ab_text_addf(&t, "%s=%s", p->name, p->text != NULL ? p->text : "");
        w->param_texts[i] = t.s;
    }
}

/* ---- sizes, back ends ---- */

static void read_size(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_size *raw)
{
    struct ab_workload *w = r->w;
    struct ab_size_def *size = &w->sizes[w->n_sizes];
    struct ab_yaml_field dist = ab_field_of(r, node, "dist", raw->dist);
    const struct ab_node *mix = ab_tree_get(r->tree, node, "mix");
    size->dist = SIZE_MAX;
    struct ab_entries before = {"sizes", w->sizes, w->n_sizes, sizeof *size};
    bool ok = ab_read_entry_name(r, node, raw->name, &before, size->name);
    if (ok && size->name[0] >= '0' && size->name[0] <= '9') {
        struct ab_yaml_field name = ab_field_of(r, node, "name", raw->name);
        ok = AB_REFUSE_FIELD(
            r, &name, "a size's name must begin with a letter; '%s' would be read as a number",
            size->name);
    }
    if (dist.text != NULL && mix != NULL)
        ok = AB_REFUSE_FIELD(r, &dist, "a size has 'dist' or 'mix', not both");
    else if (mix != NULL)
        ab_dist_read_mix(r, mix, raw->mix, raw->mix_count, &size->dist);
    else if (dist.text != NULL)
        ab_dist_read(r, &dist, &size->dist);
    else
        ab_field_missing(r, node, "dist", "a size");
    if (ok && size->dist != SIZE_MAX)
        w->n_sizes++;
    else
        r->has_nameless_size = true;
}

static void read_sizes(struct ab_reader *r, const struct ab_node *list,
                       const struct ab_raw_size *raw, unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    r->w->sizes = ab_read_new_records(r, list, n, sizeof r->w->sizes[0]);
    for (unsigned i = 0; i < n && r->w->sizes != NULL; i++, node = ab_tree_next(r->tree, node))
        read_size(r, node, &raw[i]);
}

/* Each may hold none of the characters that would end it in the spelling of -b. */
static bool check_spellable(const struct ab_reader *r, const struct ab_node *list,
                            char *const *texts, unsigned n, const char *not_these)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    for (unsigned i = 0; i < n; i++, node = ab_tree_next(r->tree, node)) {
        const char *text = texts[i] != NULL ? texts[i] : "";
        char odd = text[strcspn(text, not_these)];
        if (text[0] != 0 && odd == 0)
            continue;
        if (odd != 0)
            ab_diag_add(r->diag, node->at, "an entry of '%s' cannot contain '%c'", list->key, odd);
        else
            ab_diag_add(r->diag, node->at, "an entry of '%s' is empty", list->key);
        return false;
    }
    return true;
}

/* A back end as -b would spell it: NAME:PARAM=VALUE…{VARIABLE=VALUE;…}. */
static bool spell_backend(const struct ab_reader *r, const struct ab_node *node,
                          const struct ab_raw_backend *raw, struct ab_text *out)
{
    struct ab_yaml_field name = ab_field_of(r, node, "name", raw->name);
    size_t odd = 0;
    for (; raw->name[odd] != 0 && strchr(",{}", raw->name[odd]) == NULL; odd++)
        odd += raw->name[odd] == '\\' && raw->name[odd + 1] != 0; /* as in '-b' */
    if (raw->params_count + raw->env_count > 0 && raw->name[odd] != 0)
        return ab_field_fail(r, &name, odd, 1, "with 'params' or 'env' a name cannot contain '%c'",
                             raw->name[odd]);
    if (!check_spellable(r, ab_tree_get(r->tree, node, "params"), raw->params, raw->params_count,
                         ":,{}") ||
        !check_spellable(r, ab_tree_get(r->tree, node, "env"), raw->env, raw->env_count, ";{}"))
        return false;
    ab_text_add(out, raw->name);
    for (unsigned i = 0; i < raw->params_count; i++)
        ab_text_addf(out, ":%s", raw->params[i]);
    for (unsigned i = 0; i < raw->env_count; i++)
        ab_text_addf(out, "%s%s", i == 0 ? "{" : ";", raw->env[i]);
    if (raw->env_count > 0)
        ab_text_add(out, "}");
    return true;
}

static void read_backend(struct ab_reader *r, const struct ab_node *node,
                         const struct ab_raw_backend *raw)
{
    struct ab_workload *w = r->w;
    struct ab_yaml_field f = ab_field_of(r, node, "name", raw->name);
    struct ab_text spelled = {0};
    if (f.text == NULL) {
        ab_field_missing(r, node, "name", "a back end");
    } else if (f.text[0] == 0 || strlen(f.text) > 1000) {
        AB_REFUSE_FIELD(r, &f, "a back end needs a name, as for '-b'");
    } else if (spell_backend(r, node, raw, &spelled) && spelled.s != NULL) {
        w->backends[w->n_backends++] = spelled.s;
        return;
    }
    ab_text_fini(&spelled);
}

static void read_backends(struct ab_reader *r, const struct ab_node *list,
                          const struct ab_raw_backend *raw, unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    r->w->backends = ab_read_new_records(r, list, n, sizeof r->w->backends[0]);
    for (unsigned i = 0; i < n && r->w->backends != NULL; i++, node = ab_tree_next(r->tree, node))
        read_backend(r, node, &raw[i]);
}

/* ---- the top ---- */

static bool read_version(struct ab_reader *r, const struct ab_raw_top *raw,
                         const struct ab_node *root)
{
    const struct ab_node *first = ab_tree_first(r->tree, root);
    struct ab_yaml_field f = ab_field_of(r, root, "allocbench", raw->allocbench);
    if (f.text == NULL) {
        if (!root->has_bad_key)
            ab_diag_add(r->diag, root->at,
                        "'allocbench: 1', the language version, must be the first line");
        return false;
    }
    if (f.node != first)
        ab_diag_add(r->diag, f.node->key_at, "'allocbench' must be the first key");
    if (strcmp(f.text, "1") == 0)
        return true;
    return AB_REFUSE_FIELD(r, &f, "unknown language version '%s'; this allocbench reads version 1",
                           AB_QUOTED(f.text, strlen(f.text)));
}

static void read_about(struct ab_reader *r, const struct ab_yaml_field *f)
{
    struct ab_workload *w = r->w;
    if (f->text != NULL && strlen(f->text) > 1000)
        ab_field_fail(r, f, 0, 1, "'about' may have at most 1000 bytes, found %zu",
                      strlen(f->text));
    w->about = ab_strdup(f->text != NULL ? f->text : "");
    for (char *s = w->about; *s != 0; s++) {
        if ((unsigned char)*s < 0x20 && *s != '\n' && *s != '\t') {
            ab_field_fail(r, f, 0, 1, "'about' must be plain text without control characters");
            break;
        }
        if (*s == '\n' || *s == '\t')
            *s = s[1] == 0 ? 0 : ' ';
    }
}

static void read_head(struct ab_reader *r, const struct ab_raw_top *raw, const struct ab_node *root,
                      const struct ab_workload_options *options)
{
    struct ab_yaml_field name = ab_field_of(r, root, "name", raw->name);
    struct ab_yaml_field about = ab_field_of(r, root, "about", raw->about);
    struct ab_yaml_field seed = ab_field_of(r, root, "seed", raw->seed);
    if (name.text == NULL)
        ab_field_missing(r, root, "name", "the workload");
    ab_field_name(r, &name, r->w->name);
    read_about(r, &about);
    r->w->seed = 1;
    ab_field_number(r, &seed, (struct ab_limits){AB_UNIT_COUNT, 0, LIMIT_COUNT}, &r->w->seed);
    if (options->has_seed)
        r->w->seed = options->seed;
}

/* The block is not there, but an unknown key is: it may be meant. */
static bool is_maybe_misspelt(const struct ab_reader *r, const struct ab_node *root,
                              const char *block)
{
    return root->has_bad_key && ab_tree_get(r->tree, root, block) == NULL;
}

void ab_read_workload(struct ab_reader *r, const struct ab_raw_top *raw,
                      const struct ab_workload_options *options)
{
    const struct ab_node *root = ab_tree_root(r->tree);
    const struct ab_node *list;
    r->has_nameless_param = is_maybe_misspelt(r, root, "params");
    r->has_nameless_size = is_maybe_misspelt(r, root, "sizes");
    r->has_nameless_set = is_maybe_misspelt(r, root, "sets");
    if (!read_version(r, raw, root) && raw->allocbench != NULL)
        return; /* another version has another language: nothing below can be judged */
    read_head(r, raw, root, options);
    if ((list = ab_tree_get(r->tree, root, "params")) != NULL)
        read_params(r, list, raw->params, raw->params_count, options);
    check_sets(r, options);
    list_params(r->w);
    if ((list = ab_tree_get(r->tree, root, "sizes")) != NULL)
        read_sizes(r, list, raw->sizes, raw->sizes_count);
    if ((list = ab_tree_get(r->tree, root, "sets")) != NULL)
        read_sets(r, list, raw->sets, raw->sets_count);
    if ((list = ab_tree_get(r->tree, root, "backends")) != NULL)
        read_backends(r, list, raw->backends, raw->backends_count);
    if ((list = ab_tree_get(r->tree, root, "gates")) != NULL)
        ab_read_gates(r, list);
    if ((list = ab_tree_get(r->tree, root, "claims")) != NULL)
        ab_read_claims(r, list, raw->claims, raw->claims_count);
    if ((list = ab_tree_get(r->tree, root, "phases")) != NULL)
        ab_read_phases(r, list, raw->phases, raw->phases_count);
    else
        ab_field_missing(r, root, "phases", "the workload");
    place_sets(r);
}

/* Sets: their kind, and the keys that only some kinds have. How many instances a set has follows
 * from the phases that use it, so slots are given out after them. */

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

static void read_sets(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_set *raw,
                      unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    r->w->sets = ab_read_new_records(r, list, n, sizeof r->w->sets[0]);
    for (unsigned i = 0; i < n && r->w->sets != NULL; i++, node = ab_tree_next(r->tree, node))
        read_set(r, node, &raw[i]);
}

/* After all phases, which say how many lanes use a set: gives the sets their slots. */
static void place_sets(struct ab_reader *r)
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
