/* SPDX-License-Identifier: MIT
 *
 * The pool keeps boundary tags: each header stores the length of its block and of the block before,
 * so that both neighbours are found without a search. The free list is in the order of frees. The
 * rest of a split block takes the place of that block in the list. So the large rest stays at the
 * end of the list, and holes are tried first.
 */
#include "paged_pool.h"

#include "../common/checked.h"
#include "../common/pages.h"

#include <errno.h>
#include <string.h>

#define HEADER_BYTES sizeof(struct ab_paged_header)

static const uint32_t magic_live = 0x11FEB10Cu, magic_free = 0xF4EEB10Cu;

struct ab_paged_header {
    /* lengths of this block and of the one before it, in units of 16 bytes, with headers;
     * units_before is 0 in the first block */
    uint32_t units, units_before;
    uint32_t magic;
    uint32_t tag;
};
AB_STATIC_ASSERT(sizeof(struct ab_paged_header) == AB_PAGED_ALIGN, "payloads are aligned");

struct links {
    struct ab_paged_header *next, *previous;
};

/* Under ASan or Valgrind, each live block ends with a gap. A free block has a gap too, between its
 * header and its links, so that its first bytes are out of bounds. */
#define LINKS_AT (HEADER_BYTES + AB_MARK_GAP)
#define SMALLEST_UNITS ((uint32_t)((LINKS_AT + sizeof(struct links)) / AB_PAGED_ALIGN))

static struct links *links_of(struct ab_paged_header *h)
{
    return (struct links *)((char *)h + LINKS_AT);
}

static struct ab_paged_header *at(struct ab_paged_header *h, uint32_t units)
{
    return h + units;
}

static char *payload_of(struct ab_paged_header *h)
{
    return (char *)h + HEADER_BYTES;
}

static struct ab_paged_header *header_of(const void *block)
{
    return (struct ab_paged_header *)((uintptr_t)block - HEADER_BYTES);
}

static size_t payload_bytes(const struct ab_paged_header *h)
{
    return h->units * AB_PAGED_ALIGN - HEADER_BYTES - AB_MARK_GAP;
}

static void set_units(const struct ab_paged_pool *pool, struct ab_paged_header *h, uint32_t units)
{
    h->units = units;
    struct ab_paged_header *behind = at(h, units);
    if ((char *)behind < pool->end)
        behind->units_before = units;
}

/* Fills memory that no longer holds data of the pool with 0xDD; only in the checked build. */
static void bury(void *from, size_t bytes)
{
    (void)from, (void)bytes;
    AB_CHECKED(AB_MARK_DEFINED(from, bytes));
    AB_CHECKED(memset(from, AB_GUARD_DEAD, bytes));
    AB_CHECKED(AB_MARK_UNUSED(from, bytes));
}

/* ---- the list ---- */

static void link_between(struct ab_paged_pool *pool, struct ab_paged_header *h, struct links l)
{
    *links_of(h) = l;
    if (l.next != NULL)
        links_of(l.next)->previous = h;
    if (l.previous != NULL)
        links_of(l.previous)->next = h;
    else
        pool->free = h;
}

static void unlink_block(struct ab_paged_pool *pool, struct ab_paged_header *h)
{
    struct links l = *links_of(h);
    if (l.next != NULL)
        links_of(l.next)->previous = l.previous;
    if (l.previous != NULL)
        links_of(l.previous)->next = l.next;
    else
        pool->free = l.next;
}

/* Records that [from, to) is written from now on. In the checked build, all memory below `dirty` is
 * filled with 0xDD, except live blocks, headers and links. */
static void raise_dirty(struct ab_paged_pool *pool, const char *from, char *to)
{
    (void)from;
    if (pool->dirty >= to)
        return;
    AB_CHECKED(if (pool->dirty < from) bury(pool->dirty, (size_t)(from - pool->dirty)));
    pool->dirty = to;
}

/* Makes `units` at h a free block with the links `l`. Its neighbours must not be free. */
static void make_free(struct ab_paged_pool *pool, struct ab_paged_header *h, uint32_t units,
                      struct links l)
{
    raise_dirty(pool, (char *)h, (char *)h + LINKS_AT + sizeof l);
    AB_MARK_DEFINED(h, LINKS_AT + sizeof l);
    AB_MARK_UNUSED(payload_of(h), LINKS_AT - HEADER_BYTES);
    h->magic = magic_free;
    set_units(pool, h, units);
    link_between(pool, h, l);
}

static struct links at_front(const struct ab_paged_pool *pool)
{
    struct links first = {pool->free, NULL};
    return first;
}

/* Cuts off the part of h beyond `units` and frees it with the links `place`, if it is large enough
 * for a block. h must not be in the list. */
static void cut_tail(struct ab_paged_pool *pool, struct ab_paged_header *h, uint32_t units,
                     struct links place)
{
    uint32_t rest = h->units - units;
    if (rest < SMALLEST_UNITS)
        return;
    struct ab_paged_header *tail = at(h, units);
    AB_MARK_DEFINED(tail, HEADER_BYTES);
    set_units(pool, h, units);
    make_free(pool, tail, rest, place);
}

/* ---- the region ---- */

int AB_PAGED_PLAIN(init)(struct ab_paged_pool *pool, const char *name, size_t bytes)
{
    size_t page = ab_page_size();
    if (bytes == 0 || bytes > AB_PAGED_POOL_MAX - page)
        return ENOMEM;
    bytes = ab_round_up(bytes, page);
    char *base = (char *)ab_pages_map(bytes, page);
    if (base == NULL)
        return errno;
    memset(pool, 0, sizeof *pool);
    pool->base = pool->dirty = base;
    pool->end = base + bytes;
    pool->n_os_calls = 1;
    strncpy(pool->name, name, AB_PAGED_NAME_MAX);
    AB_MARK_POOL_CREATE(pool);
    AB_PAGED_PLAIN(reset)(pool);
    return 0;
}

void AB_PAGED_PLAIN(fini)(struct ab_paged_pool *pool)
{
    AB_MARK_POOL_DESTROY(pool);
    AB_MARK_DEFINED(pool->base, (size_t)(pool->dirty - pool->base));
    ab_pages_release(pool->base, ab_paged_pool_size(pool));
    memset(pool, 0, sizeof *pool);
}

/* Ends all blocks. Their headers then say that they are not live, so that a later free is refused.
 * In the checked build, fills headers and links with 0xDD. */
static void end_all_blocks(struct ab_paged_pool *pool)
{
    struct ab_paged_header *h = (struct ab_paged_header *)pool->base;
    size_t left = pool->live_blocks;
    while ((left > 0 || AB_CHECKS) && (char *)h < pool->end && h->units != 0) {
        struct ab_paged_header *behind = at(h, h->units);
        size_t written = h->magic == magic_free ? LINKS_AT + sizeof(struct links) : HEADER_BYTES;
        left -= h->magic == magic_live;
        h->magic = 0;
        bury(h, written);
        h = behind;
    }
}

void AB_PAGED_PLAIN(reset)(struct ab_paged_pool *pool)
{
    end_all_blocks(pool);
    size_t bytes = ab_paged_pool_size(pool);
    struct ab_paged_header *all = (struct ab_paged_header *)pool->base;
    AB_MARK_POOL_TRIM(pool, pool->base, 0);
    AB_MARK_UNUSED(pool->base, (size_t)(pool->dirty - pool->base));
    AB_MARK_DEFINED(all, HEADER_BYTES);
    pool->live_bytes = pool->live_blocks = 0;
    pool->free = NULL;
    memset(pool->tags, 0, sizeof pool->tags);
    all->units_before = 0;
    make_free(pool, all, (uint32_t)(bytes / AB_PAGED_ALIGN), at_front(pool));
}

void ab_paged_pool_purge(struct ab_paged_pool *pool)
{
    AB_CHECKED_CALL(pool, "paged pool");
    size_t page = ab_page_size();
    for (struct ab_paged_header *h = pool->free; h != NULL; h = links_of(h)->next) {
        uintptr_t from = ab_round_up((uintptr_t)(links_of(h) + 1), page);
        uintptr_t to = (uintptr_t)at(h, h->units) & ~(uintptr_t)(page - 1);
        if (AB_CHECKS || from >= to)
            continue; /* in the checked build, the poison in free blocks must stay */
        pool->n_os_calls++;
        ab_pages_discard((void *)from, to - from);
    }
}

/* ---- blocks ---- */

/* Returns the units that a block of `size` takes; 0 if the pool could never hold it. */
static uint32_t units_for(const struct ab_paged_pool *pool, size_t size)
{
    if (size > ab_paged_pool_size(pool))
        return 0;
    size_t payload = ab_round_up(size + (size == 0), AB_PAGED_ALIGN);
    uint32_t units = (uint32_t)((HEADER_BYTES + payload + AB_MARK_GAP) / AB_PAGED_ALIGN);
    return units > SMALLEST_UNITS ? units : SMALLEST_UNITS;
}

static void count(struct ab_paged_pool *pool, const struct ab_paged_header *h, bool is_born)
{
    struct ab_paged_tag *tag = &pool->tags[h->tag % AB_PAGED_TAGS];
    size_t bytes = h->units * AB_PAGED_ALIGN, one = is_born ? 1 : (size_t)-1;
    pool->live_blocks += one;
    pool->live_bytes += one * bytes;
    tag->n_blocks += one;
    tag->bytes += one * bytes;
}

/* Makes h a live block and counts it. h must not be in the list. */
static void *make_live(struct ab_paged_pool *pool, struct ab_paged_header *h, size_t size,
                       unsigned tag)
{
    char *block = payload_of(h), *end = (char *)at(h, h->units);
    h->magic = magic_live;
    h->tag = tag;
    count(pool, h, true);
    raise_dirty(pool, block, end);
    AB_MARK_UNUSED(block, (size_t)(end - block));
    AB_MARK_ALLOC(pool, block, size);
    (void)size;
    return block;
}

/* Removes h from the free list. If h is longer than `units`, the rest becomes a free block in its
 * place. */
static void take(struct ab_paged_pool *pool, struct ab_paged_header *h, uint32_t units)
{
    struct links place = *links_of(h);
    unlink_block(pool, h);
    cut_tail(pool, h, units, place);
}

void *AB_PAGED_PLAIN(alloc)(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    uint32_t units = units_for(pool, size);
    if (units == 0 || tag >= AB_PAGED_TAGS)
        return NULL;
    struct ab_paged_header *h = pool->free;
    while (h != NULL && h->units < units)
        h = links_of(h)->next;
    if (h == NULL)
        return NULL;
    take(pool, h, units);
    return make_live(pool, h, size, tag);
}

/* Returns how far into h the header of an aligned block is, in bytes: 0, or enough for a free block
 * in front. */
static size_t skip_for(struct ab_paged_header *h, size_t align)
{
    uintptr_t payload = (uintptr_t)payload_of(h), front = SMALLEST_UNITS * AB_PAGED_ALIGN;
    if ((payload & (align - 1)) == 0)
        return 0;
    return ab_round_up(payload + front, align) - payload;
}

/* Returns a block that begins `front` units into h. The front stays free and in the list. */
static struct ab_paged_header *split_front(struct ab_paged_pool *pool, struct ab_paged_header *h,
                                           uint32_t front, uint32_t units)
{
    struct ab_paged_header *block = at(h, front);
    raise_dirty(pool, (char *)block, payload_of(block));
    AB_MARK_DEFINED(block, HEADER_BYTES);
    set_units(pool, block, h->units - front);
    set_units(pool, h, front);
    cut_tail(pool, block, units, at_front(pool));
    return block;
}

void *AB_PAGED_PLAIN(alloc_aligned)(struct ab_paged_pool *pool, size_t align, size_t size,
                                    unsigned tag)
{
    uint32_t units = units_for(pool, size);
    if (align == 0 || (align & (align - 1)) != 0 || units == 0 || tag >= AB_PAGED_TAGS)
        return NULL;
    if (align <= AB_PAGED_ALIGN)
        return AB_PAGED_PLAIN(alloc)(pool, size, tag);
    for (struct ab_paged_header *h = pool->free; h != NULL; h = links_of(h)->next) {
        size_t skip = skip_for(h, align) / AB_PAGED_ALIGN;
        if (skip > h->units || h->units - skip < units)
            continue;
        struct ab_paged_header *block = h;
        if (skip == 0)
            take(pool, h, units);
        else
            block = split_front(pool, h, (uint32_t)skip, units);
        return make_live(pool, block, size, tag);
    }
    return NULL;
}

/* True if `block` is a live block. Excluded from ASan, because for an invalid pointer it may read
 * memory that is not a header. */
__attribute__((no_sanitize_address)) static bool is_live(const struct ab_paged_pool *pool,
                                                         const void *block)
{
    const char *p = (const char *)block;
    return p >= pool->base + HEADER_BYTES && p < pool->end &&
           ((uintptr_t)p & (AB_PAGED_ALIGN - 1)) == 0 && header_of(p)->magic == magic_live;
}

static struct ab_paged_header *free_behind(const struct ab_paged_pool *pool,
                                           struct ab_paged_header *h)
{
    struct ab_paged_header *behind = at(h, h->units);
    return (char *)behind < pool->end && behind->magic == magic_free ? behind : NULL;
}

/* Frees the block h: merges it with its free neighbours and puts it into the list. */
static void give_back(struct ab_paged_pool *pool, struct ab_paged_header *h)
{
    struct ab_paged_header *behind = free_behind(pool, h);
    struct ab_paged_header *before = h->units_before == 0 ? NULL : h - h->units_before;
    uint32_t units = h->units;
    if (behind != NULL) {
        units += behind->units;
        unlink_block(pool, behind);
        behind->magic = 0;
        AB_MARK_UNUSED(behind, LINKS_AT + sizeof(struct links));
        bury(behind, LINKS_AT + sizeof(struct links));
    }
    if (before != NULL && before->magic == magic_free) {
        h->magic = 0;
        AB_MARK_UNUSED(h, LINKS_AT + sizeof(struct links));
        bury(h, LINKS_AT + sizeof(struct links));
        set_units(pool, before, before->units + units);
        return;
    }
    make_free(pool, h, units, at_front(pool));
}

bool AB_PAGED_PLAIN(free)(struct ab_paged_pool *pool, void *block)
{
    if (block == NULL)
        return true;
    if (!is_live(pool, block))
        return false;
    struct ab_paged_header *h = header_of(block);
    size_t bytes = h->units * AB_PAGED_ALIGN - HEADER_BYTES;
    count(pool, h, false);
    AB_MARK_FREE(pool, block, bytes);
    (void)bytes;
    give_back(pool, h);
    return true;
}

size_t AB_PAGED_PLAIN(usable)(const void *block)
{
    size_t bytes = payload_bytes(header_of(block));
    AB_MARK_DEFINED(block, bytes); /* the caller may use all the bytes */
    return bytes;
}

/* Changes the length of h to `units` in place, growing into the next block if that is free, or
 * freeing the excess units. Returns false if there is not enough room. */
static bool set_length(struct ab_paged_pool *pool, struct ab_paged_header *h, uint32_t units)
{
    struct ab_paged_header *behind = free_behind(pool, h);
    uint32_t all = h->units + (behind != NULL ? behind->units : 0);
    if (all < units)
        return false;
    count(pool, h, false);
    struct links place = behind != NULL ? *links_of(behind) : at_front(pool);
    if (behind != NULL) {
        unlink_block(pool, behind);
        behind->magic = 0;
        bury(behind, LINKS_AT + sizeof(struct links));
        set_units(pool, h, all);
    }
    cut_tail(pool, h, units, place);
    count(pool, h, true);
    return true;
}

bool AB_PAGED_PLAIN(resize_in_place)(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    uint32_t units = units_for(pool, new_size);
    if (units == 0 || !is_live(pool, block) || !set_length(pool, header_of(block), units))
        return false;
    struct ab_paged_header *h = header_of(block);
    char *kept = (char *)block + (new_size & ~(size_t)7), *end = (char *)at(h, h->units);
    raise_dirty(pool, (char *)block, end);
    AB_MARK_RESIZE(pool, block, new_size);
    AB_MARK_UNUSED(kept, (size_t)(end - kept));
    AB_MARK_DEFINED(kept, new_size & 7);
    (void)kept;
    return true;
}

#ifndef AB_WITH_CHECKS

void *ab_paged_pool_alloc_zeroed(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    char *dirty = pool->dirty, *block = (char *)AB_PAGED_PLAIN(alloc)(pool, size, tag);
    if (block != NULL && block < dirty) {
        size_t stale = (size_t)(dirty - block);
        memset(block, 0, size < stale ? size : stale);
    }
    if (block != NULL)
        AB_MARK_DEFINED(block, size);
    return block;
}

void *ab_paged_pool_resize(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    if (AB_PAGED_PLAIN(resize_in_place)(pool, block, new_size)) {
        AB_MARK_DEFINED(block, new_size);
        return block;
    }
    if (!is_live(pool, block))
        return NULL;
    const struct ab_paged_header *h = header_of(block);
    void *copy = AB_PAGED_PLAIN(alloc)(pool, new_size, h->tag);
    if (copy == NULL)
        return NULL;
    size_t old_bytes = payload_bytes(h);
    AB_MARK_DEFINED(block, old_bytes);
    memcpy(copy, block, old_bytes < new_size ? old_bytes : new_size);
    AB_PAGED_PLAIN(free)(pool, block);
    return copy;
}

void ab_paged_pool_visit(struct ab_paged_pool *pool,
                         void (*visit)(void *block, size_t bytes, unsigned tag, void *context),
                         void *context)
{
    struct ab_paged_header *h = (struct ab_paged_header *)pool->base;
    for (; (char *)h < pool->end; h = at(h, h->units))
        if (h->magic == magic_live)
            visit(payload_of(h), payload_bytes(h), h->tag, context);
}

#else

/* ---- the checked build: the functions that programs call, over the plain pool ---- */

/* bytes of the links at the start of a dead block, which are not poison */
enum { LINKS_BYTES = 16 };

int ab_paged_pool_init(struct ab_paged_pool *pool, const char *name, size_t bytes)
{
    int error = ab_paged_pool_plain_init(pool, name, bytes);
    if (error == 0)
        ab_block_list_open(&pool->blocks, "paged pool");
    return error;
}

static void demand(const struct ab_paged_pool *pool, const void *block)
{
    const char *p = (const char *)block;
    ab_checked_demand(&pool->blocks, block, p >= pool->base + AB_BLOCK_FRONT && p < pool->end);
}

static void *checked_alloc(struct ab_paged_pool *pool, size_t align, size_t size, unsigned tag)
{
    size_t bytes = ab_checked_bytes(align, size);
    const char *dirty = pool->dirty; /* memory from `dirty` on is not filled with poison */
    char *raw = (char *)(align <= AB_PAGED_ALIGN
                             ? ab_paged_pool_plain_alloc(pool, bytes, tag)
                             : ab_paged_pool_plain_alloc_aligned(pool, align, bytes, tag));
    if (raw == NULL)
        return NULL;
    size_t raw_bytes = ab_paged_pool_plain_usable(raw);
    size_t dead_bytes = raw < dirty ? (size_t)(dirty - raw) : 0;
    ab_block_demand_dead(&pool->blocks, raw + LINKS_BYTES,
                         raw + (raw_bytes < dead_bytes ? raw_bytes : dead_bytes));
    return ab_checked_begin(&pool->blocks, raw, align, size, raw_bytes);
}

void *ab_paged_pool_alloc(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    AB_CHECKED_CALL(pool, "paged pool");
    return checked_alloc(pool, 0, size, tag);
}

void *ab_paged_pool_alloc_zeroed(struct ab_paged_pool *pool, size_t size, unsigned tag)
{
    AB_CHECKED_CALL(pool, "paged pool");
    void *block = checked_alloc(pool, 0, size, tag);
    return block == NULL ? NULL : memset(block, 0, size);
}

void *ab_paged_pool_alloc_aligned(struct ab_paged_pool *pool, size_t align, size_t size,
                                  unsigned tag)
{
    AB_CHECKED_CALL(pool, "paged pool");
    return align == 0 || (align & (align - 1)) != 0 ? NULL : checked_alloc(pool, align, size, tag);
}

static char *end_block(struct ab_paged_pool *pool, void *block)
{
    size_t bytes = ab_paged_pool_plain_usable(ab_checked_raw(block));
    return ab_checked_end(&pool->blocks, block, bytes);
}

bool ab_paged_pool_free(struct ab_paged_pool *pool, void *block)
{
    AB_CHECKED_CALL(pool, "paged pool");
    if (block == NULL)
        return true;
    demand(pool, block);
    return ab_paged_pool_plain_free(pool, end_block(pool, block));
}

AB_CHECKED_DEFINE(ab_paged_pool, struct ab_paged_pool, "paged pool", demand, end_block)

size_t ab_paged_pool_usable(const void *block)
{
    return ab_checked_size(block); /* the checked build allows only the requested size */
}

/* Resizes in place. Bytes that the block loses are poisoned before they are the pool's again. */
bool ab_paged_pool_resize_in_place(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    AB_CHECKED_CALL(pool, "paged pool");
    demand(pool, block);
    char *raw = ab_checked_raw(block), *end = raw + ab_paged_pool_plain_usable(raw);
    const char *dirty = pool->dirty; /* memory from `dirty` on is not filled with poison */
    size_t lead = (size_t)((char *)block - raw);
    if (new_size > PTRDIFF_MAX / 4)
        return false;
    if (new_size < ab_checked_size(block)) {
        char *from = (char *)block + new_size;
        AB_MARK_DEFINED(from, (size_t)(end - from));
        memset(from, AB_GUARD_DEAD, (size_t)(end - from));
        AB_MARK_UNUSED(from, (size_t)(end - from));
    }
    if (!ab_paged_pool_plain_resize_in_place(pool, raw, lead + new_size + AB_BLOCK_TAIL))
        return false;
    const char *new_end = raw + ab_paged_pool_plain_usable(raw);
    ab_block_demand_dead(&pool->blocks, end, new_end < dirty ? new_end : dirty);
    if (new_size >= ab_checked_size(block))
        ab_checked_set_size(block, new_size, (size_t)(new_end - raw));
    else
        ab_block_set_size(block, new_size,
                          ab_block_tail((size_t)(new_end - (char *)block) - new_size));
    AB_MARK_UNUSED((char *)block + new_size, AB_BLOCK_TAIL);
    return true;
}

void *ab_paged_pool_resize(struct ab_paged_pool *pool, void *block, size_t new_size)
{
    AB_CHECKED_CALL(pool, "paged pool");
    if (ab_paged_pool_resize_in_place(pool, block, new_size))
        return block;
    unsigned tag = header_of(ab_checked_raw(block))->tag;
    void *copy = ab_paged_pool_alloc(pool, new_size, tag);
    if (copy == NULL)
        return NULL;
    size_t old_size = ab_checked_size(block);
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_paged_pool_free(pool, block);
    return copy;
}

/* Visits the youngest block first. */
void ab_paged_pool_visit(struct ab_paged_pool *pool,
                         void (*visit)(void *block, size_t bytes, unsigned tag, void *context),
                         void *context)
{
    for (struct ab_block_head *head = pool->blocks.top; head != NULL; head = head->below)
        visit(head + 1, head->size, header_of(ab_checked_raw(head + 1))->tag, context);
}

#endif

/* ---- pools by name, linked through the pools ---- */

struct ab_paged_pool *ab_paged_pools_find(const struct ab_paged_pools *pools, const char *name)
{
    struct ab_paged_pool *pool = pools->first;
    while (pool != NULL && strcmp(pool->name, name) != 0)
        pool = pool->next;
    return pool;
}

int ab_paged_pools_add(struct ab_paged_pools *pools, struct ab_paged_pool *pool, const char *name,
                       size_t bytes)
{
    if (strlen(name) > AB_PAGED_NAME_MAX)
        return ENAMETOOLONG;
    if (ab_paged_pools_find(pools, name) != NULL)
        return EEXIST;
    int error = ab_paged_pool_init(pool, name, bytes);
    if (error != 0)
        return error;
    pool->next = pools->first;
    pools->first = pool;
    return 0;
}

void ab_paged_pools_fini(struct ab_paged_pools *pools)
{
    while (pools->first != NULL) {
        struct ab_paged_pool *pool = pools->first;
        pools->first = pool->next;
        ab_paged_pool_fini(pool);
    }
}
