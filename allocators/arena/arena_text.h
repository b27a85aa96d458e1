/* SPDX-License-Identifier: MIT
 *
 * The strings of ab_allocator_text.h in an arena. Strings are packed without padding, and a string
 * builder grows in place as long as nothing else is allocated. Example:
 * allocators/examples/string_building.c.
 */
#ifndef AB_ALLOCATORS_ARENA_TEXT_H
#define AB_ALLOCATORS_ARENA_TEXT_H

#include "../ab_allocator_text.h"
#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An allocator for bytes only: blocks are not aligned. */
AB_ALLOCATOR_DEFINE(ab_arena_text, struct ab_arena, ab_arena_alloc_packed(heap, 1, size), (void)0,
                    ab_arena_resize_aligned(heap, 1, ptr, size, new_size))

static inline char *ab_arena_strndup(struct ab_arena *arena, const char *text, size_t n)
{
    struct ab_allocator from = ab_arena_text_allocator(arena);
    return ab_strndup(&from, text, n);
}

static inline char *ab_arena_strdup(struct ab_arena *arena, const char *text)
{
    return ab_arena_strndup(arena, text, strlen(text));
}

__attribute__((format(printf, 2, 0))) static inline char *ab_arena_vprintf(struct ab_arena *arena,
                                                                           const char *format,
                                                                           va_list arguments)
{
    struct ab_allocator from = ab_arena_text_allocator(arena);
    return ab_vasprintf(&from, format, arguments);
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

static inline struct ab_string ab_string_begin(struct ab_arena *arena)
{
    struct ab_allocator from = ab_arena_text_allocator(arena);
    return ab_string_from(&from);
}

static inline char *ab_arena_join(struct ab_arena *arena, const char *const *parts, size_t n,
                                  const char *separator)
{
    struct ab_allocator from = ab_arena_text_allocator(arena);
    return ab_strjoin(&from, parts, n, separator);
}

#ifdef __cplusplus
}
#endif

#endif
