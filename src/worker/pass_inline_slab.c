/* SPDX-License-Identifier: MIT
 *
 * The loops with the slab compiled in: no call between the op and the allocator.
 */
#include "allocators/slab/slab.h"
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_inline_slab
#define OBJECT(f) ((struct ab_slabs *)(f)->object)
#define CALL_ALLOC(f, n) ((uintptr_t)ab_slabs_alloc(OBJECT(f), (n)))
#define CALL_FREE(f, ref, n) ((void)(n), ab_slabs_free(OBJECT(f), (void *)(ref)))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
