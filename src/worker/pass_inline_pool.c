/* SPDX-License-Identifier: MIT
 *
 * The loops with the pool compiled in: no call between the op and the allocator.
 */
#include "allocators/pool/pool.h"
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_inline_pool
#define OBJECT(f) ((struct ab_pool *)(f)->object)
#define CALL_ALLOC(f, n) ((uintptr_t)ab_pool_alloc(OBJECT(f), (n)))
#define CALL_FREE(f, ref, n) ((void)(n), ab_pool_free(OBJECT(f), (void *)(ref)))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
