/* SPDX-License-Identifier: MIT
 *
 * Macros of pass_body.h that all instances for heaps share: calls through the hooks of a heap.
 */
#define CALL_RESIZE(f, ref, old, n) ((f)->resize((f)->heap, (ref), (old), (n)))
#define CALL_ZEROED(f, n) ((f)->alloc_zeroed((f)->heap, (n)))
#define CALL_ALIGNED(f, align, n) ((f)->alloc_aligned((f)->heap, (align), (n)))
#define HAS_RESIZE(f) ((f)->resize != NULL)
#define HAS_ZEROED(f) ((f)->alloc_zeroed != NULL)
#define HAS_ALIGNED(f) ((f)->alloc_aligned != NULL)
#define HAS_RESET(f) ((f)->reset != NULL)
#define HAS_USABLE(f) ((f)->usable_size != NULL)
#define CALL_USABLE(f, ref) ((f)->usable_size((f)->heap, (ref)))
#ifndef CALL_RESET
#define CALL_RESET(f) ((f)->reset((f)->heap))
#endif
#ifndef CALL_MARK
#define CALL_MARK(f, lane, op) \
    ((lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))] = (f)->backend->mark((f)->heap))
#define CALL_RELEASE(f, lane, op) \
    ((f)->backend->release((f)->heap, (lane)->marks[AB_RESET_DEPTH(AB_OP_SLOT(op))]))
#endif
