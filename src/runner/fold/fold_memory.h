/* SPDX-License-Identifier: MIT
 *
 * Checks what a memory pass counted and makes records of it. Nothing that a worker says can crash
 * this, and nothing that contradicts itself becomes a number: it becomes n/a with the reason.
 */
#ifndef AB_RUNNER_FOLD_FOLD_MEMORY_H
#define AB_RUNNER_FOLD_FOLD_MEMORY_H

#include "runner/fold/fold_common.h"
#include "wire/memory_report.h"

/* A record for each place of each measured phase to session->memory, one timeline. */
void ab_fold_memory(const struct ab_fold *f, const struct ab_outcome *run);

/* Adds "WHAT: why", whole or not at all. */
void ab_fold_memory_reason(struct ab_memory *m, const char *what, const char *why);

/* Notes where this run had its peaks, for the checkpoints of the next. */
void ab_fold_memory_marks(const struct ab_tape_map *tape, const struct ab_outcome *run,
                          struct ab_memory_marks *out);

/* Drops what belongs to this back end and round; UINT32_MAX = to any. */
#define AB_FOLD_ANY UINT32_MAX
void ab_fold_drop_memory(struct ab_session *session, uint32_t backend, uint32_t round);

#endif
