/* SPDX-License-Identifier: MIT
 *
 * The latency pass of a mapped row, heap by heap.
 */
#ifndef AB_RUNNER_FOLD_FOLD_HEAPS_H
#define AB_RUNNER_FOLD_FOLD_HEAPS_H

#include "runner/fold/fold_common.h"

/* To session->heap_parts: nothing where route is NULL, which is that of a row that is not mapped. Of each heap and kind what was called, timed
 * or not, and of all kinds together the samples that are in the row's own. */
void ab_fold_heaps(const struct ab_fold *f, const struct ab_route *route,
                   const struct ab_outcome *run);

/* Drops the entries of a back end, of a round; UINT32_MAX stands for all. */
void ab_fold_heaps_drop(struct ab_session *session, uint32_t backend, uint32_t round);

#endif
