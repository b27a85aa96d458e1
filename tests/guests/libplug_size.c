/* SPDX-License-Identifier: MIT
 *
 * A plug-in whose table is smaller than the first version of it ever was.
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

static ab_ref plug_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return size <= sizeof block ? (ab_ref)block : 0;
}

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend) - 64,
    .name = "plug_size",
    .summary = "a plug-in that must be refused",
    .open = plug_open,
    .close = plug_close,
    .alloc = plug_alloc,
};
