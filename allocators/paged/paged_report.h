/* SPDX-License-Identifier: MIT
 *
 * What lives in paged arenas and pools, as lines of text, and the list of what was never freed. No
 * memory is taken for it and nothing is printed: each line goes to a function of the caller's.
 */
#ifndef AB_ALLOCATORS_PAGED_REPORT_H
#define AB_ALLOCATORS_PAGED_REPORT_H

#include "paged_arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n bytes that end with a line feed; no zero follows. */
typedef void ab_paged_write(const char *line, size_t n, void *context);

/* A line of titles, then one for each tag that was ever used: name, blocks and bytes that live, the
 * most bytes there were at a time, how often it was allocated, the largest alignment. The last line
 * is the arena: bytes that its blocks take, with padding and without a tag too, of bytes from the
 * pool. Columns are at least 12 wide. */
void ab_paged_arena_report(const struct ab_paged_arena *arena, ab_paged_write *write,
                           void *context);
/* Name of the pool, live blocks, their bytes with headers, size. */
void ab_paged_pool_report(const struct ab_paged_pool *pool, ab_paged_write *write, void *context);
/* A line for each block that is live, which is what leaks when the pool is closed now: address,
 * bytes, tag. Returns how many there are. */
size_t ab_paged_pool_leaks(struct ab_paged_pool *pool, ab_paged_write *write, void *context);

#ifdef __cplusplus
}
#endif

#endif
