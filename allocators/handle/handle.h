/* SPDX-License-Identifier: MIT
 *
 * A handle arena: values of one size that are named by index and version, never by address. Each
 * value has a version that its slot never had before, so that a handle outlives its value safely:
 * it is found to be stale, however often its slot was used again. Capacity is fixed when the arena
 * is made. Example: allocators/examples/entity_table.c. Usable on its own: this folder and
 * ../common. One thread at a time; only get may run beside insertions and removals of other values.
 * 64-bit Linux with mmap; ../buffer/handle_buffer.h is for other systems.
 *
 * One word per slot has its whole state: its version in the high half; in the low half that it is
 * live, that it is hidden or retired, or which free slot comes next. The words are in an array of
 * their own, so that neither a stale handle nor the search for a free slot touches a value. A slot
 * whose versions are used up is retired and never used again, for a version that came back would
 * revive old handles.
 *
 * The checked build, -DAB_WITH_CHECKS, looks after values as that of the other allocators does
 * after blocks (../common/checked.h): who writes past one, or to one that was removed, ends the
 * process. A stale handle is NULL and false there too: to ask is no mistake. Values are not dense
 * then.
 */
#ifndef AB_ALLOCATORS_HANDLE_H
#define AB_ALLOCATORS_HANDLE_H

#ifdef AB_ALLOCATORS_HANDLE_BUFFER_H
#error "handle_buffer.h was included before: a program uses one of the two headers"
#endif

#include "../common/language.h"
#include "../common/marks.h"
#include "handle_define.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AB_HANDLE_CHECKS AB_CHECKS
/* What is called, or, in the checked build, what is below that. */
#ifdef AB_WITH_CHECKS
#define AB_HANDLE_PLAIN(name) ab_handle_plain_##name
#define AB_HANDLE_LEAD(arena) ((arena)->lead)
#else
#define AB_HANDLE_PLAIN(name) ab_handle_##name
#define AB_HANDLE_LEAD(arena) ((size_t)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define AB_HANDLE_ALIGN ((size_t)16) /* of every value; what malloc gives */

#define AB_HANDLE_LIVE UINT32_MAX /* low half of a slot's word; below AB_HANDLE_HIDDEN an index */
#define AB_HANDLE_RETIRED (UINT32_MAX - 1)
#define AB_HANDLE_END (UINT32_MAX - 2) /* of the list of free slots */
#define AB_HANDLE_HIDDEN (UINT32_MAX - 3)
#define AB_HANDLE_CAPACITY_MAX AB_HANDLE_HIDDEN
/* Addresses of an arena whose options give no capacity; half as many each time that the system
 * refuses. */
#define AB_HANDLE_BYTES_USUAL ((size_t)1 << 34)
#define AB_HANDLE_BASE_END ((uint32_t)1 << 31)
#define AB_HANDLE_BASE_ZERO UINT32_MAX /* versions from 1, as in every arena that says so */

struct ab_handle {
    uint32_t index, version; /* version 0 is no value's: a zeroed handle is stale in every arena */
};

struct ab_handle_arena {
    uint64_t *words; /* one a slot */
    char *values;
    size_t slot_bytes, stride; /* what a value may use; from value to value */
    uint32_t capacity;
    uint32_t n_carved;  /* slots from here on hold nothing: all handles to them are stale */
    uint32_t next_free; /* freed last, served first */
    uint32_t n_live;
    uint32_t n_retired;
    uint32_t n_dirty;      /* values from here on are zero, but for slots carved since the flush */
    uint32_t n_named;      /* words from here on are zero, with the same exception */
    uint32_t version_base; /* a slot's first one is the next */
    uint32_t version_max;  /* a slot's last one */
    uint32_t newest;       /* when ordered: the version that was given last */
    bool is_ordered;
    size_t map_bytes; /* words, then values; 0: they are in a buffer of the caller */
    uint64_t n_os_calls;
#ifdef AB_WITH_CHECKS
    struct ab_block_list blocks;
    size_t align, lead, value_bytes; /* lead: from the slot to the value */
#endif
};

struct ab_handle_options {
    size_t value_bytes;    /* 0 counts as 1; rounded up to the alignment */
    size_t align;          /* of every value: 0 or a power of two, at least AB_HANDLE_ALIGN */
    uint64_t capacity;     /* values at most, 1 … AB_HANDLE_CAPACITY_MAX; 0: capacity_bytes or
                          values_bytes says it, or, where all are 0, AB_HANDLE_BYTES_USUAL */
    uint32_t version_max;  /* values a slot holds in its life; 0 = as many as there are versions */
    uint32_t version_base; /* versions begin after it, < AB_HANDLE_BASE_END; 0 = one of the arena's
                              own, far from those of the arenas before it. Arenas with bases that
                              differ find each other's handles stale, until a slot has held as many
                              values as the bases are apart */
    size_t capacity_bytes; /* as many values as fit in so much memory, with their slots' words */
    size_t values_bytes;   /* as many values as fit in so much memory, not counting the words: dense
                              values of one byte, a million for each MB */
    bool is_dense;   /* values are placed as in an array: value_bytes apart, aligned to the largest
                              power of two, at most AB_HANDLE_ALIGN, that divides value_bytes */
    bool is_ordered; /* of any two handles the newer one has the higher version. Then
                              version_max is of all values that the arena holds in its life */
};

/* Reserves addresses for all values and touches none. 0, EINVAL (two capacities, more than
 * AB_HANDLE_CAPACITY_MAX, an alignment or a base that is none, dense values with an alignment),
 * ENOMEM; *arena is untouched on failure. */
AB_MUST_USE int ab_handle_arena_init(struct ab_handle_arena *arena,
                                     const struct ab_handle_options *options);
/* Opens the arena over `bytes` at `buffer`, which stay the caller's and need not be aligned or
 * zero. Makes no system call. Of the options only `capacity` says how many values there are; 0
 * means as many as fit. 0, EINVAL as above, or ENOMEM (the values do not fit); *arena is untouched
 * then. */
AB_MUST_USE int ab_handle_arena_init_buffer(struct ab_handle_arena *arena, void *buffer,
                                            size_t bytes, const struct ab_handle_options *options);
/* Gives everything back to the system. The checked build lists the values that were never removed,
 * unless a flush came before. */
void ab_handle_arena_fini(struct ab_handle_arena *arena);

/* The next slot that was not in use since the last flush and has a version left, as a free one, or
 * AB_HANDLE_END. */
uint32_t ab_handle_carve(struct ab_handle_arena *arena);
/* As ab_handle_insert; the value's bytes are zero. Only a used slot is cleared. */
AB_MUST_USE int ab_handle_insert_zeroed(struct ab_handle_arena *arena, struct ab_handle *out);
/* What ab_handle_insert does in an ordered arena. */
AB_MUST_USE int ab_handle_insert_ordered(struct ab_handle_arena *arena, struct ab_handle *out);
/* Every handle becomes stale, every slot that is not retired is free again. O(1). */
void ab_handle_flush(struct ab_handle_arena *arena);

/* Live values one after the other, in the order of their slots: begin with a zeroed handle.
 * False after the last; *handle is untouched then. The current value may be removed meanwhile;
 * whether one that is inserted meanwhile will be met is open. */
bool ab_handle_next(const struct ab_handle_arena *arena, struct ab_handle *handle);

#ifdef AB_WITH_CHECKS
AB_MUST_USE int ab_handle_insert(struct ab_handle_arena *arena, struct ab_handle *out);
bool ab_handle_remove(struct ab_handle_arena *arena, struct ab_handle handle);
int ab_handle_plain_insert_ordered(struct ab_handle_arena *arena, struct ab_handle *out);
void ab_handle_plain_flush(struct ab_handle_arena *arena);
void ab_handle_plain_arena_fini(struct ab_handle_arena *arena);
#endif

/* Of pages: that were in use since they were last given back; and those of them that hold words. */
size_t ab_handle_used_bytes(const struct ab_handle_arena *arena);
size_t ab_handle_word_bytes(const struct ab_handle_arena *arena);
/* Gives back the pages of values that no slot in use reaches. */
void ab_handle_purge(struct ab_handle_arena *arena);

static inline void ab_handle_set_word(struct ab_handle_arena *arena, uint32_t index,
                                      uint32_t version, uint32_t low)
{
    __atomic_store_n(&arena->words[index], (uint64_t)version << 32 | low, __ATOMIC_RELAXED);
}

static inline bool ab_handle_equal(struct ab_handle a, struct ab_handle b)
{
    return a.index == b.index && a.version == b.version;
}

/* Of two handles of an ordered arena, whether their values live or not. */
static inline bool ab_handle_is_older(struct ab_handle a, struct ab_handle b)
{
    return a.version < b.version;
}

/* Atomic, because another thread may just be carving. A slot past n_carved may still be marked
 * live from before a flush; it is unmarked before it is carved again. */
static inline bool ab_handle_is_live(const struct ab_handle_arena *arena, struct ab_handle handle)
{
    return handle.index < __atomic_load_n(&arena->n_carved, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&arena->words[handle.index], __ATOMIC_RELAXED) ==
               ((uint64_t)handle.version << 32 | AB_HANDLE_LIVE);
}

/* The value, or NULL for a stale handle. */
static inline void *ab_handle_get_mut(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (__builtin_expect(!ab_handle_is_live(arena, handle), 0))
        return NULL;
    return arena->values + (size_t)handle.index * arena->stride + AB_HANDLE_LEAD(arena);
}

static inline const void *ab_handle_get(const struct ab_handle_arena *arena,
                                        struct ab_handle handle)
{
    return ab_handle_get_mut((struct ab_handle_arena *)arena, handle);
}

/* To the tools the value in the slot is born, or is dead. The arena names the set of its blocks. */
static inline void ab_handle_mark_born(struct ab_handle_arena *arena, uint32_t index)
{
    char *value = arena->values + (size_t)index * arena->stride;
    (void)value;
    AB_MARK_UNUSED(value, arena->stride);
    AB_MARK_ALLOC(arena->values, value, arena->slot_bytes);
}

static inline void ab_handle_mark_dead(struct ab_handle_arena *arena, uint32_t index)
{
    char *value = arena->values + (size_t)index * arena->stride;
    (void)value;
    AB_MARK_FREE(arena->values, value, arena->slot_bytes);
}

/* A new value, whose bytes are what they are. 0, or ENOSPC: the arena is full, all its slots are
 * live or retired; *out is untouched then. */
static inline AB_MUST_USE int AB_HANDLE_PLAIN(insert)(struct ab_handle_arena *arena,
                                                      struct ab_handle *out)
{
    if (__builtin_expect(arena->is_ordered, 0))
        return AB_HANDLE_PLAIN(insert_ordered)(arena, out);
    uint32_t index = arena->next_free;
    if (index == AB_HANDLE_END && (index = ab_handle_carve(arena)) == AB_HANDLE_END)
        return ENOSPC;
    uint64_t word = arena->words[index];
    uint32_t version = (uint32_t)(word >> 32) + 1;
    arena->next_free = (uint32_t)word;
    ab_handle_set_word(arena, index, version, AB_HANDLE_LIVE);
    arena->n_live++;
    ab_handle_mark_born(arena, index);
    out->index = index;
    out->version = version;
    return 0;
}

/* False, and nothing happens, when the handle is stale. */
static inline bool AB_HANDLE_PLAIN(remove)(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (__builtin_expect(!ab_handle_is_live(arena, handle), 0))
        return false;
    ab_handle_mark_dead(arena, handle.index);
    if (__builtin_expect(handle.version == arena->version_max, 0)) {
        ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_RETIRED);
        arena->n_retired++;
    } else {
        ab_handle_set_word(arena, handle.index, handle.version, arena->next_free);
        arena->next_free = handle.index;
    }
    if (__builtin_expect(--arena->n_live == 0, 0))
        AB_HANDLE_PLAIN(flush)(arena);
    return true;
}

/* Hides a live value: its handle is stale until ab_handle_show, while its slot stays in use. For
 * who has something to do at the begin or the end of a value, meanwhile nobody finds it, and it
 * cannot be removed a second time. NULL when the handle is stale. */
static inline void *ab_handle_hide(struct ab_handle_arena *arena, struct ab_handle handle)
{
    void *value = ab_handle_get_mut(arena, handle);
    if (value != NULL)
        ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_HIDDEN);
    return value;
}

/* False, and nothing happens, when the value is not hidden. */
static inline bool ab_handle_show(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (handle.index >= arena->n_carved ||
        arena->words[handle.index] != ((uint64_t)handle.version << 32 | AB_HANDLE_HIDDEN))
        return false;
    ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_LIVE);
    return true;
}

/* What AB_HANDLE_DEFINE (handle_define.h) defines to open an arena of a type. */
#define AB_HANDLE_DEFINE_INIT(name, type) \
    AB_HANDLE_INLINE int name##_arena_init(struct name##_arena *arena, uint64_t capacity) \
    { \
        return ab_handle_arena_init_type(&arena->any, sizeof(type), AB_ALIGNOF(type), capacity); \
    } \
    AB_HANDLE_DEFINE_INIT_BUFFER(name, type)

static inline int ab_handle_arena_init_type(struct ab_handle_arena *arena, size_t value_bytes,
                                            size_t align, uint64_t capacity)
{
    struct ab_handle_options options;
    memset(&options, 0, sizeof options);
    options.value_bytes = value_bytes;
    options.align = align > AB_HANDLE_ALIGN ? align : 0;
    options.capacity = capacity;
    return ab_handle_arena_init(arena, &options);
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

#ifdef __cplusplus
}
#endif

#endif
