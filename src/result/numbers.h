/* SPDX-License-Identifier: MIT
 *
 * The two records that hold the numbers of the metrics: a result of one op, and memory at one
 * moment. Only code that reads or writes these numbers includes this file, so that a new field
 * rebuilds that code alone; everything else includes result/result.h.
 */
#ifndef AB_RESULT_NUMBERS_H
#define AB_RESULT_NUMBERS_H

#include "result/result.h"

struct ab_worst_op {
    double ns;
    uint32_t position; /* number of ops before it in the tape */
    uint64_t size;     /* requested bytes; AB_SIZE_UNKNOWN = the op is from the latency pass */
    /* number of the iteration in its lane and phase, from 1; 0 = the op is in no iteration */
    uint32_t iteration;
};
#define AB_SIZE_UNKNOWN UINT64_MAX

/* Results of one back end, phase, op and round. */
struct ab_result {
    uint32_t backend; /* index in ab_session.backends */
    const char *phase;
    unsigned op; /* enum ab_op_kind, or AB_OP_ALL */
    uint32_t round;
    /* One member for each number of result_fields.def. Most come from the latency pass; for
     * AB_OP_ALL, these are from a sample in which every op has the same probability. Numbers of the
     * throughput pass exist for AB_OP_ALL only, and are otherwise NaN or 0. Other numbers come from
     * the tail pass. `max` is worst[0].ns, unless all ops were fast. */
#define AB_MEMBER_U64(member) uint64_t member;
#define AB_MEMBER_F64(member) double member;
#define AB_MEMBERS_EACH(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_ALL(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_TAIL(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_PROGRAM(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_INSIDE(type, member) AB_MEMBER_##type(member)
#define AB_MEMBERS_QUANTILE(type, member) /* in the array below */
#define AB_FIELD(group, name, member, type, unit, better, since, doc) \
    AB_MEMBERS_##group(type, member)
#include "build/fields/result_fields.inc"
#undef AB_FIELD
    double quantiles[AB_QUANTILE_COUNT];
    /* values of the metrics that the user defined, indexed by ab_named_slot() */
    double named[AB_NAMED_MAX];
    struct ab_hdr *hdr; /* values in ns; owned by the session; never NULL */
    uint32_t n_worst;
    struct ab_worst_op worst[AB_WORST_MAX]; /* slowest first; from the latency and the tail pass */
};

enum {
    AB_MEMORY_FIELDS = 0
#define AB_MEMORY_FIELD(name, member, unit, better, doc) +1
#include "build/fields/memory_fields.inc"
#undef AB_MEMORY_FIELD
};

/* Memory of a back end at one moment, from the memory pass. memory_fields.def defines each number.
 * For the bytes on resident pages, live + internal + external + retained = footprint, and none of
 * them is negative. If internal is not known, its bytes are in external. Every double may be n/a
 * (NaN). */
struct ab_memory {
    uint32_t backend;
    const char *phase;
    uint32_t round;
    enum ab_memory_at at;
    uint32_t position; /* number of ops done before this moment */
    /* One member for each number of memory_fields.def. */
#define AB_MEMORY_FIELD(name, member, unit, better, doc) double member;
#include "build/fields/memory_fields.inc"
#undef AB_MEMORY_FIELD
    /* footprint some time after all blocks were freed; only in the record AB_AT_END of the last
     * phase */
    double drained_bytes[AB_DRAIN_COUNT];
    /* for a mapped row: numbers of its heaps; otherwise not used */
    struct ab_heap_memory heaps[AB_PLACEMENT_HEAPS_MAX];
    char reason[AB_MEMORY_REASON_BYTES]; /* why numbers are n/a; "" = none is */
};

#endif
