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
#define CALL_RESIZE(f, ref, old, n) ((f)->resize((f)->heap, (ref), (old), (n)))
#define CALL_ZEROED(f, n) ((f)->alloc_zeroed((f)->heap, (n)))
#define CALL_ALIGNED(f, align, n) ((f)->alloc_aligned((f)->heap, (align), (n)))
#define HAS_RESIZE(f) ((f)->resize != NULL)
#define HAS_ZEROED(f) ((f)->alloc_zeroed != NULL)
#define HAS_ALIGNED(f) ((f)->alloc_aligned != NULL)
#define HAS_RESET(f) ((f)->reset != NULL)
#define HAS_USABLE(f) ((f)->usable_size != NULL)
#define CALL_USABLE(f, ref) ((f)->usable_size((f)->heap, (ref)))
#define CALL_RESET(f) ((f)->reset((f)->heap))
#ifdef AB_PASS_HANDLES /* pass_handle.c */
#define ADDRESS(f, ref) ((f)->resolve((f)->heap, (ref)))
#else
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))
#endif

#include "worker/pass_body.h"
