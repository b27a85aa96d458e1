/* SPDX-License-Identifier: MIT
 *
 * The shadow: a treap of live blocks, ordered by address.
 */
#include "worker/checks/shadow.h"

#include <sys/mman.h>

enum { NONE = 0, FIRST_CAP = 4096 }; /* index 0 = no node */

struct ab_shadow_node {
    struct ab_shadow_block block;
    /* left: in an unused node, the next unused node; rank: random number, never above that of the
     * parent */
    uint32_t left, right, rank;
    uint32_t is_live;
};

bool ab_shadow_open(struct ab_shadow *s)
{
    void *p = mmap(NULL, FIRST_CAP * sizeof s->nodes[0], PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    *s = (struct ab_shadow){
        .nodes = p, .n_used = 1, .cap = FIRST_CAP, .random = 0x9e3779b97f4a7c15};
    return true;
}

void ab_shadow_close(struct ab_shadow *s)
{
    if (s->nodes != NULL)
        munmap(s->nodes, s->cap * sizeof s->nodes[0]);
    *s = (struct ab_shadow){.nodes = NULL};
}

void ab_shadow_clear(struct ab_shadow *s)
{
    for (uint32_t i = 1; i < s->n_used; i++)
        s->nodes[i].is_live = 0;
    s->n_used = 1;
    s->root = s->vacant = NONE;
    s->n_live = 0;
}

static uint32_t take_node(struct ab_shadow *s)
{
    uint32_t n = s->vacant;
    if (n != NONE) {
        s->vacant = s->nodes[n].left;
        return n;
    }
    if (s->n_used == s->cap) {
        void *p = s->cap > UINT32_MAX / 4
                      ? MAP_FAILED
                      : mremap(s->nodes, s->cap * sizeof s->nodes[0],
                               2 * (size_t)s->cap * sizeof s->nodes[0], MREMAP_MAYMOVE);
        if (p == MAP_FAILED)
            return NONE;
        s->nodes = p;
        s->cap *= 2;
    }
    return s->n_used++;
}

struct ab_shadow_block *ab_shadow_find(struct ab_shadow *s, uintptr_t at)
{
    uint32_t n = s->root;
    while (n != NONE && s->nodes[n].block.at != at)
        n = at < s->nodes[n].block.at ? s->nodes[n].left : s->nodes[n].right;
    return n == NONE ? NULL : &s->nodes[n].block;
}

/* Finds a block that overlaps the range. Live blocks do not overlap each other, so only the last
 * block that begins before the range's end can reach into the range. */
struct ab_shadow_block *ab_shadow_overlap(struct ab_shadow *s, uintptr_t at, size_t span)
{
    uint32_t n = s->root, found = NONE;
    uintptr_t last = at + (span - 1);
    while (n != NONE) {
        bool is_before = s->nodes[n].block.at <= last;
        found = is_before ? n : found;
        n = is_before ? s->nodes[n].right : s->nodes[n].left;
    }
    struct ab_shadow_block *b = &s->nodes[found].block;
    return found != NONE && b->at + (b->span - 1) >= at ? b : NULL;
}

/* Splits a tree: nodes with addresses below `at` go to *low, the others to *high. */
static void split(struct ab_shadow *s, uint32_t tree, uintptr_t at, uint32_t *low, uint32_t *high)
{
    while (tree != NONE) {
        struct ab_shadow_node *n = &s->nodes[tree];
        if (n->block.at < at) {
            *low = tree;
            low = &n->right;
            tree = n->right;
        } else {
            *high = tree;
            high = &n->left;
            tree = n->left;
        }
    }
    *low = *high = NONE;
}

/* Merges two trees; all addresses in `low` are below all addresses in `high`. */
static uint32_t merge(struct ab_shadow *s, uint32_t low, uint32_t high)
{
    uint32_t root = NONE, *at = &root;
    while (low != NONE && high != NONE) {
        if (s->nodes[low].rank > s->nodes[high].rank) {
            *at = low;
            at = &s->nodes[low].right;
            low = *at;
        } else {
            *at = high;
            at = &s->nodes[high].left;
            high = *at;
        }
    }
    *at = low != NONE ? low : high;
    return root;
}

bool ab_shadow_put(struct ab_shadow *s, const struct ab_shadow_block *block)
{
    uint32_t node = take_node(s);
    if (node == NONE)
        return false;
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    s->nodes[node] = (struct ab_shadow_node){
        .block = *block, .rank = (uint32_t)(s->random >> 32), .is_live = 1};
    uint32_t low, high;
    split(s, s->root, block->at, &low, &high);
    s->root = merge(s, merge(s, low, node), high);
    s->n_live++;
    return true;
}

void ab_shadow_drop(struct ab_shadow *s, uintptr_t at)
{
    uint32_t *link = &s->root;
    while (*link != NONE && s->nodes[*link].block.at != at)
        link = at < s->nodes[*link].block.at ? &s->nodes[*link].left : &s->nodes[*link].right;
    uint32_t node = *link;
    if (node == NONE)
        return;
    *link = merge(s, s->nodes[node].left, s->nodes[node].right);
    s->nodes[node].is_live = 0;
    s->nodes[node].left = s->vacant;
    s->vacant = node;
    s->n_live--;
}

struct ab_shadow_block *ab_shadow_next(struct ab_shadow *s, uint32_t *i)
{
    while (++*i < s->n_used)
        if (s->nodes[*i].is_live)
            return &s->nodes[*i].block;
    return NULL;
}
