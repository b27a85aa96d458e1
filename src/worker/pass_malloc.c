/* SPDX-License-Identifier: MIT
 *
 * The loops at the malloc boundary. memalign serves every aligned request: in every library it
 * accepts sizes that are not a multiple of the alignment, which aligned_alloc may refuse.
 */
#define FACE struct ab_malloc_calls
#define FN(name) name##_malloc
#define CALL_ALLOC(f, n) ((uintptr_t)(f)->malloc(n))
#define CALL_FREE(f, ref, n) ((f)->free((void *)(ref)))
#define CALL_FREE_SIZED(f, ref, n, log2) ab_malloc_free_sized((f), (void *)(ref), (n), (log2))
#define CALL_RESIZE(f, ref, old, n) ((void)(old), (uintptr_t)(f)->realloc((void *)(ref), (n)))
#define CALL_ZEROED(f, n) ((uintptr_t)(f)->calloc(1, (n)))
#define CALL_ALIGNED(f, align, n) ((uintptr_t)(f)->memalign((align), (n)))
/* Libraries opened by prefix may lack functions; a preloaded one has them all. */
#define HAS_RESIZE(f) ((f)->realloc != NULL)
#define HAS_ZEROED(f) ((f)->calloc != NULL)
#define HAS_ALIGNED(f) ((f)->memalign != NULL)
#define HAS_RESET(f) false
#define HAS_USABLE(f) ((f)->usable_size != NULL)
#define CALL_USABLE(f, ref) ((f)->usable_size((void *)(ref)))
#define CALL_RESET(f) ((void)(f))
#define MAY_RELEASE(f, lane, op) false
#define CALL_MARK(f, lane, op) ((void)(f))
#define CALL_RELEASE(f, lane, op) ((void)(f))
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))

#include "worker/pass_body.h"
