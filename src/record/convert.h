/* SPDX-License-Identifier: MIT
 *
 * From spool to trace: addresses become allocation numbers, the two stamps of a realloc one
 * resize. Memory O(live blocks).
 */
#ifndef AB_RECORD_CONVERT_H
#define AB_RECORD_CONVERT_H

#include "core/status.h"
#include "record/spool.h"
#include "trace/reader.h"

#include <stdio.h>

struct ab_convert_report {
    struct ab_trace_info info;
    uint32_t n_images;      /* that recorded something (an exec begins one); the last is converted */
    uint64_t n_other;       /* calls of other threads, not recorded */
    uint32_t stop;          /* enum ab_spool_stop */
    uint64_t n_unfinished;  /* events cut off by the program's death */
    uint64_t n_foreign;     /* frees and resizes of blocks that no recorded call gave: dropped */
    uint64_t n_reused;      /* addresses given out while live: their free was not seen; 0 unless the
                               program has a second way to free */
};

/* Converts the last spool with events in `folder` to `to`. AB_INPUT when there is none, when it
 * is damaged, or when calls of other threads make it useless. *report is filled in either case as
 * far as known. */
enum ab_status ab_convert(const char *folder, const char *program, FILE *to,
                          struct ab_convert_report *report, struct ab_err *err);

#endif
