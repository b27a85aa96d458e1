/* SPDX-License-Identifier: MIT
 *
 * The samples of a phase: what its pages hold, over its ops.
 */
#ifndef AB_WORKER_MEMORY_SAMPLES_H
#define AB_WORKER_MEMORY_SAMPLES_H

#include "worker/memory/memory_pass.h"

/* Keeps the ledger from now on, where blocks have addresses and pages can be read; not of a scout. */
void ab_memory_follow_pages(struct ab_memory_pass *m);
/* Where this phase, which begins, is read. */
void ab_memory_plan_readings(struct ab_memory_pass *m, uint32_t phase);
void ab_memory_begin_samples(struct ab_memory_pass *m);
extern const struct ab_page_split ab_memory_no_split; /* all UNKNOWN */
/* What the pages hold here; all UNKNOWN where it is not known. Always known with `must`, unless the
 * ledger is not kept or lost. */
struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must);
/* After an op that wrote to a live block, of `old_size` before it: what of it that was. */
void ab_memory_note_touch(struct ab_memory_pass *m, uint64_t op, uint64_t old_size);
void ab_memory_add_sample(struct ab_memory_pass *m, const struct ab_memory_state *s,
                          const struct ab_page_split *split);
/* Holds the ledger to what the walk over all blocks found here. */
void ab_memory_dispute(struct ab_memory_pass *m, const struct ab_memory_state *s,
                       const struct ab_page_split *split);
void ab_memory_end_samples(struct ab_memory_pass *m);

#endif
