/* SPDX-License-Identifier: MIT
 *
 * Where the interposer's events go. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_SPOOL_H
#define AB_RECORD_PRELOAD_PRELOAD_SPOOL_H

#include "record/preload/preload_sites.h"
#include "record/preload/spool.h"

#include <stddef.h>

/* Once, before the first event. Does nothing when this process is not to be recorded. */
void ab_spool_start(void);
/* At exit(). Events after it are still noted: other destructors free. */
void ab_spool_end(void);

/* In the parent: around a fork. A child of a fork that was not announced begins without blocks. */
void ab_spool_fork_begin(void);
void ab_spool_fork_end(void);
/* In the child of one. */
void ab_spool_fork_child(void);

/* Notes one event of the calling thread. Never fails and leaves errno alone. */
void ab_spool_note(enum ab_spool_kind kind, const void *address, size_t size);
/* The same for what gives a block: `here` called for it. */
void ab_spool_note_given(enum ab_spool_kind kind, const void *address, size_t size,
                         struct ab_here here);
/* The same for an alignment, which need not be a power of two where the call failed. */
void ab_spool_note_aligned(const void *address, size_t size, size_t align, struct ab_here here);
/* malloc_usable_size was called. */
void ab_spool_note_usable_size(void);

/* A mark of this name. */
void ab_spool_note_mark(const char *name);

/* Which image the next program of a process will have. */
uint32_t ab_exec_next_generation(uint32_t pid);

#endif
