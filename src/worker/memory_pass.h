/* SPDX-License-Identifier: MIT
 *
 * The state of the memory pass, for the files that implement it: memory.c, memory_drain.c,
 * memory_read.c, memory_time.c, heap_memory.c and pins.c.
 */
#ifndef AB_WORKER_MEMORY_PASS_H
#define AB_WORKER_MEMORY_PASS_H

#include "wire/memory_report.h"
#include "worker/heap_memory.h"
#include "worker/memory.h"
#include "worker/page_ledger.h"
#include "worker/page_walk.h"
#include "worker/residency.h"

#include <sys/types.h>

/* Clock of the memory pass; all zero if the work has no times. */
struct ab_memory_time {
    const struct ab_time_step *steps;
    uint32_t n, next;               /* n: number of steps; next: index of the next step */
    struct ab_virtual_clock *clock; /* NULL = real time */
    uint64_t now_ns;                /* the work's own time */
    /* reading of the clock when the work began, in virtual or real time */
    uint64_t begin_ns;
    uint64_t next_row_ns;
    /* period of the purges, and time of the next one; 0 = no purges */
    uint64_t purge_ns, next_purge_ns;
    uint32_t n_idle; /* number of idle stretches so far */
    /* True if the allocator's threads did not fall asleep in time; they then see real time. */
    bool is_unsettled;
    bool has_begun;
    pid_t lanes[AB_LANES_MAX]; /* thread of each lane */
    uint32_t n_lanes;
    char text[4096];      /* buffer for /proc files of threads */
    const void *function; /* a function of the library under test */
    /* name of a system call in which a thread waits by a clock other than the virtual one; NULL =
     * none */
    const char *unmanaged;
};

struct ab_memory_pass {
    struct ab_memory_report *report;
    const struct ab_phase *phases;
    uint32_t n_phases;
    struct ab_block_book book;
    bool has_usable;
    struct ab_introspect introspect;
    struct ab_footprint footprint;
    struct ab_residency residency;
    struct ab_page_runs baseline; /* pages that were resident before the heap */
    struct ab_page_walk walk;
    struct ab_page_ledger ledger; /* used only if book.pages points to it */
    struct ab_heap_pages heap_pages;
    struct ab_opened_heap {
        const struct ab_backend *backend;
        struct ab_heap *heap;
    } heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* heaps of a placement whose pages are followed; else 0 */
    uint64_t lost_before,
        /* bytes of the baseline that are gone: lost_before the first op, and since then */
        lost_bytes;
    uint64_t before_open_bytes, opened_bytes;
    uint64_t base_bytes; /* baseline by statm */
    /* baseline by page tables, which also has other kinds of memory */
    struct ab_footprint_detail base_detail;
    uint32_t clock, phase; /* clock: ops done so far; phase: running phase */
    /* number of ops between two readings of the footprint; position of the next reading */
    uint32_t interval, next_reading;
    /* ops between two readings of the pages, and between two points; next positions of both */
    uint32_t sample_interval, next_sample, point_interval, next_point;
    uint32_t sampled_to;   /* position of the previous sample */
    uint32_t split_at;     /* position at which the ledger was read last */
    uint64_t grown_before; /* n_grown of the ledger when the phase began */
    uint32_t next_stop;
    uint64_t read_peak_bytes;   /* most requested bytes at which the footprint was read */
    uint64_t next_peak_bytes;   /* requested bytes that trigger the next reading of a peak */
    uint64_t live_peak_bytes;   /* highest requested bytes in this phase */
    uint64_t mark_shared_bytes; /* shared memory at the last reading of the high-water mark */
    struct ab_memory_state checked_peak; /* checkpoint with the largest footprint in this phase */
    struct ab_memory_time time;
    struct ab_memory_row *rows; /* NULL = no rows */
    uint32_t cap_rows;
};

/* Returns how many bytes of the baseline are no longer resident; 0 if this is not known. */
static inline uint64_t ab_memory_count_lost(const struct ab_memory_pass *m)
{
    uint64_t lost = ab_residency_lost(&m->residency, &m->baseline);
    return lost == UINT64_MAX ? 0 : lost * m->footprint.page_bytes;
}

static inline uint64_t ab_memory_above(uint64_t bytes, uint64_t base)
{
    return bytes > base ? bytes - base : 0;
}

#endif
