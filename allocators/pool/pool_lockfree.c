/* SPDX-License-Identifier: MIT
 *
 * A pop reads the link of a slot that another thread may have popped and be writing to: the value
 * is thrown away then, because the head has another number. The language calls that a race, so the
 * read is hidden from ThreadSanitizer; no processor minds, and the memory is never unmapped.
 */
#include "pool_lockfree.h"

#include "../common/marks.h"
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
    size_t stride = ab_round_up(slot + AB_MARK_GAP, align);
    if (options->align == 0)
        stride = ab_spread_slots(stride, align);
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
    AB_MARK_POOL_CREATE(pool);
    return 0;
}

void ab_pool_lockfree_fini(struct ab_pool_lockfree *pool)
{
    AB_MARK_POOL_DESTROY(pool);
    AB_MARK_DEFINED(pool->base, pool->carved);
    ab_pages_release(pool->base, pool->map_bytes);
    memset(pool, 0, sizeof *pool);
}

/* ---- the stack ---- */

static uint64_t *slot_at(const struct ab_pool_lockfree *pool, uint64_t head)
{
    return (uint64_t *)(pool->base + (((head & PLACE_MASK) - 1) << UNIT_LOG2));
}

static uint64_t place_of(const struct ab_pool_lockfree *pool, const void *slot)
{
    return ((uint64_t)((const char *)slot - pool->base) >> UNIT_LOG2) + 1;
}

/* Of a slot that need not be free any more. The link of a free one stays readable to all. */
__attribute__((noinline, no_sanitize("thread", "address"))) static uint64_t read_link(
    const uint64_t *slot)
{
    return *(const volatile uint64_t *)slot;
}

/* Threads that failed at the same time should not do so again. */
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
    if (size > pool->slot_bytes)
        return NULL;
    void *slot = pop(pool);
    if (slot == NULL)
        slot = carve(pool);
    if (slot != NULL) {
        AB_MARK_UNUSED(slot, pool->stride);
        AB_MARK_ALLOC(pool, slot, size);
    }
    return slot;
}

void *ab_pool_lockfree_alloc_zeroed(struct ab_pool_lockfree *pool, size_t size)
{
    void *block = ab_pool_lockfree_alloc(pool, size);
    return block != NULL ? memset(block, 0, size) : NULL;
}

void ab_pool_lockfree_free(struct ab_pool_lockfree *pool, void *block)
{
    if (block == NULL)
        return;
    AB_MARK_FREE(pool, block, pool->slot_bytes);
    push(pool, (uint64_t *)block);
}

bool ab_pool_lockfree_owns(const struct ab_pool_lockfree *pool, const void *p)
{
    uintptr_t offset = (uintptr_t)p - (uintptr_t)pool->base;
    return offset < __atomic_load_n(&pool->carved, __ATOMIC_RELAXED) && offset % pool->stride == 0;
}

/* ---- while no other thread calls ---- */

void ab_pool_lockfree_reset(struct ab_pool_lockfree *pool)
{
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
}
