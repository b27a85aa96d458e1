/* SPDX-License-Identifier: MIT
 *
 * The handle arena of handle.h over a buffer of the caller, for a small system: one header without
 * a library. It makes no system call, knows no threads, and works on 32-bit systems too. It needs
 * gcc or clang, and memset.
 *
 *     AB_HANDLE_DEFINE(ship, struct ship)
 *     static char memory[4096];
 *     struct ship_arena ships;
 *     struct ship_handle handle;
 *     if (ship_arena_init_buffer(&ships, memory, sizeof memory) != 0) …
 *     struct ship *ship = ship_insert(&ships, &handle);        NULL: the arena is full
 *     ship_remove(&ships, handle);
 *     ship_get(&ships, handle) is NULL from now on
 *
 * The functions are those of handle.h, with the same names and results. So a program can be tested
 * with handle.h and its checked build on a workstation. A program includes one of the two headers,
 * never both. This header leaves out ordered versions, arenas of the system and the checked build.
 * AddressSanitizer and Valgrind (-DAB_WITH_VALGRIND) report the use of removed values here as well.
 *
 * Each slot takes 8 bytes beside its value. One thread at a time. The arena may be moved; the
 * buffer must stay where it is.
 */
#ifndef AB_ALLOCATORS_HANDLE_BUFFER_H
#define AB_ALLOCATORS_HANDLE_BUFFER_H

#define AB_ANY_POINTER_SIZE
#include "../common/language.h"
#include "../common/marks.h"
#include "../handle/handle_define.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef AB_ALLOCATORS_HANDLE_H
#error "handle.h was included before: it has everything that this header has"
#endif
#ifdef AB_WITH_CHECKS
#error "this header has no checked build: include handle.h, which has the same functions"
#endif

#define AB_HANDLE_ALIGN ((size_t)16) /* alignment of every value, unless the arena is dense */

/* States of a slot. A state below AB_HANDLE_HIDDEN is the index of the next free slot. */
#define AB_HANDLE_LIVE UINT32_MAX
#define AB_HANDLE_RETIRED (UINT32_MAX - 1)
#define AB_HANDLE_END (UINT32_MAX - 2) /* end of the list of free slots */
#define AB_HANDLE_HIDDEN (UINT32_MAX - 3)
#define AB_HANDLE_CAPACITY_MAX AB_HANDLE_HIDDEN
#define AB_HANDLE_BASE_END ((uint32_t)1 << 31)
/* value of the option version_base: versions start at 1, as in every arena with this value */
#define AB_HANDLE_BASE_ZERO UINT32_MAX

struct ab_handle {
    /* No value has version 0, so that a zeroed handle is stale in every arena. */
    uint32_t index, version;
};

struct ab_handle_word {
    uint32_t version; /* 0 = the slot was never used */
    uint32_t state;
};

struct ab_handle_arena {
    struct ab_handle_word *words; /* one for each slot */
    char *values;
    size_t slot_bytes, stride; /* usable bytes of a value; distance from value to value in bytes */
    uint32_t capacity;
    uint32_t n_carved;  /* number of slots, from the first, that were used since the last flush */
    uint32_t next_free; /* index of the first free slot; the slot freed last is used first */
    uint32_t n_live;
    uint32_t n_retired;
    uint32_t version_base; /* the version before the first one of every slot */
    uint32_t version_max;
};

struct ab_handle_options {
    size_t value_bytes; /* bytes; 0 counts as 1; rounded up to the alignment */
    /* alignment of every value: 0 or a power of two; at least AB_HANDLE_ALIGN is used */
    size_t align;
    uint64_t capacity; /* maximum number of live values; 0 = as many as fit in the buffer */
    /* number of values that a slot holds in its life; 0 = as many as there are versions */
    uint32_t version_max;
    /* Versions begin after this number, which must be below AB_HANDLE_BASE_END. 0 = the arena gets
     * its own, far from those of earlier arenas. */
    uint32_t version_base;
    /* True if values are placed as in an array, value_bytes apart. They are aligned to the largest
     * power of two that divides value_bytes, at most AB_HANDLE_ALIGN. */
    bool is_dense;
};

/* Number of arenas that the program has opened, not counting those with a version_base of their
 * own. */
#pragma weak ab_handle_buffer_opened
uint32_t ab_handle_buffer_opened;

/* Returns a version base that is far from those of the arenas opened before. */
static inline uint32_t ab_handle_own_base(void)
{
    uint32_t n = ++ab_handle_buffer_opened, base = 0;
    for (uint32_t bit = AB_HANDLE_BASE_END >> 1; n != 0 && bit != 0; bit >>= 1, n >>= 1)
        base |= (n & 1) != 0 ? bit : 0;
    return base;
}

/* Sets slot_bytes and stride. Returns the alignment of values, or 0 if the sizes are too large. */
static inline size_t ab_handle_lay_out(struct ab_handle_arena *made,
                                       const struct ab_handle_options *o)
{
    size_t least = o->value_bytes & (0 - o->value_bytes), most = PTRDIFF_MAX / 4;
    if (!o->is_dense || AB_MARKS || least == 0 || least > AB_HANDLE_ALIGN)
        least = AB_HANDLE_ALIGN;
    size_t align = o->align > least ? o->align : least;
    size_t bytes = o->value_bytes + (o->value_bytes == 0);
    if (bytes > most || align > most)
        return 0;
    made->slot_bytes = (bytes + align - 1) & ~(align - 1);
    made->stride = (made->slot_bytes + AB_MARK_GAP + align - 1) & ~(align - 1);
    return align;
}

/* Places words and values of `capacity` slots in the buffer; false if they do not fit. */
static inline bool ab_handle_fits(struct ab_handle_arena *made, char *buffer, size_t bytes,
                                  size_t align, uint64_t capacity)
{
    size_t head = (size_t)(-(uintptr_t)buffer & (sizeof(struct ab_handle_word) - 1));
    if (head >= bytes || capacity > (bytes - head) / sizeof(struct ab_handle_word))
        return false;
    size_t at = head + (size_t)capacity * sizeof(struct ab_handle_word);
    at += (size_t)(-((uintptr_t)buffer + at) & (align - 1));
    if (at >= bytes || capacity > (bytes - at) / made->stride)
        return false;
    made->words = (struct ab_handle_word *)(void *)(buffer + head);
    made->values = buffer + at;
    made->capacity = (uint32_t)capacity;
    return capacity != 0;
}

/* Opens the arena over `bytes` at `buffer`, which need not be aligned or zero. Returns 0, EINVAL or
 * ENOMEM (the values do not fit); on failure *arena is untouched. EINVAL means: an invalid
 * alignment or base, more than AB_HANDLE_CAPACITY_MAX, or dense values with an alignment. */
static inline AB_MUST_USE int ab_handle_arena_init_buffer(struct ab_handle_arena *arena,
                                                          void *buffer, size_t bytes,
                                                          const struct ab_handle_options *options)
{
    const struct ab_handle_options *o = options;
    struct ab_handle_arena made;
    memset(&made, 0, sizeof made);
    if ((o->version_base >= AB_HANDLE_BASE_END && o->version_base != AB_HANDLE_BASE_ZERO) ||
        o->capacity > AB_HANDLE_CAPACITY_MAX || (o->align & (o->align - 1)) != 0 ||
        (o->is_dense && o->align != 0))
        return EINVAL;
    size_t align = ab_handle_lay_out(&made, o);
    if (align == 0)
        return ENOMEM;
    uint64_t capacity = o->capacity;
    if (capacity == 0) {
        capacity = bytes / (made.stride + sizeof(struct ab_handle_word));
        capacity = capacity < AB_HANDLE_CAPACITY_MAX ? capacity : AB_HANDLE_CAPACITY_MAX;
        while (capacity > 0 && !ab_handle_fits(&made, (char *)buffer, bytes, align, capacity))
            capacity--;
    }
    if (!ab_handle_fits(&made, (char *)buffer, bytes, align, capacity))
        return ENOMEM;
    memset(made.words, 0, made.capacity * sizeof made.words[0]);
    made.next_free = AB_HANDLE_END;
    made.version_base = o->version_base == 0                     ? ab_handle_own_base()
                        : o->version_base == AB_HANDLE_BASE_ZERO ? 0
                                                                 : o->version_base;
    bool is_bounded = o->version_max != 0 && o->version_max < UINT32_MAX - made.version_base;
    made.version_max = is_bounded ? made.version_base + o->version_max : UINT32_MAX;
    *arena = made;
    AB_MARK_POOL_CREATE(made.values);
    AB_MARK_UNUSED(made.values, made.capacity * made.stride);
    return 0;
}

static inline int ab_handle_arena_init_type_buffer(struct ab_handle_arena *arena,
                                                   size_t value_bytes, size_t align, void *buffer,
                                                   size_t bytes)
{
    struct ab_handle_options options;
    memset(&options, 0, sizeof options);
    options.value_bytes = value_bytes;
    options.align = align > AB_HANDLE_ALIGN ? align : 0;
    return ab_handle_arena_init_buffer(arena, buffer, bytes, &options);
}

/* Closes the arena. The buffer is the caller's again. */
static inline void ab_handle_arena_fini(struct ab_handle_arena *arena)
{
    if (arena->words != NULL) {
        AB_MARK_POOL_DESTROY(arena->values);
        AB_MARK_DEFINED(arena->values, arena->capacity * arena->stride);
    }
    memset(arena, 0, sizeof *arena);
}

static inline bool ab_handle_equal(struct ab_handle a, struct ab_handle b)
{
    return a.index == b.index && a.version == b.version;
}

/* Makes every handle stale, and makes every slot free except retired ones. O(1). */
static inline void ab_handle_flush(struct ab_handle_arena *arena)
{
    AB_MARK_POOL_TRIM(arena->values, arena->values, 0);
    AB_MARK_UNUSED(arena->values, arena->n_carved * arena->stride);
    arena->next_free = AB_HANDLE_END;
    arena->n_live = 0;
    arena->n_carved = 0;
}

static inline bool ab_handle_is_live(const struct ab_handle_arena *arena, struct ab_handle handle)
{
    return handle.index < arena->n_carved && arena->words[handle.index].version == handle.version &&
           arena->words[handle.index].state == AB_HANDLE_LIVE;
}

/* Returns the value, or NULL for a stale handle. */
static inline void *ab_handle_get_mut(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (!ab_handle_is_live(arena, handle))
        return NULL;
    return arena->values + (size_t)handle.index * arena->stride;
}

static inline const void *ab_handle_get(const struct ab_handle_arena *arena,
                                        struct ab_handle handle)
{
    return ab_handle_get_mut((struct ab_handle_arena *)(uintptr_t)arena, handle);
}

/* Returns the index of the next slot that was not used since the last flush and has a version left;
 * AB_HANDLE_END if there is none. A slot whose versions are used up is retired, because a version
 * that came back would revive old handles. */
static inline uint32_t ab_handle_carve(struct ab_handle_arena *arena)
{
    while (arena->n_carved < arena->capacity) {
        uint32_t index = arena->n_carved++;
        struct ab_handle_word *word = &arena->words[index];
        if (word->version == 0)
            word->version = arena->version_base;
        if (word->version < arena->version_max) {
            word->state = AB_HANDLE_END;
            return index;
        }
        if (word->state != AB_HANDLE_RETIRED)
            arena->n_retired++;
        word->state = AB_HANDLE_RETIRED;
    }
    return AB_HANDLE_END;
}

/* Inserts a value, whose bytes are undefined. Returns 0, or ENOSPC if the arena is full; *out is
 * then untouched. */
static inline AB_MUST_USE int ab_handle_insert(struct ab_handle_arena *arena, struct ab_handle *out)
{
    uint32_t index = arena->next_free;
    if (index == AB_HANDLE_END && (index = ab_handle_carve(arena)) == AB_HANDLE_END)
        return ENOSPC;
    struct ab_handle_word *word = &arena->words[index];
    arena->next_free = word->state;
    word->version++;
    word->state = AB_HANDLE_LIVE;
    arena->n_live++;
    AB_MARK_ALLOC(arena->values, arena->values + (size_t)index * arena->stride, arena->slot_bytes);
    out->index = index;
    out->version = word->version;
    return 0;
}

/* Inserts like ab_handle_insert; the bytes of the value are zero. */
static inline AB_MUST_USE int ab_handle_insert_zeroed(struct ab_handle_arena *arena,
                                                      struct ab_handle *out)
{
    int error = ab_handle_insert(arena, out);
    if (error == 0)
        memset(ab_handle_get_mut(arena, *out), 0, arena->slot_bytes);
    return error;
}

/* Removes a value. Returns false and does nothing if the handle is stale. */
static inline bool ab_handle_remove(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (!ab_handle_is_live(arena, handle))
        return false;
    struct ab_handle_word *word = &arena->words[handle.index];
    AB_MARK_FREE(arena->values, arena->values + (size_t)handle.index * arena->stride,
                 arena->slot_bytes);
    if (word->version == arena->version_max) {
        word->state = AB_HANDLE_RETIRED;
        arena->n_retired++;
    } else {
        word->state = arena->next_free;
        arena->next_free = handle.index;
    }
    if (--arena->n_live == 0)
        ab_handle_flush(arena);
    return true;
}

/* Hides a live value: its handle is stale until ab_handle_show, while its slot stays in use.
 * Returns NULL if the handle is stale. */
static inline void *ab_handle_hide(struct ab_handle_arena *arena, struct ab_handle handle)
{
    void *value = ab_handle_get_mut(arena, handle);
    if (value != NULL)
        arena->words[handle.index].state = AB_HANDLE_HIDDEN;
    return value;
}

/* Shows a hidden value again. Returns false and does nothing if the value is not hidden. */
static inline bool ab_handle_show(struct ab_handle_arena *arena, struct ab_handle handle)
{
    struct ab_handle_word *word = &arena->words[handle.index];
    if (handle.index >= arena->n_carved || word->version != handle.version ||
        word->state != AB_HANDLE_HIDDEN)
        return false;
    word->state = AB_HANDLE_LIVE;
    return true;
}

/* Steps through the live values in the order of their slots; begin with a zeroed handle. Returns
 * false after the last value. The current value may be removed meanwhile. */
static inline bool ab_handle_next(const struct ab_handle_arena *arena, struct ab_handle *handle)
{
    for (uint32_t i = handle->version == 0 ? 0 : handle->index + 1; i < arena->n_carved; i++) {
        if (arena->words[i].state != AB_HANDLE_LIVE)
            continue;
        handle->index = i;
        handle->version = arena->words[i].version;
        return true;
    }
    return false;
}

#define AB_HANDLE_DEFINE_INIT(name, type) AB_HANDLE_DEFINE_INIT_BUFFER(name, type)

#endif
