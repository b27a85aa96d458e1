/* SPDX-License-Identifier: MIT
 *
 * Turns the spool of one program into a trace: the threads' streams become one order, addresses
 * become allocation numbers, the two stamps of a realloc one resize. Memory O(live blocks). Where
 * we may use more than one CPU a second thread packs what the first one has put in order; the
 * trace is the same.
 *
 * The order is that of the stamps, and each thread's own. Where the stamps of two threads say the
 * impossible (a block is freed before it was given out, an address given out while it is live),
 * the thread that is ahead is parked until the other one's event has come: a repair. Repairs are
 * counted, with the largest distance of their stamps; beyond AB_REPAIR_TICKS nothing is repaired:
 * the free is foreign, or the block was given back by a way that cannot be seen.
 */
#ifndef AB_RECORD_CONVERT_H
#define AB_RECORD_CONVERT_H

#include "core/status.h"
#include "record/address_map.h"
#include "record/bypass.h"
#include "trace/event.h"

#include <stdio.h>

/* About a millisecond of a 3 GHz counter: clocks of CPUs differ by far less, threads do not wait
 * between a call and its stamp of the kinds that are repaired. */
#define AB_REPAIR_TICKS UINT64_C(3000000)

struct ab_convert_report {
    struct ab_trace_info info;
    uint32_t stop;        /* enum ab_spool_stop */
    bool is_short;        /* recording ended before the program did, or a part cannot be read;
                               what came before is a whole trace */
    char damage[120];     /* "", or what cannot be read */
    uint64_t n_inherited; /* blocks that lived at the fork: the first events allocate them */
    uint64_t n_threads;
    uint64_t n_shared_threads; /* beyond what a trace can number: they have the last number */
    uint64_t n_unfinished;     /* events cut off by the program's death */
    uint64_t n_foreign;        /* frees and resizes of blocks that no recorded call gave: dropped */
    uint64_t n_reused; /* addresses given out while live: their free was not seen; 0 unless the
                               program has a second way to free */
    uint64_t n_repairs, repair_ticks_max;
    struct ab_bypass_report bypass;          /* beside info.bypass */
    uint64_t n_sites, n_cut_sites, n_stacks; /* calls with a call site; those whose stack was cut
                               short; different stacks */
    uint64_t n_marks, n_lost_marks;          /* in the trace; beyond what it can have */
    bool lacks_sites;                        /* they were asked for, and the C library is too old */
    char asked[200];            /* how often which function was called beside blocks; "" = none */
    uint64_t cpu_ns, own_bytes; /* as of struct ab_spool_image */
    uint64_t n_usable_size;     /* calls of malloc_usable_size: counted, not in the trace */
    uint64_t span_ticks;        /* from the first event to the last */
    double noting_ticks; /* estimate: what all events cost the program, without full halves */
    double site_ticks;   /* the same of finding call sites: of every 64th it is measured */
    uint64_t turn_ticks; /* spent on full halves, by all threads; measured */
};

/* The images of one spool and what they have from each other: a forked child begins with the
 * blocks that lived in its parent at the fork. To know them the parent's events are gone through
 * as far as the fork; a parent that has been followed that far is kept for its later children. */
struct ab_forks;

/* Folder and images stay the caller's, and stay as they are. */
struct ab_forks *ab_forks_open(const char *folder, const struct ab_spool_entry *images, size_t n);
void ab_forks_close(struct ab_forks *f);
const char *ab_forks_folder(const struct ab_forks *f);

/* The blocks that the image's process had at its start, in the order of their allocations; free
 * *out. None where it was no fork, or where the parent's recording does not reach it. */
enum ab_status ab_forks_inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                  struct ab_held **out, size_t *n, struct ab_err *err);

/* Converts one image to `to`. *report is filled also on failure, as far as known; info.events is
 * n_inherited where the process made no call. progress (may be NULL) hears of events done and to
 * do, about every 2^20 events; false from it ends the conversion with AB_INTERRUPTED. */
typedef bool ab_convert_progress(void *user, uint64_t done, uint64_t total);
enum ab_status ab_convert(struct ab_forks *forks, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err);

#endif
