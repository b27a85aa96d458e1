/* SPDX-License-Identifier: MIT
 *
 * Growth of arrays: to twice their size, or to the needed size if that is more.
 */
#include "core/grow.h"

#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 };

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
