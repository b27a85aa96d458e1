/* SPDX-License-Identifier: MIT
 *
 * Writes HTML and SVG into a stream. Text from outside (names, paths, sentences) must go through
 * %s, which escapes it; only the format is markup. Errors of the stream are detected when the file
 * is committed. Numbers have a '.' between ab_format_begin and ab_format_end.
 */
#ifndef AB_REPORT_HTML_HTML_H
#define AB_REPORT_HTML_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Callbacks that write each picture of a page into a file of its own. */
struct ab_picture_files {
    /* Opens the file of a picture; NULL = it cannot be written, and is left out. */
    FILE *(*begin)(void *user, const char *page, const char *title);
    void (*end)(void *user); /* called when the picture that was begun last is complete */
    void *user;
};

struct ab_html { /* initialize with {.to = stream} */
    FILE *to;
    /* receives the pictures, each with its own legend; NULL = pictures stand in the page */
    const struct ab_picture_files *pictures;
    const char *page; /* id of the page, which `pictures` gets */
};

struct ab_html_text { /* a piece of a document */
    char *text;
    size_t n;
};

/* Writes the format unescaped, as markup. Understands %% %s %c %d %u %x %f %g with flags, width,
 * precision and the lengths z, l, ll. Escapes %s (NULL: nothing), and drops trailing zeros of
 * %f. */
void ab_html_f(struct ab_html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes text of one line. Markup characters become entities. Control characters, characters that
 * change the direction of text, and invalid UTF-8 become \xNN. */
void ab_html_text(struct ab_html *h, const char *s);
/* Like ab_html_text, but keeps line ends and tabs. */
void ab_html_lines(struct ab_html *h, const char *s);

#endif
