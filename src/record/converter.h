/* SPDX-License-Identifier: MIT
 *
 * One image on its way through its events: into a trace, or only to know what lives at a fork.
 * Shared by converter/conversion.c (the whole), converter_event.c (what an event means), converter.c (which is
 * next), converter/live.c (while the program runs) and family.c (what a child has from its parent).
 */
#ifndef AB_RECORD_CONVERTER_H
#define AB_RECORD_CONVERTER_H

#include "record/address_map.h"
#include "record/convert.h"
#include "record/converter/converter_marks.h"
#include "record/converter/converter_sites.h"
#include "trace/writer.h"

/* By how much a program that runs is ahead of what is put in order: no thread needs as long from
 * the stamp of an event to its being there, unless it waits for a CPU meanwhile. Where one does, its
 * event comes later in the order than its stamp says, and still before all that depend on it. */
#define AB_LIVE_LAG_TICKS (100 * AB_REPAIR_TICKS)

/* From its begin to its end a block that is resized has no owner: its address may be given
 * to another thread or a signal handler meanwhile. */
struct ab_resizing {
    struct ab_held held;
    uint64_t address;
    bool is_known;
};

struct ab_convert_lane { /* one stream, and the thread that writes it */
    struct ab_stream stream;
    uint32_t thread;
    bool has_thread, is_parked;
    uint64_t stamp;               /* of the event before */
    struct ab_resizing *resizing; /* begun, not yet ended: signal handlers nest */
    size_t n_resizing, cap_resizing;
    struct ab_stream_sites *sites; /* NULL = none */
};

struct ab_convert_turn { /* a lane and the stamp of its head */
    uint64_t stamp;
    uint32_t lane;
};

struct ab_converter {
    const char *folder;
    const struct ab_spool_entry *image;
    struct ab_trace_writer *writer; /* NULL = nothing is written */
    struct ab_site_table *sites;    /* NULL = call sites are passed over */
    struct ab_convert_marks *marks; /* NULL = marks and times are passed over */
    bool has_time;                  /* events are written with times: of `marks` */
    struct ab_address_map live;
    uint64_t next_number; /* of allocations, where there is no writer */
    struct ab_convert_lane *lanes;
    uint32_t n_lanes;
    struct ab_convert_turn *heap; /* the least first; parked lanes are not in */
    uint32_t n_heap;
    uint32_t *parked;
    uint32_t n_parked;
    bool is_live;   /* the program runs: lanes may go on, and more may come */
    uint64_t limit; /* of stamps: up to it all events are there; UINT64_MAX when it is not live */
    uint32_t n_threads;
    bool has_forker;         /* thread 0 is still kept for the thread that forked */
    uint64_t until_fork;     /* stop after this fork; 0 = at the end */
    bool has_reached;        /* it did */
    uint64_t n_done, n_bare; /* events; those among them that the clock was not read for */
    uint64_t n_sites;        /* calls whose stack was noted */
    uint64_t first_stamp, last_stamp;
    struct ab_convert_report *report;
};

/* Opens the streams of an image. To be closed also when it fails. */
enum ab_status ab_converter_open(struct ab_converter *c, const char *folder,
                                 const struct ab_spool_entry *image,
                                 struct ab_convert_report *report, struct ab_err *err);
void ab_converter_close(struct ab_converter *c);

/* The process begins with these blocks, in this order. Before the first event. */
enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err);

/* A lane with events: its turn comes. */
void ab_converter_push_lane(struct ab_converter *c, uint32_t lane);
/* Does what the head of the lane says. */
enum ab_status ab_converter_take(struct ab_converter *c, struct ab_convert_lane *lane,
                                 struct ab_err *err);

/* Goes through about n_events more events: *is_over at the last one (of those that are known to be
 * in order, while it is live), or after the fork. */
enum ab_status ab_converter_run(struct ab_converter *c, uint64_t n_events, bool *is_over,
                                struct ab_err *err);

#endif
