/* SPDX-License-Identifier: MIT
 *
 * The null of the loops with a cursor: each allocation returns the one block of the null back end,
 * from a register.
 */
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_cursor_null
#define OBJECT(f) ((void *)(f)->object)
#define CALL_ALLOC(f, n) ((void)(n), (uintptr_t)OBJECT(f))
#define CALL_FREE(f, ref, n) ((void)(f), (void)(ref), (void)(n))
#define CURSOR \
    uintptr_t /* held in a register, as in the other loops, or it would not be their null */
#define CURSOR_OF(f) ((uintptr_t)OBJECT(f))
#define CURSOR_ALLOC(c, n) ((void)(n), *(c))
#define CURSOR_END(f, c) ((void)(f), (void)(c))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
