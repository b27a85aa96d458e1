/* SPDX-License-Identifier: MIT
 *
 * The state of the memory pass, for the files that are it (memory.c, memory_drain.c).
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

/* Of work that has times: where in them it is, and who tells them. All zero where it has none. */
struct ab_memory_time {
    const struct ab_time_step *steps;
    uint32_t n, next;              /* the next one that is to come */
    struct ab_served_clock *clock; /* NULL: real time */
    uint64_t now_ns;               /* of the work */
    uint64_t begin_ns;             /* the clock's when the work began; of real time too */
    uint64_t next_row_ns;
    uint64_t purge_ns, next_purge_ns; /* when the library is told to give memory back; 0 = never */
    uint32_t n_idle;                  /* idle stretches so far */
    bool is_unsettled; /* the allocator's threads were given up: it is real time for them */
    bool has_begun;
    pid_t lanes[AB_LANES_MAX]; /* threads of the harness, by lane */
    uint32_t n_lanes;
    char text[4096];      /* for what is read about threads */
    const void *function; /* of the library under test */
    const char
        *unserved; /* system call in which a thread was seen to wait by another clock; or NULL */
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
    struct ab_page_runs baseline; /* pages that were resident before the heap was */
    struct ab_page_walk walk;
    struct ab_page_ledger ledger; /* book.pages, where it is kept */
    struct ab_heap_pages heap_pages;
    struct ab_opened_heap {
        const struct ab_backend *backend;
        struct ab_heap *heap;
    } heaps[AB_PLACEMENT_HEAPS_MAX];
    uint32_t n_heaps; /* whose pages are followed: of a placement, else 0 */
    uint64_t lost_before,
        lost_bytes; /* pages of the baseline that went: before the first op, since */
    uint64_t before_open_bytes, opened_bytes;
    uint64_t base_bytes;                    /* by statm */
    struct ab_footprint_detail base_detail; /* the same by page tables, and what else there was */
    uint32_t clock, phase;                  /* ops done; the phase that runs */
    uint32_t interval, next_reading; /* ops between two readings of the footprint; the next one */
    uint32_t sample_interval, next_sample, point_interval, next_point; /* as well of the pages */
    uint32_t sampled_to;   /* position of the sample before */
    uint32_t split_at;     /* position where the ledger was read last */
    uint64_t grown_before; /* pages of the ledger's own, when the phase began */
    uint32_t next_stop;
    uint64_t read_peak_bytes;   /* most requested bytes at which the footprint was read */
    uint64_t next_peak_bytes;   /* so many are a reason to read it */
    uint64_t live_peak_bytes;   /* of this phase */
    uint64_t mark_shared_bytes; /* shared memory when the high-water mark was read last */
    struct ab_memory_state
        checked_peak; /* of this phase: the checkpoint of the largest footprint */
    struct ab_memory_time time;
    struct ab_memory_row *rows; /* NULL: none are wanted */
    uint32_t cap_rows;
};

/* Bytes of the baseline that are not resident any more; 0 where it is not known. */
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
