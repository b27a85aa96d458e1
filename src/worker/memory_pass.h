/* SPDX-License-Identifier: MIT
 *
 * The state of the memory pass, for the files that implement it (memory.c, memory_drain.c).
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

/* Clock state for work with times; all zero without. */
struct ab_memory_time {
    const struct ab_time_step *steps;
    uint32_t n, next;               /* `next`: index of the next step */
    struct ab_virtual_clock *clock; /* NULL = real time */
    uint64_t now_ns;                /* the work's time */
    uint64_t begin_ns;              /* the clock's time when the work began, real time too */
    uint64_t next_row_ns;
    uint64_t purge_ns, next_purge_ns; /* period and next time of purges; 0 = never */
    uint32_t n_idle;                  /* idle stretches so far */
    /* True if the allocator's threads did not settle; they then see real time. */
    bool is_unsettled;
    bool has_begun;
    pid_t lanes[AB_LANES_MAX]; /* threads of the harness, by lane */
    uint32_t n_lanes;
    char text[4096];       /* buffer for /proc files of threads */
    const void *function;  /* a function of the library under test */
    const char *unmanaged; /* system call in which a thread waits by another clock; NULL = none */
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
    struct ab_page_ledger ledger; /* used if book.pages is set */
    struct ab_heap_pages heap_pages;
    struct ab_opened_heap {
        const struct ab_backend *backend;
        struct ab_heap *heap;
    } heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* heaps of a placement whose pages are followed; else 0 */
    uint64_t lost_before,
        lost_bytes; /* pages of the baseline that are gone: before the first op, and since */
    uint64_t before_open_bytes, opened_bytes;
    uint64_t base_bytes; /* baseline by statm */
    /* baseline by page tables, with other kinds of memory */
    struct ab_footprint_detail base_detail;
    uint32_t clock, phase; /* ops done; running phase */
    /* ops between two readings of the footprint; position of the next */
    uint32_t interval, next_reading;
    /* the same for samples and points */
    uint32_t sample_interval, next_sample, point_interval, next_point;
    uint32_t sampled_to;   /* position of the previous sample */
    uint32_t split_at;     /* position at which the ledger was read last */
    uint64_t grown_before; /* pages that the ledger itself had grown by when the phase began */
    uint32_t next_stop;
    uint64_t read_peak_bytes;   /* most requested bytes at which the footprint was read */
    uint64_t next_peak_bytes;   /* requested bytes from which on a new peak is read */
    uint64_t live_peak_bytes;   /* highest requested bytes in this phase */
    uint64_t mark_shared_bytes; /* shared memory at the last reading of the high-water mark */
    struct ab_memory_state checked_peak; /* checkpoint with the largest footprint in this phase */
    struct ab_memory_time time;
    struct ab_memory_row *rows; /* NULL = no rows */
    uint32_t cap_rows;
};

/* Returns the bytes of the baseline that are no longer resident; 0 if not known. */
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
