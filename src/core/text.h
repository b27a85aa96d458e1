/* SPDX-License-Identifier: MIT
 *
 * Small string helpers: growable text, the nearest right spelling, escaping for terminals.
 */
#ifndef AB_CORE_TEXT_H
#define AB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growable string; terminated once something was added. Zero-initialize it, and free it with
 * ab_text_fini. */
struct ab_text {
    char *s;
    size_t n, cap;
};

void ab_text_add(struct ab_text *t, const char *s);
void ab_text_addf(struct ab_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ab_text_fini(struct ab_text *t);

/* Adds `s` as one word of a shell command line, in single quotes if it needs them. */
void ab_text_add_shell(struct ab_text *t, const char *s);
/* Returns the length of the first word of such a command line, up to an unquoted blank or the
 * end. */
size_t ab_text_shell_word(const char *s);

bool ab_text_ends_with(const char *s, const char *end);

/* Appends a word to the list in buf, with a separator if the list is not empty; cuts at cap. */
void ab_text_join(char *buf, size_t cap, const char *separator, const char *word);

/* Copies `s` to dst, cut to cap − 1 bytes; reads no more than these. Always terminates. */
void ab_text_copy(char *dst, size_t cap, const char *s);
/* Does the same for an array, with its size. */
#define AB_COPY(array, s) ab_text_copy(array, sizeof(array), s)

/* Formats into an array, with its size; cuts a longer text at its end. */
#define AB_FIT(array, ...) ab_text_format(array, sizeof(array), __VA_ARGS__)
void ab_text_format(char *dst, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies `s`; control characters, characters that change the direction of text, and invalid UTF-8
 * become \xNN. So hostile names cannot move the cursor or look like other names. Always terminates;
 * returns dst. */
const char *ab_text_printable(char *dst, size_t cap, const char *s);
/* Does the same in a temporary buffer of the enclosing block, for use in one message. */
#define AB_SHOWN(cap, s) ab_text_printable((char[cap]){0}, cap, s)

#endif
