/* SPDX-License-Identifier: MIT
 *
 * The latency pass of a mapped row, heap by heap.
 */
#ifndef AB_RUNNER_FOLD_FOLD_HEAPS_H
#define AB_RUNNER_FOLD_FOLD_HEAPS_H

#include "runner/fold/fold_common.h"
#include "runner/route.h"

/* To session->heap_parts: nothing where route is NULL, which is that of a row that is not mapped. Of each heap and kind what was called, timed
 * or not, and of all kinds together the samples that are in the row's own. */
void ab_fold_heaps(const struct ab_fold *f, const struct ab_route *route,
                   const struct ab_outcome *run);

/* Drops the entries of a back end, of a round; UINT32_MAX stands for all. */
void ab_fold_heaps_drop(struct ab_session *session, uint32_t backend, uint32_t round);

/* Checks what a memory pass counted for each heap of a mapped row. */

/* Into the records that ab_fold_memory made of this run; nothing where route is NULL. What is not
 * known of the whole is not known of its heaps. */
void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_route *route,
                         const struct ab_outcome *run);

#endif
