/* SPDX-License-Identifier: MIT
 *
 * What only programs need of slabs for several threads: the heap of a thread found by the C library,
 * and fork.
 */
#include "../common/shards.h"
#include "slab_shared.h"

AB_SHARDS_DEFINE_OWN(ab_slab_shared)
