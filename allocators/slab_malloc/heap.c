/* SPDX-License-Identifier: MIT
 *
 * The slabs of one heap. `left` of a slab is the number of frees until something changes:
 *
 *     current   UINT32_MAX: the slab stays current even when it is empty
 *     partial   number of used blocks: at 0 the slab is empty and goes back
 *     full      1: the next free makes it partial
 *
 * So a free only counts down one number, and an allocation counts nothing. Blocks come from current
 * slabs only, which are replaced when they are full. If one is replaced earlier, its free blocks
 * are counted.
 */
#include "allocators/slab_malloc/slab_malloc.h"

#include <errno.h>

/* bytes of blocks that are put on a free list at a time; later pages are not touched before they
 * are needed */
enum { CARVE_BYTES = 4096 };

/* the slab of heaps without slabs; never written, because it has no free block */
struct ab_span ab_empty_span;

/* ---- partial slabs ---- */

/* Adds a slab at the end of the queue. So it waits longest, more of its blocks are freed meanwhile,
 * and the heap changes its current slab less often. */
static void append(struct ab_span_queue *queue, struct ab_span *slab)
{
    slab->prev = queue->last;
    slab->next = NULL;
    if (queue->last != NULL)
        queue->last->next = slab;
    else
        queue->first = slab;
    queue->last = slab;
}

static void take_out(struct ab_span_queue *queue, struct ab_span *slab)
{
    if (slab->prev != NULL)
        slab->prev->next = slab->next;
    else
        queue->first = slab->next;
    if (slab->next != NULL)
        slab->next->prev = slab->prev;
    else
        queue->last = slab->prev;
}

/* ---- slabs ---- */

/* Returns the inverse of an odd number modulo 2^32. The first 3 bits are right at the start, and
 * each step doubles the number of right bits. */
static uint32_t inverse_of(uint32_t odd)
{
    uint32_t x = odd;
    for (int i = 0; i < 4; i++)
        x *= 2 - odd * x;
    return x;
}

static struct ab_span *new_slab(struct ab_thread_heap *heap, unsigned class)
{
    size_t bytes = ab_size_class_bytes(class);
    unsigned n_units = bytes <= AB_SMALL_BYTES ? 1 : AB_MEDIUM_UNITS;
    struct ab_span *slab = ab_page_heap_alloc(n_units, AB_SPAN_SLAB);
    if (slab == NULL)
        return NULL;
    slab->free = NULL;
    slab->left = 0;
    slab->n_carved = 0;
    slab->bytes = (uint32_t)bytes;
    slab->capacity = (uint32_t)((n_units << AB_UNIT_LOG2) / bytes);
    slab->shift = (uint32_t)__builtin_ctzll(bytes);
    slab->inverse = inverse_of((uint32_t)bytes >> slab->shift);
    slab->class = (uint8_t) class;
    slab->heap = heap;
    return slab;
}

static bool is_carved_up(const struct ab_span *slab)
{
    return slab->n_carved == slab->capacity;
}

static void retire(struct ab_span *slab)
{
    slab->heap = NULL;
    ab_page_heap_free(slab);
}

/* Puts the next unused blocks of the slab on its free list, in the order of their addresses. */
static void carve(struct ab_span *slab)
{
    uint32_t n = CARVE_BYTES / slab->bytes, room = slab->capacity - slab->n_carved;
    n = n == 0 ? 1 : n > room ? room : n;
    char *at = ab_span_base(slab) + (size_t)slab->n_carved * slab->bytes;
    struct ab_free_block *first = (struct ab_free_block *)at, *last = first;
    for (uint32_t i = 1; i < n; i++) {
        at += slab->bytes;
        last->next = (struct ab_free_block *)at;
        last->mark = ab_mark_of(last);
        last = last->next;
    }
    last->mark = ab_mark_of(last);
    last->next = slab->free;
    slab->free = first;
    __atomic_store_n(&slab->n_carved, slab->n_carved + n, __ATOMIC_RELAXED);
}

/* Makes the slab current for its class. One lookup in `direct` then finds it for small sizes. */
static void set_direct(struct ab_thread_heap *heap, unsigned class, struct ab_span *slab)
{
    size_t last = ab_size_class_bytes(class) / 16;
    size_t first = class == 0 ? 0 : ab_size_class_bytes(class - 1) / 16 + 1;
    heap->current[class] = slab;
    for (size_t i = first; i <= last && i < AB_N_DIRECT; i++)
        heap->direct[i] = slab;
}

static void make_current(struct ab_thread_heap *heap, struct ab_span *slab)
{
    slab->place = AB_SLAB_CURRENT;
    slab->left = UINT32_MAX;
    set_direct(heap, slab->class, slab);
}

static void make_partial(struct ab_thread_heap *heap, struct ab_span *slab, uint32_t n_used)
{
    slab->place = AB_SLAB_PARTIAL;
    slab->left = n_used;
    append(&heap->partial[slab->class], slab);
}

static void make_full(struct ab_span *slab)
{
    slab->place = AB_SLAB_FULL;
    slab->left = 1;
}

struct ab_span *ab_heap_refill(struct ab_thread_heap *heap, unsigned class, bool *is_carved)
{
    *is_carved = false;
    if (__atomic_load_n(&heap->remote, __ATOMIC_RELAXED) != NULL)
        ab_heap_drain(heap);
    struct ab_span *slab = heap->current[class];
    if (slab->free != NULL)
        return slab;
    if (is_carved_up(slab)) {
        struct ab_span *other = heap->partial[class].first;
        if (other != NULL)
            take_out(&heap->partial[class], other);
        else if ((other = new_slab(heap, class)) == NULL)
            return NULL;
        if (slab != &ab_empty_span)
            make_full(slab);
        make_current(heap, other);
        slab = other;
    }
    if (slab->free == NULL) {
        carve(slab);
        *is_carved = true;
    }
    return slab;
}

void ab_heap_settle(struct ab_thread_heap *heap, struct ab_span *slab)
{
    if (slab->place == AB_SLAB_FULL) {
        make_partial(heap, slab, slab->capacity - 1);
        return;
    }
    if (slab->place == AB_SLAB_CURRENT) {
        slab->left = UINT32_MAX;
        return;
    }
    int error = errno; /* free must not change errno, but giving memory back may */
    take_out(&heap->partial[slab->class], slab);
    retire(slab);
    ab_decay_tick();
    errno = error;
}

static uint32_t count_free(const struct ab_span *slab)
{
    uint32_t n = 0;
    for (const struct ab_free_block *block = slab->free; block != NULL; block = block->next)
        n++;
    return n;
}

void ab_heap_settle_all(struct ab_thread_heap *heap)
{
    for (unsigned class = 0; class < AB_HEAP_CLASSES; class ++) {
        struct ab_span *slab = heap->current[class];
        if (slab == &ab_empty_span)
            continue;
        set_direct(heap, class, &ab_empty_span);
        uint32_t n_used = slab->n_carved - count_free(slab);
        if (n_used == 0)
            retire(slab);
        else if (n_used == slab->capacity)
            make_full(slab);
        else
            make_partial(heap, slab, n_used);
    }
}

/* ---- blocks that other threads freed ---- */

void ab_heap_drain(struct ab_thread_heap *heap)
{
    struct ab_free_block *block = __atomic_exchange_n(&heap->remote, NULL, __ATOMIC_ACQUIRE);
    while (block != NULL) {
        struct ab_free_block *next = block->next;
        struct ab_span *slab = ab_span_of_unit(block);
        ab_span_put(slab - (slab->kind == AB_SPAN_PART ? slab->back : 0), block);
        block = next;
    }
}
