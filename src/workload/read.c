/* SPDX-License-Identifier: MIT
 *
 * The blocks of a workload, top to bottom, because names must be known before they are used.
 * Records and tree nodes are walked side by side: the values from libcyaml, the places from the
 * pre-scan.
 */
#include "workload/read.h"

#include "core/bits.h"
#include "workload/dist_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_COUNT ((UINT64_C(1) << 63) - 1)

/* ---- what all lists of named things need ---- */

/* An array of n records, or NULL after an error; `list` is where to complain. */
static void *new_records(const struct ab_reader *r, const struct ab_node *list, unsigned n,
                         size_t bytes)
{
    if (n > AB_MAX_ENTRIES) {
        ab_diag_add(r->diag, list->key_at, "more than %d entries in '%s'", AB_MAX_ENTRIES,
                    list->key);
        return NULL;
    }
    void *records = calloc(n + 1u, bytes);
    if (records == NULL)
        ab_diag_add(r->diag, list->key_at, "out of memory");
    return records;
}

/* The name of an entry: there, well formed, and not in use among its n predecessors. The name is
 * the first member of each record. */
static bool read_name(const struct ab_reader *r, const struct ab_node *node, const char *text,
                      const char *what, const void *records, size_t n, size_t stride,
                      char out[AB_NAME_MAX + 1])
{
    struct ab_field f = ab_field_of(r, node, "name", text);
    if (f.text == NULL)
        return ab_field_missing(r, node, "name", what);
    if (!ab_field_name(r, &f, out))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp((const char *)records + i * stride, out) == 0)
            return ab_field_fail(r, &f, 0, strlen(out), "the name '%s' is there twice in '%s'", out,
                                 what[0] == 'a' && what[1] == ' ' ? what + 2 : what);
    return true;
}

/* ---- params ---- */

/* The text behind `name=` in --set, or NULL. The last one counts. */
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
    struct ab_field f = ab_field_of(r, node, "name", name);
    if (name[n] != 0)
        return ab_field_fail(r, &f, n, 1, "the name of a param has no '%c': $a-b is a subtraction",
                             name[n]);
    if (name[0] >= '0' && name[0] <= '9')
        return ab_field_fail(r, &f, 0, strlen(name), "the name of a param begins with a letter");
    return true;
}

static bool read_param_value(struct ab_reader *r, const struct ab_node *node, const char *raw,
                             const char *set, struct ab_param_value *p)
{
    struct ab_field f = ab_field_of(r, node, "value", raw);
    struct ab_value_error error;
    char shown[200];
    p->value = (struct ab_value){.whole = 1, .number = 1}; /* after an error: no errors from it */
    if (f.text == NULL)
        return ab_field_missing(r, node, "value", "a param");
    p->text = strdup(set != NULL ? set : f.text);
    if (p->text == NULL)
        return ab_field_fail(r, &f, 0, 1, "out of memory");
    bool ok = ab_value_parse(p->text, &r->w->params, AB_UNIT_COUNT, &p->value, &error);
    if (ok && p->value.kind != AB_VALUE_CALL)
        return true;
    if (ok) {
        error = (struct ab_value_error){.offset = p->value.offset, .n = p->value.n,
                                        .text = "the value of a param is a number or a word"};
        ab_value_fini(&p->value);
        p->value = (struct ab_value){.whole = 1, .number = 1};
    }
    if (set == NULL)
        return ab_field_fail(r, &f, error.offset, error.n, "'value': %s", error.text);
    ab_diag_quote(shown, sizeof shown, set, strlen(set));
    ab_diag_add(r->diag, (struct ab_place){0}, "--set %s=%s: %s", p->name, shown, error.text);
    return false;
}

static void read_params(struct ab_reader *r, const struct ab_node *list,
                        const struct ab_raw_param *raw, unsigned n,
                        const struct ab_workload_options *options)
{
    struct ab_params *params = &r->w->params;
    const struct ab_node *node = ab_tree_first(r->tree, list);
    params->items = new_records(r, list, n, sizeof params->items[0]);
    for (unsigned i = 0; i < n && params->items != NULL; i++, node = ab_tree_next(r->tree, node)) {
        struct ab_param_value *p = &params->items[params->n];
        if (read_name(r, node, raw[i].name, "params", params->items, params->n, sizeof *p,
                      p->name) &&
            check_param_name(r, node, p->name)) {
            read_param_value(r, node, raw[i].value, find_set(options, p->name), p);
            params->n++; /* even when its value is wrong: the name is known */
        } else {
            r->has_nameless_param = true;
        }
    }
}

/* Every --set must name a param. */
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
            ab_diag_add(r->diag, (struct ab_place){0}, "--set: unknown param '%s'; %s'%s'%s", word,
                        near != NULL ? "did you mean " : "the first of its params is ",
                        near != NULL ? near : names[0], near != NULL ? "?" : "");
    }
}

static void list_params(struct ab_workload *w)
{
    w->param_texts = calloc(w->params.n + 1, sizeof w->param_texts[0]);
    for (size_t i = 0; w->param_texts != NULL && i < w->params.n; i++) {
        const struct ab_param_value *p = &w->params.items[i];
        struct ab_text t = {0};
        if (p->value.kind == AB_VALUE_WHOLE)
            ab_text_addf(&t, "%s=%llu", p->name, (unsigned long long)p->value.whole);
        else
            ab_text_addf(&t, "%s=%s", p->name, p->text != NULL ? p->text : "");
        w->param_texts[i] = t.s;
    }
}

/* ---- sizes, sets, back ends ---- */

static void read_size(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_size *raw)
{
    struct ab_workload *w = r->w;
    struct ab_size_def *size = &w->sizes[w->n_sizes];
    struct ab_field dist = ab_field_of(r, node, "dist", raw->dist);
    const struct ab_node *mix = ab_tree_get(r->tree, node, "mix");
    size->dist = SIZE_MAX;
    bool ok = read_name(r, node, raw->name, "sizes", w->sizes, w->n_sizes, sizeof *size,
                        size->name);
    if (ok && size->name[0] >= '0' && size->name[0] <= '9') {
        struct ab_field name = ab_field_of(r, node, "name", raw->name);
        ok = ab_field_fail(r, &name, 0, strlen(size->name), "the name of a size begins with a "
                           "letter; '%s' would be read as a number", size->name);
    }
    if (dist.text != NULL && mix != NULL)
        ok = ab_field_fail(r, &dist, 0, strlen(dist.text), "a size has 'dist' or 'mix', not both");
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
    r->w->sizes = new_records(r, list, n, sizeof r->w->sizes[0]);
    for (unsigned i = 0; i < n && r->w->sizes != NULL; i++, node = ab_tree_next(r->tree, node))
        read_size(r, node, &raw[i]);
}

static const char *const set_kinds[] = {"slots", NULL};
static const char *const later_set_kinds[] = {"list", "window", "queue", "region", NULL};

static void read_set(struct ab_reader *r, const struct ab_node *node,
                     const struct ab_raw_set *raw, uint64_t *base)
{
    struct ab_workload *w = r->w;
    struct ab_set_def *set = &w->sets[w->n_sets];
    struct ab_field kind = ab_field_of(r, node, "kind", raw->kind);
    struct ab_field count = ab_field_of(r, node, "count", raw->count);
    struct ab_value v;
    uint64_t n = 0;
    bool ok = read_name(r, node, raw->name, "sets", w->sets, w->n_sets, sizeof *set, set->name);
    if (kind.text != NULL && ab_field_value(r, &kind, AB_UNIT_COUNT, &v)) {
        if (!ab_value_is_word(&v, "slots"))
            ab_field_not_in(r, &kind, &v, set_kinds, later_set_kinds);
        ab_value_fini(&v);
    }
    w->n_sets += ok; /* known by name, even when the rest is wrong */
    r->has_nameless_set = r->has_nameless_set || !ok;
    if (count.text == NULL) {
        ab_field_missing(r, node, "count", "a set");
        return;
    }
    struct ab_range range = {AB_UNIT_COUNT, 1, AB_MAX_POSITIONS};
    if (!ab_field_number(r, &count, range, &n))
        return;
    if (*base + n > AB_MAX_POSITIONS) {
        ab_field_fail(r, &count, 0, strlen(count.text),
                      "all sets together have %llu positions; at most %llu are possible",
                      (unsigned long long)(*base + n), (unsigned long long)AB_MAX_POSITIONS);
        return;
    }
    set->count = (uint32_t)n;
    set->base = (uint32_t)*base;
    *base += n;
}

static void read_sets(struct ab_reader *r, const struct ab_node *list,
                      const struct ab_raw_set *raw, unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    uint64_t base = 0;
    r->w->sets = new_records(r, list, n, sizeof r->w->sets[0]);
    for (unsigned i = 0; i < n && r->w->sets != NULL; i++, node = ab_tree_next(r->tree, node))
        read_set(r, node, &raw[i], &base);
}

static void read_backends(struct ab_reader *r, const struct ab_node *list,
                          const struct ab_raw_backend *raw, unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    struct ab_workload *w = r->w;
    w->backends = new_records(r, list, n, sizeof w->backends[0]);
    for (unsigned i = 0; i < n && w->backends != NULL; i++, node = ab_tree_next(r->tree, node)) {
        struct ab_field f = ab_field_of(r, node, "name", raw[i].name);
        if (f.text == NULL)
            ab_field_missing(r, node, "name", "a back end");
        else if (f.text[0] == 0 || strlen(f.text) > 1000)
            ab_field_fail(r, &f, 0, strlen(f.text), "a back end has a name, as in '-b'");
        else if ((w->backends[w->n_backends] = strdup(f.text)) != NULL)
            w->n_backends++;
    }
}

/* ---- phases ---- */

static const char *const untils[] = {"iters(n)", "ops(n)", "allocated(bytes)", "live(bytes)",
                                     NULL};
static const char *const later_untils[] = {"seconds(t)", NULL};

static bool read_until_value(struct ab_reader *r, const struct ab_field *f,
                             const struct ab_value *v, struct ab_phase_def *phase)
{
    struct ab_range range = {AB_UNIT_COUNT, 1, LIMIT_COUNT};
    char name[16];
    ab_diag_quote(name, sizeof name, v->text, v->n_text);
    if (v->kind != AB_VALUE_CALL)
        return ab_field_not_in(r, f, v, untils, later_untils);
    if (strcmp(name, "iters") == 0)
        phase->until = AB_UNTIL_ITERS;
    else if (strcmp(name, "ops") == 0)
        phase->until = AB_UNTIL_OPS;
    else if (strcmp(name, "allocated") == 0)
        phase->until = AB_UNTIL_ALLOCATED;
    else if (strcmp(name, "live") == 0)
        phase->until = AB_UNTIL_LIVE;
    else
        return ab_field_not_in(r, f, v, untils, later_untils);
    if (phase->until >= AB_UNTIL_ALLOCATED)
        range.unit = AB_UNIT_BYTES;
    return ab_field_argument(r, f, v, range, &phase->limit);
}

static void read_until(struct ab_reader *r, const struct ab_field *f, struct ab_phase_def *phase)
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

static void read_phase(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_phase *raw)
{
    struct ab_workload *w = r->w;
    struct ab_phase_def *phase = &w->phases[w->n_phases];
    struct ab_field until = ab_field_of(r, node, "until", raw->until);
    struct ab_field repeat = ab_field_of(r, node, "repeat", raw->repeat);
    struct ab_field measure = ab_field_of(r, node, "measure", raw->measure);
    const struct ab_node *body = ab_tree_get(r->tree, node, "do");
    *phase = (struct ab_phase_def){.place = node->at, .is_measured = true, .repeat = 1};
    read_name(r, node, raw->name, "phases", w->phases, w->n_phases, sizeof *phase, phase->name);
    w->n_phases++;
    read_until(r, &until, phase);
    ab_field_number(r, &repeat, (struct ab_range){AB_UNIT_COUNT, 1, LIMIT_COUNT}, &phase->repeat);
    ab_field_bool(r, &measure, &phase->is_measured);
    if (body == NULL)
        ab_field_missing(r, node, "do", "a phase");
    else if (raw->body_count == 0)
        ab_diag_add(r->diag, body->at, "'do' is empty; a phase needs at least one verb");
    else
        ab_read_body(r, body, raw->body, raw->body_count, &phase->body, &phase->n_body);
}

static void read_phases(struct ab_reader *r, const struct ab_node *list,
                        const struct ab_raw_phase *raw, unsigned n)
{
    const struct ab_node *node = ab_tree_first(r->tree, list);
    bool is_measured = false;
    r->w->phases = new_records(r, list, n, sizeof r->w->phases[0]);
    for (unsigned i = 0; i < n && r->w->phases != NULL; i++, node = ab_tree_next(r->tree, node))
        read_phase(r, node, &raw[i]);
    for (size_t i = 0; i < r->w->n_phases; i++)
        is_measured = is_measured || r->w->phases[i].is_measured;
    if (n == 0)
        ab_diag_add(r->diag, list->at, "'phases' is empty; a workload needs at least one phase");
    else if (r->w->n_phases > 0 && !is_measured)
        ab_diag_add(r->diag, list->key_at, "no phase is measured; at least one must not have "
                                           "'measure: false'");
}

/* ---- the top ---- */

static bool read_version(struct ab_reader *r, const struct ab_raw_top *raw,
                         const struct ab_node *root)
{
    const struct ab_node *first = ab_tree_first(r->tree, root);
    struct ab_field f = ab_field_of(r, root, "allocbench", raw->allocbench);
    char shown[200];
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
    ab_diag_quote(shown, sizeof shown, f.text, strlen(f.text));
    return ab_field_fail(r, &f, 0, strlen(f.text),
                         "language version '%s' is not known; this allocbench reads version 1",
                         shown);
}

static void read_about(struct ab_reader *r, const struct ab_field *f)
{
    struct ab_workload *w = r->w;
    if (f->text != NULL && strlen(f->text) > 1000)
        ab_field_fail(r, f, 0, 1, "'about' has at most 1000 bytes, found %zu", strlen(f->text));
    w->about = strdup(f->text != NULL ? f->text : "");
    for (char *s = w->about; s != NULL && *s != 0; s++) {
        if ((unsigned char)*s < 0x20 && *s != '\n' && *s != '\t') {
            ab_field_fail(r, f, 0, 1, "'about' must be plain text without control characters");
            break;
        }
        if (*s == '\n' || *s == '\t')
            *s = s[1] == 0 ? 0 : ' ';
    }
}

static void read_head(struct ab_reader *r, const struct ab_raw_top *raw,
                      const struct ab_node *root, const struct ab_workload_options *options)
{
    struct ab_field name = ab_field_of(r, root, "name", raw->name);
    struct ab_field about = ab_field_of(r, root, "about", raw->about);
    struct ab_field seed = ab_field_of(r, root, "seed", raw->seed);
    if (name.text == NULL)
        ab_field_missing(r, root, "name", "the workload");
    ab_field_name(r, &name, r->w->name);
    read_about(r, &about);
    r->w->seed = 1;
    ab_field_number(r, &seed, (struct ab_range){AB_UNIT_COUNT, 0, LIMIT_COUNT}, &r->w->seed);
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
    if ((list = ab_tree_get(r->tree, root, "phases")) != NULL)
        read_phases(r, list, raw->phases, raw->phases_count);
    else
        ab_field_missing(r, root, "phases", "the workload");
}
