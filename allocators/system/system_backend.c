/* SPDX-License-Identifier: MIT
 *
 * The malloc that this process runs on, as a back end. It is an example of wrapping existing
 * functions and a subject of the contract suite. For comparisons, name the library itself (`-b
 * glibc`). It is then called without this wrapper, which would take a large part of the time of a
 * fast malloc.
 */
#include "allocators/glue.h"

#include <dlfcn.h>

struct ab_heap {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*usable_size)(void *);
};

/* Finds the functions by name at run time. A function linked here could be another one than that of
 * a preloaded library. */
static int find_functions(struct ab_heap *heap)
{
    *(void **)&heap->malloc = dlsym(RTLD_DEFAULT, "malloc");
    *(void **)&heap->free = dlsym(RTLD_DEFAULT, "free");
    *(void **)&heap->calloc = dlsym(RTLD_DEFAULT, "calloc");
    *(void **)&heap->realloc = dlsym(RTLD_DEFAULT, "realloc");
    *(void **)&heap->memalign = dlsym(RTLD_DEFAULT, "memalign");
    *(void **)&heap->usable_size = dlsym(RTLD_DEFAULT, "malloc_usable_size");
    return heap->malloc != NULL && heap->free != NULL && heap->calloc != NULL &&
                   heap->realloc != NULL && heap->memalign != NULL && heap->usable_size != NULL
               ? 0
               : ENOSYS;
}

static int system_open(const struct ab_open_args *args, struct ab_heap **out)
{
    (void)args;
    struct ab_heap *heap = ab_heap_map(sizeof *heap);
    if (heap == NULL)
        return errno;
    int error = find_functions(heap);
    if (error != 0) {
        ab_heap_unmap(heap, sizeof *heap);
        return error;
    }
    *out = heap;
    return 0;
}

/* Closes the heap. Frees no live blocks, because they belong to the only malloc of the process. */
static void system_close(struct ab_heap *heap)
{
    ab_heap_unmap(heap, sizeof *heap);
}

static ab_ref system_alloc(struct ab_heap *heap, size_t size)
{
    return (ab_ref)heap->malloc(size);
}

/* Calls memalign, because aligned_alloc may refuse a size that is not a multiple of the
 * alignment. */
static ab_ref system_alloc_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return (ab_ref)heap->memalign(align, size);
}

static ab_ref system_alloc_zeroed(struct ab_heap *heap, size_t size)
{
    return (ab_ref)heap->calloc(1, size);
}

static void system_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)size;
    heap->free((void *)ref);
}

static ab_ref system_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    (void)old_size;
    return (ab_ref)heap->realloc((void *)ref, new_size);
}

static size_t system_usable_size(struct ab_heap *heap, ab_ref ref)
{
    return heap->usable_size((void *)ref);
}

extern const struct ab_backend ab_system_backend;

const struct ab_backend ab_system_backend = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "system",
    .summary = "the C library's malloc as a heap back end; an example, not for comparisons",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    .open = system_open,
    .close = system_close,
    .alloc = system_alloc,
    .alloc_aligned = system_alloc_aligned,
    .alloc_zeroed = system_alloc_zeroed,
    .free = system_free,
    .resize = system_resize,
    .usable_size = system_usable_size,
};
