/* SPDX-License-Identifier: MIT
 *
 * From what the worker has opened to what the checks take.
 */
#include "worker/preflight.h"

void ab_target_of_malloc(const struct ab_malloc_face *face, struct ab_target *out)
{
    *out = (struct ab_target){
        .calls =
            {
                .malloc = face->malloc,
                .free = face->free,
                .realloc = face->realloc,
                .calloc = face->calloc,
                .memalign = face->memalign,
                .aligned_alloc = face->aligned_alloc,
                .posix_memalign = face->posix_memalign,
                .usable_size = face->usable_size,
            },
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    };
}

void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out)
{
    *out = (struct ab_target){
        .hooks = face->backend, .heap = face->heap, .traits = face->backend->traits};
}
