/* SPDX-License-Identifier: MIT
 *
 * Memory of the parent. When the system has none the process ends: temporary files and the worker
 * go, one line says how much was asked for, and the exit code is that of a resource that the system
 * refused. Hence none of these returns NULL. A number that an input merely claims is checked by who
 * reads it, before it gets here: a wrong input is an error of its own.
 */
#ifndef AB_CORE_MEMORY_H
#define AB_CORE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *ab_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *ab_alloc_zeroed(size_t n, size_t item_bytes) __attribute__((malloc, returns_nonnull));
void *ab_realloc(void *old, size_t n, size_t item_bytes) __attribute__((returns_nonnull));
void *ab_memdup(const void *from, size_t bytes) __attribute__((malloc, returns_nonnull));
char *ab_strdup(const char *s) __attribute__((malloc, returns_nonnull));
char *ab_strndup(const char *s, size_t most) __attribute__((malloc, returns_nonnull));
char *ab_strdupf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *ab_vstrdupf(const char *fmt, va_list args)
    __attribute__((format(printf, 1, 0), returns_nonnull));

/* Ends the process so, for libraries that say by NULL that there is none. Any thread may call it. */
void ab_memory_end(size_t bytes) __attribute__((noreturn, cold));

/* `end` is called before the process ends so, NULL = nobody: it ends what would live on, must not
 * allocate, and may end the process in its own way. */
void ab_memory_at_end(void (*end)(void));

#endif
