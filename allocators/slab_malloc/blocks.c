/* SPDX-License-Identifier: MIT
 *
 * The functions of malloc(3) after the fast paths. They choose slabs, runs or mappings by size, and
 * find the slab, run or mapping of a pointer.
 */
#include "allocators/common/pages.h"
#include "allocators/slab_malloc/slab_malloc.h"

#include <errno.h>
#include <string.h>

static const size_t sizes_end = PTRDIFF_MAX;

static unsigned units_for(size_t size)
{
    return (unsigned)((size + AB_UNIT_BYTES - 1) >> AB_UNIT_LOG2);
}

/* ---- allocate ---- */

static void *alloc_in_class(unsigned class, bool *is_zero)
{
    void *block = ab_span_take(ab_own_heap->current[class]);
    if (AB_LIKELY(block != NULL))
        return block;
    struct ab_thread_heap *heap = ab_threads_enter();
    bool is_carved;
    struct ab_span *slab = heap != NULL ? ab_heap_refill(heap, class, &is_carved) : NULL;
    if (slab != NULL) {
        block = ab_span_take(slab);
        /* blocks of this size are carved one at a time, so that only their first two words were
         * written */
        if (is_carved && slab->is_zero && slab->bytes >= AB_SMALL_BYTES) {
            ((struct ab_free_block *)block)->next = NULL;
            *is_zero = true;
        }
    }
    if (heap != NULL)
        ab_threads_leave(heap);
    return block;
}

static void *alloc_run(size_t size, bool *is_zero)
{
    struct ab_span *run = ab_page_heap_alloc(units_for(size), AB_SPAN_RUN);
    if (run == NULL)
        return NULL;
    run->bytes = (uint32_t)(run->n_units << AB_UNIT_LOG2);
    *is_zero = run->is_zero;
    return ab_span_base(run);
}

static void *alloc_once(size_t size, size_t align, bool *is_zero)
{
    *is_zero = false;
    if (size <= AB_CLASS_BYTES && align <= AB_UNIT_BYTES) {
        unsigned class = ab_size_class_of(size);
        while (align > 16 && (ab_size_class_bytes(class) & (align - 1)) != 0)
            class ++; /* the loop ends at the next power of two at the latest */
        return alloc_in_class(class, is_zero);
    }
    ab_decay_tick();
    if (size <= AB_RUN_BYTES && align <= AB_UNIT_BYTES)
        return alloc_run(size, is_zero);
    return ab_large_alloc(size, align, is_zero);
}

/* Allocates a block. align is a power of two, at least 16; size is a multiple of it, or align is
 * 16. */
static void *alloc(size_t size, size_t align, bool *is_zero)
{
    void *block = NULL;
    if (align < sizes_end / 2 && size <= sizes_end - align - AB_UNIT_BYTES) {
        block = alloc_once(size, align, is_zero);
        if (block == NULL) { /* give back the free memory that is kept, then try again */
            ab_page_heap_purge(0, true);
            ab_large_purge(0, true);
            block = alloc_once(size, align, is_zero);
        }
    }
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

void *ab_block_alloc_slow(size_t size)
{
    bool is_zero;
    return alloc(size, 16, &is_zero);
}

void *ab_block_alloc_zeroed(size_t size)
{
    bool is_zero;
    void *block = alloc(size, 16, &is_zero);
    return block != NULL && !is_zero ? memset(block, 0, size) : block;
}

void *ab_block_alloc_aligned(size_t align, size_t size)
{
    bool is_zero;
    align = align < 16 ? 16 : align;
    if (align < sizes_end / 2 && size <= sizes_end - align)
        size = ab_round_up(size + (size == 0), align);
    return alloc(size, align, &is_zero);
}

/* ---- find ---- */

/* Returns the slab or run of a block; NULL for a mapping or a foreign pointer. Ends the process if
 * p is in our memory but is not the beginning of a live block. */
static struct ab_span *find(const void *p)
{
    if (!ab_region_is_ours(p))
        return NULL;
    struct ab_span *span = ab_span_of_unit(p);
    if (span->kind == AB_SPAN_PART)
        span -= span->back;
    if (span->kind != AB_SPAN_SLAB && span->kind != AB_SPAN_RUN)
        ab_fail_free(p, "it is no block, or was freed already");
    size_t offset = (size_t)((const char *)p - ab_span_base(span));
    if (span->kind == AB_SPAN_RUN
            ? offset != 0
            : ab_span_index(span, offset) >= __atomic_load_n(&span->n_carved, __ATOMIC_RELAXED))
        ab_fail_free(p, "it is not the begin of a block");
    if (span->kind == AB_SPAN_SLAB && ((const struct ab_free_block *)p)->mark == ab_mark_of(p))
        ab_fail_free(p, "it was freed already");
    return span;
}

static void free_pages(struct ab_span *run, void *p)
{
    int error = errno;
    if (run != NULL)
        ab_page_heap_free(run);
    else
        ab_large_free(p);
    ab_decay_tick();
    errno = error;
}

void ab_block_free_slow(void *p)
{
    if (p == NULL)
        return;
    struct ab_span *span = find(p);
    if (span == NULL || span->kind != AB_SPAN_SLAB)
        free_pages(span, p);
    else if (span->heap == ab_own_heap)
        ab_span_put(span, p);
    else
        ab_threads_push(span->heap, p);
}

size_t ab_block_usable(const void *p)
{
    const struct ab_span *span = find(p);
    return span != NULL ? span->bytes : ab_large_usable(p);
}

/* ---- resize ---- */

/* True if a block can be resized in place without wasting more than half of it. */
static bool fits(size_t usable, size_t size)
{
    return size <= usable && (size >= usable / 2 || usable <= 64);
}

static bool resize_run(struct ab_span *run, size_t size)
{
    if (size <= AB_CLASS_BYTES || size > AB_RUN_BYTES)
        return false;
    unsigned n = units_for(size);
    if (n != run->n_units && !ab_page_heap_resize(run, n))
        return false;
    run->bytes = (uint32_t)(n << AB_UNIT_LOG2);
    return true;
}

static void *resize_by_copy(void *p, size_t usable, size_t size)
{
    void *block = ab_block_alloc(size);
    if (block == NULL)
        return size <= usable ? p : NULL;
    memcpy(block, p, size < usable ? size : usable);
    ab_block_free(p);
    return block;
}

static void *resize(struct ab_span *span, void *p, size_t size)
{
    int error = errno;
    size_t usable = span != NULL ? span->bytes : ab_large_usable(p);
    if (usable == 0)
        ab_fail_free(p, "it is no block, or was freed already");
    if (size > sizes_end - AB_UNIT_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    if (span != NULL && span->kind == AB_SPAN_RUN && resize_run(span, size))
        return p;
    void *moved = span == NULL && size > AB_RUN_BYTES ? ab_large_resize(p, size) : NULL;
    if (moved == NULL)
        moved = resize_by_copy(p, usable, size);
    if (moved != NULL)
        errno = error;
    return moved;
}

void *ab_block_resize(void *p, size_t size)
{
    struct ab_span *span = find(p);
    return span != NULL && fits(span->bytes, size) ? p : resize(span, p, size);
}
