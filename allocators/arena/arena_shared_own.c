/* SPDX-License-Identifier: MIT
 *
 * What only programs need of arenas for several threads: the heap of a thread found by the C library,
 * and fork.
 */
#include "../common/shards.h"
#include "arena_shared.h"

AB_SHARDS_DEFINE_OWN(ab_arena_shared)
