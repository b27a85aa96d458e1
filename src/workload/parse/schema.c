/* SPDX-License-Identifier: MIT
 *
 * The only file that knows libcyaml. Aliases are refused and its memory is capped, although the
 * pre-scan has already turned away what would need either: one wall behind the other.
 */
#include "workload/parse/schema.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/memory.h"

#include <cyaml/cyaml.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_TEXT(owner, member, key) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                           member, 0, CYAML_UNLIMITED),
#define FIELD_TEXTS(owner, member, key) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                         member, &text_value, 0, CYAML_UNLIMITED),
#define FIELD_LIST(owner, member, key, child) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                         member, &child##_value, 0, CYAML_UNLIMITED),
#define FIELD_MIXED(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),
#define FIELD_MAP(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),
#define FIELD_LATER(key)

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

static const cyaml_schema_value_t verb_value; /* `do` holds verbs again */
#define FIELDS(owner, OWNER) \
    static const cyaml_schema_field_t owner##_fields[] = {AB_KEYS_##OWNER( \
        FIELD_TEXT, FIELD_TEXTS, FIELD_LIST, FIELD_MIXED, FIELD_MAP, FIELD_LATER) CYAML_FIELD_END}
#define SCHEMA(owner, OWNER) \
    FIELDS(owner, OWNER); \
    static const cyaml_schema_value_t owner##_value = { \
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ab_raw_##owner, owner##_fields)}

SCHEMA(verb, VERB);
SCHEMA(param, PARAM);
SCHEMA(part, PART);
SCHEMA(size, SIZE);
SCHEMA(set, SET);
SCHEMA(role, ROLE);
SCHEMA(phase, PHASE);
SCHEMA(backend, BACKEND);
SCHEMA(claim, CLAIM);
FIELDS(top, TOP);

static const cyaml_schema_value_t root_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ab_raw_top, top_fields)};

enum { MEMORY_CAP_BYTES = 48 << 20 };

/* Ahead of each block, so that the cap can be kept; 16 bytes keep malloc's alignment. */
union header {
    size_t size;
    char align[16];
};

static void *capped(void *ctx, void *ptr, size_t size)
{
    size_t *used = ctx;
    union header *old = ptr == NULL ? NULL : (union header *)ptr - 1;
    size_t old_size = old == NULL ? 0 : old->size;
    if (size == 0) {
        *used -= old_size;
        free(old);
        return NULL;
    }
    if (size > MEMORY_CAP_BYTES || *used - old_size + size > MEMORY_CAP_BYTES)
        return NULL;
    union header *grown = ab_realloc(old, 1, size + sizeof *grown);
    *used += size - old_size;
    grown->size = size;
    return grown + 1;
}

static cyaml_config_t configure(size_t *used_bytes, bool skip_unknown)
{
    return (cyaml_config_t){
        .log_level = CYAML_LOG_ERROR,
        .mem_fn = capped,
        .mem_ctx = used_bytes,
        .flags = CYAML_CFG_NO_ALIAS | (skip_unknown ? CYAML_CFG_IGNORE_UNKNOWN_KEYS : 0u),
    };
}

const char *ab_schema_load(const struct ab_source_text *source, bool skip_unknown,
                           struct ab_schema *out)
{
    cyaml_config_t config = configure(&out->used_bytes, skip_unknown);
    cyaml_data_t *data = NULL;
    cyaml_err_t failed = cyaml_load_data((const uint8_t *)source->text, source->n, &config,
                                         &root_value, &data, NULL);
    if (failed != CYAML_OK)
        return cyaml_strerror(failed);
    if (data == NULL)
        return "the file is empty";
    out->top = data;
    return NULL;
}

void ab_schema_fini(struct ab_schema *schema)
{
    cyaml_config_t config = configure(&schema->used_bytes, false);
    if (schema->top != NULL)
        cyaml_free(&config, &root_value, schema->top, 0);
    schema->top = NULL;
}

/* Unknown keys, keys of a later version, wrong shapes: found on the tree of the pre-scan, because
 * libcyaml stops at the first one and names the place of the value before it. */

enum shape { SHAPE_TEXT, SHAPE_TEXTS, SHAPE_LIST, SHAPE_MIXED, SHAPE_MAP, SHAPE_LATER };

struct key_row {
    const char *key;
    enum shape shape;
    const struct key_table *child;
};

struct key_table {
    const char *what; /* what a map of this kind is called */
    const struct key_row *rows;
    size_t n_rows;
};

#define ROW_TEXT(owner, member, key) {key, SHAPE_TEXT, NULL},
#define ROW_TEXTS(owner, member, key) {key, SHAPE_TEXTS, NULL},
#define ROW_LIST(owner, member, key, child) {key, SHAPE_LIST, &child##_table},
#define ROW_MIXED(owner, key, child) {key, SHAPE_MIXED, &child##_table},
#define ROW_MAP(owner, key, child) {key, SHAPE_MAP, &child##_table},
#define ROW_LATER(key) {key, SHAPE_LATER, NULL},

static const struct key_table verb_table;
#define TABLE(owner, OWNER, text) \
    static const struct key_row owner##_rows[] = { \
        AB_KEYS_##OWNER(ROW_TEXT, ROW_TEXTS, ROW_LIST, ROW_MIXED, ROW_MAP, ROW_LATER)}; \
    static const struct key_table owner##_table = {text, owner##_rows, AB_ARRAY_LEN(owner##_rows)};
TABLE(verb, VERB, "a verb")
TABLE(param, PARAM, "a param")
TABLE(part, PART, "a part of a mix")
TABLE(size, SIZE, "a size")
TABLE(set, SET, "a set")
TABLE(role, ROLE, "a role")
TABLE(each, EACH, "'each'")
TABLE(phase, PHASE, "a phase")
TABLE(backend, BACKEND, "a back end")
TABLE(claim, CLAIM, "a claim")
TABLE(gate, GATE, "a map {gate: TEXT, level: warn}")
TABLE(top, TOP, "the workload")

struct check {
    struct ab_tree *tree;
    struct ab_diag *diag;
    bool has_unknown, is_misshapen;
};

enum { MAX_ROWS = 64 };

/* "a, b, c": what this version reads here. */
static void list_known(char *buf, size_t cap, const struct key_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].shape != SHAPE_LATER)
            ab_text_join(buf, cap, ", ", table->rows[i].key);
}

static void add_unknown(struct check *c, const struct ab_node *node, const struct key_table *table)
{
    const char *keys[MAX_ROWS];
    char word[200], known[400] = "";
    for (size_t i = 0; i < table->n_rows; i++)
        keys[i] = table->rows[i].key;
    ab_diag_quote(word, sizeof word, node->key, strlen(node->key));
    const char *near = ab_text_nearest(node->key, keys, table->n_rows);
    list_known(known, sizeof known, table);
    if (near != NULL)
        ab_diag_add(c->diag, node->key_at, "unknown key '%s' in %s; did you mean '%s'?", word,
                    table->what, near);
    else
        ab_diag_add(c->diag, node->key_at, "unknown key '%s' in %s; allowed: %s", word, table->what,
                    known);
}

static const char *shape_name(const struct ab_node *node)
{
    switch (node->kind) {
    case AB_NODE_LIST:
        return "a list";
    case AB_NODE_MAP:
        return "a map";
    default:
        return node->text[0] == 0 ? "nothing" : "a single value";
    }
}

static void check_map(struct check *c, struct ab_node *map, const struct key_table *table);

static void check_list(struct check *c, struct ab_node *list, const struct key_table *table)
{
    if (list->kind != AB_NODE_LIST) {
        ab_diag_add(c->diag, list->at, "'%s' must be a list of entries '- {…}', found %s",
                    list->key, shape_name(list));
        c->is_misshapen = true;
        return;
    }
    struct ab_node *item = ab_tree_first(c->tree, list);
    for (; item != NULL; item = ab_tree_next(c->tree, item)) {
        if (item->kind == AB_NODE_MAP) {
            check_map(c, item, table);
            continue;
        }
        ab_diag_add(c->diag, item->at, "%s must be a map such as {key: value}, found %s",
                    table->what, shape_name(item));
        c->is_misshapen = true;
    }
}

static void check_text(struct check *c, const struct ab_node *node, const struct key_table *table)
{
    if (node->kind == AB_NODE_SCALAR)
        return;
    c->is_misshapen = true;
    if (table == &param_table && strcmp(node->key, "value") == 0 && node->kind == AB_NODE_LIST)
        ab_diag_add(c->diag, node->at,
                    "a list of values (a sweep) is not supported by this version; give one value");
    else
        ab_diag_add(c->diag, node->at, "'%s' must be a single value, found %s", node->key,
                    shape_name(node));
}

/* Texts, or (child not NULL) maps among them. */
static void check_texts(struct check *c, struct ab_node *list, const struct key_table *child)
{
    if (list->kind != AB_NODE_LIST) {
        ab_diag_add(c->diag, list->at, "'%s' must be a list of texts, each '- \"…\"', found %s",
                    list->key, shape_name(list));
        c->is_misshapen = true;
        return;
    }
    for (struct ab_node *n = ab_tree_first(c->tree, list); n != NULL; n = ab_tree_next(c->tree, n))
        if (n->kind == AB_NODE_MAP && child != NULL) {
            check_map(c, n, child);
        } else if (n->kind != AB_NODE_SCALAR) {
            ab_diag_add(c->diag, n->at, "an entry of '%s' must be a text%s%s, found %s", list->key,
                        child != NULL ? " or " : "", child != NULL ? child->what : "",
                        shape_name(n));
            c->is_misshapen = true;
        }
}

static void check_child(struct check *c, struct ab_node *node, const struct key_table *table)
{
    if (node->kind == AB_NODE_MAP) {
        check_map(c, node, table);
        return;
    }
    ab_diag_add(c->diag, node->at, "'%s' must be a map {key: value}, found %s", node->key,
                shape_name(node));
    c->is_misshapen = true;
}

static void check_map(struct check *c, struct ab_node *map, const struct key_table *table)
{
    for (struct ab_node *n = ab_tree_first(c->tree, map); n != NULL; n = ab_tree_next(c->tree, n)) {
        const struct key_row *row = NULL;
        for (size_t i = 0; i < table->n_rows && row == NULL; i++)
            if (strcmp(table->rows[i].key, n->key) == 0)
                row = &table->rows[i];
        if (row != NULL && row->shape == SHAPE_TEXT)
            check_text(c, n, table);
        else if (row != NULL && row->shape == SHAPE_TEXTS)
            check_texts(c, n, NULL);
        else if (row != NULL && row->shape == SHAPE_MIXED)
            check_texts(c, n, row->child);
        else if (row != NULL && row->shape == SHAPE_MAP)
            check_child(c, n, row->child);
        else if (row != NULL && row->shape == SHAPE_LIST)
            check_list(c, n, row->child);
        else if (row != NULL)
            ab_diag_add(c->diag, n->key_at, "'%s' in %s is not supported by this version", n->key,
                        table->what);
        else
            add_unknown(c, n, table);
        if (row == NULL || row->shape == SHAPE_LATER)
            map->has_bad_key = c->has_unknown = true;
    }
}

bool ab_keys_check(struct ab_tree *tree, struct ab_diag *diag, bool *has_unknown)
{
    struct check c = {.tree = tree, .diag = diag};
    struct ab_node *root = ab_tree_root(tree);
    if (root->kind != AB_NODE_MAP) {
        ab_diag_add(diag, root->at,
                    "a workload is a map that begins with 'allocbench: 1', found %s",
                    shape_name(root));
        return false;
    }
    check_map(&c, root, &top_table);
    *has_unknown = c.has_unknown;
    return !c.is_misshapen;
}
