/* SPDX-License-Identifier: MIT
 *
 * Memory of the parent process. Outside of cli, no other file ends the process because of an error.
 * Returning an error through many callers would need memory too, and no caller could do better.
 */
#include "core/alloc.h"

#include "core/status.h"
#include "core/unfinished.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*at_end)(void);

void ab_memory_at_end(void (*end)(void))
{
    at_end = end;
}

void ab_memory_end(size_t bytes)
{
    static int is_ending;
    char line[80];
    if (__atomic_exchange_n(&is_ending, 1, __ATOMIC_SEQ_CST) != 0)
        for (;;)
            pause(); /* waits until the other thread has ended the process */
    ab_unfinished_remove();
    int n = snprintf(line, sizeof line, "allocbench: out of memory (asked for %zu bytes)\n", bytes);
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
    (void)ignored;
    if (at_end != NULL)
        at_end();
    _exit(ab_status_exit_code(AB_SYSTEM));
}

static void *checked(void *p, size_t n, size_t item_bytes)
{
    size_t bytes;
    if (p == NULL)
        ab_memory_end(__builtin_mul_overflow(n, item_bytes, &bytes) ? SIZE_MAX : bytes);
    return p;
}

void *ab_alloc(size_t bytes)
{
    return checked(malloc(bytes > 0 ? bytes : 1), bytes, 1);
}

void *ab_alloc_zeroed(size_t n, size_t item_bytes)
{
    return checked(calloc(n > 0 ? n : 1, item_bytes), n, item_bytes);
}

void *ab_realloc(void *old, size_t n, size_t item_bytes)
{
    return checked(reallocarray(old, n > 0 ? n : 1, item_bytes), n, item_bytes);
}

void *ab_memdup(const void *from, size_t bytes)
{
    void *copy = ab_alloc(bytes);
    return bytes > 0 ? memcpy(copy, from, bytes) : copy;
}

char *ab_strdup(const char *s)
{
    return ab_memdup(s, strlen(s) + 1);
}

char *ab_strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *copy = ab_alloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

char *ab_vstrdupf(const char *fmt, va_list args)
{
    char *text;
    int n = vasprintf(&text, fmt, args);
    return n >= 0 ? text : checked(NULL, strlen(fmt), 1);
}

char *ab_strdupf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    return text;
}

enum { LEAST = 16 }; /* items */

void ab_grow(void *items, size_t *cap, size_t n, size_t item_bytes)
{
    void **array = items;
    size_t wanted = *cap < LEAST / 2 ? LEAST : *cap * 2;
    if (wanted <= n)
        wanted = n + 1;
    *array = ab_realloc(*array, wanted, item_bytes);
    *cap = wanted;
}

void ab_grow_zeroed(void *items, size_t *cap, size_t n, size_t item_bytes)
{
    char **array = items;
    size_t old = *cap;
    ab_grow(items, cap, n, item_bytes);
    memset(*array + old * item_bytes, 0, (*cap - old) * item_bytes);
}

void *ab_grow_anew(void *buffer, size_t *cap, size_t n)
{
    if (n <= *cap)
        return buffer;
    free(buffer);
    *cap = n;
    return ab_alloc(n);
}

void ab_grow_words(const char ***list, size_t *n, const char *word)
{
    *list = ab_realloc(*list, *n + 2, sizeof(*list)[0]);
    (*list)[(*n)++] = word;
    (*list)[*n] = NULL;
}
