/* SPDX-License-Identifier: MIT
 *
 * Models a trace: makes a workload with two tables, and says how close it is to the trace.
 */
#ifndef AB_APP_TRACE_TRACE_MODELING_H
#define AB_APP_TRACE_TRACE_MODELING_H

#include "app/trace/trace_pass.h"
#include "trace_tools/trace_model.h"

#include <stdio.h>

struct ab_modeled { /* begins as {0} */
    char stem
        [1024]; /* common part of the file names: stem.yaml, stem-blocks.csv, stem-sequence.csv */
    struct ab_trace_model model;
    struct ab_model_distance distance; /* between the trace and the compiled workload */
    bool has_distance;
    /* bytes: sizes of the three files together; trace_bytes: size of the trace, 0 = unknown */
    uint64_t bytes, trace_bytes;
};

/* Writes out->stem.yaml and its tables. Reads the trace several times. The caller ends with
 * ab_trace_model_fini(&out->model), also after a failure. */
enum ab_status ab_model_trace(const struct ab_trace_pass *pass, struct ab_modeled *out,
                              struct ab_err *err);

/* Writes the distance in four lines, each of which begins with `lead`. */
void ab_model_trace_distance(FILE *to, const struct ab_modeled *m, const char *lead);

#endif
