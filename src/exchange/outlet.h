/* SPDX-License-Identifier: MIT
 *
 * A trace as the file of another tool. A block gets an address by its slot: no two that live at the
 * same time have the same one. What the format cannot say is counted.
 */
#ifndef AB_EXCHANGE_OUTLET_H
#define AB_EXCHANGE_OUTLET_H

#include "core/status.h"
#include "trace/event.h"
#include "trace_tools/walk.h"

#include <stdio.h>

struct ab_outlet {
    FILE *to;
    const struct ab_trace_info *totals; /* of the trace; NULL unless the format needs_totals */
    const char *program;                /* name of the recorded command; "" = unknown */
    bool has_time;
    uint64_t time_ms; /* of the event before; for the format's own use, as is: */
    uint32_t thread;  /* of the event before, + 1 */
    uint64_t block;   /* of the event: number of its allocation, AB_NO_BLOCK without one */
};

struct ab_outlet_format {
    void (*begin)(struct ab_outlet *x); /* NULL = nothing; so is end */
    /* Never one that the format does not keep. AB_EVENT_THREAD_END too, if it keeps threads. Errors of
     * the file are found by whoever commits it. */
    void (*put)(struct ab_outlet *x, const struct ab_event *e);
    void (*end)(struct ab_outlet *x);
    bool needs_totals; /* its head says them: the trace is read twice */
};

struct ab_outlet_report {
    uint64_t n_written;  /* calls */
    uint64_t n_split;    /* resizes that became a free and an allocation */
    uint64_t n_released; /* resizes to 0 that freed their block and became a free */
    uint64_t n_failed;   /* left out: the format knows no failed calls */
    uint64_t n_plain;    /* zeroed and aligned ones that became plain */
    uint64_t n_threads;  /* of the trace, where the format knows none; else 0 */
    bool has_lost_times;
};

struct ab_format;
/* The whole trace. walk: path, is_partial and progress; the others are set here. `to` stays the
 * caller's. AB_USAGE when the format needs to read standard input twice. */
enum ab_status ab_export(const struct ab_walk *walk, const struct ab_format *format, FILE *to,
                         struct ab_outlet_report *report, struct ab_err *err);

/* NULL of an allocation that failed. */
static inline uint64_t ab_outlet_address(const struct ab_event *e)
{
    bool is_none = e->failed && e->kind <= AB_EVENT_ALLOC_ALIGNED;
    return is_none ? 0 : UINT64_C(0x10000) + (uint64_t)e->slot * 16;
}

#define AB_FORMAT(id, ...) extern const struct ab_outlet_format ab_export_##id;
#include "exchange/formats.def"
#undef AB_FORMAT

#endif
