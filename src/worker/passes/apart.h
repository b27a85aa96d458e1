/* SPDX-License-Identifier: MIT
 *
 * AB_TOUCH_APART: blocks are written to while the clock stands still, as a program writes to them
 * outside of its calls. What that takes is in no slice and in no time of a phase.
 *
 * Of several lanes, the wall time of a phase ends with the lane whose end, less the time for which
 * the clock stood still on its path, comes last. The path of a lane is its own work, and where it
 * waited for another lane, from then on that lane's: if a lane that stood still for `own` ticks so
 * far waits for `waited`, until one that stood still for `other` has come so far, it would have gone
 * on at the later of two times, its own end of work less `own` and now less `other`; so from then on
 * it has stood still for the lesser of own + waited and other. (Where it need not wait, it may have
 * been late only because it wrote: then the other lane's own end bounds the time.)
 */
#ifndef AB_WORKER_PASSES_APART_H
#define AB_WORKER_PASSES_APART_H

#include "worker/worker.h"

#include <stddef.h>

/* One byte of each page of it; adds the ticks to lane->apart_ticks. */
void ab_touch_apart(struct ab_lane *lane, void *block, size_t size);
/* The lane has waited for the other one for so many ticks; or the other one's turn is next. */
void ab_apart_waited(struct ab_lane *lane, const struct ab_lane *other, uint64_t ticks);
void ab_apart_hand_over(const struct ab_lane *lane, struct ab_lane *next);
/* The lane's clock stands at 0 again; and what stood there is in the report of its phase. */
void ab_apart_begin(struct ab_lane *lane);
void ab_apart_end(const struct ab_lane *lane, struct ab_phase_report *report);

#endif
