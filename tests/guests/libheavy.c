/* SPDX-License-Identifier: MIT
 *
 * A malloc that has 8 MiB of its own before its first block.
 */
#include "toy.h"

static char own[8 << 20];

__attribute__((constructor)) static void fill(void)
{
    memset(own, 1, sizeof own);
}
