/* SPDX-License-Identifier: MIT
 *
 * Records about the heaps of a mapped row, whose requests are divided among heaps by rules (--map,
 * via): the identity of each heap, and the requests that it served.
 */
#ifndef AB_RESULT_HEAP_PART_H
#define AB_RESULT_HEAP_PART_H

#include "result/hdr.h"
#include "wire/kinds.h"
#include "wire/placement_file.h"

#include <math.h>

struct ab_mapped_heap { /* one heap of a mapped row; heaps with the same name are one heap */
    char name[128];
    /* rules that send requests to this heap: "frame, size:1-64"; a list that is too long is cut and
     * ends with "…". "" = not known */
    char keys[256];
    /* build id of the library that serves the heap; "" = none */
    char version[64], build_id[41];
    uint64_t n_requests, requested_bytes; /* allocations and resizes that the heap served */
    uint64_t live_peak_blocks, live_peak_bytes;
};

/* Statistics about the rules of a mapped row. */
struct ab_mapped_rules {
    uint64_t
        n_requests[AB_PLACEMENT_RULES_MAX]; /* number of requests that each rule decided, in the
                                               order of the rules */
    /* number of rules; 0 = not known, because the result is older */
    uint32_t n;
    /* SHA-256 of everything that the harness does because of the rules (struct ab_placement of the
     * null back end); "" = not known, because the result is older */
    char placement[65];
};

/* The work of one heap of a mapped row, for one kind of op or for all. Counts are those of the
 * tape, so they are the same in each round; times come from the latency pass. A resize counts for
 * the heap that has the block afterwards. A reset whose blocks are in several heaps counts for
 * none. */
struct ab_heap_part {
    uint32_t backend;
    uint32_t heap; /* index in ab_backend_info.heaps */
    const char *phase;
    /* enum ab_op_kind, or AB_OP_ALL: all kinds except resets, which replace frees that are
     * counted */
    unsigned op;
    uint32_t round;
    uint64_t n_calls; /* number of calls in the tape */
    /* ns; estimated time of all n_calls, from the calls that were timed, with the time of the
     * harness; in a sum of rounds the sum; NaN = no call was timed */
    double time_ns;
    uint64_t live_peak_blocks, live_peak_bytes; /* peaks in the phase; 0 unless `op` is AB_OP_ALL */
    /* values in ns; owned by the session; never NULL. For AB_OP_ALL it contains every op with the
     * same probability, as in results */
    struct ab_hdr *hdr;
};

/* Memory of one heap of a mapped row, in bytes: JSON keys and CSV metrics; NaN = n/a. The numbers
 * by page are defined as for the whole row (live + internal + external + retained = footprint). A
 * page belongs to the heap that has, or last had, a block on it. The numbers from allocated_bytes
 * on are those that the heap itself reports. FIELD(member) */
#define AB_HEAP_MEMORY_FIELDS(FIELD) \
    FIELD(requested_bytes) /* requested bytes of its live blocks */ \
    FIELD(footprint_bytes) \
    FIELD(live_bytes) \
    FIELD(internal_bytes) \
    FIELD(external_bytes) \
    FIELD(retained_bytes) \
    FIELD(allocated_bytes) \
    FIELD(mapped_bytes)   /* committed */ \
    FIELD(reserved_bytes) /* addresses */ \
    FIELD(metadata_bytes)
#define AB_WHY_HEAPS "heaps" /* subject of a reason that concerns the numbers of single heaps */
struct ab_heap_memory {
#define AB_HEAP_MEMORY_MEMBER(member) double member;
    AB_HEAP_MEMORY_FIELDS(AB_HEAP_MEMORY_MEMBER)
#undef AB_HEAP_MEMORY_MEMBER
    double drained_bytes[AB_DRAIN_COUNT]; /* defined as for the whole row */
};

/* Returns the sum of the times of two rounds or kinds. A time that is not known (NaN) adds
 * nothing. */
static inline double ab_heap_time_sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

#endif
