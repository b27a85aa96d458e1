/* SPDX-License-Identifier: MIT
 *
 * The errors of one workload file, collected so that the user sees all of them together. They are
 * sorted by place, each as `file:line:col: error: …` with its source line and a caret below it. All
 * text from the file is escaped, so that a hostile name cannot move the cursor.
 */
#ifndef AB_WORKLOAD_DIAG_H
#define AB_WORKLOAD_DIAG_H

#include "core/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define AB_DIAG_SHOWN 20 /* largest number of errors that are printed */
#define AB_DIAG_KEPT 400 /* largest number of errors that are stored and sorted before printing */

/* A range of characters in the source. Lines and columns count from 1, columns in characters. line
 * 0 = no place in the file. */
struct ab_place {
    uint32_t line, col, len;
};

struct ab_source_text {
    const char *file; /* as the user named it */
    const char *text; /* content without byte order mark, NUL-terminated */
    size_t n;
};

struct ab_diag_entry;

/* Zero-initialise it, set `source`, and release it with ab_diag_fini(). */
struct ab_diag {
    struct ab_source_text source;
    struct ab_diag_entry *entries;
    size_t n_entries, cap_entries;
    size_t n_errors; /* number of errors added, including errors that were not kept */
};

void ab_diag_add(struct ab_diag *d, struct ab_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ab_diag_vadd(struct ab_diag *d, struct ab_place at, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Sorts the errors and returns them as one malloc'ed text, ready to print. Shows at most
 * AB_DIAG_SHOWN errors and the number of all. Returns NULL if there are no errors. */
char *ab_diag_render(struct ab_diag *d);
void ab_diag_fini(struct ab_diag *d);

/* Appends the source line of a place, and below it a line with a caret. Appends nothing if at.line
 * is 0. */
void ab_diag_excerpt(struct ab_text *out, const struct ab_source_text *source, struct ab_place at);

/* Copies the first n bytes of `word` to buf for use in a message: cut if long, and escaped. Returns
 * buf. */
const char *ab_diag_quote(char *buf, size_t cap, const char *word, size_t n);
#define AB_QUOTED(word, n) ab_diag_quote((char[200]){0}, 200, word, n)

#endif
