/* SPDX-License-Identifier: MIT
 *
 * Finds the length of slices, by one run of each back end.
 */
#include "runner/session/slice_grid.h"

#include "result/merge/shard.h"

#include <math.h>

/* In longer work slow ops would make the run before the measurement long as well; they are rare
 * there, and it has slices enough. */
#define OPS_MAX (1u << 20)

uint32_t ab_slice_grid(double ns_per_op)
{
    uint32_t ops = AB_SLICE_OPS;
    while (ops > AB_SLICE_OPS_MIN && ops * ns_per_op > AB_SLICE_NS_MAX)
        ops /= 2;
    return ops;
}

static bool is_needed(const struct ab_conductor *c)
{
    const struct ab_run_context *context = &c->context;
    return context->tape->image->n_lanes == 1 && !context->is_strict &&
           context->tape->image->n_ops <= OPS_MAX && c->session->n_rounds < c->n_rounds;
}

enum ab_status ab_slice_grid_settle(struct ab_conductor *c, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    double least = NAN;
    if (!is_needed(c))
        return AB_OK;
    for (uint32_t i = 0; i < c->session->n_backends && status == AB_OK; i++) {
        double ns_per_op = NAN;
        if (ab_conductor_is_running(c, i) && !ab_conductor_is_decorated(c, i) &&
            ab_shard_has_backend(c->session->shard, c->plan->rounds, i))
            status = ab_conduct_scout(c, i, &ns_per_op, err);
        least = fmin(least, ns_per_op); /* of a number and NaN: the number */
    }
    c->context.slice_ops = ab_slice_grid(least);
    return status;
}
