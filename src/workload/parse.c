/* SPDX-License-Identifier: MIT
 *
 * Reads the blocks of a workload from top to bottom, because names must be known before they are
 * used. Records of libcyaml and nodes of the tree are read side by side: libcyaml has the texts of
 * the values, and the tree has their places in the file.
 */
#include "workload/parse.h"

#include "base/bits.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "tape/tape.h"

#include <stdlib.h>

/* ---- entries of a list ---- */

/* Returns an array of n records. After an error, which is reported at `list`, returns NULL. */
static void *new_records(const struct ab_reader *r, const struct ab_node *list, unsigned n,
                         size_t bytes)
{
    if (n > AB_MAX_ENTRIES) {
        ab_diag_add(r->diag, list->key_at, "more than %d entries in '%s'", AB_MAX_ENTRIES,
                    list->key);
        return NULL;
    }
    return ab_alloc_zeroed(n + 1u, bytes);
}

/* Entries of a list that have been read so far, to find names that occur twice. Each record begins
 * with its name. */
struct entries {
    const char *what; /* name of the list */
    const void *records;
    size_t n, stride;
};

/* Reads the name of an entry, which must be present, well-formed and unique. */
static bool read_entry_name(const struct ab_reader *r, const struct ab_node *node, const char *text,
                            const struct entries *before, char out[AB_NAME_MAX + 1])
{
    struct ab_yaml_field f = ab_field_of(r, node, "name", text);
    const char *what = before->what;
    if (f.text == NULL)
        return ab_field_missing(r, node, "name", what);
    if (!ab_field_name(r, &f, out))
        return false;
    for (size_t i = 0; i < before->n; i++)
        if (strcmp((const char *)before->records + i * before->stride, out) == 0)
            return AB_REFUSE_FIELD(r, &f, "the name '%s' occurs twice in '%s'", out,
                                   what[0] == 'a' && what[1] == ' ' ? what + 2 : what);
    return true;
}

/* Reads each entry of a list at the top level into a record, if there is such a list. */
#define READ_LIST(r, raw, key, records, read_one) \
    do { \
        const struct ab_node *list_ = ab_tree_get((r)->tree, ab_tree_root((r)->tree), #key); \
        const struct ab_node *node_ = ab_tree_first((r)->tree, list_); \
        if (list_ != NULL) \
            (records) = new_records(r, list_, (raw)->key##_count, sizeof(records)[0]); \
        for (unsigned i_ = 0; node_ != NULL && (records) != NULL; i_++) { \
            read_one(r, node_, &(raw)->key[i_]); \
            node_ = ab_tree_next((r)->tree, node_); \
        } \
    } while (0)

/* ---- params ---- */

/* Returns the text after `name=` in the options --set, or NULL if there is none. If several set the
 * same name, the last one counts. */
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

/* One value of a parameter: from --set (then `set` is the whole text after `name=`), or a scalar of
 * the file. */
struct given {
    const char *set;
    struct ab_yaml_field field;
    size_t begin, n; /* bytes of the text that are this value; a list in --set has several */
};

static bool refuse_given(const struct ab_reader *r, const char *name, const struct given *g,
                         const struct ab_value_error *error)
{
    if (g->set == NULL)
        return AB_REFUSE_VALUE(r, &g->field, error, "'value': %s", error->text);
    ab_diag_add(r->diag, (struct ab_place){0}, "--set %s=%s: %s", name,
                AB_QUOTED(g->set, strlen(g->set)), error->text);
    return false;
}

/* Reads a value of the workload or of --set. *text becomes a copy of its text, which the caller
 * frees. Words in *value point into this copy, so it must live as long as *value. Reports an
 * invalid text and then sets *value to 1, so that later checks report nothing more. */
static bool read_given(struct ab_reader *r, const char *name, const struct given *g, char **text,
                       struct ab_value *value)
{
    struct ab_value_error error;
    *text = ab_strndup((g->set != NULL ? g->set : g->field.text) + g->begin, g->n);
    *value = (struct ab_value){.whole = 1, .number = 1};
    if (!ab_value_parse(*text, &r->w->params, AB_UNIT_COUNT, value, &error))
        return refuse_given(r, name, g, &error);
    if (value->kind != AB_VALUE_CALL)
        return true;
    error = (struct ab_value_error){.offset = value->offset,
                                    .n = value->n,
                                    .text = "the value of a param must be a number or a word"};
    ab_value_fini(value);
    *value = (struct ab_value){.whole = 1, .number = 1};
    return refuse_given(r, name, g, &error);
}

/* Appends a value in the spelling that names of rows and JSON use: "1000", "0.25" or a word. Sizes
 * are in bytes, times in ns. */
static void add_value(struct ab_text *t, const struct ab_value *v)
{
    char real[64];
    if (v->kind == AB_VALUE_WHOLE || v->kind == AB_VALUE_TIME)
        ab_text_addf(t, "%llu", (unsigned long long)v->whole);
    else if (v->kind == AB_VALUE_FRACTION)
        ab_text_add(t, ab_print_real(real, sizeof real, v->number));
    else
        ab_text_addf(t, "%.*s", (int)v->n_text, v->text);
}

/* Checks one value of a list. It becomes part of a row's name, so it must be a number or a word,
 * and differ from the values in `before`. */
static void check_listed(struct ab_reader *r, const char *name, const struct given *g,
                         const struct ab_value *v, struct ab_text *before)
{
    struct ab_text text = {0};
    struct ab_value_error error = {.n = g->n};
    ab_text_add(&text, " ");
    add_value(&text, v);
    ab_text_add(&text, " ");
    if (v->kind == AB_VALUE_TEXT)
        AB_FIT(error.text, "in a list each value must be a number or a word");
    else if (before->s != NULL && strstr(before->s, text.s) != NULL)
        AB_FIT(error.text, "the value%.*s occurs twice in the list", (int)text.n - 1, text.s);
    if (error.text[0] != 0)
        refuse_given(r, name, g, &error);
    ab_text_add(before, text.s);
    ab_text_fini(&text);
}

/* Returns the length of the list entry that begins at set[at]. Commas in quotes or parentheses do
 * not end an entry. */
static size_t part_of_set(const char *set, size_t at)
{
    int depth = 0;
    char quote = 0;
    size_t i = at;
    for (; set[i] != 0 && (set[i] != ',' || depth > 0 || quote != 0); i++) {
        if (quote != 0 ? set[i] == quote : set[i] == '"' || set[i] == '\'')
            quote = quote != 0 ? 0 : set[i];
        depth += quote == 0 && set[i] == '(' ? 1 : quote == 0 && set[i] == ')' ? -1 : 0;
    }
    return i - at;
}

/* Returns the values of a parameter, from --set or from a list of the file, and sets *n to their
 * number. */
static struct given *list_given(const struct ab_reader *r, const struct ab_node *value,
                                const char *set, size_t *n)
{
    struct given *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t at = 0; set != NULL && (at == 0 || set[at - 1] != 0); at += list[*n - 1].n + 1) {
        AB_GROW(list, cap, *n);
        list[*n] = (struct given){.set = set, .begin = at, .n = part_of_set(set, at)};
        ++*n;
    }
    bool is_list = value->kind == AB_NODE_LIST;
    const struct ab_node *item = is_list ? ab_tree_first(r->tree, value) : value;
    for (; set == NULL && item != NULL; item = is_list ? ab_tree_next(r->tree, item) : NULL) {
        AB_GROW(list, cap, *n);
        list[*n] = (struct given){.field = {item, item->text}, .n = strlen(item->text)};
        ++*n;
    }
    return list;
}

static void add_to_list(struct ab_param_value *p, const char *text)
{
    char *longer = p->list != NULL ? ab_strdupf("%s,%s", p->list, text) : ab_strdup(text);
    free(p->list);
    p->list = longer;
}

static void read_param_values(struct ab_reader *r, const struct ab_node *node,
                              struct ab_param_value *p)
{
    const struct ab_node *value = ab_tree_get(r->tree, node, "value");
    struct ab_text before = {0};
    p->value = (struct ab_value){.whole = 1, .number = 1};
    p->n_values = 1;
    if (value == NULL) {
        ab_field_missing(r, node, "value", "a param");
        return;
    }
    size_t n, chosen = r->chosen != NULL ? r->chosen[p - r->w->params.items] : 0;
    struct given *list = list_given(r, value, find_set(r->options, p->name), &n);
    if (n == 0)
        ab_diag_add(r->diag, value->at, "'value': the list is empty");
    for (size_t i = 0; i < n; i++) {
        struct ab_value read;
        char *text;
        bool is_ok = read_given(r, p->name, &list[i], &text, &read);
        if (is_ok && n > 1)
            check_listed(r, p->name, &list[i], &read, &before);
        if (n > 1)
            add_to_list(p, text);
        if (i == chosen) {
            p->text = text;
            p->value = read;
        } else {
            free(text);
        }
    }
    p->n_values = n > 0 ? n : 1;
    ab_text_fini(&before);
    free(list);
}

static void read_param(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_param *raw)
{
    struct ab_params *params = &r->w->params;
    struct ab_param_value *p = &params->items[params->n];
    struct entries before = {"params", params->items, params->n, sizeof *p};
    if (!read_entry_name(r, node, raw->name, &before, p->name) ||
        !check_param_name(r, node, p->name)) {
        r->has_nameless_param = true;
        return;
    }
    read_param_values(r, node, p);
    params->n++; /* also if its value is wrong, because the name is known */
}

/* Reports an option --set whose name is not a parameter. `near` is the most similar parameter; NULL
 * = none. */
static void report_unknown(struct ab_reader *r, const char *word, const char *near,
                           const char *const *names, size_t n)
{
    struct ab_text list = {0};
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&list, "%s%s", i == 0 ? "" : ", ", names[i]);
    ab_diag_add(r->diag, (struct ab_place){0}, "--set: unknown param '%s'; %s%s%sits params are %s",
                word, near != NULL ? "did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'? " : "", list.s);
    ab_text_fini(&list);
}

static void check_sets(struct ab_reader *r)
{
    const struct ab_workload_options *options = r->options;
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
    w->settings = ab_alloc_zeroed(w->params.n + 1, sizeof w->settings[0]);
    for (size_t i = 0; i < w->params.n; i++) {
        const struct ab_param_value *p = &w->params.items[i];
        struct ab_text t = {0};
        if (p->value.kind == AB_VALUE_WHOLE)
            ab_text_addf(&t, "%s=%llu", p->name, (unsigned long long)p->value.whole);
        else
            ab_text_addf(&t, "%s=%s", p->name, p->text != NULL ? p->text : "");
        w->param_texts[i] = t.s;
        w->settings[i] = p->list != NULL ? ab_strdupf("%s=%s", p->name, p->list) : ab_strdup(t.s);
    }
}

/* Counts the combinations of the lists of values, and sets w->values to the values of the current
 * combination. */
static void combine(struct ab_reader *r, const struct ab_node *params)
{
    struct ab_workload *w = r->w;
    struct ab_text values = {0};
    w->n_combinations = 1;
    for (size_t i = 0; i < w->params.n; i++) {
        const struct ab_param_value *p = &w->params.items[i];
        if (__builtin_mul_overflow(w->n_combinations, p->n_values, &w->n_combinations))
            w->n_combinations = SIZE_MAX;
        if (p->n_values == 1)
            continue;
        ab_text_addf(&values, "%s%s=", values.s != NULL ? " " : "", p->name);
        add_value(&values, &p->value);
    }
    w->values = values.s;
    if (w->n_combinations > AB_COMBINATIONS_MAX)
        ab_diag_add(r->diag, params->key_at,
                    "the lists of values make %s%zu combinations, at most %d rows (combinations x "
                    "back ends) can be measured",
                    w->n_combinations == SIZE_MAX ? "more than " : "",
                    w->n_combinations == SIZE_MAX ? SIZE_MAX - 1 : w->n_combinations,
                    AB_COMBINATIONS_MAX);
    else if (values.n >= AB_VALUES_BYTES)
        ab_diag_add(r->diag, params->key_at,
                    "the names and values of a combination have %zu characters, at most %d are "
                    "possible",
                    values.n, AB_VALUES_BYTES - 1);
}

/* ---- sizes and back ends ---- */

static void read_size(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_size *raw)
{
    struct ab_workload *w = r->w;
    struct ab_size_def *size = &w->sizes[w->n_sizes];
    struct ab_yaml_field dist = AB_FIELD(r, node, raw, dist);
    const struct ab_node *mix = ab_tree_get(r->tree, node, "mix");
    size->dist = SIZE_MAX;
    struct entries before = {"sizes", w->sizes, w->n_sizes, sizeof *size};
    bool ok = read_entry_name(r, node, raw->name, &before, size->name);
    if (ok && size->name[0] >= '0' && size->name[0] <= '9') {
        struct ab_yaml_field name = AB_FIELD(r, node, raw, name);
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

/* Checks that each text is usable as a setting in the notation of -b: not empty, and without the
 * characters in `not_these`, which would end it. */
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

/* Writes a back end in the notation of -b: NAME:PARAM=VALUE…{VARIABLE=VALUE;…}. */
static bool spell_backend(const struct ab_reader *r, const struct ab_node *node,
                          const struct ab_raw_backend *raw, struct ab_text *out)
{
    struct ab_yaml_field name = AB_FIELD(r, node, raw, name);
    size_t odd = 0;
    for (; raw->name[odd] != 0 && strchr(",{}", raw->name[odd]) == NULL; odd++)
        /* skips an escaped character, as -b does */
        odd += raw->name[odd] == '\\' && raw->name[odd + 1] != 0;
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
    struct ab_yaml_field f = AB_FIELD(r, node, raw, name);
    struct ab_text spelled = {0};
    if (f.text == NULL) {
        ab_field_missing(r, node, "name", "a back end");
    } else if (f.text[0] == 0 || strlen(f.text) > 1000) {
        AB_REFUSE_FIELD(r, &f, "a back end needs a name, as for '-b'");
    } else if (spell_backend(r, node, raw, &spelled)) {
        w->backends[w->n_backends++] = spelled.s;
        return;
    }
    ab_text_fini(&spelled);
}

/* ---- sets ----
 *
 * Slots are assigned after the phases are read, because the phases determine how many instances of
 * a set there are. */

static bool check_window(const struct ab_reader *r, const struct ab_node *node,
                         const struct ab_yaml_field *survive, struct ab_set_def *set)
{
    if (survive->text == NULL)
        return ab_field_missing(r, node, "survive", "a set of kind window");
    set->n_survivors = (uint32_t)(set->survive * set->count + 0.5);
    return set->n_survivors < set->count ||
           AB_REFUSE_FIELD(r, survive, "all %u blocks of a full window survive: none has room",
                           set->count);
}

static bool read_model_table(const struct ab_reader *r, const struct ab_yaml_field *f,
                             struct ab_model *t, bool is_sequence)
{
    char *text = NULL;
    unsigned line = 0;
    const char *wrong = ab_table_read(r->w, f->text, AB_MODEL_BYTES, &text);
    if (wrong == NULL)
        wrong = ab_model_read(t, is_sequence, text, &line);
    free(text);
    if (wrong == NULL)
        return true;
    if (line == 0)
        return AB_REFUSE_FIELD(r, f, "%s: %s", AB_QUOTED(f->text, strlen(f->text)), wrong);
    return AB_REFUSE_FIELD(r, f, "%s, line %u: %s", AB_QUOTED(f->text, strlen(f->text)), line,
                           wrong);
}

/* Reads `blocks`, `sequence` and `part`. A set of kind model needs all of them; other kinds must
 * not have them. */
static bool read_model(const struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_set *raw, struct ab_set_def *set)
{
    const struct ab_yaml_field fields[] = {
        AB_FIELD(r, node, raw, blocks),
        AB_FIELD(r, node, raw, sequence),
        AB_FIELD(r, node, raw, part)
    };
    static const char *const keys[] = {"blocks", "sequence", "part"};
    bool is_model = set->kind == AB_SET_MODEL;
    for (size_t i = 0; i < 3; i++) {
        if (fields[i].text != NULL && !is_model)
            return AB_REFUSE_FIELD(r, &fields[i], "'%s' is for sets of kind model", keys[i]);
        if (fields[i].text == NULL && is_model)
            return ab_field_missing(r, node, keys[i], "a model");
    }
    if (!is_model)
        return true;
    return read_model_table(r, &fields[0], &set->model, false) &&
           read_model_table(r, &fields[1], &set->model, true);
}

/* Checks the keys that only some kinds of sets have. Sets set->place to the place of `count`, if
 * there is one. */
static bool check_kind(const struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_set *raw, struct ab_set_def *set)
{
    /* the first three belong to queues, the others to windows */
    const struct ab_yaml_field own[] = {
        AB_FIELD(r, node, raw, unit),
        AB_FIELD(r, node, raw, order),
        AB_FIELD(r, node, raw, on_full),
        AB_FIELD(r, node, raw, survive),
        AB_FIELD(r, node, raw, below),
        AB_FIELD(r, node, raw, above)
    };
    struct ab_yaml_field count = AB_FIELD(r, node, raw, count);
    bool is_queue = set->kind == AB_SET_QUEUE, has_positions = ab_set_has_positions(set);
    if (count.text != NULL)
        set->place = ab_node_place(count.node, 0, strlen(count.text));
    if (count.text == NULL && has_positions)
        return ab_field_missing(r, node, "count", "a set");
    if (count.text != NULL && !has_positions && !is_queue)
        return AB_REFUSE_FIELD(r, &count, "a %s grows with what is allocated; it has no 'count'",
                               set->kind == AB_SET_LIST    ? "list"
                               : set->kind == AB_SET_MODEL ? "model"
                                                           : "region");
    if (!read_model(r, node, raw, set))
        return false;
    for (size_t i = 0; i < AB_ARRAY_LEN(own); i++)
        if (own[i].text != NULL && set->kind != (i < 3 ? AB_SET_QUEUE : AB_SET_WINDOW))
            return AB_REFUSE_FIELD(r, &own[i], "'%s' is for sets of kind %s", own[i].node->key,
                                   i < 3 ? "queue" : "window");
    if (set->kind == AB_SET_WINDOW)
        return check_window(r, node, &own[3], set);
    return own[2].text == NULL || count.text != NULL ||
           AB_REFUSE_FIELD(r, &own[2],
                           "a queue without 'count' is never full: 'on_full' does not apply");
}

/* Reads `fixed`, a single size that is stored as a distribution. */
static bool read_fixed(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_set *raw, struct ab_set_def *set)
{
    struct ab_yaml_field f = AB_FIELD(r, node, raw, fixed);
    set->fixed = SIZE_MAX;
    return ab_dist_read(r, &f, &set->fixed) &&
           (set->fixed == SIZE_MAX || r->w->dists.items[set->fixed].kind == AB_DIST_FIXED ||
            AB_REFUSE_FIELD(r, &f, "'fixed' must be one size, found '%s'",
                            AB_QUOTED(f.text, strlen(f.text))));
}

/* Reads `via`. Whether this back end exists is checked later, when it is opened. */
static bool read_via(const struct ab_reader *r, const struct ab_node *node,
                     const struct ab_raw_set *raw, struct ab_set_def *set)
{
    struct ab_yaml_field f = AB_FIELD(r, node, raw, via);
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
    struct entries before = {"sets", w->sets, w->n_sets, sizeof *set};
    set->place = node->at;
    bool has_name = read_entry_name(r, node, raw->name, &before, set->name);
    w->n_sets += has_name; /* the set is known by its name, even if the rest is wrong */
    r->has_nameless_set = r->has_nameless_set || !has_name;
    bool ok = ab_read_keys(r, AB_BLOCK_set, node, raw, set);
    if (ok) /* if a key is wrong, the kind may be wrong, and its other keys cannot be checked */
        ok = check_kind(r, node, raw, set);
    ok = read_fixed(r, node, raw, set) && ok;
    set->is_broken = !read_via(r, node, raw, set) || !ok;
}

/* Assigns slots to the positions of all sets. Runs after all phases are read, because they
 * determine how many lanes use a set. */
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
        if (!ab_set_has_positions(set))
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

/* ---- gates, claims: stored with their places, not parsed ---- */

/* Stores a line of `gates` or `claims` with its place. Returns false after an error. */
static bool keep(const struct ab_reader *r, const struct ab_yaml_field *f, struct ab_remarks *to)
{
    struct ab_remark *kept = &to->items[to->n];
    if (f->text[strspn(f->text, " \t\n")] == 0 || strlen(f->text) > 1000)
        return AB_REFUSE_FIELD(r, f, "a line of 1 to 1000 characters is needed");
    kept->node = *f->node;
    kept->node.key = NULL;
    kept->node.text = ab_strdup(f->text);
    to->n++;
    return true;
}

/* Reads `level:` of a gate: "error" or "warn". Without `level:` the level is error. */
static bool read_level(const struct ab_reader *r, const struct ab_node *level, bool *is_warning)
{
    struct ab_yaml_field f = {level, level != NULL ? level->text : NULL};
    *is_warning = f.text != NULL && strcmp(f.text, "warn") == 0;
    return f.text == NULL || *is_warning || strcmp(f.text, "error") == 0 ||
           ab_field_fail(r, &f, 0, strlen(f.text), "level must be error or warn");
}

static void read_gate(const struct ab_reader *r, const struct ab_node *node,
                      struct ab_remarks *gates)
{
    const struct ab_node *text = node, *level = NULL;
    bool is_warning;
    if (node->kind == AB_NODE_MAP) {
        text = ab_tree_get(r->tree, node, "gate");
        level = ab_tree_get(r->tree, node, "level");
    }
    if (text == NULL) {
        ab_field_missing(r, node, "gate", "a gate");
        return;
    }
    struct ab_yaml_field f = {text, text->text};
    if (f.text != NULL && read_level(r, level, &is_warning) && keep(r, &f, gates))
        gates->items[gates->n - 1].is_warning = is_warning;
}

static void read_gates(const struct ab_reader *r, const struct ab_node *list)
{
    struct ab_remarks *gates = &r->w->gates;
    const struct ab_node *node = ab_tree_first(r->tree, list);
    unsigned n = 0;
    for (const struct ab_node *x = node; x != NULL; x = ab_tree_next(r->tree, x))
        n++;
    if (list == NULL)
        return;
    gates->items = new_records(r, list, n, sizeof gates->items[0]);
    for (; gates->items != NULL && node != NULL; node = ab_tree_next(r->tree, node))
        read_gate(r, node, gates);
}

static void read_claim(const struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_claim *raw)
{
    struct ab_remarks *claims = &r->w->claims;
    struct ab_yaml_field f = AB_FIELD(r, node, raw, claim);
    if (f.text == NULL)
        ab_field_missing(r, node, "claim", "a claim");
    if (f.text == NULL || !keep(r, &f, claims))
        return;
    struct ab_remark *kept = &claims->items[claims->n - 1];
    kept->says = ab_strdup(raw->says != NULL ? raw->says : "");
    kept->source = ab_strdup(raw->source != NULL ? raw->source : "");
}

enum { SECOND_NS = 1000000000 };

/* ---- phases: duration, lanes and roles ----
 *
 * A phase without `roles` has one role of all its lanes. */

static const struct ab_word until_words[] = {{"iters(n)", AB_UNTIL_ITERS},
                                             {"ops(n)", AB_UNTIL_OPS},
                                             {"allocated(bytes)", AB_UNTIL_ALLOCATED},
                                             {"live(bytes)", AB_UNTIL_LIVE},
                                             {"seconds(t)", AB_UNTIL_SECONDS}};

/* Reads the argument of seconds(). `seconds(90)` and `seconds(90s)` mean the same. */
static bool read_seconds(const struct ab_reader *r, const struct ab_yaml_field *f,
                         const struct ab_value *v, struct ab_phase_def *phase)
{
    const struct ab_limits range = {AB_UNIT_COUNT, 1, AB_TIME_MAX_NS / SECOND_NS};
    if (v->n_args == 1 && v->args[0].name == NULL && v->args[0].first.kind == AB_VALUE_TIME)
        return ab_field_duration(r, f, &v->args[0].first, &phase->limit);
    bool ok = ab_field_argument(r, f, v, range, &phase->limit);
    phase->limit *= SECOND_NS;
    return ok;
}

static bool read_until_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                             const struct ab_value *v, struct ab_phase_def *phase)
{
    struct ab_limits range = {AB_UNIT_COUNT, 1, AB_COUNT_MOST};
    unsigned until = 0;
    if (!ab_field_choose(r, f, v, until_words, AB_ARRAY_LEN(until_words), &until))
        return false;
    phase->until = (enum ab_until)until;
    if (phase->until == AB_UNTIL_SECONDS)
        return read_seconds(r, f, v, phase);
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

/* Checks that `renew` of a phase or role is allowed in this phase. */
static void check_renew(struct ab_reader *r, const struct ab_node *node,
                        const struct ab_phase_def *phase)
{
    const struct ab_node *renew = ab_tree_get(r->tree, node, "renew");
    if (renew != NULL && phase->is_run_by_main)
        ab_diag_add(r->diag, renew->key_at,
                    "'renew' is for lanes on threads of their own, not for "
                    "'run_as: main'");
    if (renew != NULL && phase->each[0] != 0)
        ab_diag_add(r->diag, renew->key_at, "'renew' or 'each', not both");
}

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

/* Reads `finally` of a phase or role; it may be absent. Call it after read_do(), which sets the
 * lanes. */
static void read_finally(struct ab_reader *r, const struct ab_node *map,
                         const struct ab_raw_verb *raw, unsigned n, struct ab_role *role)
{
    const struct ab_node *list = ab_tree_get(r->tree, map, "finally");
    if (list != NULL && n == 0)
        ab_diag_add(r->diag, list->at, "'finally' is empty; it needs at least one verb");
    else if (list != NULL)
        ab_read_body(r, list, raw, n, &role->finally, &role->n_finally);
}

static void read_role(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_role *raw, struct ab_phase_def *phase)
{
    struct ab_role *role = &phase->roles[phase->n_roles];
    struct entries before = {"roles", phase->roles, phase->n_roles, sizeof *role};
    const struct ab_node *body = ab_tree_get(r->tree, node, "do");
    read_entry_name(r, node, raw->name, &before, role->name);
    role->first_lane = phase->n_lanes;
    ab_read_keys(r, AB_BLOCK_role, node, raw, role);
    check_renew(r, node, phase);
    phase->renew = phase->renew != 0 ? phase->renew : role->renew;
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
    read_finally(r, node, raw->finally, raw->finally_count, role);
}

/* Reports an error if the phase, which has roles, also has the key `key`. */
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
    phase->n_lanes = 0;
    refuse_beside_roles(r, node, "lanes");
    refuse_beside_roles(r, node, "do");
    refuse_beside_roles(r, node, "finally");
    refuse_beside_roles(r, node, "renew");
    phase->roles = new_records(r, list, raw->roles_count, sizeof phase->roles[0]);
    if (raw->roles_count == 0)
        ab_diag_add(r->diag, list->at, "'roles' is empty; a phase needs at least one role");
    for (unsigned i = 0; i < raw->roles_count && phase->roles != NULL;
         i++, item = ab_tree_next(r->tree, item))
        read_role(r, item, &raw->roles[i], phase);
}

/* Reads the phase's own `do` as its only role. */
static void read_one_role(struct ab_reader *r, const struct ab_node *node,
                          const struct ab_raw_phase *raw, struct ab_phase_def *phase)
{
    const struct ab_node *body = ab_tree_get(r->tree, node, "do");
    if (body == NULL) {
        ab_field_missing(r, node, "do", "a phase");
        return;
    }
    phase->roles = new_records(r, body, 1, sizeof phase->roles[0]);
    if (phase->roles == NULL)
        return;
    phase->n_roles = 1;
    phase->roles[0].n_lanes = phase->n_lanes;
    phase->roles[0].renew = phase->renew;
    read_do(r, body, raw->body, raw->body_count, &phase->roles[0]);
    read_finally(r, node, raw->finally, raw->finally_count, &phase->roles[0]);
}

/* Reads the set whose blocks are freed to stay below a cap. Records that all lanes of the phase use
 * this set. */
static bool read_cap_set(const struct ab_reader *r, const struct ab_yaml_field *f,
                         struct ab_phase_def *phase)
{
    const char *names[AB_MAX_ENTRIES];
    char suggestion[AB_SUGGESTION_BYTES];
    uint32_t n_sets = (uint32_t)r->w->n_sets;
    for (uint32_t i = 0; i < n_sets; i++) {
        struct ab_set_def *set = &r->w->sets[i];
        names[i] = set->name;
        if (strcmp(set->name, f->text) != 0)
            continue;
        phase->cap.set = i;
        ab_set_add_lanes(set, 0, phase->n_lanes);
        return set->is_broken || set->kind == AB_SET_SLOTS || set->kind == AB_SET_LIST ||
               AB_REFUSE_FIELD(r, f, "'cap' needs slots or a list, from which blocks can be freed");
    }
    return r->has_nameless_set ||
           AB_REFUSE_FIELD(r, f, "unknown set '%s'%s", AB_QUOTED(f->text, strlen(f->text)),
                           ab_suggest(suggestion, f->text, names, n_sets,
                                      "; it must be defined in 'sets' above"));
}

static void read_cap(struct ab_reader *r, const struct ab_node *node, struct ab_phase_def *phase)
{
    static const struct ab_word orders[] = {
        {"random", AB_PICK_OCCUPIED}, {"fifo", AB_PICK_FIFO}, {"lifo", AB_PICK_LIFO}};
    const struct ab_node *map = ab_tree_get(r->tree, node, "cap");
    if (map == NULL)
        return;
    struct ab_yaml_field set = field_in(r, map, "set"), live = field_in(r, map, "live");
    struct ab_yaml_field evict = field_in(r, map, "evict");
    struct ab_value value;
    unsigned order = AB_PICK_OCCUPIED;
    if (set.text == NULL)
        ab_field_missing(r, map, "set", "'cap'");
    else
        read_cap_set(r, &set, phase);
    if (live.text == NULL)
        ab_field_missing(r, map, "live", "'cap'");
    else if (ab_field_value(r, &live, AB_UNIT_BYTES, &value)) {
        ab_field_whole(r, &live, "live", &value,
                       (struct ab_limits){AB_UNIT_BYTES, 1, AB_COUNT_MOST}, &phase->cap.limit);
        ab_value_fini(&value);
    }
    if (evict.text != NULL && ab_field_value(r, &evict, AB_UNIT_COUNT, &value)) {
        ab_field_choose(r, &evict, &value, orders, AB_ARRAY_LEN(orders), &order);
        ab_value_fini(&value);
    }
    phase->cap.evict = (enum ab_pick)order;
}

/* Returns the first verb of this kind in a body or in the bodies nested in it; NULL = none. */
static const struct ab_verb *find_verb(const struct ab_verb *body, size_t n, enum ab_verb_kind kind)
{
    const struct ab_verb *found = NULL;
    for (const struct ab_verb *v = body; v < body + n && found == NULL; v++)
        found = v->kind == kind ? v : find_verb(v->body, v->n_body, kind);
    return found;
}

static const struct ab_verb *find_in_phase(const struct ab_phase_def *phase, enum ab_verb_kind kind)
{
    const struct ab_verb *found = NULL;
    for (size_t i = 0; i < phase->n_roles && found == NULL; i++) {
        const struct ab_role *role = &phase->roles[i];
        found = find_verb(role->body, role->n_body, kind);
        if (found == NULL)
            found = find_verb(role->finally, role->n_finally, kind);
    }
    return found;
}

/* Reads `over`, and checks that only one key of the phase determines how long the phase lasts. */
static void read_time(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_phase *raw, struct ab_phase_def *phase)
{
    struct ab_yaml_field over = AB_FIELD(r, node, raw, over);
    struct ab_value value;
    const struct ab_verb *settle = find_in_phase(phase, AB_VERB_SETTLE);
    const struct ab_verb *every = find_in_phase(phase, AB_VERB_EVERY);
    bool is_timed = phase->until == AB_UNTIL_SECONDS;
    if (over.text != NULL && ab_field_value(r, &over, AB_UNIT_COUNT, &value)) {
        ab_field_duration(r, &over, &value, &phase->over_ns);
        ab_value_fini(&value);
    }
    if (over.text != NULL && is_timed)
        ab_diag_add(r->diag, over.node->key_at,
                    "'over' or 'until: seconds(t)', not both: each says how long the phase lasts");
    if (over.text != NULL && settle != NULL)
        ab_diag_add(r->diag, settle->place,
                    "'settle' in a phase with 'over', which says how long the phase lasts; put it "
                    "into a phase of its own");
    if (is_timed && settle == NULL && every == NULL)
        ab_diag_add(
            r->diag, phase->place,
            "'until: seconds(t)' needs 'settle' or 'every' in its phase: nothing else in it "
            "takes time");
    if (every != NULL && settle == NULL && over.text == NULL && !is_timed)
        ab_diag_add(r->diag, every->place,
                    "'every' where no time passes: its phase needs 'settle', 'over' or 'until: "
                    "seconds(t)'");
}

static void read_phase(struct ab_reader *r, const struct ab_node *node,
                       const struct ab_raw_phase *raw)
{
    struct ab_workload *w = r->w;
    struct ab_phase_def *phase = &w->phases[w->n_phases];
    struct ab_yaml_field until = AB_FIELD(r, node, raw, until);
    struct entries before = {"phases", w->phases, w->n_phases, sizeof *phase};
    phase->place = node->at;
    read_entry_name(r, node, raw->name, &before, phase->name);
    w->n_phases++;
    read_until(r, &until, phase);
    ab_read_keys(r, AB_BLOCK_phase, node, raw, phase);
    read_each(r, node, phase);
    check_renew(r, node, phase);
    if (ab_tree_get(r->tree, node, "roles") != NULL)
        read_roles(r, node, raw, phase);
    else
        read_one_role(r, node, raw, phase);
    read_cap(r, node, phase);
    read_time(r, node, raw, phase);
}

static void check_phases(const struct ab_reader *r, const struct ab_node *list)
{
    bool is_measured = false;
    for (size_t i = 0; i < r->w->n_phases; i++)
        is_measured = is_measured || r->w->phases[i].is_measured;
    if (list == NULL)
        ab_field_missing(r, ab_tree_root(r->tree), "phases", "the workload");
    else if (ab_tree_first(r->tree, list) == NULL)
        ab_diag_add(r->diag, list->at, "'phases' is empty; a workload needs at least one phase");
    else if (r->w->n_phases > 0 && !is_measured)
        ab_diag_add(r->diag, list->key_at,
                    "no phase is measured; at least one must not have 'measure: false'");
}

/* ---- top level ---- */

static bool read_version(struct ab_reader *r, const struct ab_raw_top *raw,
                         const struct ab_node *root)
{
    const struct ab_node *first = ab_tree_first(r->tree, root);
    struct ab_yaml_field f = AB_FIELD(r, root, raw, allocbench);
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

static void read_head(struct ab_reader *r, const struct ab_raw_top *raw, const struct ab_node *root)
{
    struct ab_yaml_field name = AB_FIELD(r, root, raw, name);
    struct ab_yaml_field about = AB_FIELD(r, root, raw, about);
    if (name.text == NULL)
        ab_field_missing(r, root, "name", "the workload");
    ab_read_keys(r, AB_BLOCK_top, root, raw, r->w);
    read_about(r, &about);
    if (r->options->has_seed)
        r->w->seed = r->options->seed;
}

/* True if a top-level block is missing and an unknown key was reported, which may be its misspelt
 * name. */
static bool is_maybe_misspelt(const struct ab_reader *r, const struct ab_node *root,
                              const char *block)
{
    return root->has_bad_key && ab_tree_get(r->tree, root, block) == NULL;
}

void ab_read_workload(struct ab_reader *r, const struct ab_raw_top *raw)
{
    struct ab_workload *w = r->w;
    const struct ab_node *root = ab_tree_root(r->tree);
    r->has_nameless_param = is_maybe_misspelt(r, root, "params");
    r->has_nameless_size = is_maybe_misspelt(r, root, "sizes");
    r->has_nameless_set = is_maybe_misspelt(r, root, "sets");
    if (!read_version(r, raw, root) && raw->allocbench != NULL)
        /* a file of another version is in another language, so nothing below can be checked */
        return;
    read_head(r, raw, root);
    READ_LIST(r, raw, params, w->params.items, read_param);
    check_sets(r);
    list_params(w);
    combine(r, ab_tree_get(r->tree, root, "params"));
    READ_LIST(r, raw, sizes, w->sizes, read_size);
    READ_LIST(r, raw, sets, w->sets, read_set);
    READ_LIST(r, raw, backends, w->backends, read_backend);
    read_gates(r, ab_tree_get(r->tree, root, "gates"));
    READ_LIST(r, raw, claims, w->claims.items, read_claim);
    READ_LIST(r, raw, phases, w->phases, read_phase);
    check_phases(r, ab_tree_get(r->tree, root, "phases"));
    place_sets(r);
}
