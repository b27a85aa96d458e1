/* SPDX-License-Identifier: MIT
 *
 * A handle arena: values of one size that are named by index and version, never by address. Each
 * value has a version that its slot never had before, so that a handle outlives its value safely:
 * it is found to be stale, however often its slot was used again. Capacity is fixed when the arena
 * is made. Example: allocators/examples/entity_table.c. Usable on its own: this folder and ../common. One thread at a time; only get may run beside insertions and removals of other values.
 *
 * One word per slot has its whole state: its version in the high half; in the low half that it is live, that it
 * is retired, or which free slot comes next. The words are in an array of their own, so that
 * neither a stale handle nor the search for a free slot touches a value. A slot whose versions are
 * used up is retired and never used again, for a version that came back would revive old handles.
 */
#ifndef AB_ALLOCATORS_HANDLE_H
#define AB_ALLOCATORS_HANDLE_H

#include "../common/language.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_HANDLE_ALIGN ((size_t)16) /* of every value; what malloc gives */

#define AB_HANDLE_LIVE UINT32_MAX /* low half of a slot's word; below AB_HANDLE_END an index */
#define AB_HANDLE_RETIRED (UINT32_MAX - 1)
#define AB_HANDLE_END (UINT32_MAX - 2) /* of the list of free slots */
#define AB_HANDLE_CAPACITY_MAX AB_HANDLE_END
#define AB_HANDLE_BASE_END ((uint32_t)1 << 31)

struct ab_handle {
    uint32_t index, version; /* version 0 is no value's: a zeroed handle is stale in every arena */
};

struct ab_handle_arena {
    uint64_t *words; /* one a slot */
    char *values;
    size_t slot_bytes;
    uint32_t capacity;
    uint32_t n_carved;  /* slots from here on hold nothing: all handles to them are stale */
    uint32_t next_free; /* freed last, served first */
    uint32_t n_live;
    uint32_t n_retired;
    uint32_t n_dirty;      /* values from here on are zero, but for slots carved since the flush */
    uint32_t n_named;      /* words from here on are zero, with the same exception */
    uint32_t version_base; /* a slot's first one is the next */
    uint32_t version_max;  /* a slot's last one */
    size_t map_bytes;      /* words, then values */
    uint64_t n_os_calls;
};

struct ab_handle_options {
    size_t value_bytes;    /* 0 counts as 1; rounded up to the alignment */
    size_t align;          /* of every value: 0 or a power of two, at least AB_HANDLE_ALIGN */
    uint64_t capacity;     /* values at most, 1 … AB_HANDLE_CAPACITY_MAX */
    uint32_t version_max;  /* values a slot holds in its life; 0 = as many as there are versions */
    uint32_t version_base; /* versions begin after it, < AB_HANDLE_BASE_END. Arenas with bases that
                              differ find each other's handles stale, until a slot has held as many
                              values as the bases are apart */
};

/* Reserves addresses for all values and touches none. 0, EINVAL (no capacity, more than
 * AB_HANDLE_CAPACITY_MAX, or an alignment or a base that is none), ENOMEM; *arena is untouched on
 * failure. */
AB_MUST_USE int ab_handle_arena_init(struct ab_handle_arena *arena,
                                     const struct ab_handle_options *options);
/* Gives everything back to the system. */
void ab_handle_arena_fini(struct ab_handle_arena *arena);

/* The next slot that was not in use since the last flush and has a version left, as a free one, or
 * AB_HANDLE_END. */
uint32_t ab_handle_carve(struct ab_handle_arena *arena);
/* As ab_handle_insert; the value's bytes are zero. Only a used slot is cleared. */
int ab_handle_insert_zeroed(struct ab_handle_arena *arena, struct ab_handle *out);
/* Every handle becomes stale, every slot that is not retired is free again. O(1). */
void ab_handle_flush(struct ab_handle_arena *arena);

/* Live values one after the other, in the order of their slots: begin with a zeroed handle.
 * False after the last; *handle is untouched then. The current value may be removed meanwhile;
 * whether one that is inserted meanwhile will be met is open. */
bool ab_handle_next(const struct ab_handle_arena *arena, struct ab_handle *handle);

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
    return arena->values + (size_t)handle.index * arena->slot_bytes;
}

static inline const void *ab_handle_get(const struct ab_handle_arena *arena,
                                        struct ab_handle handle)
{
    return ab_handle_get_mut((struct ab_handle_arena *)arena, handle);
}

/* A new value, whose bytes are what they are. 0, or ENOSPC: the arena is full, all its slots are
 * live or retired; *out is untouched then. */
static inline int ab_handle_insert(struct ab_handle_arena *arena, struct ab_handle *out)
{
    uint32_t index = arena->next_free;
    if (index == AB_HANDLE_END && (index = ab_handle_carve(arena)) == AB_HANDLE_END)
        return ENOSPC;
    uint64_t word = arena->words[index];
    uint32_t version = (uint32_t)(word >> 32) + 1;
    arena->next_free = (uint32_t)word;
    ab_handle_set_word(arena, index, version, AB_HANDLE_LIVE);
    arena->n_live++;
    out->index = index;
    out->version = version;
    return 0;
}

/* False, and nothing happens, when the handle is stale. */
static inline bool ab_handle_remove(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (__builtin_expect(!ab_handle_is_live(arena, handle), 0))
        return false;
    if (__builtin_expect(handle.version == arena->version_max, 0)) {
        ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_RETIRED);
        arena->n_retired++;
    } else {
        ab_handle_set_word(arena, handle.index, handle.version, arena->next_free);
        arena->next_free = handle.index;
    }
    if (__builtin_expect(--arena->n_live == 0, 0))
        ab_handle_flush(arena);
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
