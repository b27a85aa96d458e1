/* SPDX-License-Identifier: MIT
 *
 * Small string helpers: growable text, the nearest right spelling, escaping for terminals.
 */
#ifndef AB_CORE_TEXT_H
#define AB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growable string. It ends with 0 once something was added. Zero-initialize it, and free it with
 * ab_text_fini(). */
struct ab_text {
    char *s;
    size_t n, cap;
};

void ab_text_add(struct ab_text *t, const char *s);
void ab_text_addf(struct ab_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ab_text_fini(struct ab_text *t);

/* Adds `s` as one word of a shell command line, in single quotes if it needs them. */
void ab_text_add_shell(struct ab_text *t, const char *s);
/* Returns the length of the first word of a command line made by ab_text_add_shell(), up to an
 * unquoted blank or the end. */
size_t ab_text_shell_word(const char *s);

bool ab_text_ends_with(const char *s, const char *end);

/* Appends a word to the list in buf, with a separator if the list is not empty. Cuts the list to
 * cap - 1 bytes. */
void ab_text_join(char *buf, size_t cap, const char *separator, const char *word);

/* Copies at most cap − 1 bytes of `s` to dst, and reads no more bytes. dst always ends with 0. */
void ab_text_copy(char *dst, size_t cap, const char *s);
/* Copies `s` to an array as ab_text_copy() does, with the array's size. */
#define AB_COPY(array, s) ab_text_copy(array, sizeof(array), s)

/* Formats into an array, with the array's size. Cuts a longer text at its end. */
#define AB_FIT(array, ...) ab_text_format(array, sizeof(array), __VA_ARGS__)
void ab_text_format(char *dst, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies `s`. Control characters, characters that change the direction of text, and invalid UTF-8
 * become \xNN, so that hostile names cannot move the cursor or look like other names. dst always
 * ends with 0. Returns dst. */
const char *ab_text_printable(char *dst, size_t cap, const char *s);
/* Makes `s` printable as ab_text_printable() does, in a temporary buffer of the enclosing block,
 * for use in one message. */
#define AB_SHOWN(cap, s) ab_text_printable((char[cap]){0}, cap, s)

#endif
