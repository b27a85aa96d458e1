/* SPDX-License-Identifier: MIT
 *
 * AB_TOUCH_APART: blocks are written to while the clock stands still, as a program writes to them
 * outside of its calls. What that takes is in no slice and in no time of a phase.
 */
#ifndef AB_WORKER_PASSES_APART_H
#define AB_WORKER_PASSES_APART_H

#include "worker/worker.h"

#include <stddef.h>

/* One byte of each page of it; adds the ticks to lane->apart_ticks. */
void ab_touch_apart(struct ab_lane *lane, void *block, size_t size);
/* The lane's clock stands at 0 again; and what stood there is in the report of its phase. */
void ab_apart_begin(struct ab_lane *lane);
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report);

#endif
