/* SPDX-License-Identifier: MIT
 *
 * Puts messages together without stdio.
 */
#include "worker/checks/message.h"

void ab_words_add(struct ab_words *w, const char *text)
{
    while (*text != 0 && w->n + 1 < sizeof w->text)
        w->text[w->n++] = *text++;
    w->text[w->n] = 0;
}

static void add_digits(struct ab_words *w, uint64_t n, unsigned base)
{
    char buf[24], *p = buf + sizeof buf - 1;
    *p = 0;
    do {
        *--p = "0123456789abcdef"[n % base];
        n /= base;
    } while (n > 0);
    ab_words_add(w, p);
}

void ab_words_number(struct ab_words *w, uint64_t n)
{
    add_digits(w, n, 10);
}

void ab_words_hex(struct ab_words *w, uint64_t n)
{
    ab_words_add(w, "0x");
    add_digits(w, n, 16);
}

void ab_words_pair(struct ab_words *w, const char *text, uint64_t n)
{
    ab_words_add(w, text);
    ab_words_number(w, n);
}
