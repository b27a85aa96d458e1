/* SPDX-License-Identifier: MIT
 *
 * Estimates how many pages of its large blocks the program writes. Asks the kernel which pages of a
 * block are resident when the block is allocated, and again when it is freed. Hidden from the
 * recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_WRITTEN_H
#define AB_RECORD_PRELOAD_PRELOAD_WRITTEN_H

#include "record/preload/preload.h"

#include <stddef.h>
#include <stdint.h>

/* Number of followed blocks in each hash bucket. Most calls of free read only this array. */
enum { AB_WRITTEN_HOMES = 4096 };
extern uint8_t ab_written_homes[AB_WRITTEN_HOMES] AB_HIDDEN;

static inline unsigned ab_written_home(uintptr_t address)
{
    return (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* state of a followed block */
struct ab_written_block {
    uint64_t bytes;    /* size when its pages were looked at; 0 = the block is not followed */
    uint64_t resident; /* number of pages that were resident at that time */
};

/* The following functions keep errno, and do nothing while nothing is recorded. */

/* Starts to follow a new block of at least AB_SPOOL_LARGE bytes. */
void ab_written_begin(const void *address, size_t size) AB_HIDDEN;
/* Ends following a block that is about to be freed. */
void ab_written_end(const void *address) AB_HIDDEN;
/* Called before and after a resize to `size` bytes (`moved`: the new address; NULL = the resize
 * failed). For a block that grows in small steps, not every resize asks the kernel. */
struct ab_written_block ab_written_begin_resize(const void *address, size_t size) AB_HIDDEN;
void ab_written_end_resize(struct ab_written_block was, const void *address, const void *moved,
                           size_t size) AB_HIDDEN;
/* Stops asking the kernel. The written pages of blocks freed later remain unknown. */
void ab_written_stop(void) AB_HIDDEN;
/* Reports all followed blocks at the end of the program. */
void ab_written_end_all(void) AB_HIDDEN;

static inline bool ab_written_may_follow(const void *address)
{
    return __builtin_expect(ab_written_homes[ab_written_home((uintptr_t)address)] != 0, 0);
}

#endif
