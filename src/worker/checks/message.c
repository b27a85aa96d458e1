/* SPDX-License-Identifier: MIT
 *
 * Puts messages together without stdio.
 */
#include "worker/checks/message.h"

#include "base/digits.h"

void ab_words_add(struct ab_words *w, const char *text)
{
    while (*text != 0 && w->n + 1 < sizeof w->text)
        w->text[w->n++] = *text++;
    w->text[w->n] = 0;
}

void ab_words_number(struct ab_words *w, uint64_t n)
{
    char buf[AB_DIGITS_BYTES];
    ab_words_add(w, ab_digits(buf, n, 10));
}

void ab_words_hex(struct ab_words *w, uint64_t n)
{
    char buf[AB_DIGITS_BYTES];
    ab_words_add(w, "0x");
    ab_words_add(w, ab_digits(buf, n, 16));
}

void ab_words_pair(struct ab_words *w, const char *text, uint64_t n)
{
    ab_words_add(w, text);
    ab_words_number(w, n);
}
