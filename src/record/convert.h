/* SPDX-License-Identifier: MIT
 *
 * Converts the spool of one program to a trace. Merges the streams of all threads into one order,
 * replaces addresses by allocation numbers, and joins the two events of a realloc. Memory O(live
 * blocks). If more than one CPU is available, a second thread encodes the merged events; the trace
 * is the same as with one thread.
 *
 * Events are ordered by their stamps, and the events of one thread stay in their order. Stamps of
 * two threads may contradict each other: a block is freed before it was given out, or its address
 * is given out while it is live. Then the thread with the impossible event waits ("is parked")
 * until the other thread's event has come. This is called a repair. Repairs are counted, and the
 * largest difference of stamps is kept. A difference above AB_REPAIR_TICKS is not repaired: no
 * recorded call gave out the block, or the block was freed in a way that the recorder cannot see.
 */
#ifndef AB_RECORD_CONVERT_H
#define AB_RECORD_CONVERT_H

#include "core/status.h"
#include "record/address_map.h"
#include "record/bypass.h"
#include "trace/event.h"

#include <stdio.h>

/* About a millisecond of a 3 GHz counter. The clocks of CPUs differ by far less, and no thread
 * takes that long between a call and its stamp. */
#define AB_REPAIR_TICKS UINT64_C(3000000)

struct ab_convert_report {
    struct ab_trace_info info;
    uint32_t stop; /* enum ab_spool_stop */
    /* True if recording ended before the program did, or a part of the spool cannot be read; the
     * trace is complete up to there */
    bool is_short;
    char damage[120];     /* message about the part of the spool that cannot be read; "" = none */
    uint64_t n_inherited; /* blocks that lived at the fork; the first events allocate them */
    uint64_t n_threads;
    /* threads beyond the maximum number of threads in a trace; they share the last number */
    uint64_t n_shared_threads;
    uint64_t n_unfinished; /* calls that the end of the program cut off */
    /* frees and resizes of blocks that no recorded call gave out; dropped */
    uint64_t n_foreign;
    /* addresses given out while they were live, because the free was not seen; 0 unless the program
     * has a second way to free */
    uint64_t n_reused;
    uint64_t n_repairs, repair_ticks_max;
    /* in addition to info.bypass: path of the first module that called another malloc, and why it
     * did */
    struct ab_bypass_report bypass;
    /* n_sites: calls with a call site; n_cut_sites: calls with an incomplete stack; n_stacks:
     * different stacks */
    uint64_t n_sites, n_cut_sites, n_stacks;
    /* n_marks: marks in the trace; n_lost_marks: marks for which the trace had no room */
    uint64_t n_marks, n_lost_marks;
    /* True if call sites were requested but the C library is too old */
    bool lacks_sites;
    char asked[200];            /* functions called besides malloc, with their counts; "" = none */
    uint64_t cpu_ns, own_bytes; /* same as in struct ab_spool_image */
    uint64_t n_usable_size;     /* calls of malloc_usable_size, which are not in the trace */
    uint64_t span_ticks;        /* ticks from the first to the last event */
    /* estimated ticks for recording all events, without the work on full halves */
    double noting_ticks;
    /* estimated ticks for finding call sites; every 64th search is timed */
    double site_ticks;
    uint64_t turn_ticks; /* measured ticks that all threads spent on full halves */
};

/* Finds the blocks that a forked child inherits: those that were live in its parent at the fork. To
 * find these blocks, the events of the parent are replayed up to the fork. A replayed parent is
 * kept for its later children. */
struct ab_forks;

/* Borrows folder and images, which must not change until ab_forks_close. */
struct ab_forks *ab_forks_open(const char *folder, const struct ab_spool_entry *images, size_t n);
void ab_forks_close(struct ab_forks *f);
const char *ab_forks_folder(const struct ab_forks *f);

/* Finds the blocks that the process of an image had at its start, in the order of their
 * allocations; free *out. There are none if the process was not forked, or if the recording of its
 * parent ends before the fork. */
enum ab_status ab_forks_inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                  struct ab_held **out, size_t *n, struct ab_err *err);

/* Converts one image to a trace in `to`. *report is filled as far as possible, also on failure;
 * info.events equals n_inherited if the process made no call. `progress` (may be NULL) is called
 * about every 2^20 events; if it returns false, the conversion ends with AB_INTERRUPTED. */
typedef bool ab_convert_progress(void *user, uint64_t done, uint64_t total);
enum ab_status ab_convert(struct ab_forks *forks, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err);

#endif
