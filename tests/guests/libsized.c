/* SPDX-License-Identifier: MIT
 *
 * A malloc with C23's sized frees, which end the process where they are told a size or an alignment
 * that is not the block's; with SIZED_TRAPS in the environment at once.
 */
#include "toy.h"

#include <stdlib.h>

static void check(void *p, size_t align, size_t size)
{
    if (getenv("SIZED_TRAPS") != NULL || (p != NULL && toy_head(p)->size != size) ||
        (uintptr_t)p % align != 0)
        __builtin_trap();
    toy_free(p);
}

void free_sized(void *p, size_t size);
void free_sized(void *p, size_t size)
{
    check(p, 1, size);
}

void free_aligned_sized(void *p, size_t align, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size)
{
    check(p, align, size);
}
