/* SPDX-License-Identifier: MIT
 *
 * A model of a trace: two tables from which a workload of the same sizes, lifetimes, live memory over
 * time and hand-off between threads is made, without its calls one by one. The run is cut into parts of
 * equally many calls. A kind of blocks has exact sizes, and a lifetime in calls, to an eighth of a power
 * of two; or, where it outlives its part, the part in which it ends, and whether first in is first out
 * there. In each part, which kind comes next depends on the two before. What the tables mean is said in
 * workload/model.h, which plays them.
 */
#ifndef AB_TRACE_TOOLS_TRACE_MODEL_H
#define AB_TRACE_TOOLS_TRACE_MODEL_H

#include "tape/tape.h"
#include "trace_tools/walk.h"

#include <stdio.h>

enum { AB_TRACE_MODEL_PARTS_MAX = 256 };

struct ab_size_counts; /* how often each size was asked for */
struct ab_number_file; /* a number for each allocation */

struct ab_trace_model {
    uint64_t n_calls, part_calls, live_peak_bytes; /* of the trace */
    uint64_t n_kinds, n_rows;                      /* of the tables, once they are written */
    uint32_t n_parts, n_lanes;
    /* Of trace_model.c. */
    struct ab_size_counts *sizes, *played; /* of the trace; of the tape of the model */
    struct ab_model_kinds *kinds;
    struct ab_model_group *groups;  /* part of birth x part of death: in which order they end */
    struct ab_number_file *kind_of; /* by allocation */
    uint64_t n_allocs, *first;      /* by part: its first allocation; one more at the end */
};

/* Reads the trace twice: a file, not standard input. walk: path, is_partial, progress. Memory is for the
 * live blocks and for what there is of different sizes, kinds and contexts; four bytes an allocation lie in
 * a file without a name. AB_USAGE where the trace has no allocations, or more threads at
 * the same time than a workload has lanes. */
enum ab_status ab_trace_model_make(const struct ab_walk *walk, uint32_t n_parts,
                                   struct ab_trace_model *out, struct ab_err *err);
void ab_trace_model_fini(struct ab_trace_model *m);

/* AB_SYSTEM where the file without a name cannot be read. */
enum ab_status ab_trace_model_write(struct ab_trace_model *m, FILE *blocks, FILE *sequence,
                                    struct ab_err *err);

struct ab_model_distance {
    uint64_t calls, live_peak_bytes; /* of the model's tape */
    double sizes; /* Kolmogorov: the most by which the shares of requests of at most so many bytes
                     differ */
};
/* First all bursts of the tape of the model, one by one; then what is known of all of them. */
void ab_trace_model_take(struct ab_trace_model *m, const struct ab_tape *burst);
void ab_trace_model_compare(const struct ab_trace_model *m, const struct ab_tape *total,
                            struct ab_model_distance *out);

#endif
