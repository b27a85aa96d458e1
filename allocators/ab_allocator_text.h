/* SPDX-License-Identifier: MIT
 *
 * Strings on any allocator: copies, printf, joining, a string builder, and whole files. A string
 * takes one byte more than its length, for the terminating zero; free it by ab_strfree. All
 * functions that return a string return NULL when memory is exhausted. arena/arena_text.h has the
 * same for an arena. Example: allocators/examples/library_hooks.c.
 */
#ifndef AB_ALLOCATORS_ALLOCATOR_TEXT_H
#define AB_ALLOCATORS_ALLOCATOR_TEXT_H

#include "ab_allocator.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the first n bytes of the text, which need not end there, and adds a zero. */
static inline char *ab_strndup(const struct ab_allocator *from, const char *text, size_t n)
{
    char *copy = n == SIZE_MAX ? NULL : AB_NEW_ARRAY(char, n + 1, from);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

static inline char *ab_strdup(const struct ab_allocator *from, const char *text)
{
    return ab_strndup(from, text, strlen(text));
}

/* Frees a string whose length has not changed. NULL does nothing. */
static inline void ab_strfree(const struct ab_allocator *from, char *text)
{
    if (text != NULL)
        AB_DELETE_ARRAY(char, strlen(text) + 1, text, from);
}

/* Size of the buffer on the stack into which a string is formatted first. A longer string is
 * formatted again, into a block of its exact length. */
enum { AB_PRINT_BYTES = 256 };

/* Returns a formatted string. Returns NULL also if formatting fails. */
__attribute__((format(printf, 2, 0))) static inline char *ab_vasprintf(
    const struct ab_allocator *from, const char *format, va_list arguments)
{
    char first[AB_PRINT_BYTES];
    va_list again;
    va_copy(again, arguments);
    int n = vsnprintf(first, sizeof first, format, arguments);
    char *text = NULL;
    if (n >= 0 && (size_t)n < sizeof first)
        text = ab_strndup(from, first, (size_t)n);
    else if (n >= 0 && (text = AB_NEW_ARRAY(char, (size_t)n + 1, from)) != NULL)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

__attribute__((format(printf, 2, 3))) static inline char *ab_asprintf(
    const struct ab_allocator *from, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = ab_vasprintf(from, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- a string builder ---- */

/* A string that grows at its end, in place if its allocator can. After memory was exhausted once,
 * it takes no more text, and ab_string_end returns NULL. */
struct ab_string {
    struct ab_allocator from;
    char *bytes;
    size_t length, capacity;
    bool is_broken;
};

static inline struct ab_string ab_string_from(const struct ab_allocator *from)
{
    struct ab_string text = {*from, NULL, 0, 0, false};
    return text;
}

/* Ensures that the string has capacity for n_more more bytes and the terminating NUL. Returns false
 * if memory is exhausted. */
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
    char *bytes = (char *)ab_allocator_resize(&t->from, t->bytes, t->capacity, capacity, 1);
    if (bytes == NULL) { /* twice the capacity is too much: try the exact size */
        capacity = least;
        bytes = (char *)ab_allocator_resize(&t->from, t->bytes, t->capacity, capacity, 1);
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

/* Returns the string and gives unused memory back. Returns NULL if memory was exhausted; the text
 * is then freed. The builder may be used further, and the string may then move. */
static inline char *ab_string_end(struct ab_string *t)
{
    size_t bytes = ab_string_reserve(t, 0) ? t->length + 1 : 0;
    if (bytes > 0)
        t->bytes[t->length] = 0;
    char *text = (char *)ab_allocator_resize(&t->from, t->bytes, t->capacity, bytes, 1);
    /* the block can neither shrink in place nor be copied to a smaller one: drop the text */
    if (text == NULL && bytes > 0)
        ab_allocator_delete(&t->from, t->bytes, t->capacity, 1);
    t->is_broken = text == NULL;
    t->length = text == NULL ? 0 : t->length;
    t->capacity = text == NULL ? 0 : bytes;
    t->bytes = text;
    return text;
}

/* Joins n strings, with `separator` between every two. Returns a new string, to be freed with
 * ab_strfree; NULL if memory is exhausted. */
static inline char *ab_strjoin(const struct ab_allocator *from, const char *const *parts, size_t n,
                               const char *separator)
{
    struct ab_string text = ab_string_from(from);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            ab_string_add(&text, separator);
        ab_string_add(&text, parts[i]);
    }
    return ab_string_end(&text);
}

/* ---- files ---- */

/* Adds the bytes up to the end of the file. Returns false and sets errno if they cannot be read or
 * memory is exhausted. */
static inline bool ab_string_add_file(struct ab_string *t, FILE *file)
{
    while (!feof(file) && !ferror(file)) {
        if (t->capacity - t->length < 2 && !ab_string_reserve(t, 1)) {
            errno = ENOMEM;
            return false;
        }
        t->length += fread(t->bytes + t->length, 1, t->capacity - t->length - 1, file);
    }
    return !ferror(file);
}

/* Returns all bytes of the file and a zero, and their number without the zero in *n_bytes. Returns
 * NULL and sets errno if the file cannot be read, ENOMEM if memory is exhausted. Uses stdio. */
static inline char *ab_read_file(const struct ab_allocator *from, const char *path, size_t *n_bytes)
{
    struct ab_string text = ab_string_from(from);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    clearerr(file);
    rewind(file);
    /* a directory reports LONG_MAX; the additional byte lets fread find the end */
    if (size >= 0 && size < LONG_MAX)
        (void)ab_string_reserve(&text, (size_t)size + 1);
    text.is_broken = !ab_string_add_file(&text, file) || text.is_broken;
    int error = errno;
    fclose(file);
    *n_bytes = text.length;
    errno = error;
    return ab_string_end(&text);
}

#ifdef __cplusplus
}
#endif

#endif
