/* SPDX-License-Identifier: MIT
 *
 * Stacks with a value each, as a tree of functions: drawn as a flame graph (a picture that needs
 * nothing else), or written as lines for other tools.
 */
#ifndef AB_REPORT_FLAME_H
#define AB_REPORT_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ab_flame;

struct ab_flame_node {   /* a function below those that called it */
    char *name;          /* as it was given; NULL = the root */
    uint64_t value, own; /* with what it called; of stacks that end with it */
    struct ab_flame_node *parent, *first, *last,
        *next;     /* children in the order in which they came */
    void *by_name; /* internal: its children, of tsearch: there can be millions */
};

struct ab_stacks { /* of one trace: NULL = not known */
    struct ab_flame *by_calls, *by_bytes, *by_peak;
    struct ab_flame *by_pinned; /* of the first back end of the session */
};

struct ab_flame *ab_flame_open(void);
void ab_flame_close(struct ab_flame *f);
void ab_stacks_fini(struct ab_stacks *s);
const struct ab_flame_node *ab_flame_root(const struct ab_flame *f);

/* A stack, the outermost function first. Names can be any text; they are copied. */
void ab_flame_add(struct ab_flame *f, const char *const *names, size_t depth, uint64_t value);

/* "main;parse;strdup 120", a line for each stack; control characters of names are escaped, and
 * semicolons are colons. */
void ab_flame_write_folded(const struct ab_flame *f, FILE *to);
/* SVG: a box for each function, as wide as the share of its value, the outermost at the bottom; what
 * is narrower than a third of a pixel is left out. `unit`: what the values count. */
void ab_flame_write_svg(const struct ab_flame *f, FILE *to, const char *title, const char *unit);

/* Between yellow and red, "rgb(230,140,70)": the same function has the same one everywhere. */
enum { AB_FLAME_COLOUR_BYTES = 24 };
const char *ab_flame_colour(char buf[AB_FLAME_COLOUR_BYTES], const char *name);

#endif
