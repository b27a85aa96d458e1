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
    uint64_t read_peak_bytes; /* most requested bytes at which the footprint was read */
    uint64_t next_peak_bytes; /* so many are a reason to read it */
    uint64_t live_peak_bytes; /* of this phase */
    struct ab_memory_state
        checked_peak; /* of this phase: the checkpoint of the largest footprint */
};

#endif
