/* SPDX-License-Identifier: MIT
 *
 * The handle arena outside of its fast paths. Slots are carved one after the other as long as the
 * free list is empty. An arena that runs empty forgets the list and carves from the start again,
 * like a flush. The word of a slot keeps its version through all of this, and every insertion into
 * the slot raises the version. So old handles become stale without being visited.
 */
#include "handle.h"

#include "../common/checked.h"
#include "../common/pages.h"

enum { CACHE_LINE_BYTES = 64 };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Placement of the values. Values a multiple of a page apart would begin in the same few cache
 * sets, so that one cache line is added to spread them. The marks for ASan and Valgrind need
 * multiples of 16 bytes. */
struct layout {
    size_t align, slot_bytes, stride;
};

static size_t align_of(const struct ab_handle_options *o)
{
    /* the lowest bit that is set: the natural alignment of value_bytes */
    size_t least = o->value_bytes & (0 - o->value_bytes);
    if (!o->is_dense || AB_MARKS || AB_CHECKS || least == 0 || least > AB_HANDLE_ALIGN)
        least = AB_HANDLE_ALIGN;
    return o->align > least ? o->align : least;
}

/* Computes the placement. Returns false if the sizes are too large for the address space. */
static bool lay_out(const struct ab_handle_options *o, struct layout *out)
{
    size_t align = align_of(o), bytes = o->value_bytes == 0 ? 1 : o->value_bytes;
    size_t extra = AB_CHECKS ? ab_checked_bytes(align, AB_MARK_GAP) : AB_MARK_GAP;
    if (bytes > PTRDIFF_MAX / 2 || align > PTRDIFF_MAX / 2 || extra > PTRDIFF_MAX / 2)
        return false;
    out->align = align;
    out->slot_bytes = ab_round_up(bytes, align);
    out->stride = ab_round_up(out->slot_bytes + extra, align);
    bool is_crowded = out->stride % ab_page_size() == 0 && align <= CACHE_LINE_BYTES;
    out->stride += is_crowded && !o->is_dense ? CACHE_LINE_BYTES : 0;
    return true;
}

/* Computes in *before_values how many bytes the words of `capacity` slots take up to where the
 * values begin, and in *all the sum of words and values. Returns false on overflow. */
static bool measure(const struct layout *l, uint64_t capacity, size_t *before_values, size_t *all)
{
    size_t page = ab_page_size(), value_bytes;
    *before_values = ab_round_up((size_t)capacity * sizeof(uint64_t), page);
    if (l->align > page)
        *before_values = ab_round_up(*before_values, l->align);
    if (__builtin_mul_overflow(l->stride, (size_t)capacity, &value_bytes) ||
        __builtin_add_overflow(value_bytes, *before_values, all) || *all > PTRDIFF_MAX - page)
        return false;
    *all = ab_round_up(*all, page);
    return true;
}

/* Returns the number of values that fit in `bytes` bytes; 0 if none fits. The first estimate
 * ignores only the rounding to pages and to the alignment, so the loop takes few steps. */
static uint64_t capacity_in(const struct layout *l, size_t bytes)
{
    size_t most = bytes < PTRDIFF_MAX ? bytes : PTRDIFF_MAX, before, all;
    uint64_t n = most / (l->stride + sizeof(uint64_t));
    if (n > AB_HANDLE_CAPACITY_MAX)
        n = AB_HANDLE_CAPACITY_MAX;
    while (n > 0 && (!measure(l, n, &before, &all) || all > most))
        n--;
    return n;
}

/* Returns the version base of a new arena. Bases of one process are far apart, the first few
 * farthest, so that handles of one arena are stale in the others. */
static uint32_t own_base(void)
{
    static uint32_t n_opened; /* atomic */
    uint32_t n = __atomic_add_fetch(&n_opened, 1, __ATOMIC_RELAXED), base = 0;
    for (uint32_t bit = AB_HANDLE_BASE_END >> 1; n != 0 && bit != 0; bit >>= 1, n >>= 1)
        base |= (n & 1) != 0 ? bit : 0;
    return base;
}

static bool is_possible(const struct ab_handle_options *o)
{
    int n_capacities = (o->capacity != 0) + (o->capacity_bytes != 0) + (o->values_bytes != 0);
    bool is_base = o->version_base < AB_HANDLE_BASE_END || o->version_base == AB_HANDLE_BASE_ZERO;
    return n_capacities <= 1 && o->capacity <= AB_HANDLE_CAPACITY_MAX && is_base &&
           (o->align & (o->align - 1)) == 0 && !(o->is_dense && o->align != 0);
}

static uint32_t last_version(const struct ab_handle_options *o, uint32_t base)
{
    bool is_bounded = o->version_max != 0 && o->version_max < UINT32_MAX - base;
    return is_bounded ? base + o->version_max : UINT32_MAX;
}

/* Opens the arena over words, which are zero, and values at these addresses. */
static void start(struct ab_handle_arena *arena, const struct ab_handle_options *o,
                  const struct layout *l, uint64_t capacity, void *words, char *values)
{
    memset(arena, 0, sizeof *arena);
    arena->words = (uint64_t *)words;
    arena->values = values;
    arena->slot_bytes = l->slot_bytes;
    arena->stride = l->stride;
    arena->capacity = (uint32_t)capacity;
    arena->next_free = AB_HANDLE_END;
    arena->version_base = o->version_base == 0                     ? own_base()
                          : o->version_base == AB_HANDLE_BASE_ZERO ? 0
                                                                   : o->version_base;
    arena->version_max = last_version(o, arena->version_base);
    arena->newest = arena->version_base;
    arena->is_ordered = o->is_ordered;
#ifdef AB_WITH_CHECKS
    ab_block_list_open(&arena->blocks, "handle");
    arena->align = l->align;
    arena->lead = ab_checked_lead(l->align);
    arena->value_bytes = o->value_bytes == 0 ? 1 : o->value_bytes;
#endif
    AB_MARK_POOL_CREATE(arena->values);
}

/* Returns the number of values that the options ask for. Call it only if they give a number. */
static uint64_t capacity_asked(const struct ab_handle_options *o, const struct layout *l)
{
    uint64_t n = o->values_bytes / l->stride;
    if (o->capacity != 0)
        return o->capacity;
    return n < AB_HANDLE_CAPACITY_MAX ? n : AB_HANDLE_CAPACITY_MAX;
}

/* Maps memory for *capacity values. If no option gives a number, takes as many as fit in the
 * default, which is halved each time the system refuses. Returns NULL and sets errno on failure. */
static char *map_values(const struct ab_handle_options *o, const struct layout *l,
                        uint64_t *capacity, size_t *before_values, size_t *bytes)
{
    size_t most = o->capacity_bytes != 0 ? o->capacity_bytes : AB_HANDLE_BYTES_USUAL;
    bool is_number = o->capacity != 0 || o->values_bytes != 0;
    char *base = NULL;
    for (; base == NULL; most /= 2) {
        *capacity = is_number ? capacity_asked(o, l) : capacity_in(l, most);
        errno = ENOMEM;
        if (*capacity == 0 || !measure(l, *capacity, before_values, bytes))
            return NULL;
        base = (char *)ab_pages_map(*bytes, l->align);
        if (is_number || o->capacity_bytes != 0)
            return base;
    }
    return base;
}

int ab_handle_arena_init(struct ab_handle_arena *arena, const struct ab_handle_options *options)
{
    struct layout layout;
    size_t before_values, bytes;
    if (!is_possible(options))
        return EINVAL;
    if (!lay_out(options, &layout))
        return ENOMEM;
    uint64_t capacity;
    char *base = map_values(options, &layout, &capacity, &before_values, &bytes);
    if (base == NULL)
        return errno;
    start(arena, options, &layout, capacity, base, base + before_values);
    arena->map_bytes = bytes;
    arena->n_os_calls = 1;
    return 0;
}

/* Returns the offset from `words` to the values of `capacity` slots; 0 if the values would end
 * after `end`. */
static size_t values_at(const struct layout *l, const char *words, const char *end,
                        uint64_t capacity)
{
    size_t room = (size_t)(end - words), at, bytes;
    if (capacity == 0 || capacity > room / sizeof(uint64_t))
        return 0;
    at = (size_t)capacity * sizeof(uint64_t);
    at += -((uintptr_t)words + at) & (l->align - 1);
    bool is_too_much = __builtin_mul_overflow((size_t)capacity, l->stride, &bytes) || at > room;
    return is_too_much || bytes > room - at ? 0 : at;
}

int ab_handle_arena_init_buffer(struct ab_handle_arena *arena, void *buffer, size_t bytes,
                                const struct ab_handle_options *options)
{
    struct layout layout;
    size_t head = -(uintptr_t)buffer & (sizeof(uint64_t) - 1);
    char *words = (char *)buffer + (head < bytes ? head : bytes), *end = (char *)buffer + bytes;
    if (!is_possible(options))
        return EINVAL;
    if (!lay_out(options, &layout))
        return ENOMEM;
    uint64_t capacity = options->capacity;
    if (capacity == 0) {
        capacity = (size_t)(end - words) / (layout.stride + sizeof(uint64_t));
        capacity = capacity < AB_HANDLE_CAPACITY_MAX ? capacity : AB_HANDLE_CAPACITY_MAX;
        while (capacity > 0 && values_at(&layout, words, end, capacity) == 0)
            capacity--;
    }
    size_t at = values_at(&layout, words, end, capacity);
    if (at == 0)
        return ENOMEM;
    memset(words, 0, (size_t)capacity * sizeof(uint64_t));
    start(arena, options, &layout, capacity, words, words + at);
    AB_MARK_UNUSED(arena->values, (size_t)capacity * layout.stride);
    return 0;
}

void AB_HANDLE_PLAIN(arena_fini)(struct ab_handle_arena *arena)
{
    if (arena->words != NULL) {
        AB_MARK_POOL_DESTROY(arena->values);
        bool is_mapped = arena->map_bytes != 0;
        size_t n = is_mapped ? larger(arena->n_named, arena->n_carved) : arena->capacity;
        (void)n;
        AB_MARK_DEFINED(arena->values, n * arena->stride);
        if (is_mapped)
            ab_pages_release(arena->words, arena->map_bytes);
    }
    memset(arena, 0, sizeof *arena);
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
        } else if ((uint32_t)word != AB_HANDLE_RETIRED) { /* a flush ended the slot's last value */
            ab_handle_set_word(arena, i, version, AB_HANDLE_RETIRED);
            arena->n_retired++;
        }
    }
    __atomic_store_n(&arena->n_carved, i, __ATOMIC_RELEASE);
    return found;
}

/* Inserts a value with the next version of the arena, instead of the slot's next one. */
__attribute__((noinline)) int AB_HANDLE_PLAIN(insert_ordered)(struct ab_handle_arena *arena,
                                                              struct ab_handle *out)
{
    uint32_t index = arena->next_free;
    if (arena->newest == arena->version_max ||
        (index == AB_HANDLE_END && (index = ab_handle_carve(arena)) == AB_HANDLE_END))
        return ENOSPC;
    arena->next_free = (uint32_t)arena->words[index];
    ab_handle_set_word(arena, index, ++arena->newest, AB_HANDLE_LIVE);
    arena->n_live++;
    ab_handle_mark_born(arena, index);
    out->index = index;
    out->version = arena->newest;
    return 0;
}

int ab_handle_insert_zeroed(struct ab_handle_arena *arena, struct ab_handle *out)
{
    AB_CHECKED_CALL(arena, "handle");
    bool is_recycled = arena->next_free != AB_HANDLE_END;
    struct ab_handle made;
    int error = ab_handle_insert(arena, &made);
    if (error != 0)
        return error;
    void *value = ab_handle_get_mut(arena, made);
    AB_MARK_DEFINED(value, AB_CHECKS ? 0 : arena->slot_bytes);
#ifdef AB_WITH_CHECKS
    (void)is_recycled;
    memset(value, 0, arena->value_bytes);
#else
    if (is_recycled || made.index < arena->n_dirty || arena->map_bytes == 0)
        memset(value, 0, arena->slot_bytes);
#endif
    *out = made;
    return 0;
}

__attribute__((noinline)) void AB_HANDLE_PLAIN(flush)(struct ab_handle_arena *arena)
{
    arena->n_dirty = larger(arena->n_dirty, arena->n_carved);
    arena->n_named = larger(arena->n_named, arena->n_carved);
    AB_MARK_POOL_TRIM(arena->values, arena->values, 0);
    AB_MARK_UNUSED(arena->values, arena->n_carved * arena->stride);
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
    return ab_round_up(n * arena->stride, ab_page_size()) + ab_handle_word_bytes(arena);
}

/* Gives back the pages of unused values. Keeps the words, because forgetting a version would revive
 * old handles. */
void ab_handle_purge(struct ab_handle_arena *arena)
{
    size_t page = ab_page_size(), stride = arena->stride;
    uint32_t n_values = larger(arena->n_dirty, arena->n_carved);
    size_t begin = ab_round_up(arena->n_carved * stride, page);
    size_t end = ab_round_up(n_values * stride, page);
    arena->n_named = larger(arena->n_named, arena->n_carved);
    /* in the checked build, dead values are filled with poison, which must stay */
    if (AB_CHECKS || arena->map_bytes == 0 || begin >= end)
        return;
    arena->n_os_calls++;
    if (ab_pages_discard(arena->values + begin, end - begin) != 0)
        return;
    arena->n_dirty = (uint32_t)((begin + stride - 1) / stride);
}

#ifdef AB_WITH_CHECKS

/* ---- the checked build: the functions that programs call, over the plain arena ---- */

int ab_handle_insert(struct ab_handle_arena *arena, struct ab_handle *out)
{
    AB_CHECKED_CALL(arena, "handle");
    int error = ab_handle_plain_insert(arena, out);
    if (error != 0)
        return error;
    char *raw = arena->values + (size_t)out->index * arena->stride;
    if (out->index < arena->n_dirty) /* n_dirty covers all slots whose values died */
        ab_block_demand_dead(&arena->blocks, raw, raw + arena->stride);
    ab_checked_begin(&arena->blocks, raw, arena->align, arena->value_bytes, arena->stride);
    return 0;
}

int ab_handle_insert_ordered(struct ab_handle_arena *arena, struct ab_handle *out)
{
    return ab_handle_insert(arena, out);
}

static void end_value(struct ab_handle_arena *arena, void *value)
{
    ab_checked_demand(&arena->blocks, value, true);
    const char *raw = ab_checked_end(&arena->blocks, value, arena->stride);
    uint32_t index = (uint32_t)((size_t)(raw - arena->values) / arena->stride);
    arena->n_dirty = larger(arena->n_dirty, index + 1);
}

bool ab_handle_remove(struct ab_handle_arena *arena, struct ab_handle handle)
{
    AB_CHECKED_CALL(arena, "handle");
    void *value = ab_handle_get_mut(arena, handle);
    if (value == NULL)
        return false;
    end_value(arena, value);
    (void)ab_handle_plain_remove(arena, handle);
    AB_MARK_UNUSED(arena->values + (size_t)handle.index * arena->stride, arena->stride);
    return true;
}

void ab_handle_flush(struct ab_handle_arena *arena)
{
    AB_CHECKED_CALL(arena, "handle");
    while (arena->blocks.top != NULL)
        end_value(arena, arena->blocks.top + 1);
    ab_handle_plain_flush(arena);
}

void ab_handle_arena_fini(struct ab_handle_arena *arena)
{
    ab_checked_leaks(&arena->blocks, "never removed");
    ab_handle_plain_arena_fini(arena);
}

#endif
