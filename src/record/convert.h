/* SPDX-License-Identifier: MIT
 *
 * Converts the spool of one program to a trace. Merges the streams of all threads into one
 * order, replaces addresses by allocation numbers, and joins the two events of a realloc. Memory
 * O(live blocks). If more than one CPU is available, a second thread encodes the merged events;
 * the trace is the same.
 *
 * The order is that of the stamps, and each thread's own. Stamps of two threads may contradict:
 * a block is freed before it was given out, or its address is given out while it is live. Then
 * the thread that is ahead is parked until the other one's event has come. This is called a
 * repair. Repairs are counted, with the largest difference of stamps. A difference above
 * AB_REPAIR_TICKS is not repaired: the free is foreign, or the block was freed in a way that we
 * cannot see.
 */
#ifndef AB_RECORD_CONVERT_H
#define AB_RECORD_CONVERT_H

#include "core/status.h"
#include "record/address_map.h"
#include "record/bypass.h"
#include "trace/event.h"

#include <stdio.h>

/* About a millisecond of a 3 GHz counter. The clocks of CPUs differ by far less. No thread waits
 * as long between a call and its stamp. */
#define AB_REPAIR_TICKS UINT64_C(3000000)

struct ab_convert_report {
    struct ab_trace_info info;
    uint32_t stop; /* enum ab_spool_stop */
    /* True if recording ended before the program, or a part cannot be read; the trace is
     * complete up to there */
    bool is_short;
    char damage[120];     /* the part that cannot be read; "" = none */
    uint64_t n_inherited; /* blocks that lived at the fork; the first events allocate them */
    uint64_t n_threads;
    /* threads beyond the most that a trace can number, which share the last number */
    uint64_t n_shared_threads;
    uint64_t n_unfinished; /* events cut off by the end of the program */
    /* frees and resizes of blocks that no recorded call gave out; dropped */
    uint64_t n_foreign;
    /* addresses given out while live, whose free was not seen; 0 unless the program has a second
     * way to free */
    uint64_t n_reused;
    uint64_t n_repairs, repair_ticks_max;
    /* beside info.bypass: path of the first module that called another malloc, and in which way */
    struct ab_bypass_report bypass;
    /* calls with a call site; calls with an incomplete stack; different stacks */
    uint64_t n_sites, n_cut_sites, n_stacks;
    /* marks in the trace; marks for which the trace had no room */
    uint64_t n_marks, n_lost_marks;
    /* True if call sites were requested but the C library is too old */
    bool lacks_sites;
    char asked[200];            /* functions called besides malloc, with their counts; "" = none */
    uint64_t cpu_ns, own_bytes; /* as in struct ab_spool_image */
    uint64_t n_usable_size;     /* calls of malloc_usable_size, which are not in the trace */
    uint64_t span_ticks;        /* from the first to the last event */
    double noting_ticks;        /* estimated cost of recording all events, without full halves */
    double site_ticks;          /* estimated cost of finding call sites; every 64th is timed */
    uint64_t turn_ticks;        /* time that all threads spent on full halves; measured */
};

/* Blocks that forked children inherit: a child begins with the blocks that lived in its parent
 * at the fork. To find them, the events of the parent are replayed up to the fork. A replayed
 * parent is kept for its later children. */
struct ab_forks;

/* Borrows folder and images, which must not change. */
struct ab_forks *ab_forks_open(const char *folder, const struct ab_spool_entry *images, size_t n);
void ab_forks_close(struct ab_forks *f);
const char *ab_forks_folder(const struct ab_forks *f);

/* Finds the blocks that the process of an image had at its start, in the order of their
 * allocations; free *out. There are none if it was not forked, or if the recording of its parent
 * ends before the fork. */
enum ab_status ab_forks_inherited(struct ab_forks *f, const struct ab_spool_entry *image,
                                  struct ab_held **out, size_t *n, struct ab_err *err);

/* Converts one image to a trace in `to`. *report is filled also on failure, as far as known;
 * info.events equals n_inherited if the process made no call. `progress` (may be NULL) is called
 * about every 2^20 events; if it returns false, the conversion ends with AB_INTERRUPTED. */
typedef bool ab_convert_progress(void *user, uint64_t done, uint64_t total);
enum ab_status ab_convert(struct ab_forks *forks, const struct ab_spool_entry *image, FILE *to,
                          struct ab_convert_report *report, ab_convert_progress *progress,
                          void *user, struct ab_err *err);

#endif
