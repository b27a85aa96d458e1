/* SPDX-License-Identifier: MIT
 *
 * The only file that uses libcyaml. It forbids aliases and limits libcyaml's memory. The pre-scan
 * has already rejected files that need either, so this is a second line of defence.
 */
#include "base/bits.h"
#include "workload/parse.h"

#include "core/alloc.h"

#include <cyaml/cyaml.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(kind, owner, member, key, ...) \
    CYAML_FIELD_##kind(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct ab_raw_##owner, \
                       member, __VA_ARGS__ 0, CYAML_UNLIMITED),
#define FIELD_TEXT(owner, key, type) FIELD(STRING_PTR, owner, key, #key, )
#define FIELD_OPTION(NAME, key, type) FIELD(STRING_PTR, verb, key, #key, )
#define FIELD_TEXTS(owner, key) FIELD(SEQUENCE, owner, key, #key, &text_value, )
#define FIELD_LIST(owner, member, key, child) FIELD(SEQUENCE, owner, member, key, &child##_value, )
#define FIELD_MIXED(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),
#define FIELD_VALUES(owner, key) CYAML_FIELD_IGNORE(#key, CYAML_FLAG_OPTIONAL),
#define FIELD_MAP(owner, key, child) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL),

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

/* unused for maps that are read from the tree instead of by libcyaml */
/* declared early, because the `do` of a verb contains verbs */
static const cyaml_schema_value_t verb_value, branch_value;
#define SCHEMA(owner, OWNER, what) \
    static const cyaml_schema_field_t owner##_fields[] = {AB_KEYS_##OWNER(FIELD_) \
                                                              CYAML_FIELD_END}; \
    static const __attribute__((unused)) cyaml_schema_value_t owner##_value = { \
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ab_raw_##owner, owner##_fields)};
AB_BLOCKS(SCHEMA)

static const cyaml_schema_value_t root_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ab_raw_top, top_fields)};

enum { MEMORY_CAP_BYTES = 48 << 20 };

/* Precedes each block of libcyaml and stores its size, so that the sum can be limited. 16 bytes
 * keep the alignment of malloc. */
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

void ab_schema_fini(struct ab_schema *schema)
{
    cyaml_config_t config = configure(&schema->used_bytes, false);
    if (schema->top != NULL)
        cyaml_free(&config, &root_value, schema->top, 0);
    schema->top = NULL;
}

/* ---- unknown keys, keys of a later version, wrong shapes ----
 *
 * These errors are found in the tree of the pre-scan. libcyaml stops at the first one and reports
 * the place of the value before it. */

struct check {
    struct ab_tree *tree;
    struct ab_diag *diag;
    /* copy of the source, in which wrong keys are overwritten; libcyaml loads this copy */
    char *source;
    bool has_unknown;
};

/* Hides a node whose error was reported. Overwrites the beginning of its key, so that libcyaml
 * skips the key and no lookup finds it. */
static void hide(struct check *c, struct ab_node *map, struct ab_node *node)
{
    char *key = c->source + node->key_offset;
    key[*key == '"' || *key == '\''] = AB_HIDDEN;
    ab_node_hide(node);
    map->has_bad_key = c->has_unknown = true;
}

/* Returns the key of this language for a word that other tools use in its place; NULL = none. */
static const char *find_habit(const char *key)
{
    static const char *const habits[][2] = {
        {"threads", "; write lanes: N in a phase: each lane is a thread"},
        {"seconds", "; write until: seconds(N) in a phase"},
        {"duration", "; write until: seconds(N) in a phase"},
        {"time", "; write until: seconds(N) in a phase"},
        {"iterations", "; write until: iters(N) in a phase, or repeat: N before do: in a verb"},
        {"iters", "; write until: iters(N) in a phase, or repeat: N before do: in a verb"},
        {"bytes", "; write size: BYTES in a verb"},
        {"allocators", "; write backends: [{name: NAME}]"},
        {"malloc", "; write alloc: SET"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(habits); i++)
        if (strcmp(habits[i][0], key) == 0)
            return habits[i][1];
    return NULL;
}

static void add_unknown(struct check *c, const struct ab_node *node,
                        const struct ab_key_block *block)
{
    enum { MAX_KEYS = 64 };
    const char *keys[MAX_KEYS];
    char suggestion[AB_SUGGESTION_BYTES], known[400] = "; allowed: ";
    for (size_t i = 0; i < block->n_keys; i++) {
        keys[i] = block->keys[i].name;
        ab_text_join(known, sizeof known, i > 0 ? ", " : "", keys[i]);
    }
    const char *habit = find_habit(node->key);
    ab_diag_add(c->diag, node->key_at, "unknown key '%s' in %s%s",
                AB_QUOTED(node->key, strlen(node->key)), block->what,
                habit != NULL ? habit
                              : ab_suggest(suggestion, node->key, keys, block->n_keys, known));
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

static bool refuse_shape(struct check *c, const struct ab_node *node, const char *wanted)
{
    ab_diag_add(c->diag, node->at, "'%s' must be %s, found %s", node->key, wanted,
                shape_name(node));
    return false;
}

static void check_map(struct check *c, struct ab_node *map, const struct ab_key_block *block);

/* Checks that the items of a list are maps, texts, or both, as the key requires. Returns false if
 * an item is neither. */
static bool check_items(struct check *c, const struct ab_node *list, const struct ab_key *key)
{
    const struct ab_key_block *child = key->child;
    struct ab_node *item = ab_tree_first(c->tree, list);
    bool ok = true;
    for (; item != NULL; item = ab_tree_next(c->tree, item)) {
        if (item->kind == AB_NODE_MAP && child != NULL) {
            check_map(c, item, child);
        } else if (key->shape == AB_SHAPE_LIST) {
            ab_diag_add(c->diag, item->at, "%s must be a map such as {key: value}, found %s",
                        child->what, shape_name(item));
            ok = false;
        } else if (item->kind != AB_NODE_SCALAR) {
            ab_diag_add(c->diag, item->at, "an entry of '%s' must be %s%s%s, found %s", list->key,
                        key->shape == AB_SHAPE_VALUES ? "a single value" : "a text",
                        child != NULL ? " or " : "", child != NULL ? child->what : "",
                        shape_name(item));
            ok = false;
        }
    }
    return ok;
}

static bool check_shape(struct check *c, struct ab_node *n, const struct ab_key *key)
{
    static const struct {
        enum ab_node_kind kind;
        const char *wanted;
    } shapes[] = {[AB_SHAPE_TEXT] = {AB_NODE_SCALAR, "a single value"},
                  [AB_SHAPE_TEXTS] = {AB_NODE_LIST, "a list of texts, each '- \"…\"'"},
                  [AB_SHAPE_LIST] = {AB_NODE_LIST, "a list of entries '- {…}'"},
                  [AB_SHAPE_MIXED] = {AB_NODE_LIST, "a list of texts, each '- \"…\"'"},
                  [AB_SHAPE_VALUES] = {AB_NODE_SCALAR, "a value or a list of values"},
                  [AB_SHAPE_MAP] = {AB_NODE_MAP, "a map {key: value}"}};
    bool is_list = key->shape == AB_SHAPE_VALUES && n->kind == AB_NODE_LIST;
    if (n->kind != shapes[key->shape].kind && !is_list)
        return refuse_shape(c, n, shapes[key->shape].wanted);
    if (n->kind == AB_NODE_MAP)
        check_map(c, n, key->child);
    return n->kind != AB_NODE_LIST || check_items(c, n, key);
}

/* True if the value has a '(' without ')'. YAML splits "size: normal(64, 8)" at the comma if it is
 * inside { }. */
static bool is_cut(const struct ab_node *n)
{
    return n->kind == AB_NODE_SCALAR && strchr(n->text, '(') != NULL &&
           strchr(n->text, ')') == NULL;
}

static void refuse_cut(struct check *c, struct ab_node *map, struct ab_node *node)
{
    ab_diag_add(c->diag, node->at,
                "'%s': the closing ')' is missing; inside { } a value that has commas needs quotes",
                node->key);
    hide(c, map, node);
}

static void check_map(struct check *c, struct ab_node *map, const struct ab_key_block *block)
{
    /* last value with an open '('; an unknown key after it may be the rest of this value */
    struct ab_node *cut = NULL;
    for (struct ab_node *n = ab_tree_first(c->tree, map); n != NULL; n = ab_tree_next(c->tree, n)) {
        const struct ab_key *key = block->keys, *end = block->keys + block->n_keys;
        while (key < end && strcmp(key->name, n->key) != 0)
            key++;
        bool ok = !n->is_twin && key < end && check_shape(c, n, key);
        bool is_rest = cut != NULL && key == end;
        if (is_rest && cut->key[0] != AB_HIDDEN)
            refuse_cut(c, map, cut);
        else if (!n->is_twin && key == end && !is_rest)
            add_unknown(c, n, block);
        cut = !is_rest ? (ok && is_cut(n) ? n : NULL) : strchr(n->key, ')') == NULL ? cut : NULL;
        if (!ok)
            hide(c, map, n);
    }
}

bool ab_schema_load(struct ab_tree *tree, struct ab_diag *diag, struct ab_schema *out)
{
    const struct ab_source_text *source = &diag->source;
    struct check c = {.tree = tree, .diag = diag};
    struct ab_node *root = ab_tree_root(tree);
    cyaml_data_t *data = NULL;
    if (root->kind != AB_NODE_MAP) {
        ab_diag_add(diag, root->at,
                    "a workload is a map that begins with 'allocbench: 1', found %s",
                    shape_name(root));
        return false;
    }
    c.source = ab_strndup(source->text, source->n);
    check_map(&c, root, &ab_blocks[AB_BLOCK_top]);
    cyaml_config_t config = configure(&out->used_bytes, c.has_unknown);
    cyaml_err_t failed = cyaml_load_data((const uint8_t *)c.source, source->n, &config, &root_value,
                                         &data, NULL);
    free(c.source);
    out->top = data;
    if (failed != CYAML_OK && diag->n_errors == 0)
        ab_diag_add(diag, root->at, "cannot be loaded: %s", cyaml_strerror(failed));
    return failed == CYAML_OK && data != NULL;
}
