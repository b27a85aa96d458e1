/* SPDX-License-Identifier: MIT
 *
 * A plug-in whose table of parameters is not in order: a default beyond the maximum.
 */
#define ab_backend_v1 skeleton_v1
#include "allocators/skeleton/skeleton.c"
#undef ab_backend_v1

static const struct ab_param plug_params[] = {
    {.name = "fine", .help = "", .type = AB_PARAM_BOOL},
    {.name = "size", .help = "", .type = AB_PARAM_BYTES, .def = 4096},
};

static int plug_open(const struct ab_open_args *args, struct ab_heap **out)
{
    (void)params; /* the skeleton's own */
    return skeleton_open(args, out);
}

extern const struct ab_backend ab_backend_v1;

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "badparam",
    .summary = "the skeleton with a mistake",
    .params = plug_params,
    .n_params = 2,
    .open = plug_open,
    .close = skeleton_close,
    .alloc = skeleton_alloc,
};
