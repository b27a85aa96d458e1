/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow by doubling. For the parent only, because the worker must not call malloc.
 */
#ifndef AB_CORE_GROW_H
#define AB_CORE_GROW_H

#include <stddef.h>

/* Makes room for items[n] in an array with room for `cap` items (a size_t). New items are
 * uninitialized with AB_GROW, and 0 with AB_GROW_ZEROED. */
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

/* Grow the array whose pointer is at the address `items`, so that items[n] exists. */
void ab_grow(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));
void ab_grow_zeroed(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));

/* Returns a buffer with room for n bytes. If *cap is too small, makes a new one, without the old
 * contents. */
void *ab_grow_anew(void *buffer, size_t *cap, size_t n);

/* Appends a word, which is borrowed, to a malloc'ed list of *n words that ends with NULL. */
void ab_grow_words(const char ***list, size_t *n, const char *word);

#endif
