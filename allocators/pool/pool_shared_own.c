/* SPDX-License-Identifier: MIT
 *
 * What only programs need of pools for several threads: the heap of a thread found by the C library,
 * and fork.
 */
#include "../common/shards.h"
#include "pool_shared.h"

AB_SHARDS_DEFINE_OWN(ab_pool_shared)
