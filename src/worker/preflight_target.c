/* SPDX-License-Identifier: MIT
 *
 * From what the worker has opened to what the checks take.
 */
#include "worker/preflight.h"

void ab_target_of_malloc(const struct ab_malloc_calls *calls, struct ab_target *out)
{
    *out = (struct ab_target){
        .calls = *calls,
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    };
}

void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out)
{
    *out = (struct ab_target){
        .hooks = face->backend, .heap = face->heap, .traits = face->backend->traits};
}
