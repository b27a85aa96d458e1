/* SPDX-License-Identifier: MIT
 *
 * Writes HTML and SVG into a stream. What comes from outside (names, paths, sentences) goes through
 * %s, which escapes it; only the format itself is markup. Errors of the stream are found by whoever
 * commits the file. Numbers have a '.' between ab_format_begin and ab_format_end.
 */
#ifndef AB_REPORT_HTML_HTML_H
#define AB_REPORT_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ab_html { /* begins as {.to = stream} */
    FILE *to;
    bool is_alone; /* pictures are taken out of their pages: each has its legend with it */
};

struct ab_html_text { /* a piece of a document */
    char *text;
    size_t n;
};

/* The format is markup and written as it is. Of printf's conversions it takes %% %s %c %d %u %x %f
 * %g with flags, width, precision and the lengths z, l, ll; %s is escaped (NULL: nothing), trailing
 * zeros of %f are left out. */
void ab_html_f(struct ab_html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text of one line: markup characters as entities; control characters, those that turn the
 * direction of text, and invalid UTF-8 as \xNN. */
void ab_html_text(struct ab_html *h, const char *s);
/* The same, but line ends and tabs stay. */
void ab_html_lines(struct ab_html *h, const char *s);

#endif
