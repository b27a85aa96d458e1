/* SPDX-License-Identifier: MIT
 *
 * Stacks with a value each, as a tree of functions: drawn as a flame graph (a picture that needs
 * nothing else), or written as lines for other tools.
 */
#ifndef AB_REPORT_FLAME_FLAME_H
#define AB_REPORT_FLAME_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ab_flame;

/* NULL = out of memory. */
struct ab_flame *ab_flame_open(void);
void ab_flame_close(struct ab_flame *f);

/* A stack, the outermost function first. Names can be any text; they are copied. False = out of
 * memory. */
bool ab_flame_add(struct ab_flame *f, const char *const *names, size_t depth, uint64_t value);

/* "main;parse;strdup 120", a line for each stack; control characters of names are escaped, and
 * semicolons are colons. */
void ab_flame_write_folded(const struct ab_flame *f, FILE *to);
/* SVG: a box for each function, as wide as the share of its value, the outermost at the bottom; what
 * is narrower than a third of a pixel is left out. `unit`: what the values count. */
void ab_flame_write_svg(const struct ab_flame *f, FILE *to, const char *title, const char *unit);

#endif
