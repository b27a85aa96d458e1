/* SPDX-License-Identifier: MIT
 *
 * A malloc as a heap among others: functions of the heap's shape around those of malloc's.
 */
#include "worker/target/routed.h"

static ab_ref malloc_alloc(struct ab_heap *heap, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->malloc(size);
}

static void malloc_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    ((struct ab_malloc_calls *)(void *)heap)->free((void *)ref);
}

static ab_ref malloc_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    (void)old_size;
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->realloc((void *)ref, size);
}

static ab_ref malloc_zeroed(struct ab_heap *heap, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->calloc(1, size);
}

static ab_ref malloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return (ab_ref)((struct ab_malloc_calls *)(void *)heap)->memalign(align, size);
}

static size_t malloc_usable(struct ab_heap *heap, ab_ref ref)
{
    return ((struct ab_malloc_calls *)(void *)heap)->usable_size((void *)ref);
}

void ab_routed_malloc_hooks(const struct ab_malloc_calls *calls, struct ab_backend *hooks)
{
    *hooks = (struct ab_backend){
        .abi = AB_BACKEND_ABI,
        .size = sizeof *hooks,
        .name = "malloc",
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
        .alloc = malloc_alloc,
        .free = malloc_free,
        .resize = calls->realloc != NULL ? malloc_resize : NULL,
        .alloc_zeroed = calls->calloc != NULL ? malloc_zeroed : NULL,
        .alloc_aligned = calls->memalign != NULL ? malloc_aligned : NULL,
        .usable_size = calls->usable_size != NULL ? malloc_usable : NULL,
    };
}
