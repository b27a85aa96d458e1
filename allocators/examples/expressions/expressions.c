/* SPDX-License-Identifier: MIT
 *
 * The same work with a region and with malloc: each request is an expression, which is parsed to a
 * tree, simplified to another tree, evaluated, and thrown away. With a region a request ends by one
 * reset; with malloc each node and name is freed. docs/measuring.md measures both, on a fresh heap
 * and on an aged one.
 *     cc -O2 -I. -o expressions allocators/examples/expressions/expressions.c \
 *        allocators/arena/arena.c allocators/common/checked.c allocators/common/pages.c
 *     ./expressions region|malloc [LEAVES [REQUESTS]]
 */
#include "allocators/arena/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 8 }; /* number of values of x for which an expression is evaluated */

struct heap { /* the region, or malloc if is_region is 0 */
    struct ab_arena arena;
    int is_region;
};

struct node {
    char op; /* '+', '-' or '*'; 'n': a number; 'x': a name */
    int number;
    char *name;
    struct node *left, *right;
};

static void *take(struct heap *h, size_t size)
{
    void *p = h->is_region ? ab_arena_alloc(&h->arena, size) : malloc(size);
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static struct node *make(struct heap *h, char op, struct node *left, struct node *right)
{
    struct node *n = (struct node *)take(h, sizeof *n);
    n->op = op;
    n->number = 0;
    n->name = NULL;
    n->left = left;
    n->right = right;
    return n;
}

/* Frees the tree of a request. Only with malloc: a region is reset instead. */
static void give_back(struct node *n)
{
    if (n->left != NULL) {
        give_back(n->left);
        give_back(n->right);
    }
    free(n->name);
    free(n);
}

/* ---- the text of a request: prefix notation, as "+ * 3 x17 2 " ---- */

struct text {
    char *bytes;
    size_t n;
    unsigned random;
};

static unsigned draw(struct text *t, unsigned below)
{
    t->random = t->random * 1664525u + 1013904223u;
    return (t->random >> 8) % below;
}

static void write_expression(struct text *t, unsigned leaves)
{
    if (leaves == 1) {
        int is_name = draw(t, 2) == 0;
        t->n += (size_t)sprintf(t->bytes + t->n, is_name ? "x%u " : "%u ", 1 + draw(t, 99999));
        return;
    }
    unsigned left = 1 + draw(t, leaves - 1);
    t->n += (size_t)sprintf(t->bytes + t->n, "%c ", "+-*"[draw(t, 3)]);
    write_expression(t, left);
    write_expression(t, leaves - left);
}

/* ---- the work ---- */

static struct node *parse(struct heap *h, const char **at)
{
    const char *word = *at;
    size_t n = strcspn(word, " ");
    *at = word + n + 1;
    if (strchr("+-*", *word) != NULL) {
        struct node *left = parse(h, at);
        return make(h, *word, left, parse(h, at));
    }
    struct node *leaf = make(h, *word == 'x' ? 'x' : 'n', NULL, NULL);
    if (leaf->op == 'n') {
        leaf->number = atoi(word);
    } else {
        leaf->name = (char *)take(h, n + 1);
        memcpy(leaf->name, word, n);
        leaf->name[n] = 0;
    }
    return leaf;
}

static unsigned apply(char op, unsigned a, unsigned b)
{
    return op == '+' ? a + b : op == '-' ? a - b : a * b;
}

/* Returns a copy of the tree in which operations on two numbers are replaced by their results. */
static struct node *simplify(struct heap *h, const struct node *n)
{
    if (n->left == NULL) {
        struct node *leaf = make(h, n->op, NULL, NULL);
        leaf->number = n->number;
        if (n->name != NULL) {
            leaf->name = (char *)take(h, strlen(n->name) + 1);
            strcpy(leaf->name, n->name);
        }
        return leaf;
    }
    struct node *left = simplify(h, n->left), *right = simplify(h, n->right);
    if (left->op != 'n' || right->op != 'n')
        return make(h, n->op, left, right);
    struct node *done = make(h, 'n', NULL, NULL);
    done->number = (int)apply(n->op, (unsigned)left->number, (unsigned)right->number);
    if (!h->is_region) {
        give_back(left);
        give_back(right);
    }
    return done;
}

static unsigned evaluate(const struct node *n, unsigned x)
{
    if (n->left != NULL)
        return apply(n->op, evaluate(n->left, x), evaluate(n->right, x));
    return n->name == NULL ? (unsigned)n->number : x + (unsigned)n->name[1];
}

static unsigned serve(struct heap *h, const char *text)
{
    unsigned sum = 0;
    struct node *tree = parse(h, &text), *simple = simplify(h, tree);
    for (unsigned x = 0; x < VALUES; x++)
        sum = sum * 31 + evaluate(simple, x);
    if (h->is_region) {
        ab_arena_reset(&h->arena);
    } else {
        give_back(tree);
        give_back(simple);
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct heap h = {{0}, argc > 1 && strcmp(argv[1], "region") == 0};
    unsigned leaves = argc > 2 ? (unsigned)atoi(argv[2]) : 50000, sum = 0;
    int requests = argc > 3 ? atoi(argv[3]) : 20;
    struct ab_arena_options options = {0};
    struct text text = {NULL, 0, 1};
    options.reserve_bytes = (size_t)1 << 32;
    if (leaves == 0 || ab_arena_init(&h.arena, &options) != 0)
        return 1;
    text.bytes = (char *)malloc((size_t)leaves * 16);
    if (text.bytes == NULL)
        return 1;
    for (int i = 0; i < requests; i++) {
        text.n = 0;
        write_expression(&text, leaves);
        sum = sum * 31 + serve(&h, text.bytes);
    }
    printf("%d requests of %u leaves: %u\n", requests, leaves, sum);
    free(text.bytes);
    ab_arena_fini(&h.arena);
    return 0;
}
