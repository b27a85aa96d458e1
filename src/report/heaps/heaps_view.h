/* SPDX-License-Identifier: MIT
 *
 * What each heap of a mapped row served in a phase, over all rounds, as the tables show it.
 */
#ifndef AB_REPORT_HEAPS_HEAPS_VIEW_H
#define AB_REPORT_HEAPS_HEAPS_VIEW_H

#include "result/result.h"

struct ab_heap_row {
    uint32_t heap;                 /* of the back end's */
    uint64_t n_calls;              /* of a round, exact */
    double call_share, time_share; /* of all heaps, in [0, 1]; NaN = not known. Time is that of the
                                      calls in the latency pass, without the clock's own; not known
                                      where much of it is of calls shorter than a step of the clock */
    double p50, p99;               /* ns, of all calls; NaN = too few were timed */
    uint64_t live_peak_blocks, live_peak_bytes; /* exact */
    const struct ab_heap_memory
        *memory; /* at the peak of the row, of its typical run; NULL = none */
};

/* Of a back end in a phase, the heap with the most calls first, those that served nothing left out;
 * how many. `scratch` is for merging. 0 where the row is not mapped or its calls were not timed. */
uint32_t ab_heaps_view(const struct ab_session *s, uint32_t backend, const char *phase,
                       struct ab_hdr *scratch, struct ab_heap_row rows[AB_PLACEMENT_HEAPS_MAX]);

/* To `hdr`: the timed calls of one kind, or of AB_OP_ALL, to a heap of a mapped row in a phase, of all
 * rounds. */
void ab_heaps_latency(const struct ab_session *s, uint32_t backend, const char *phase,
                      uint32_t heap, unsigned op, struct ab_hdr *hdr);

/* Of a footprint, what is of no single heap; NaN = not known. */
double ab_heaps_rest(const struct ab_session *s, const struct ab_memory *m);

#endif
