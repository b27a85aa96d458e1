/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow by doubling. In the parent only: the worker must not call malloc.
 */
#ifndef AB_CORE_GROW_H
#define AB_CORE_GROW_H

#include <stddef.h>

/* Makes room for items[n] in an array that holds `cap` (a size_t). What AB_GROW adds is not
 * initialised; what AB_GROW_ZEROED adds is 0. */
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

/* `items` is the address of the pointer to the array. */
void ab_grow(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));
void ab_grow_zeroed(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));

/* Room for n bytes in a buffer of *cap, which are lost when it has not. */
void *ab_grow_anew(void *buffer, size_t *cap, size_t n);

#endif
