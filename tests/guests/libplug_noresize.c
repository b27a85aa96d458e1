/* SPDX-License-Identifier: MIT
 *
 * A plug-in that cannot resize: where the work resizes, it does other work than the rest.
 */
#define ab_backend_v1 skeleton_v1
#include "allocators/skeleton/skeleton.c"
#undef ab_backend_v1

extern const struct ab_backend ab_backend_v1;

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "noresize",
    .summary = "the skeleton without resize",
    .params = params,
    .n_params = N_PARAMS,
    .open = skeleton_open,
    .close = skeleton_close,
    .alloc = skeleton_alloc,
    .alloc_aligned = skeleton_alloc_aligned,
    .alloc_zeroed = skeleton_alloc_zeroed,
    .free = skeleton_free,
};
