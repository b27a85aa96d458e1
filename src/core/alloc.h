/* SPDX-License-Identifier: MIT
 *
 * Memory of the parent process, and arrays that grow by doubling. If the system has no memory, the
 * process ends, so none of these functions returns NULL. Before the end, temporary files are
 * removed, one line with the requested size is printed, and the worker is ended. The exit code is
 * that for a refused resource. A size that an untrusted input claims must be checked before it is
 * passed here, because a wrong input is an error of its own.
 */
#ifndef AB_CORE_ALLOC_H
#define AB_CORE_ALLOC_H

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

/* Ends the process as ab_alloc() does, for libraries that report a lack of memory by NULL. Any
 * thread may call it. */
void ab_memory_end(size_t bytes) __attribute__((noreturn, cold));

/* Sets the function that is called before the process ends for lack of memory; NULL = none. `end`
 * ends child processes, must not allocate, and may end the process itself. */
void ab_memory_at_end(void (*end)(void));

/* Makes room for items[n] in an array with room for `cap` items (a size_t). AB_GROW leaves new
 * items uninitialized, AB_GROW_ZEROED sets them to 0. */
#define AB_GROW(items, cap, n) \
    do { \
        if ((n) >= (cap)) \
            ab_grow(&(items), &(cap), (n), sizeof *(items)); \
    } while (0)
#define AB_GROW_ZEROED(items, cap, n) \
    do { \
        if ((n) >= (cap)) \
            ab_grow_zeroed(&(items), &(cap), (n), sizeof *(items)); \
    } while (0)

/* Grow an array so that items[n] exists. `items` is the address of the pointer to the array. */
void ab_grow(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));
void ab_grow_zeroed(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));

/* Returns a buffer with room for n bytes. If *cap is too small, makes a new one, without the old
 * contents. */
void *ab_grow_anew(void *buffer, size_t *cap, size_t n);

/* Appends a borrowed word to the list of *n words. The list is malloc'ed and ends with NULL. */
void ab_grow_words(const char ***list, size_t *n, const char *word);

#endif
