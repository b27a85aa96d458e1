/* SPDX-License-Identifier: MIT
 *
 * A plug-in without the one hook that all need.
 */
#include "allocators/ab_backend.h"

static char block[4096] __attribute__((aligned(16)));

static int plug_open(const struct ab_open_args *args, struct ab_heap **out)
{
    (void)args;
    *out = (struct ab_heap *)block;
    return 0;
}

static void plug_close(struct ab_heap *heap)
{
    (void)heap;
}

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "plug_alloc",
    .summary = "a plug-in that must be refused",
    .open = plug_open,
    .close = plug_close,
    .alloc = NULL,
};
