/* SPDX-License-Identifier: MIT
 *
 * The loops with the arena compiled in through a cursor. Its position stays in registers from the
 * first allocation of a row to the last.
 */
#include "allocators/arena/arena.h"
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_cursor_arena
#define OBJECT(f) ((struct ab_arena *)(f)->object)
#define CALL_ALLOC(f, n) ((uintptr_t)ab_arena_alloc(OBJECT(f), (n)))
#define CALL_FREE(f, ref, n) ((void)(f), (void)(ref), (void)(n))
#define CALL_RESET(f) ab_arena_reset(OBJECT(f))
#define CALL_MARK(f, lane, op) \
    ((lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))] = ab_arena_save(OBJECT(f)).position)
#define CALL_RELEASE(f, lane, op) \
    ab_arena_restore_position(OBJECT(f), (lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))])
#define CURSOR struct ab_arena_cursor
#define CURSOR_OF(f) ab_arena_cursor_of(OBJECT(f))
#define CURSOR_ALLOC(c, n) ((uintptr_t)ab_arena_cursor_alloc((c), (n)))
#define CURSOR_END(f, c) ab_arena_cursor_end(OBJECT(f), (c))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
