/* SPDX-License-Identifier: MIT
 *
 * Slots are carved one after the other until the list of freed ones has something to give; an
 * arena that runs empty forgets the list and carves from the start again, as a flush does. A word
 * keeps its version through all of that, and every new life of a slot raises it: that is why the
 * old handles need no visit.
 */
#include "handle.h"

#include "../common/pages.h"

#include <string.h>

enum { CACHE_LINE_BYTES = 64 };

/* Bytes from one value to the next; 0 where there are not as many addresses. Values a multiple of a
 * page apart begin in the same few cache sets; one line more spreads them. */
static size_t slot_stride(const struct ab_handle_options *o, size_t align)
{
    size_t bytes = o->value_bytes == 0 ? 1 : o->value_bytes;
    if (bytes > PTRDIFF_MAX || align > PTRDIFF_MAX)
        return 0;
    bytes = ab_round_up(bytes, align);
    return bytes % ab_page_size() == 0 && align <= CACHE_LINE_BYTES ? bytes + CACHE_LINE_BYTES
                                                                    : bytes;
}

static uint32_t last_version(const struct ab_handle_options *o)
{
    bool is_bounded = o->version_max != 0 && o->version_max < UINT32_MAX - o->version_base;
    return is_bounded ? o->version_base + o->version_max : UINT32_MAX;
}

int ab_handle_arena_init(struct ab_handle_arena *arena, const struct ab_handle_options *options)
{
    const struct ab_handle_options *o = options;
    size_t align = o->align < AB_HANDLE_ALIGN ? AB_HANDLE_ALIGN : o->align, value_bytes, bytes;
    if (o->capacity == 0 || o->capacity > AB_HANDLE_CAPACITY_MAX ||
        (o->align & (o->align - 1)) != 0 || o->version_base >= AB_HANDLE_BASE_END)
        return EINVAL;
    size_t page = ab_page_size(), stride = slot_stride(o, align);
    size_t before_values = ab_round_up(o->capacity * sizeof arena->words[0], page);
    if (align > page)
        before_values = ab_round_up(before_values, align);
    if (stride == 0 || __builtin_mul_overflow(stride, o->capacity, &value_bytes) ||
        __builtin_add_overflow(value_bytes, before_values, &bytes) || bytes > PTRDIFF_MAX - page)
        return ENOMEM;
    bytes = ab_round_up(bytes, page);
    char *base = (char *)ab_pages_map(bytes, align);
    if (base == NULL)
        return errno;
    memset(arena, 0, sizeof *arena);
    arena->words = (uint64_t *)(void *)base;
    arena->values = base + before_values;
    arena->slot_bytes = stride;
    arena->capacity = (uint32_t)o->capacity;
    arena->next_free = AB_HANDLE_END;
    arena->version_base = o->version_base;
    arena->version_max = last_version(o);
    arena->map_bytes = bytes;
    arena->n_os_calls = 1;
    return 0;
}

void ab_handle_arena_fini(struct ab_handle_arena *arena)
{
    if (arena->words != NULL)
        ab_pages_release(arena->words, arena->map_bytes);
    memset(arena, 0, sizeof *arena);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

__attribute__((noinline)) uint32_t ab_handle_carve(struct ab_handle_arena *arena)
{
    uint32_t i = arena->n_carved, found = AB_HANDLE_END;
    for (; i < arena->capacity && found == AB_HANDLE_END; i++) {
        uint64_t word = arena->words[i];
        uint32_t version = word == 0 ? arena->version_base : (uint32_t)(word >> 32);
        if (version < arena->version_max) {
            ab_handle_set_word(arena, i, version, AB_HANDLE_END);
            found = i;
        } else if ((uint32_t)word != AB_HANDLE_RETIRED) { /* a flush overtook its last value */
            ab_handle_set_word(arena, i, version, AB_HANDLE_RETIRED);
            arena->n_retired++;
        }
    }
    __atomic_store_n(&arena->n_carved, i, __ATOMIC_RELEASE);
    return found;
}

int ab_handle_insert_zeroed(struct ab_handle_arena *arena, struct ab_handle *out)
{
    bool is_recycled = arena->next_free != AB_HANDLE_END;
    struct ab_handle made;
    int error = ab_handle_insert(arena, &made);
    if (error != 0)
        return error;
    if (is_recycled || made.index < arena->n_dirty)
        memset(ab_handle_get_mut(arena, made), 0, arena->slot_bytes);
    *out = made;
    return 0;
}

__attribute__((noinline)) void ab_handle_flush(struct ab_handle_arena *arena)
{
    arena->n_dirty = larger(arena->n_dirty, arena->n_carved);
    arena->n_named = larger(arena->n_named, arena->n_carved);
    arena->next_free = AB_HANDLE_END;
    arena->n_live = 0;
    __atomic_store_n(&arena->n_carved, 0, __ATOMIC_RELEASE);
}

bool ab_handle_next(const struct ab_handle_arena *arena, struct ab_handle *handle)
{
    for (uint32_t i = handle->version == 0 ? 0 : handle->index + 1; i < arena->n_carved; i++) {
        uint64_t word = arena->words[i];
        if ((uint32_t)word != AB_HANDLE_LIVE)
            continue;
        handle->index = i;
        handle->version = (uint32_t)(word >> 32);
        return true;
    }
    return false;
}

size_t ab_handle_word_bytes(const struct ab_handle_arena *arena)
{
    size_t n = larger(arena->n_named, arena->n_carved);
    return ab_round_up(n * sizeof arena->words[0], ab_page_size());
}

size_t ab_handle_used_bytes(const struct ab_handle_arena *arena)
{
    size_t n = larger(arena->n_dirty, arena->n_carved);
    return ab_round_up(n * arena->slot_bytes, ab_page_size()) + ab_handle_word_bytes(arena);
}

/* The words stay: who forgets a version revives old handles. */
void ab_handle_purge(struct ab_handle_arena *arena)
{
    size_t page = ab_page_size(), stride = arena->slot_bytes;
    uint32_t n_values = larger(arena->n_dirty, arena->n_carved);
    size_t begin = ab_round_up(arena->n_carved * stride, page);
    size_t end = ab_round_up(n_values * stride, page);
    arena->n_named = larger(arena->n_named, arena->n_carved);
    if (begin >= end)
        return;
    arena->n_os_calls++;
    if (ab_pages_discard(arena->values + begin, end - begin) != 0)
        return;
    arena->n_dirty = (uint32_t)((begin + stride - 1) / stride);
}
