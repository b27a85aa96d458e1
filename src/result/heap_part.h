/* SPDX-License-Identifier: MIT
 *
 * The heaps of a mapped row (--map, via): what each is, and what each served.
 */
#ifndef AB_RESULT_HEAP_PART_H
#define AB_RESULT_HEAP_PART_H

#include "result/hdr.h"
#include "wire/kinds.h"
#include "wire/placement.h"

#include <math.h>

struct ab_mapped_heap { /* of a mapped row: what it serves; heaps of one name are one */
    char name[128];
    char keys[256]; /* of the rules that send it requests: "frame, size:1-64"; the end of what is
                       longer is "…". "" = not known */
    char version[64],
        build_id[41]; /* of the library behind it, as the worker found it; "" = none */
    uint64_t n_requests, requested_bytes; /* allocations and resizes */
    uint64_t live_peak_blocks, live_peak_bytes;
};

/* What became of the rules of a mapped row. */
struct ab_mapped_rules {
    uint64_t
        n_requests[AB_PLACEMENT_RULES_MAX]; /* that each decided on, in the order of the rules */
    uint32_t n;                             /* 0 = not known: of an older result */
    char placement[65]; /* digest of all that the harness does because of them (sha256 of struct
                           ab_placement of the null); "" = not known: of an older result */
};

/* What one heap of a mapped row served: one op kind, or all. The counts are those of the tape, so they
 * are the same in each round; times are of the latency pass. A resize is the heap's that it ends in; a
 * reset whose blocks are in several heaps is nobody's. */
struct ab_heap_part {
    uint32_t backend;
    uint32_t heap; /* index in its heaps */
    const char *phase;
    unsigned op; /* enum ab_op_kind, or AB_OP_ALL: all but resets, which stand for frees */
    uint32_t round;
    uint64_t n_calls; /* of the tape */
    double time_ns;   /* that these calls take, from those that were timed, with the harness's own
                         time; of several rounds the sum; NaN = none was timed */
    uint64_t live_peak_blocks, live_peak_bytes; /* AB_OP_ALL: in the phase; else 0 */
    struct ab_hdr *hdr; /* in ns; of AB_OP_ALL a fair sample, as in results; owned by the session;
                           never NULL */
};

/* What one heap of a mapped row holds, in bytes: JSON keys and CSV metrics; NaN = n/a. By page as of the
 * whole row (live + internal + external + retained = footprint), where a page is the heap's that has,
 * or last had, a block on it; from allocated on what the heap reports of itself. FIELD(member) */
#define AB_HEAP_MEMORY_FIELDS(FIELD) \
    FIELD(requested_bytes) /* of its live blocks */ \
    FIELD(footprint_bytes) \
    FIELD(live_bytes) \
    FIELD(internal_bytes) \
    FIELD(external_bytes) \
    FIELD(retained_bytes) \
    FIELD(allocated_bytes) \
    FIELD(mapped_bytes)   /* committed */ \
    FIELD(reserved_bytes) /* addresses */ \
    FIELD(metadata_bytes)
#define AB_WHY_HEAPS "heaps" /* in a reason: what is not known of single heaps */
struct ab_heap_memory {
#define AB_HEAP_MEMORY_MEMBER(member) double member;
    AB_HEAP_MEMORY_FIELDS(AB_HEAP_MEMORY_MEMBER)
#undef AB_HEAP_MEMORY_MEMBER
    double drained_bytes[AB_DRAIN_COUNT]; /* as of the whole row */
};

/* Of several rounds or kinds: what is not known of one (NaN) adds nothing. */
static inline double ab_heap_time_sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

#endif
