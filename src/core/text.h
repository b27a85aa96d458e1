/* SPDX-License-Identifier: MIT
 *
 * Small string helpers: growable text, the nearest right spelling, escaping for terminals.
 */
#ifndef AB_CORE_TEXT_H
#define AB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growable string; always terminated once something was added. Zero-initialise, then fini. */
struct ab_text {
    char *s;
    size_t n, cap;
};

void ab_text_add(struct ab_text *t, const char *s);
void ab_text_addf(struct ab_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ab_text_fini(struct ab_text *t);

/* Adds `s` as one word of a command line that a shell takes as it is: in single quotes where it needs
 * them. */
void ab_text_add_shell(struct ab_text *t, const char *s);
/* The bytes of the first word of such a command line: up to a blank that is not quoted, or the end. */
size_t ab_text_shell_word(const char *s);

bool ab_text_ends_with(const char *s, const char *end);

/* Appends a word to the list in buf, which is text already; cut at cap. */
void ab_text_join(char *buf, size_t cap, const char *separator, const char *word);

/* Copies `s` with control characters, those that turn the direction of text, and invalid UTF-8
 * shown as \xNN, so that hostile names cannot move the cursor nor be read as others. Always terminates; returns dst. */
const char *ab_text_printable(char *dst, size_t cap, const char *s);
/* The same in room of its own, as long as the block around it lasts: for one use in a message. */
#define AB_SHOWN(cap, s) ab_text_printable((char[cap]){0}, cap, s)

#endif
