/* SPDX-License-Identifier: MIT
 *
 * The loops over several heaps, one chosen for each request, all of them called.
 */
#include "worker/target/routed.h"

#define FACE struct ab_routed
#define FN(name) name##_routed
#define CALL_ALLOC(f, n) ab_routed_alloc((f), (n))
#define CALL_FREE(f, ref, n) ab_routed_free((f), (ref), (n))
#include "worker/passes/routed_calls.h"

#include "worker/passes/pass_body.h"
