/* SPDX-License-Identifier: MIT
 *
 * Inside the recorded program: appends events to the spool. No malloc, no stdio, no lock, nothing
 * that changes errno.
 */
#ifndef AB_RECORD_PRELOAD_LOG_H
#define AB_RECORD_PRELOAD_LOG_H

#include "record/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page that the kernel empties in a forked child, however it forks: what lies there is known to
 * be about this very process (or a vfork child, which shares the memory and rightly counts). */
struct ab_log_gate {
    uint32_t is_open;
};
extern struct ab_log_gate *ab_log_gate; /* NULL until ab_log_start has succeeded */

/* Begins an image when this is the process to be recorded. Called once, before the first event. */
void ab_log_start(void);

void ab_log_append(enum ab_spool_kind kind, unsigned align_log2, uintptr_t address, size_t size);

static inline bool ab_log_is_open(void)
{
    return ab_log_gate != NULL && ab_log_gate->is_open != 0;
}

#endif
