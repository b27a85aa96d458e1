/* SPDX-License-Identifier: MIT
 *
 * Handles of one type, so that the compiler refuses the handle of a ship where a shot is expected.
 * The header that includes this file defines AB_HANDLE_DEFINE_INIT, the functions that open an
 * arena.
 *
 * AB_HANDLE_DEFINE(ship, struct ship), outside of functions, defines struct ship_handle and struct
 * ship_arena. Their field `any` is a struct ab_handle and a struct ab_handle_arena. The macro also
 * defines these functions, which work like those of handle.h:
 *     int ship_arena_init(arena, capacity)         int ship_arena_init_buffer(arena, buffer, bytes)
 *     void ship_arena_fini(arena)
 *     struct ship *ship_insert(arena, &handle)     its bytes are zero; NULL: the arena is full
 *     struct ship *ship_get_mut(arena, handle)     NULL: the handle is stale; also ship_get
 *     bool ship_remove(arena, handle)              bool ship_next(arena, &handle)
 */
#ifndef AB_ALLOCATORS_HANDLE_DEFINE_H
#define AB_ALLOCATORS_HANDLE_DEFINE_H

#define AB_HANDLE_DEFINE(name, type) \
    struct name##_handle { \
        struct ab_handle any; \
    }; \
    struct name##_arena { \
        struct ab_handle_arena any; \
    }; \
    AB_HANDLE_DEFINE_INIT(name, type) \
    AB_HANDLE_INLINE void name##_arena_fini(struct name##_arena *arena) \
    { \
        ab_handle_arena_fini(&arena->any); \
    } \
    AB_HANDLE_INLINE type *name##_get_mut(struct name##_arena *arena, struct name##_handle handle) \
    { \
        return (type *)ab_handle_get_mut(&arena->any, handle.any); \
    } \
    AB_HANDLE_INLINE const type *name##_get(const struct name##_arena *arena, \
                                            struct name##_handle handle) \
    { \
        return (const type *)ab_handle_get(&arena->any, handle.any); \
    } \
    AB_HANDLE_INLINE type *name##_insert(struct name##_arena *arena, struct name##_handle *out) \
    { \
        return ab_handle_insert_zeroed(&arena->any, &out->any) == 0 ? name##_get_mut(arena, *out) \
                                                                    : NULL; \
    } \
    AB_HANDLE_INLINE bool name##_remove(struct name##_arena *arena, struct name##_handle handle) \
    { \
        return ab_handle_remove(&arena->any, handle.any); \
    } \
    AB_HANDLE_INLINE bool name##_next(const struct name##_arena *arena, \
                                      struct name##_handle *handle) \
    { \
        return ab_handle_next(&arena->any, &handle->any); \
    }
#define AB_HANDLE_INLINE static inline __attribute__((unused))

#define AB_HANDLE_DEFINE_INIT_BUFFER(name, type) \
    AB_HANDLE_INLINE int name##_arena_init_buffer(struct name##_arena *arena, void *ab_buffer, \
                                                  size_t ab_bytes) \
    { \
        return ab_handle_arena_init_type_buffer(&arena->any, sizeof(type), AB_ALIGNOF(type), \
                                                ab_buffer, ab_bytes); \
    }

#endif
