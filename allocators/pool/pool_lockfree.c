/* SPDX-License-Identifier: MIT
 *
 * A pop reads the link of a slot that another thread may have popped and may be writing to. The pop
 * then discards the value, because the number in the head has changed. C calls that a data race, so
 * the read is hidden from ThreadSanitizer. It is harmless on every processor, and the memory is
 * never unmapped.
 */
#include "pool_lockfree.h"

#include "../common/checked.h"
#include "../common/pages.h"

#include <errno.h>
#include <string.h>

#ifndef AB_POOL_LOCKFREE_STALL
#define AB_POOL_LOCKFREE_STALL(pool) ((void)0)
#endif
#ifndef AB_POOL_LOCKFREE_NUMBER_BITS
#define AB_POOL_LOCKFREE_NUMBER_BITS 24
#endif

enum { PLACE_BITS = 40, UNIT_LOG2 = 4, PAUSES_MAX = 64 };
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define NUMBER_MASK ((UINT64_C(1) << AB_POOL_LOCKFREE_NUMBER_BITS) - 1)
#define ALIGN_LEAST ((size_t)16)

static void *map_slots(size_t bytes, size_t unit, bool is_huge)
{
    return ab_pages_huge_if(is_huge, ab_pages_map(bytes, unit), bytes);
}

int ab_pool_lockfree_init(struct ab_pool_lockfree *pool,
                          const struct ab_pool_lockfree_options *options)
{
    size_t align = options->align < ALIGN_LEAST ? ALIGN_LEAST : options->align;
    size_t slot = options->slot_bytes == 0 ? 1 : options->slot_bytes, span;
    if ((options->align & (options->align - 1)) != 0)
        return EINVAL;
    if (slot > PTRDIFF_MAX / 2 || align > PTRDIFF_MAX / 4)
        return ENOMEM;
    slot = ab_round_up(slot, align);
    size_t extra = AB_CHECKS ? ab_checked_bytes(align, AB_MARK_GAP) : AB_MARK_GAP;
    if (extra > PTRDIFF_MAX / 4)
        return ENOMEM;
    size_t stride = ab_round_up(slot + extra, align);
    if (options->align == 0)
        stride += ab_spread_slots(slot, align) - slot;
    size_t n = options->n_slots != 0 ? options->n_slots : AB_POOL_LOCKFREE_USUAL / stride;
    if (n == 0 || __builtin_mul_overflow(stride, n, &span) || span >> UNIT_LOG2 >= PLACE_MASK)
        return ENOMEM;
    size_t map_bytes = ab_round_up(span, ab_page_size());
    size_t unit = options->huge && align < AB_HUGE_PAGE_BYTES ? AB_HUGE_PAGE_BYTES : align;
    void *base = map_slots(map_bytes, unit, options->huge);
    while (base == NULL && options->n_slots == 0 && (n /= 2) > 0) {
        span = n * stride;
        map_bytes = ab_round_up(span, ab_page_size());
        base = map_slots(map_bytes, unit, options->huge);
    }
    if (base == NULL)
        return errno;
    memset(pool, 0, sizeof *pool);
    pool->base = (char *)base;
    pool->slot_bytes = slot;
    pool->stride = stride;
    pool->align = align;
    pool->span_bytes = span;
    pool->map_bytes = map_bytes;
    pool->huge = options->huge;
    AB_CHECKED(ab_block_list_open(&pool->blocks, "pool"));
    AB_CHECKED(pool->blocks.is_locked = true);
    AB_MARK_POOL_CREATE(pool);
    return 0;
}

#ifdef AB_WITH_CHECKS

/* ---- the checked build ---- */

/* Ends the process unless the block is a live block in a slot and nothing around it was
 * overwritten. Returns its slot. */
static char *demand(const struct ab_pool_lockfree *pool, const void *block)
{
    size_t lead = ab_checked_lead(pool->align);
    size_t offset = (uintptr_t)block - (uintptr_t)pool->base;
    if (offset < lead || offset >= __atomic_load_n(&pool->carved, __ATOMIC_RELAXED))
        ab_guard_end("pool", block, AB_SAYS_FOREIGN);
    if ((offset - lead) % pool->stride != 0)
        ab_guard_end("pool", block, AB_SAYS_NO_BLOCK);
    ab_checked_demand_alone("pool", pool->blocks.id, block, lead);
    return (char *)(uintptr_t)block - lead;
}

/* Ends the life of a block. If two threads free the same block, the later one ends the process. */
static void end_block(const struct ab_pool_lockfree *pool, void *block)
{
    char *slot = demand(pool, block);
    uint32_t id = pool->blocks.id;
    if (!__atomic_compare_exchange_n(&ab_block_head_of(block)->list_id, &id, AB_GUARD_DEAD_ID,
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ab_guard_end("pool", block, AB_SAYS_FREED);
    AB_MARK_DEFINED(slot, pool->stride);
    memset(slot, AB_GUARD_DEAD, pool->stride);
    AB_MARK_UNUSED(slot, pool->stride);
}

/* Starts the life of a block. is_carved: the slot is new, or dead since a reset. */
static void *begin_block(const struct ab_pool_lockfree *pool, char *slot, size_t size,
                         bool is_carved)
{
    if (!is_carved || (size_t)(slot - pool->base) < pool->dirty)
        ab_block_demand_dead(&pool->blocks, slot + sizeof(uint64_t), slot + pool->stride);
    return ab_checked_make(pool->blocks.id, slot, pool->align, size, pool->stride);
}

/* Returns the first live block at or after offset *at, and advances *at past it. Returns NULL if
 * there is none. No other thread may be in a call. */
__attribute__((no_sanitize_address)) static void *next_live(const struct ab_pool_lockfree *pool,
                                                            size_t *at)
{
    for (; *at < pool->carved; *at += pool->stride) {
        char *block = pool->base + *at + ab_checked_lead(pool->align);
        if (ab_block_head_of(block)->list_id != AB_GUARD_DEAD_ID) {
            *at += pool->stride;
            return block;
        }
    }
    return NULL;
}

static void list_leaks(struct ab_pool_lockfree *pool)
{
    (void)ab_block_call_begin(pool == NULL ? NULL : &pool->blocks, "pool", NULL);
    size_t at = 0;
    for (void *block; (block = next_live(pool, &at)) != NULL;) {
        struct ab_block_death facts = ab_block_facts(ab_block_head_of(block));
        demand(pool, block);
        ab_guard_note("pool", block, "never freed", &facts);
    }
}

static void end_all(struct ab_pool_lockfree *pool)
{
    size_t at = 0;
    for (void *block; (block = next_live(pool, &at)) != NULL;)
        end_block(pool, block);
    pool->dirty = pool->carved > pool->dirty ? pool->carved : pool->dirty;
}

#endif

/* ---- the stack ---- */

static uint64_t *slot_at(const struct ab_pool_lockfree *pool, uint64_t head)
{
    return (uint64_t *)(pool->base + (((head & PLACE_MASK) - 1) << UNIT_LOG2));
}

static uint64_t place_of(const struct ab_pool_lockfree *pool, const void *slot)
{
    return ((uint64_t)((const char *)slot - pool->base) >> UNIT_LOG2) + 1;
}

/* Reads the link of a slot, which another thread may have popped meanwhile. */
__attribute__((noinline, no_sanitize("thread", "address"))) static uint64_t read_link(
    const uint64_t *slot)
{
    return *(const volatile uint64_t *)slot;
}

/* Waits longer after each failure, so that threads that failed together do not fail together
 * again. */
static void back_off(unsigned *n)
{
    for (unsigned i = 0; i < *n; i++)
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#else
        __asm__ volatile("");
#endif
    *n = *n < PAUSES_MAX ? 2 * *n + 1 : *n;
}

static void *pop(struct ab_pool_lockfree *pool)
{
    uint64_t head = __atomic_load_n(&pool->head, __ATOMIC_ACQUIRE);
    unsigned pauses = 0;
    while ((head & PLACE_MASK) != 0) {
        uint64_t *slot = slot_at(pool, head);
        uint64_t number = ((head >> PLACE_BITS) + 1) & NUMBER_MASK;
        uint64_t next = number << PLACE_BITS | (read_link(slot) & PLACE_MASK);
        AB_POOL_LOCKFREE_STALL(pool);
        if (__atomic_compare_exchange_n(&pool->head, &head, next, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return slot;
        back_off(&pauses);
        head = __atomic_load_n(&pool->head, __ATOMIC_ACQUIRE);
    }
    return NULL;
}

static void push(struct ab_pool_lockfree *pool, uint64_t *slot)
{
    uint64_t head = __atomic_load_n(&pool->head, __ATOMIC_RELAXED), next;
    unsigned pauses = 0;
    AB_MARK_DEFINED(slot, sizeof *slot);
    for (;;) {
        __atomic_store_n(slot, head & PLACE_MASK, __ATOMIC_RELAXED);
        next = (head & ~PLACE_MASK) | place_of(pool, slot);
        if (__atomic_compare_exchange_n(&pool->head, &head, next, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
        back_off(&pauses);
        head = __atomic_load_n(&pool->head, __ATOMIC_RELAXED);
    }
}

static void *carve(struct ab_pool_lockfree *pool)
{
    size_t at = __atomic_load_n(&pool->carved, __ATOMIC_RELAXED);
    while (pool->span_bytes - at >= pool->stride)
        if (__atomic_compare_exchange_n(&pool->carved, &at, at + pool->stride, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return pool->base + at;
    return NULL;
}

/* ---- calls ---- */

void *ab_pool_lockfree_alloc(struct ab_pool_lockfree *pool, size_t size)
{
    AB_CHECKED_CALL(pool, "pool");
    if (size > pool->slot_bytes)
        return NULL;
    void *popped = pop(pool), *slot = popped != NULL ? popped : carve(pool);
    if (slot == NULL)
        return NULL;
    AB_MARK_UNUSED(slot, pool->stride);
#ifdef AB_WITH_CHECKS
    return begin_block(pool, (char *)slot, size, popped == NULL);
#else
    AB_MARK_ALLOC(pool, slot, size > 0 ? size : 1); /* the marks of a free read the first byte */
    return slot;
#endif
}

void *ab_pool_lockfree_alloc_zeroed(struct ab_pool_lockfree *pool, size_t size)
{
    AB_CHECKED_CALL(pool, "pool");
    void *block = ab_pool_lockfree_alloc(pool, size);
    return block != NULL ? memset(block, 0, size) : NULL;
}

void ab_pool_lockfree_free(struct ab_pool_lockfree *pool, void *block)
{
    AB_CHECKED_CALL(pool, "pool");
    if (block == NULL)
        return;
#ifdef AB_WITH_CHECKS
    end_block(pool, block);
    block = (char *)block - ab_checked_lead(pool->align);
#else
    /* finds a foreign pointer, but not a second free */
    AB_MARK_EXPECT(block, ab_pool_lockfree_owns(pool, block));
    AB_MARK_FREE(pool, block, pool->slot_bytes);
#endif
    push(pool, (uint64_t *)block);
}

void ab_pool_lockfree_free_sized(struct ab_pool_lockfree *pool, void *block, size_t size)
{
    (void)size;
    AB_CHECKED_CALL(pool, "pool");
    AB_CHECKED(if (block != NULL) demand(pool, block));
    AB_CHECKED(if (block != NULL) ab_checked_demand_size(&pool->blocks, block, size));
    ab_pool_lockfree_free(pool, block);
}

bool ab_pool_lockfree_owns(const struct ab_pool_lockfree *pool, const void *p)
{
    size_t lead = AB_CHECKS ? ab_checked_lead(pool->align) : 0;
    uintptr_t offset = (uintptr_t)p - (uintptr_t)pool->base - lead;
    return offset < __atomic_load_n(&pool->carved, __ATOMIC_RELAXED) && offset % pool->stride == 0;
}

/* ---- while no other thread calls ---- */

void ab_pool_lockfree_fini(struct ab_pool_lockfree *pool)
{
    AB_CHECKED(list_leaks(pool));
    AB_MARK_POOL_DESTROY(pool);
    AB_MARK_DEFINED(pool->base, pool->carved);
    ab_pages_release(pool->base, pool->map_bytes);
    memset(pool, 0, sizeof *pool);
}

void ab_pool_lockfree_reset(struct ab_pool_lockfree *pool)
{
    AB_CHECKED(end_all(pool));
    AB_MARK_POOL_TRIM(pool, pool->base, 0);
    AB_MARK_UNUSED(pool->base, pool->carved);
    pool->head &= ~PLACE_MASK;
    pool->carved = 0;
}

size_t ab_pool_lockfree_live(const struct ab_pool_lockfree *pool)
{
    size_t n_free = 0, n_carved = pool->carved / pool->stride;
    for (uint64_t at = pool->head; (at & PLACE_MASK) != 0 && n_free < n_carved; n_free++)
        at = read_link(slot_at(pool, at));
    return n_carved - n_free;
}

void ab_pool_lockfree_purge(struct ab_pool_lockfree *pool)
{
    size_t used = pool->carved;
    if (ab_pool_lockfree_live(pool) > 0 || used == 0)
        return;
    ab_pool_lockfree_reset(pool);
    size_t unit = pool->huge ? AB_HUGE_PAGE_BYTES : ab_page_size();
    used = ab_round_up(used, unit);
    ab_pages_discard(pool->base, used < pool->map_bytes ? used : pool->map_bytes);
    AB_CHECKED(pool->dirty = used < pool->dirty ? pool->dirty : 0);
}
