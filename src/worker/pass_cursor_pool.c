/* SPDX-License-Identifier: MIT
 *
 * The loops with the pool compiled in through a cursor. Its position stays in registers from the
 * first allocation of a row to the last.
 */
#include "allocators/pool/pool.h"
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_cursor_pool
#define OBJECT(f) ((struct ab_pool *)(f)->object)
#define CALL_ALLOC(f, n) ((uintptr_t)ab_pool_alloc(OBJECT(f), (n)))
#define CALL_FREE(f, ref, n) ((void)(n), ab_pool_free(OBJECT(f), (void *)(ref)))
#define CURSOR struct ab_pool_cursor
#define CURSOR_OF(f) ab_pool_cursor_of(OBJECT(f))
#define CURSOR_ALLOC(c, n) ((uintptr_t)ab_pool_cursor_alloc((c), (n)))
#define CURSOR_END(f, c) ab_pool_cursor_end(OBJECT(f), (c))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
