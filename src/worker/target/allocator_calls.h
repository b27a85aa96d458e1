/* SPDX-License-Identifier: MIT
 *
 * How ops reach an allocator: two call boundaries of equal indirection (one load of a function
 * pointer from memory, one call). Nothing is compared through a shim, which would tax one side by
 * a good part of a 4 ns op.
 */
#ifndef AB_WORKER_TARGET_ALLOCATOR_CALLS_H
#define AB_WORKER_TARGET_ALLOCATOR_CALLS_H

#include "allocators/ab_backend.h"
#include "worker/checks/malloc_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_heap_face { /* hooks of one opened heap; free is never NULL here */
    struct ab_heap *heap;
    ab_ref (*alloc)(struct ab_heap *, size_t);
    void (*free)(struct ab_heap *, ab_ref, size_t);
    ab_ref (*resize)(struct ab_heap *, ab_ref, size_t, size_t);
    ab_ref (*alloc_zeroed)(struct ab_heap *, size_t);
    ab_ref (*alloc_aligned)(struct ab_heap *, size_t, size_t);
    void (*reset)(struct ab_heap *);
    void *(*resolve)(struct ab_heap *, ab_ref);
    size_t (*usable_size)(struct ab_heap *, ab_ref);
    int (*thread_enter)(struct ab_heap *, uint32_t, struct ab_heap **);
    void *object; /* of a loop with the back end compiled in: what its functions take */
    const struct ab_backend *backend; /* whose hooks these are; NULL = none */
};

static inline bool ab_backend_has_marks(const struct ab_backend *b)
{
    return b->mark != NULL && b->release != NULL;
}

/* 16 bytes: AB_OP's slot field is its byte offset. */
struct ab_slot {
    uintptr_t ref;
    uint64_t size_seq; /* requested size in the low 48 bits; sequence number above */
};
#define AB_SLOT_SIZE(slot) ((slot)->size_seq & 0xffffffffffffu)
_Static_assert(sizeof(struct ab_slot) == 16, "the slot field of an op is a byte offset");

#endif
