/* SPDX-License-Identifier: MIT
 *
 * Growable arrays in an arena. An array grows in place as long as nothing else is allocated;
 * otherwise it is copied to a block of twice the size. Example: allocators/examples/particles.c.
 *
 *     typedef AB_ARRAY(struct hit) hits_t;    or: AB_ARRAY(struct hit) hits = {0};
 *     if (!AB_ARRAY_PUSH(&arena, &hits, hit)) …;
 *     for (size_t i = 0; i < hits.n; i++) use(&hits.at[i]);
 */
#ifndef AB_ALLOCATORS_ARENA_ARRAY_H
#define AB_ALLOCATORS_ARENA_ARRAY_H

#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zero-initialized array is empty. Its storage lives as long as an arena block allocated when it
 * last grew: going back past that point invalidates it. */
#define AB_ARRAY(type) \
    struct { \
        type *at; \
        size_t n, capacity; \
    }

/* Grows the capacity to at least `least` values. Evaluates to false if memory is exhausted; the
 * array is then unchanged. */
#define AB_ARRAY_RESERVE(arena, array, least) \
    ((array)->at = (__typeof__((array)->at))ab_array_grow( \
         (arena), (array)->at, __alignof__(*(array)->at), sizeof *(array)->at, &(array)->capacity, \
         (least)), \
     (array)->capacity >= (least))

/* Appends one value, which may contain commas, as {…} literals do. Evaluates to false if memory is
 * exhausted; the array is then unchanged. */
#define AB_ARRAY_PUSH(arena, array, ...) \
    (AB_ARRAY_RESERVE(arena, array, (array)->n + 1) \
         ? ((array)->at[(array)->n] = (__VA_ARGS__), (array)->n++, true) \
         : false)

/* Removes the value at `index`, which is below n, and moves the last value into its place. */
#define AB_ARRAY_SWAP_POP(array, index) \
    ((void)((array)->at[(index)] = (array)->at[(array)->n - 1], (array)->n--))

/* Grows the array to room for at least `least` values. Returns the array, which may have moved. If
 * memory is exhausted, *capacity stays below `least`. */
static inline void *ab_array_grow(struct ab_arena *arena, void *at, size_t align, size_t each_bytes,
                                  size_t *capacity, size_t least)
{
    size_t wanted = *capacity < 8 ? 8 : 2 * *capacity, bytes;
    if (least <= *capacity)
        return at;
    for (wanted = wanted < least ? least : wanted;; wanted = least) {
        void *grown = NULL;
        if (!__builtin_mul_overflow(wanted, each_bytes, &bytes))
            grown = ab_arena_resize_aligned(arena, align, at, *capacity * each_bytes, bytes);
        if (grown != NULL) {
            *capacity = wanted;
            return grown;
        }
        if (wanted == least)
            return at;
    }
}

#ifdef __cplusplus
}
#endif

#endif
