/* SPDX-License-Identifier: MIT
 *
 * A plug-in with a parameter of each type. It opens only for
 * size=64KiB:n=12:mode=fast:check=on, so that a run proves that all arrived.
 */
#define ab_backend_v1 skeleton_v1
#include "allocators/skeleton/skeleton.c"
#undef ab_backend_v1

static const char *const modes[] = {"slow", "fast", NULL};
static const struct ab_param plug_params[] = {
    {.name = "size", .help = "", .type = AB_PARAM_BYTES, .def = 4096, .min = 16, .max = 1 << 20},
    {.name = "n", .help = "", .type = AB_PARAM_COUNT, .def = 1, .min = 1, .max = 100},
    {.name = "mode", .help = "", .type = AB_PARAM_CHOICE, .choices = modes},
    {.name = "check", .help = "", .type = AB_PARAM_BOOL},
};

static int plug_open(const struct ab_open_args *args, struct ab_heap **out)
{
    const uint64_t *v = args->values;
    (void)params; /* the skeleton's own */
    if (v[0] != 65536 || v[1] != 12 || v[2] != 1 || v[3] != 1)
        return EINVAL;
    return skeleton_open(args, out);
}

extern const struct ab_backend ab_backend_v1;

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "params",
    .summary = "the skeleton with other parameters",
    .params = plug_params,
    .n_params = 4,
    .open = plug_open,
    .close = skeleton_close,
    .alloc = skeleton_alloc,
    .free = skeleton_free,
    .resize = skeleton_resize,
};
