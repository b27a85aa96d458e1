/* SPDX-License-Identifier: MIT
 *
 * Converts whole numbers to text, without stdio.
 */
#ifndef AB_BASE_DIGITS_H
#define AB_BASE_DIGITS_H

#include <stdint.h>

enum { AB_DIGITS_BYTES = 24 };

/* Writes n as text, in `base` (at most 16), at the end of buf. Returns the beginning of the
 * text. */
static inline char *ab_digits(char buf[AB_DIGITS_BYTES], uint64_t n, unsigned base)
{
    char *p = buf + AB_DIGITS_BYTES - 1;
    *p = 0;
    do
        *--p = (char)((n % base < 10 ? '0' : 'a' - 10) + n % base);
    while ((n /= base) != 0);
    return p;
}

#endif
