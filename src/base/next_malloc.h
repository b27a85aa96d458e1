/* SPDX-License-Identifier: MIT
 *
 * For a library that interposes malloc: finds the next definitions of the malloc functions, and has
 * memory for the requests of dlsym itself during the search. To be included once in a library.
 */
#ifndef AB_BASE_NEXT_MALLOC_H
#define AB_BASE_NEXT_MALLOC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The functions to find, as X(name, return type, parameters). The pointer to a missing function is
 * NULL. */
#define AB_NEXT_FUNCTIONS(X) \
    X(malloc, void *, (size_t)) \
    X(free, void, (void *)) \
    X(calloc, void *, (size_t, size_t)) \
    X(realloc, void *, (void *, size_t)) \
    X(reallocarray, void *, (void *, size_t, size_t)) \
    X(memalign, void *, (size_t, size_t)) \
    X(posix_memalign, int, (void **, size_t, size_t)) \
    X(aligned_alloc, void *, (size_t, size_t)) \
    X(valloc, void *, (size_t)) \
    X(pvalloc, void *, (size_t)) \
    X(malloc_usable_size, size_t, (void *))

static struct {
#define AB_NEXT_POINTER(name, type, parameters) type(*name) parameters;
    AB_NEXT_FUNCTIONS(AB_NEXT_POINTER)
#undef AB_NEXT_POINTER
} real;

static inline void find_real_functions(void)
{
#define AB_NEXT_FIND(name, type, parameters) *(void **)&real.name = dlsym(RTLD_NEXT, #name);
    AB_NEXT_FUNCTIONS(AB_NEXT_FIND)
#undef AB_NEXT_FIND
}

/* Memory for the requests that arrive during the search; never freed. */
static _Alignas(16) char early[65536];
static size_t early_used;

/* Allocates from `early`. The memory is zero, because it was never used before. */
static inline void *early_alloc(size_t size)
{
    size_t bytes = (size + 31) & ~(size_t)15; /* the 16 bytes in front hold the size */
    if (size > sizeof early || bytes > sizeof early - early_used)
        return NULL;
    char *p = early + early_used;
    early_used += bytes;
    memcpy(p, &size, sizeof size);
    return p + 16;
}

static inline bool is_early(const void *p)
{
    return (uintptr_t)p - (uintptr_t)early < sizeof early;
}

static inline size_t early_size(const void *p)
{
    size_t size;
    memcpy(&size, (const char *)p - 16, sizeof size);
    return size;
}

#endif
