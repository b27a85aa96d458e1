/* SPDX-License-Identifier: MIT
 *
 * A plug-in that cannot free. What that does to memory does not need to be said in its traits.
 */
#define ab_backend_v1 skeleton_v1
#include "allocators/skeleton/skeleton.c"
#undef ab_backend_v1

extern const struct ab_backend ab_backend_v1;

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "nofree",
    .summary = "the skeleton without free",
    .params = params,
    .n_params = N_PARAMS,
    .open = skeleton_open,
    .close = skeleton_close,
    .alloc = skeleton_alloc,
    .resize = skeleton_resize,
};
