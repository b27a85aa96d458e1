/* SPDX-License-Identifier: MIT
 *
 * A model of a trace: two tables from which a workload can be made that has the same sizes,
 * lifetimes, live memory over time and hand-off of blocks between threads, without the individual
 * calls.
 *
 * The run is divided into parts of equally many calls. A kind of block has an exact size and a
 * lifetime in calls, rounded to an eighth of a power of two. If a block outlives the part in which
 * it was allocated, its kind has instead the part of its end, and the order of ends in that part
 * (such as first in, first out). In each part, the next kind depends on the kinds before it.
 * workload/model.h, which plays the tables, describes them.
 */
#ifndef AB_TRACE_TOOLS_TRACE_MODEL_H
#define AB_TRACE_TOOLS_TRACE_MODEL_H

#include "tape/tape.h"
#include "trace_tools/walk.h"

#include <stdio.h>

enum { AB_TRACE_MODEL_PARTS_MAX = 256 };

struct ab_size_counts; /* number of requests for each size */
struct ab_number_file; /* a number for each allocation */

struct ab_trace_model {
    uint64_t n_calls, part_calls, live_peak_bytes; /* totals of the trace */
    /* numbers of rows of the two tables, after they were written */
    uint64_t n_kinds, n_rows;
    uint32_t n_parts, n_lanes;
    /* Private to trace_model.c: */
    /* numbers of allocations by size: `sizes` of the trace, `played` of the tape of the model */
    struct ab_size_counts *sizes, *played;
    struct ab_model_kinds *kinds;
    /* order of the ends of blocks, by part of birth x part of death */
    struct ab_model_group *groups;
    struct ab_number_file *kind_of; /* kind of each block, by number of its allocation */
    /* first: number of the first allocation of each part, and one more entry for the end */
    uint64_t n_allocs, *first;
};

/* Creates a model. Reads the trace twice, so that the trace must be a file. `walk` has path,
 * is_partial and progress. Needs memory for the live blocks and for the different sizes, kinds and
 * contexts; four bytes per allocation are in an unnamed file. Returns AB_USAGE if the trace has no
 * allocations, or more threads at a time than a workload has lanes. */
enum ab_status ab_trace_model_make(const struct ab_walk *walk, uint32_t n_parts,
                                   struct ab_trace_model *out, struct ab_err *err);
void ab_trace_model_fini(struct ab_trace_model *m);

/* Writes the two tables. Returns AB_SYSTEM if the unnamed file cannot be read. */
enum ab_status ab_trace_model_write(struct ab_trace_model *m, FILE *blocks, FILE *sequence,
                                    struct ab_err *err);

struct ab_model_distance {
    uint64_t calls, live_peak_bytes; /* totals of the tape of the model */
    /* Kolmogorov distance: the largest difference between the cumulative distributions of
     * request sizes */
    double sizes;
};
/* Measure how far the tape of the model is from the trace. Call ab_trace_model_take with each burst
 * of that tape, then ab_trace_model_compare with the total of all bursts. */
void ab_trace_model_take(struct ab_trace_model *m, const struct ab_tape *burst);
void ab_trace_model_compare(const struct ab_trace_model *m, const struct ab_tape *total,
                            struct ab_model_distance *out);

#endif
