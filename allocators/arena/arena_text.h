/* SPDX-License-Identifier: MIT
 *
 * Strings in an arena: copies, printf, joining, and a builder that grows in place as long as
 * nothing else is allocated. A string takes its length and the byte that ends it. All functions
 * return NULL when memory is exhausted. Example: allocators/examples/string_building.c.
 */
#ifndef AB_ALLOCATORS_ARENA_TEXT_H
#define AB_ALLOCATORS_ARENA_TEXT_H

#include "arena.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first n bytes of the text, which need not end there, and a zero. */
static inline char *ab_arena_strndup(struct ab_arena *arena, const char *text, size_t n)
{
    char *copy = n == SIZE_MAX ? NULL : (char *)ab_arena_alloc_packed(arena, 1, n + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

static inline char *ab_arena_strdup(struct ab_arena *arena, const char *text)
{
    return ab_arena_strndup(arena, text, strlen(text));
}

/* Formatted twice when it is longer than this: once to learn how long it is. */
enum { AB_ARENA_PRINT_BYTES = 256 };

/* NULL also for a format that fails. */
__attribute__((format(printf, 2, 0))) static inline char *ab_arena_vprintf(struct ab_arena *arena,
                                                                           const char *format,
                                                                           va_list arguments)
{
    char first[AB_ARENA_PRINT_BYTES];
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(first, sizeof first, format, arguments);
    char *text = NULL;
    if (n >= 0 && (size_t)n < sizeof first)
        text = ab_arena_strndup(arena, first, (size_t)n);
    else if (n >= 0 && (text = (char *)ab_arena_alloc_packed(arena, 1, (size_t)n + 1)) != NULL)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

__attribute__((format(printf, 2, 3))) static inline char *ab_arena_printf(struct ab_arena *arena,
                                                                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = ab_arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- a string that grows ---- */

/* Text is added at its end; where nothing else was allocated since, it grows in place. When memory
 * is exhausted once, it takes no more, and ab_string_end says so. */
struct ab_string {
    struct ab_arena *arena;
    char *bytes;
    size_t length, capacity;
    bool is_broken;
};

static inline struct ab_string ab_string_begin(struct ab_arena *arena)
{
    struct ab_string text = {arena, NULL, 0, 0, false};
    return text;
}

/* Room for so many bytes more, and the zero. */
static inline bool ab_string_reserve(struct ab_string *t, size_t n_more)
{
    size_t least = t->length + n_more + 1, capacity = 2 * t->capacity;
    if (t->is_broken || least <= n_more) {
        t->is_broken = true;
        return false;
    }
    if (least <= t->capacity)
        return true;
    capacity = capacity < 32 ? 32 : capacity;
    capacity = capacity < least ? least : capacity;
    char *bytes = (char *)ab_arena_resize_aligned(t->arena, 1, t->bytes, t->capacity, capacity);
    if (bytes == NULL) { /* not twice as much, but what is needed may fit */
        capacity = least;
        bytes = (char *)ab_arena_resize_aligned(t->arena, 1, t->bytes, t->capacity, capacity);
    }
    t->is_broken = bytes == NULL;
    if (bytes == NULL)
        return false;
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

static inline void ab_string_add_bytes(struct ab_string *t, const char *bytes, size_t n)
{
    if (n > 0 && ab_string_reserve(t, n)) {
        memcpy(t->bytes + t->length, bytes, n);
        t->length += n;
    }
}

static inline void ab_string_add(struct ab_string *t, const char *text)
{
    ab_string_add_bytes(t, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static inline void ab_string_printf(struct ab_string *t,
                                                                          const char *format, ...)
{
    va_list arguments;
    size_t room = t->capacity - t->length;
    va_start(arguments, format);
    int n = vsnprintf(t->bytes == NULL ? NULL : t->bytes + t->length, room, format, arguments);
    va_end(arguments);
    if (n < 0) {
        t->is_broken = true;
    } else if ((size_t)n < room && !t->is_broken) {
        t->length += (size_t)n;
    } else if (ab_string_reserve(t, (size_t)n)) {
        va_start(arguments, format);
        vsnprintf(t->bytes + t->length, (size_t)n + 1, format, arguments);
        va_end(arguments);
        t->length += (size_t)n;
    }
}

/* The string; what it does not need goes back when it is on top. NULL when it is not whole. The
 * builder may go on, and the string may then move. */
static inline char *ab_string_end(struct ab_string *t)
{
    if (!ab_string_reserve(t, 0))
        return NULL;
    t->bytes[t->length] = 0;
    size_t bytes = t->length + 1;
    t->bytes = (char *)ab_arena_resize_aligned(t->arena, 1, t->bytes, t->capacity, bytes);
    t->capacity = bytes;
    return t->bytes;
}

/* All of the parts with the separator between them. */
static inline char *ab_arena_join(struct ab_arena *arena, const char *const *parts, size_t n,
                                  const char *separator)
{
    struct ab_string text = ab_string_begin(arena);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            ab_string_add(&text, separator);
        ab_string_add(&text, parts[i]);
    }
    return ab_string_end(&text);
}

#ifdef __cplusplus
}
#endif

#endif
