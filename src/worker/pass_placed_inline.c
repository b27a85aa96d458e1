/* SPDX-License-Identifier: MIT
 *
 * The loops over several heaps, some of them compiled in. Each request goes to one of the heaps.
 */
#include "worker/placed_inline.h"

#define FACE struct ab_placed
#define FN(name) name##_placed_inline
#define CALL_ALLOC(f, n) ab_placed_inline_alloc((f), (n))
#define CALL_FREE(f, ref, n) ab_placed_inline_free((f), (ref), (n))
#define CALL_FREE_SIZED(f, ref, n, log2) ab_placed_inline_free_sized((f), (ref), (n), (log2))
#include "worker/placed_calls.h"

#include "worker/pass_body.h"
