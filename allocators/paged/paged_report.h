/* SPDX-License-Identifier: MIT
 *
 * Reports on paged arenas and pools as lines of text: the live blocks by tag, and the list of
 * blocks that were never freed. The report allocates nothing and prints nothing: each line is
 * passed to a function of the caller.
 */
#ifndef AB_ALLOCATORS_PAGED_REPORT_H
#define AB_ALLOCATORS_PAGED_REPORT_H

#include "paged_arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives a line of n bytes, which ends with a line feed and without a terminating zero. */
typedef void ab_paged_write(const char *line, size_t n, void *context);

/* Writes a line of titles and a line for each tag that was ever used: name, live blocks and bytes,
 * peak bytes, number of allocations, largest alignment. The last line is the arena: bytes of its
 * blocks with padding, also of those without a tag, and bytes taken from the pool. Columns are at
 * least 12 characters wide. */
void ab_paged_arena_report(const struct ab_paged_arena *arena, ab_paged_write *write,
                           void *context);
/* Writes a line: the name of the pool, its live blocks, their bytes with headers, its size. */
void ab_paged_pool_report(const struct ab_paged_pool *pool, ab_paged_write *write, void *context);
/* Writes a line for each live block: address, bytes, tag. These blocks leak if the pool is closed
 * now. Returns their number. */
size_t ab_paged_pool_leaks(struct ab_paged_pool *pool, ab_paged_write *write, void *context);

#ifdef __cplusplus
}
#endif

#endif
