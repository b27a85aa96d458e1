/* SPDX-License-Identifier: MIT
 *
 * The latency pass in depth: by size of the request, and over time.
 */
#ifndef AB_RUNNER_FOLD_FOLD_DEPTH_H
#define AB_RUNNER_FOLD_FOLD_DEPTH_H

#include "runner/fold/fold_common.h"

/* At most so many windows a phase; fewer where p99 of a window would be n/a. */
enum { AB_WINDOWS_MAX = 64 };

/* To session->size_classes and session->windows. */
void ab_fold_depth(const struct ab_fold *f, const struct ab_outcome *run);

/* Windows of the phase: the same for every back end and round. */
uint32_t ab_fold_window_count(const struct ab_phase *phase);

/* Drops the entries of a back end, of a round; UINT32_MAX stands for all. */
void ab_fold_depth_drop(struct ab_session *session, uint32_t backend, uint32_t round);

#endif
