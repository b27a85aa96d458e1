/* SPDX-License-Identifier: MIT
 *
 * The global order of a phase, from the turns of the tape. Turns count what was asked for, the
 * tape holds WAITs and PUBLISHes besides: a stretch has those ahead of its ops and the PUBLISH
 * after its last one.
 */
#include "worker/strict_order.h"

void ab_order_begin(struct ab_order *order, const struct ab_worker *w, uint32_t phase)
{
    order->w = w;
    order->phase = phase;
    order->lane = 0;
    order->next = order->turn = w->phases[phase].turns_begin;
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        order->at[i] = w->lane_begin[phase * w->image->n_lanes + i];
}

static uint32_t stretch_end(const struct ab_worker *w, uint32_t i, uint32_t n)
{
    while (n > 0)
        n -= !ab_op_is_guard(w->ops[i++]);
    while (i < ab_tape_burst(w->image, w->burst)->n_ops && AB_OP_CODE(w->ops[i]) == AB_CODE_PUBLISH)
        i++;
    return i;
}

bool ab_order_next(struct ab_order *order, uint32_t *begin, uint32_t *end)
{
    const struct ab_worker *w = order->w;
    const struct ab_phase *phase = &w->phases[order->phase];
    if (w->image->n_lanes == 1) { /* no turns: the phase is one stretch */
        *begin = order->at[0];
        *end = order->at[0] = w->lane_begin[order->phase + 1];
        return *begin < *end;
    }
    if (order->next == phase->turns_end)
        return false;
    const struct ab_turn *turn = &w->turns[order->next];
    order->turn = order->next++;
    order->lane = turn->lane;
    *begin = order->at[turn->lane];
    *end = order->at[turn->lane] = stretch_end(w, *begin, turn->n);
    return true;
}
