/* SPDX-License-Identifier: MIT
 *
 * Spool → trace: addresses become allocation numbers, the two stamps of a resize become one event.
 * What the recording says is checked against itself; nothing is repaired in silence.
 */
#ifndef AB_RECORD_CONVERT_H
#define AB_RECORD_CONVERT_H

#include "core/status.h"
#include "record/spool.h"
#include "trace/reader.h"

#include <stdint.h>
#include <stdio.h>

struct ab_conversion {
    struct ab_trace_info info;
    uint32_t n_images; /* that recorded anything; the last of them is the one converted */
    uint64_t unseen;   /* frees and resizes of blocks whose allocation was not seen: left out */
    uint64_t lost;     /* places taken but not filled, calls begun but not ended: at most one or
                          two behind a kill, else a handler jumped out of a call */
};

/* Writes the trace of the spool in folder `dir` to `to`. AB_INPUT when there is nothing to convert
 * or it cannot be converted rightly, AB_SYSTEM when recording had to stop early; both say why. */
enum ab_status ab_spool_convert(const char *dir, FILE *to, struct ab_conversion *out,
                                struct ab_err *err);

#endif
