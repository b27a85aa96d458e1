/* SPDX-License-Identifier: MIT
 *
 * The loops at the heap boundary.
 */
#define FACE struct ab_heap_face
#ifdef AB_PASS_HANDLES
#define FN(name) name##_handle
#else
#define FN(name) name##_heap
#endif
#define CALL_ALLOC(f, n) ((f)->alloc((f)->heap, (n)))
#define CALL_FREE(f, ref, n) ((f)->free((f)->heap, (ref), (n)))
#include "worker/heap_calls.h"
/* defined in pass_handle.c; this instance also serves a malloc wrapped in a decorator */
#ifdef AB_PASS_HANDLES
#define CALL_FREE_SIZED(f, ref, n, log2) \
    ((f)->free_sized != NULL ? (f)->free_sized((f)->heap, (ref), (n), (log2)) \
                             : CALL_FREE((f), (ref), (n)))
#define ADDRESS(f, ref) ((f)->resolve((f)->heap, (ref)))
#else
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))
#endif

#include "worker/pass_body.h"
