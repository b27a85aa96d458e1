/* SPDX-License-Identifier: MIT
 *
 * The loops over several heaps, all of them called. Each request goes to one of the heaps.
 */
#include "worker/placed.h"

#define FACE struct ab_placed
#define FN(name) name##_placed
#define CALL_ALLOC(f, n) ab_placed_alloc((f), (n))
#define CALL_FREE(f, ref, n) ab_placed_free((f), (ref), (n))
#define CALL_FREE_SIZED(f, ref, n, log2) ab_placed_free_sized((f), (ref), (n), (log2))
#include "worker/placed_calls.h"

#include "worker/pass_body.h"
