/* SPDX-License-Identifier: MIT
 *
 * Growable text, and names made safe for a terminal.
 */
#include "core/text.h"

#include "core/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ab_text_add(struct ab_text *t, const char *s)
{
    size_t n = strlen(s);
    AB_GROW(t->s, t->cap, t->n + n);
    memcpy(t->s + t->n, s, n + 1);
    t->n += n;
}

void ab_text_addf(struct ab_text *t, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0) {
        AB_GROW(t->s, t->cap, t->n + (size_t)n);
        vsnprintf(t->s + t->n, t->cap - t->n, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

void ab_text_fini(struct ab_text *t)
{
    free(t->s);
    *t = (struct ab_text){0};
}

void ab_text_add_shell(struct ab_text *t, const char *s)
{
    if (s[0] != 0 && strpbrk(s, " \t\n'\"\\$`*?<>|&;()#~[{!") == NULL) {
        ab_text_add(t, s);
        return;
    }
    ab_text_add(t, "'");
    for (; *s != 0; s++)
        ab_text_addf(t, *s == '\'' ? "'\\''" : "%c", *s);
    ab_text_add(t, "'");
}

size_t ab_text_shell_word(const char *s)
{
    bool is_quoted = false;
    size_t n = 0;
    for (; s[n] != 0 && (is_quoted || s[n] != ' '); n++) {
        if (s[n] == '\'')
            is_quoted = !is_quoted;
        else if (s[n] == '\\' && !is_quoted && s[n + 1] != 0)
            n++;
    }
    return n;
}

bool ab_text_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), n_end = strlen(end);
    return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

void ab_text_format(char *dst, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(dst, cap, fmt, args);
    va_end(args);
}

void ab_text_copy(char *dst, size_t cap, const char *s)
{
    size_t n = strnlen(s, cap - 1);
    memcpy(dst, s, n);
    dst[n] = 0;
}

void ab_text_join(char *buf, size_t cap, const char *separator, const char *word)
{
    size_t n = strlen(buf);
    snprintf(buf + n, cap - n, "%s%s", n > 0 ? separator : "", word);
}

/* True for invisible characters that change the direction of the text around them, or end the line.
 * These are the bidirectional controls U+061C, U+200E-F, U+202A-E and U+2066-9, and U+2028 and
 * U+2029. */
static bool is_turning(const unsigned char *s)
{
    if (s[0] == 0xd8)
        return s[1] == 0x9c;
    if (s[0] != 0xe2 || (s[1] != 0x80 && s[1] != 0x81))
        return false;
    return s[1] == 0x80 ? s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae)
                        : s[2] >= 0xa6 && s[2] <= 0xa9;
}

/* Returns the length of the well-formed UTF-8 sequence at s (printable, not a C1 control), or 0. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] >= 0x20 && s[0] < 0x7f)
        return 1;
    size_t n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((n == 2 && s[0] == 0xc2 && s[1] < 0xa0) || (n >= 2 && is_turning(s)))
        return 0;
    /* noncharacters, which are not allowed in XML */
    if (n == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe)
        return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)))
        return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
        return 0;
    return n;
}

const char *ab_text_printable(char *dst, size_t cap, const char *s)
{
    size_t used = 0;
    const unsigned char *p = (const unsigned char *)s;
    while (*p != 0) {
        size_t n = utf8_length(p);
        if (used + (n > 0 ? n : 4) + 1 > cap)
            break;
        if (n > 0) {
            memcpy(dst + used, p, n);
            used += n;
            p += n;
        } else {
            snprintf(dst + used, cap - used, "\\x%02x", *p++);
            used += 4;
        }
    }
    dst[used] = 0;
    return dst;
}
