/* SPDX-License-Identifier: MIT
 *
 * Scans a workload file before libcyaml does, in one pass over the events of libyaml. Enforces the
 * limits (size, depth, number of values, one document, no aliases, anchors or tags, no duplicate
 * keys). Records the place of every value in a tree, so that every error can name the right line
 * and column. libcyaml loads the values afterwards.
 */
#ifndef AB_WORKLOAD_YAML_INDEX_H
#define AB_WORKLOAD_YAML_INDEX_H

#include "workload/diag.h"

#include <stdbool.h>

#define AB_CONFIG_MAX_BYTES (1u << 20)
#define AB_CONFIG_MAX_DEPTH 64
#define AB_CONFIG_MAX_NODES 50000
#define AB_CONFIG_MAX_KEYS 256 /* largest number of keys in one map */

enum ab_node_kind { AB_NODE_SCALAR, AB_NODE_LIST, AB_NODE_MAP };

struct ab_node {
    enum ab_node_kind kind;
    struct ab_place at;     /* place of the value; for lists and maps, of their first line */
    struct ab_place key_at; /* place of the key, if the node is in a map */
    char *key, *text;       /* owned; `text` is for scalars only */
    uint32_t key_offset;    /* offset of the key in the source, bytes */
    bool is_twin;           /* True if an earlier node of the map has the same key */
    /* True if `text` is in the source unchanged, after `quote` characters */
    bool is_verbatim;
    bool has_bad_key; /* True if the node is a map with a key that was reported as wrong */
    uint32_t quote;
    /* indices of the first and the last child and of the next sibling; 0 = none, because node 0 is
     * the root */
    uint32_t first, last, next;
};

struct ab_tree {
    struct ab_node *nodes;
    uint32_t n_nodes;
    size_t cap_nodes;
};

/* Reads the source, diag->source, into a tree. Returns false if errors leave no usable tree. */
bool ab_tree_scan(struct ab_tree *tree, struct ab_diag *diag);
void ab_tree_fini(struct ab_tree *tree);

/* Return the root, the first child of a node, and the next sibling; NULL = none. */
struct ab_node *ab_tree_root(const struct ab_tree *tree);
struct ab_node *ab_tree_first(const struct ab_tree *tree, const struct ab_node *parent);
struct ab_node *ab_tree_next(const struct ab_tree *tree, const struct ab_node *node);
/* Returns the value under `key` in a map; NULL = none. */
struct ab_node *ab_tree_get(const struct ab_tree *tree, const struct ab_node *map, const char *key);
/* Hides the node's key, so that no lookup finds it. */
void ab_node_hide(struct ab_node *node);
#define AB_HIDDEN 'X' /* first character of a hidden key; no key of the language begins with it */

/* Returns the position in the workload file of bytes [offset, offset + n) of a scalar's value, for
 * an error message. If the scalar contains an escape ("\n") or is folded, its bytes in the file
 * differ from those of the value, so the position of the whole scalar is returned. */
struct ab_place ab_node_place(const struct ab_node *node, size_t offset, size_t n);

#endif
