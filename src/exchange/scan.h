/* SPDX-License-Identifier: MIT
 *
 * Reads the words of a line, without locale. Each function takes its part off the front of *at and
 * returns true, or changes nothing and returns false. Numbers that do not fit into 64 bits are none.
 */
#ifndef AB_EXCHANGE_SCAN_H
#define AB_EXCHANGE_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool ab_scan_text(const char **at, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*at, text, n) != 0)
        return false;
    *at += n;
    return true;
}

static inline bool ab_scan_decimal(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    if (p == *at)
        return false;
    *at = p;
    *out = value;
    return true;
}

static inline int ab_scan_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Digits alone, without 0x. */
static inline bool ab_scan_hex(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    for (; ab_scan_digit(*p) >= 0; p++) {
        if (value >> 60 != 0)
            return false;
        value = value << 4 | (uint64_t)ab_scan_digit(*p);
    }
    if (p == *at)
        return false;
    *at = p;
    *out = value;
    return true;
}

/* What %p and %#lx print: 0x and digits, or (nil) or 0 for NULL. */
static inline bool ab_scan_pointer(const char **at, uint64_t *out)
{
    const char *p = *at;
    *out = 0;
    if (ab_scan_text(at, "(nil)"))
        return true;
    if (ab_scan_text(&p, "0x") && ab_scan_hex(&p, out)) {
        *at = p;
        return true;
    }
    return ab_scan_text(at, "0");
}

static inline bool ab_scan_end(const char *at)
{
    return *at == 0;
}

#endif
