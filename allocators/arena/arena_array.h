/* SPDX-License-Identifier: MIT
 *
 * Arrays in an arena that grow: in place as long as nothing else is allocated, else by a copy into
 * twice the room. Example: allocators/examples/particles.c.
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

/* All zero is an empty one. It lives as long as what the arena held when it last grew. */
#define AB_ARRAY(type) \
    struct { \
        type *at; \
        size_t n, capacity; \
    }

/* Room for `least` values in all; false when memory is exhausted, and nothing has changed then. */
#define AB_ARRAY_RESERVE(arena, array, least) \
    ((array)->at = (__typeof__((array)->at))ab_array_grow( \
         (arena), (array)->at, __alignof__(*(array)->at), sizeof *(array)->at, &(array)->capacity, \
         (least)), \
     (array)->capacity >= (least))

/* One more value at the end; the arguments after `array` are the value. False as above. */
#define AB_ARRAY_PUSH(arena, array, ...) \
    (AB_ARRAY_RESERVE(arena, array, (array)->n + 1) \
         ? ((array)->at[(array)->n] = (__VA_ARGS__), (array)->n++, true) \
         : false)

/* The last one takes the place of the one at `index`, which is below n. */
#define AB_ARRAY_SWAP_POP(array, index) \
    ((void)((array)->at[(index)] = (array)->at[(array)->n - 1], (array)->n--))

/* The array, perhaps elsewhere. *capacity says whether there is room now. */
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
