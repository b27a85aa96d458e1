/* SPDX-License-Identifier: MIT
 *
 * The loops at the heap boundary.
 */
#define FACE struct ab_heap_face
#define FN(name) name##_heap
#define CALL_ALLOC(f, n) ((f)->alloc((f)->heap, (n)))
#define CALL_FREE(f, ref, n) ((f)->free((f)->heap, (ref), (n)))
#define CALL_RESIZE(f, ref, old, n) ((f)->resize((f)->heap, (ref), (old), (n)))
#define CALL_ZEROED(f, n) ((f)->alloc_zeroed((f)->heap, (n)))
#define CALL_ALIGNED(f, align, n) ((f)->alloc_aligned((f)->heap, (align), (n)))
#define HAS_RESIZE(f) ((f)->resize != NULL)
#define HAS_ZEROED(f) ((f)->alloc_zeroed != NULL)
#define HAS_ALIGNED(f) ((f)->alloc_aligned != NULL)
#define ADDRESS(f, ref) \
    ((f)->resolve == NULL ? (void *)(ref) : (f)->resolve((f)->heap, (ref)))

#include "worker/pass_body.h"
