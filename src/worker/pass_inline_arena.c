/* SPDX-License-Identifier: MIT
 *
 * The loops with the arena compiled in: no call between the op and the allocator.
 */
#include "allocators/arena/arena.h"
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_inline_arena
#define OBJECT(f) ((struct ab_arena *)(f)->object)
#define CALL_ALLOC(f, n) ((uintptr_t)ab_arena_alloc(OBJECT(f), (n)))
#define CALL_FREE(f, ref, n) ((void)(f), (void)(ref), (void)(n))
#define CALL_RESET(f) ab_arena_reset(OBJECT(f))
#define CALL_MARK(f, lane, op) \
    ((lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))] = ab_arena_save(OBJECT(f)).position)
#define CALL_RELEASE(f, lane, op) \
    ab_arena_restore_position(OBJECT(f), (lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))])
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
