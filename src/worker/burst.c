/* SPDX-License-Identifier: MIT
 *
 * Bursts of a tape that is longer than memory. The tape is a file, and its bursts are read into
 * memory one after the other while nothing is measured. Each burst replaces the one before it, so
 * the resident memory stays the same. Reading does not use the file's descriptor, because an
 * allocator may have closed it.
 */
#include "worker/worker.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* Makes the pages resident by reading from them, for kernels before 5.14, which lack
 * MADV_POPULATE_READ. */
static void read_pages(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        (void)((const volatile char *)at)[i];
}

bool ab_worker_bring_in(const void *file, uint64_t last, uint64_t next, uint64_t bytes)
{
    char *at = (char *)file + next;
    madvise((char *)file + last, bytes, MADV_DONTNEED);
#ifdef MADV_POPULATE_READ
    if (madvise(at, bytes, MADV_POPULATE_READ) == 0)
        return true;
    if (errno != EINVAL)
        return false;
#endif
    read_pages(at, bytes);
    return true;
}

bool ab_worker_enter_burst(struct ab_worker *w, uint32_t i)
{
    struct ab_tape_part part = ab_tape_part(w->image, i);
    if (!ab_worker_bring_in(w->image, ab_tape_burst(w->image, w->burst)->offset,
                            ab_tape_burst(w->image, i)->offset, w->image->most_bytes))
        return false;
    w->burst = i;
    w->first = part.first;
    w->ops = part.ops;
    w->wide = part.wide;
    w->phases = part.phases;
    w->lane_begin = part.lane_begin;
    w->turns = part.turns;
    w->iterations = part.iterations;
    w->iteration_begin = part.iteration_begin;
    w->thread_ends = part.thread_ends;
    w->thread_end_begin = part.thread_end_begin;
    for (uint32_t l = 0; w->lanes != NULL && l < w->image->n_lanes; l++) {
        w->lanes[l].ops = w->ops;
        w->lanes[l].wide = w->wide;
    }
    return true;
}

void *ab_worker_map(struct ab_worker *w, size_t bytes, const char *what)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    if (p == MAP_FAILED)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the ", what, NULL);
    return memset(p, 0, bytes);
}
