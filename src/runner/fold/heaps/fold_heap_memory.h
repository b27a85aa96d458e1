/* SPDX-License-Identifier: MIT
 *
 * Checks what a memory pass counted for each heap of a mapped row.
 */
#ifndef AB_RUNNER_FOLD_FOLD_HEAP_MEMORY_H
#define AB_RUNNER_FOLD_FOLD_HEAP_MEMORY_H

#include "runner/fold/fold_common.h"
#include "runner/route/route.h"

/* Into the records that ab_fold_memory made of this run; nothing where route is NULL. What is not
 * known of the whole is not known of its heaps. */
void ab_fold_heap_memory(const struct ab_fold *f, const struct ab_route *route,
                         const struct ab_outcome *run);

#endif
