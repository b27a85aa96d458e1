/* SPDX-License-Identifier: MIT
 *
 * The loops over several heaps, one chosen for each request, some of them compiled in.
 */
#include "worker/target/routed_inline.h"

#define FACE struct ab_routed
#define FN(name) name##_routed_inline
#define CALL_ALLOC(f, n) ab_routed_inline_alloc((f), (n))
#define CALL_FREE(f, ref, n) ab_routed_inline_free((f), (ref), (n))
#include "worker/passes/routed_calls.h"

#include "worker/passes/pass_body.h"
