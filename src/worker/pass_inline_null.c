/* SPDX-License-Identifier: MIT
 *
 * The loops with the null back end compiled in: the cost of the harness without a call. An
 * allocation returns the one block of the null back end.
 */
#include "worker/inline_backend.h"

#define FACE struct ab_heap_face
#define FN(name) name##_inline_null
#define OBJECT(f) ((void *)(f)->object)
#define CALL_ALLOC(f, n) ((void)(n), (uintptr_t)OBJECT(f))
#define CALL_FREE(f, ref, n) ((void)(f), (void)(ref), (void)(n))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
