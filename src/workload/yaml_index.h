/* SPDX-License-Identifier: MIT
 *
 * The pre-scan of a workload file: one pass over libyaml's events that enforces the limits
 * (size, depth, number of values, one document, no aliases, anchors or tags, no duplicate keys)
 * and remembers where everything is. libcyaml loads the values afterwards; this tree only
 * says where they came from, so that every error has the right line and column.
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
    struct ab_place at;     /* of the value; of a list or map its first line */
    struct ab_place key_at; /* inside a map */
    char *key, *text;       /* owned; text of scalars only */
    uint32_t key_offset;    /* bytes of the source before the key */
    bool is_twin;           /* the map has this key before */
    bool is_verbatim;       /* text is in the source as it is, after `quote` characters */
    bool has_bad_key;       /* a map with a key that was already complained about */
    uint32_t quote;
    uint32_t first, last, next; /* children and sibling: indices, 0 = none (0 is the root) */
};

struct ab_tree {
    struct ab_node *nodes;
    uint32_t n_nodes;
    size_t cap_nodes;
};

/* Reads source into a tree. False when errors were added that leave no tree to look at. */
bool ab_tree_scan(struct ab_tree *tree, struct ab_diag *diag);
void ab_tree_fini(struct ab_tree *tree);

/* Root, first child, next sibling; NULL when there is none. */
struct ab_node *ab_tree_root(const struct ab_tree *tree);
struct ab_node *ab_tree_first(const struct ab_tree *tree, const struct ab_node *parent);
struct ab_node *ab_tree_next(const struct ab_tree *tree, const struct ab_node *node);
/* The value under `key` of a map, or NULL. */
struct ab_node *ab_tree_get(const struct ab_tree *tree, const struct ab_node *map, const char *key);
/* Takes the node's key out of the language: nobody finds it any more. */
void ab_node_hide(struct ab_node *node);
#define AB_HIDDEN 'X' /* no key begins with that */

/* Finds where bytes [offset, offset + n) of a scalar's text are, as well as that can be said. */
struct ab_place ab_node_place(const struct ab_node *node, size_t offset, size_t n);

#endif
