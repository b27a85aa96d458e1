/* SPDX-License-Identifier: MIT
 *
 * A handle arena: values of one size that are named by index and version, never by address. A slot
 * gives each of its values a new version. So a handle safely outlives its value: it is found to be
 * stale, however often its slot was used again. The capacity is fixed when the arena is opened.
 *
 * For one thread; only ab_handle_get may run in other threads, beside insertions and removals of
 * other values. Example: allocators/examples/entity_table.c. Can be used on its own: this folder
 * and ../common. Needs 64-bit Linux with mmap; ../buffer/handle_buffer.h is for other systems.
 *
 * One word per slot holds its whole state. The high half is its version. The low half says that the
 * slot is live, hidden or retired, or is the index of the next free slot. The words are in an array
 * of their own, so that neither a stale handle nor the search for a free slot touches a value. A
 * slot whose versions are used up is retired and never used again, because a version that came back
 * would revive old handles.
 *
 * The checked build, -DAB_WITH_CHECKS, checks values like the blocks of the other allocators
 * (../common/checked.h): a write past a value, or to a removed one, ends the process. To use a
 * stale handle is not a mistake: it gives NULL or false in the checked build too. Values are not
 * dense in the checked build.
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
/* AB_HANDLE_PLAIN(name) names a function without checks. Programs call it directly, except in the
 * checked build. There they call a wrapper, which checks and then calls it. */
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

#define AB_HANDLE_ALIGN ((size_t)16) /* default alignment of every value, like malloc's */

/* Values of the low half of a slot's word. A value below AB_HANDLE_HIDDEN is the index of the next
 * free slot. */
#define AB_HANDLE_LIVE UINT32_MAX
#define AB_HANDLE_RETIRED (UINT32_MAX - 1)
#define AB_HANDLE_END (UINT32_MAX - 2) /* end of the list of free slots */
#define AB_HANDLE_HIDDEN (UINT32_MAX - 3)
#define AB_HANDLE_CAPACITY_MAX AB_HANDLE_HIDDEN
/* Bytes of addresses of an arena whose options give no capacity; halved each time the system
 * refuses. */
#define AB_HANDLE_BYTES_USUAL ((size_t)1 << 34)
#define AB_HANDLE_BASE_END ((uint32_t)1 << 31)
/* value of the option version_base: versions start at 1, as in every arena with this value */
#define AB_HANDLE_BASE_ZERO UINT32_MAX

struct ab_handle {
    /* No value has version 0, so that a zeroed handle is stale in every arena. */
    uint32_t index, version;
};

struct ab_handle_arena {
    uint64_t *words; /* one word per slot */
    char *values;
    size_t slot_bytes, stride; /* usable bytes of a value; distance from value to value */
    uint32_t capacity;
    /* number of slots, from the first, that were used since the last flush; all handles to later
     * slots are stale */
    uint32_t n_carved;
    uint32_t next_free; /* index of the first free slot; the slot freed last is used first */
    uint32_t n_live;
    uint32_t n_retired;
    /* values from here on are zero, except in slots carved since the last flush */
    uint32_t n_dirty;
    /* words from here on are zero, except those of slots carved since the last flush */
    uint32_t n_named;
    uint32_t version_base; /* the version before the first one of every slot */
    uint32_t version_max;  /* the last version of every slot */
    uint32_t newest;       /* in an ordered arena: the version that was given last */
    bool is_ordered;
    /* bytes of the mapping of words and values; 0 = they are in a buffer of the caller */
    size_t map_bytes;
    uint64_t n_os_calls;
#ifdef AB_WITH_CHECKS
    struct ab_block_list blocks;
    size_t align, lead, value_bytes; /* lead: bytes from the start of the slot to the value */
#endif
};

struct ab_handle_options {
    size_t value_bytes; /* bytes; 0 counts as 1; rounded up to the alignment */
    /* alignment of every value: 0 or a power of two; at least AB_HANDLE_ALIGN is used */
    size_t align;
    /* Maximum number of live values, 1 … AB_HANDLE_CAPACITY_MAX. 0: capacity_bytes or values_bytes
     * gives it, or AB_HANDLE_BYTES_USUAL if all three are 0. */
    uint64_t capacity;
    /* number of values that a slot holds in its life; 0 = as many as there are versions */
    uint32_t version_max;
    /* Versions begin after this number, which must be below AB_HANDLE_BASE_END. 0 = the arena gets
     * its own, far from those of earlier arenas. Handles of an arena with another base are stale
     * here, until a slot has held as many values as the bases are apart. */
    uint32_t version_base;
    /* Sets the capacity to the number of values that fit in this many bytes together with the words
     * of their slots; 0 = unused. */
    size_t capacity_bytes;
    /* Sets the capacity to the number of values that fit in this many bytes, without the words: a
     * million dense values of one byte per MB. 0 = unused. */
    size_t values_bytes;
    /* True if values are placed as in an array, value_bytes apart. They are aligned to the largest
     * power of two that divides value_bytes, at most AB_HANDLE_ALIGN. */
    bool is_dense;
    /* True if the newer one of any two handles has the higher version. version_max then limits the
     * number of all values that the arena holds in its life. */
    bool is_ordered;
};

/* Reserves addresses for all values and touches none. Returns 0, EINVAL or ENOMEM; on failure
 * *arena is untouched. EINVAL means: two capacities, more than AB_HANDLE_CAPACITY_MAX, an invalid
 * alignment or base, or dense values with an alignment. */
AB_MUST_USE int ab_handle_arena_init(struct ab_handle_arena *arena,
                                     const struct ab_handle_options *options);
/* Opens an arena over the `bytes` at `buffer`, which need not be aligned or zero. The caller keeps
 * owning the buffer. Makes no system call. Only the option `capacity` sets the number of values; 0
 * means as many as fit. Returns 0, EINVAL as above, or ENOMEM if the values do not fit; on failure
 * *arena is untouched. */
AB_MUST_USE int ab_handle_arena_init_buffer(struct ab_handle_arena *arena, void *buffer,
                                            size_t bytes, const struct ab_handle_options *options);
/* Returns all memory to the system. The checked build lists the values that were never removed,
 * unless there was a flush before. */
void ab_handle_arena_fini(struct ab_handle_arena *arena);

/* Finds the next slot that was not used since the last flush and has a version left, and makes it a
 * free slot without a successor. Returns its index, or AB_HANDLE_END if there is none. Slots whose
 * versions are used up are retired. */
uint32_t ab_handle_carve(struct ab_handle_arena *arena);
/* Inserts like ab_handle_insert; the bytes of the value are zero. Clears only slots that were used
 * before. */
AB_MUST_USE int ab_handle_insert_zeroed(struct ab_handle_arena *arena, struct ab_handle *out);
/* Implements ab_handle_insert for ordered arenas. */
AB_MUST_USE int ab_handle_insert_ordered(struct ab_handle_arena *arena, struct ab_handle *out);
/* Makes every handle stale, and makes every slot free except retired ones. O(1). */
void ab_handle_flush(struct ab_handle_arena *arena);

/* Steps through the live values in the order of their slots; begin with a zeroed handle. Returns
 * false after the last value and leaves *handle untouched. The current value may be removed
 * meanwhile. A value that is inserted meanwhile may or may not be met. */
bool ab_handle_next(const struct ab_handle_arena *arena, struct ab_handle *handle);

#ifdef AB_WITH_CHECKS
AB_MUST_USE int ab_handle_insert(struct ab_handle_arena *arena, struct ab_handle *out);
bool ab_handle_remove(struct ab_handle_arena *arena, struct ab_handle handle);
int ab_handle_plain_insert_ordered(struct ab_handle_arena *arena, struct ab_handle *out);
void ab_handle_plain_flush(struct ab_handle_arena *arena);
void ab_handle_plain_arena_fini(struct ab_handle_arena *arena);
#endif

/* Return the bytes of all pages used since they were last given back, and of those among them that
 * hold words. */
size_t ab_handle_used_bytes(const struct ab_handle_arena *arena);
size_t ab_handle_word_bytes(const struct ab_handle_arena *arena);
/* Gives back the pages of values that no slot used since the last flush reaches. */
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

/* True if `a` was inserted before `b`. Both are handles of one ordered arena; their values need not
 * be live. */
static inline bool ab_handle_is_older(struct ab_handle a, struct ab_handle b)
{
    return a.version < b.version;
}

/* True if the handle's value is live. Reads atomically, because another thread may be carving
 * slots. A slot past n_carved may still be marked live from before a flush; carving unmarks it. */
static inline bool ab_handle_is_live(const struct ab_handle_arena *arena, struct ab_handle handle)
{
    return handle.index < __atomic_load_n(&arena->n_carved, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&arena->words[handle.index], __ATOMIC_RELAXED) ==
               ((uint64_t)handle.version << 32 | AB_HANDLE_LIVE);
}

/* Returns the value, or NULL for a stale handle. */
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

/* Mark the value in a slot as live or dead for ASan and Valgrind. The address of `values`
 * identifies the arena to Valgrind. */
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

/* Inserts a value, whose bytes are undefined. Returns 0, or ENOSPC if all slots are live or
 * retired; *out is then untouched. */
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

/* Removes a value. Returns false and does nothing if the handle is stale. */
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

/* Hides a live value: its handle is stale until ab_handle_show, while its slot stays in use. While
 * a program constructs or destroys a value, no caller can then find it or remove it a second time.
 * Returns the value, or NULL if the handle is stale. */
static inline void *ab_handle_hide(struct ab_handle_arena *arena, struct ab_handle handle)
{
    void *value = ab_handle_get_mut(arena, handle);
    if (value != NULL)
        ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_HIDDEN);
    return value;
}

/* Shows a hidden value again. Returns false and does nothing if the value is not hidden. */
static inline bool ab_handle_show(struct ab_handle_arena *arena, struct ab_handle handle)
{
    if (handle.index >= arena->n_carved ||
        arena->words[handle.index] != ((uint64_t)handle.version << 32 | AB_HANDLE_HIDDEN))
        return false;
    ab_handle_set_word(arena, handle.index, handle.version, AB_HANDLE_LIVE);
    return true;
}

/* The functions of AB_HANDLE_DEFINE (handle_define.h) that open an arena of a type. */
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
