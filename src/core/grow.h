/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow by doubling. In the parent only: the worker must not call malloc.
 */
#ifndef AB_CORE_GROW_H
#define AB_CORE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Room for items[n] in an array that holds `cap` (a size_t): false when out of memory, and nothing
 * has changed then. What AB_GROW adds is not initialised; what AB_GROW_ZEROED adds is 0. */
#define AB_GROW(items, cap, n) ((n) < (cap) || ab_grow(&(items), &(cap), (n), sizeof *(items)))
#define AB_GROW_ZEROED(items, cap, n) \
    ((n) < (cap) || ab_grow_zeroed(&(items), &(cap), (n), sizeof *(items)))

/* `items` is the address of the pointer to the array. */
bool ab_grow(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));
bool ab_grow_zeroed(void *items, size_t *cap, size_t n, size_t item_bytes) __attribute__((cold));

/* Room for n bytes in a buffer of *cap, which are lost when it has not; NULL = out of memory, and
 * *cap is 0 then. */
void *ab_grow_anew(void *buffer, size_t *cap, size_t n);

#endif
