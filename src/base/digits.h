/* SPDX-License-Identifier: MIT
 *
 * Whole numbers as text, without stdio.
 */
#ifndef AB_BASE_DIGITS_H
#define AB_BASE_DIGITS_H

#include <stdint.h>

enum { AB_DIGITS_BYTES = 24 };

/* Text of n, which ends where buf ends; base is at most 16. */
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
