/* SPDX-License-Identifier: MIT
 *
 * How much of its large blocks the program writes: which of their pages are resident is asked of the
 * kernel when a block is given, and again when it goes. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_WRITTEN_H
#define AB_RECORD_PRELOAD_PRELOAD_WRITTEN_H

#include "record/preload/preload.h"

#include <stddef.h>
#include <stdint.h>

/* How many blocks that are followed have this home: most frees end with a look at it. */
enum { AB_WRITTEN_HOMES = 4096 };
extern uint8_t ab_written_homes[AB_WRITTEN_HOMES] AB_HIDDEN;

static inline unsigned ab_written_home(uintptr_t address)
{
    return (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* A block between the begin and the end of a resize. */
struct ab_written_block {
    uint64_t bytes;    /* that it had when its pages were asked for; 0 = it is not followed */
    uint64_t resident; /* pages that were resident then */
};

/* All of them leave errno alone, and do nothing where nothing is recorded. */

/* A block of at least AB_SPOOL_LARGE bytes was given. */
void ab_written_begin(const void *address, size_t size) AB_HIDDEN;
/* A block that may be followed is about to go. */
void ab_written_end(const void *address) AB_HIDDEN;
/* … is about to be resized to `size` bytes; and it has been (moved NULL: it has not). A block that
 * grows little by little is not asked for at each of its resizes. */
struct ab_written_block ab_written_begin_resize(const void *address, size_t size) AB_HIDDEN;
void ab_written_end_resize(struct ab_written_block was, const void *address, const void *moved,
                           size_t size) AB_HIDDEN;
/* The kernel is not asked any more: of what goes from here on nothing is known. */
void ab_written_stop(void) AB_HIDDEN;
/* The program ends: of all that are followed. */
void ab_written_end_all(void) AB_HIDDEN;

static inline bool ab_written_may_follow(const void *address)
{
    return __builtin_expect(ab_written_homes[ab_written_home((uintptr_t)address)] != 0, 0);
}

#endif
