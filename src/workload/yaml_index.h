/* SPDX-License-Identifier: MIT
 *
 * Pre-scan of a workload file: one pass over libyaml's events. It enforces the limits (size, depth,
 * number of values, one document, no aliases, anchors or tags, no duplicate keys) and records the
 * place of every value. libcyaml loads the values afterwards. The tree gives their places, so that
 * every error has the right line and column.
 */
#ifndef AB_WORKLOAD_YAML_INDEX_H
#define AB_WORKLOAD_YAML_INDEX_H

#include "workload/diag.h"

#include <stdbool.h>

#define AB_CONFIG_MAX_BYTES (1u << 20)
#define AB_CONFIG_MAX_DEPTH 64
#define AB_CONFIG_MAX_NODES 50000
#define AB_CONFIG_MAX_KEYS 256 /* in one map */

enum ab_node_kind { AB_NODE_SCALAR, AB_NODE_LIST, AB_NODE_MAP };

struct ab_node {
    enum ab_node_kind kind;
    struct ab_place at;     /* of the value; for lists and maps the first line */
    struct ab_place key_at; /* inside a map */
    char *key, *text;       /* owned; text of scalars only */
    uint32_t key_offset;    /* bytes of the source before the key */
    bool is_twin;           /* the map has this key already */
    bool is_verbatim;       /* text is in the source verbatim, after `quote` characters */
    bool has_bad_key;       /* a map with a key that was reported already */
    uint32_t quote;
    uint32_t first, last, next; /* children and sibling: indices, 0 = none (0 is the root) */
};

struct ab_tree {
    struct ab_node *nodes;
    uint32_t n_nodes;
    size_t cap_nodes;
};

/* Reads the source into a tree. Returns false if errors leave no tree to look at. */
bool ab_tree_scan(struct ab_tree *tree, struct ab_diag *diag);
void ab_tree_fini(struct ab_tree *tree);

/* Return the root, the first child and the next sibling; NULL = none. */
struct ab_node *ab_tree_root(const struct ab_tree *tree);
struct ab_node *ab_tree_first(const struct ab_tree *tree, const struct ab_node *parent);
struct ab_node *ab_tree_next(const struct ab_tree *tree, const struct ab_node *node);
/* Returns the value under `key` of a map, or NULL. */
struct ab_node *ab_tree_get(const struct ab_tree *tree, const struct ab_node *map, const char *key);
/* Hides the node's key, so that no lookup finds it. */
void ab_node_hide(struct ab_node *node);
#define AB_HIDDEN 'X' /* no key begins with this character */

/* Returns where bytes [offset, offset + n) of a scalar's value stand in the workload file, for an
 * error message. An escape ("\n") or a folded line is longer in the file than in the value; if the
 * scalar has one, returns the place of the whole scalar. */
struct ab_place ab_node_place(const struct ab_node *node, size_t offset, size_t n);

#endif
