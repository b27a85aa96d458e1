/* SPDX-License-Identifier: MIT
 *
 * Stacks with values, as a tree of functions. The tree is drawn as a flame graph (a self-contained
 * picture), or written as lines for other tools.
 */
#ifndef AB_REPORT_FLAME_H
#define AB_REPORT_FLAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ab_flame;

struct ab_flame_node { /* a function, below its caller */
    char *name;        /* name of the function, as given; NULL = the root */
    /* value: sum over the stacks through this function; own: sum over the stacks that end here */
    uint64_t value, own;
    /* first, last: children in the order of arrival; next: the next child of the same parent */
    struct ab_flame_node *parent, *first, *last, *next;
    void *by_name; /* internal: tsearch tree of the children, of which there can be millions */
};

struct ab_stacks { /* stacks of one trace, weighted by different numbers; NULL = not known */
    struct ab_flame *by_calls, *by_bytes, *by_peak;
    struct ab_flame *by_pinned; /* by pinned bytes under the first back end of the session */
};

struct ab_flame *ab_flame_open(void);
void ab_flame_close(struct ab_flame *f);
void ab_stacks_fini(struct ab_stacks *s);
const struct ab_flame_node *ab_flame_root(const struct ab_flame *f);

/* Adds a stack, the outermost function first. Names may be any text and are copied. */
void ab_flame_add(struct ab_flame *f, const char *const *names, size_t depth, uint64_t value);

/* Writes a line for each stack: "main;parse;strdup 120". Escapes control characters in names, and
 * replaces semicolons by colons. */
void ab_flame_write_folded(const struct ab_flame *f, FILE *to);
/* Writes an SVG: a box for each function, as wide as its share of the value, the outermost at the
 * bottom. Leaves out boxes narrower than a third of a pixel. `unit`: what the values count. */
void ab_flame_write_svg(const struct ab_flame *f, FILE *to, const char *title, const char *unit);

/* Returns a colour between yellow and red, "rgb(230,140,70)". A function has the same colour in
 * every picture. */
enum { AB_FLAME_COLOUR_BYTES = 24 };
const char *ab_flame_colour(char buf[AB_FLAME_COLOUR_BYTES], const char *name);

#endif
