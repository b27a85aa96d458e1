/* SPDX-License-Identifier: MIT
 *
 * The global order of one phase, stretch by stretch.
 */
#ifndef AB_WORKER_STRICT_ORDER_H
#define AB_WORKER_STRICT_ORDER_H

#include "worker/lanes.h"

void ab_order_begin(struct ab_order *order, const struct ab_worker *w, uint32_t phase);

/* Ops [begin, end) of order->lane, what guards them included. False after the last. */
bool ab_order_next(struct ab_order *order, uint32_t *begin, uint32_t *end);

#endif
