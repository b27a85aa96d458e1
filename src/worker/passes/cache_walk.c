/* SPDX-License-Identifier: MIT
 *
 * Buffers that stand for the data of the program, and the walk through them. Reading is enough: it
 * takes a place in the caches as writing does, and leaves nothing to be written back while the next
 * call is timed.
 */
#include "worker/passes/cache_walk.h"

#include "tape/tape.h"

void ab_cache_open(struct ab_worker *w)
{
    size_t bytes = w->image->cache_bytes / AB_CACHE_LINE * AB_CACHE_LINE;
    for (uint32_t i = 0; bytes > 0 && i < w->image->n_lanes; i++)
        w->lanes[i].cache = ab_worker_map(w, bytes, "buffer of the program's data");
}

void ab_cache_walk(struct ab_lane *lane, uint32_t n)
{
    uint64_t end = lane->w->image->cache_bytes / AB_CACHE_LINE * AB_CACHE_LINE;
    uint64_t at = lane->cache_at;
    for (uint32_t i = 0; i < n && end > 0; i++) {
        (void)*(const volatile char *)&lane->cache[at];
        at = at + AB_CACHE_LINE < end ? at + AB_CACHE_LINE : 0;
    }
    lane->cache_at = at;
}
