/* SPDX-License-Identifier: MIT
 *
 * The functions of a group of pools that only programs need, not allocbench: the heap of the
 * calling thread, found through the C library, and fork.
 */
#include "../common/shards.h"
#include "pool_shared.h"

AB_SHARDS_DEFINE_OWN(ab_pool_shared)
