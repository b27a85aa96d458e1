/* SPDX-License-Identifier: MIT
 *
 * One image on its way through its events: into a trace, or only to know what lives at a fork.
 * Shared by converter.c (which event is next and what it means), converter_trace.c (the whole),
 * converter_live.c (while the program runs) and converter_forks.c (what a child has from its parent).
 */
#ifndef AB_RECORD_CONVERTER_H
#define AB_RECORD_CONVERTER_H

#include "core/status.h"
#include "record/address_map.h"
#include "record/convert.h"
#include "record/preload/spool.h"
#include "trace/mark_table.h"
#include "trace/site_table.h"
#include "trace/writer.h"
#include "trace/written_table.h"

/* The call sites of a stream, as a spool has them, on their way into the table of a trace. */

struct ab_stream_sites; /* of one stream; NULL until there are any */

/* Takes an event of kind SITE, FRAME or MODULE. *s is made if need be. AB_INPUT: no recorder writes
 * such an event. */
enum ab_status ab_stream_sites_take(struct ab_stream_sites **s, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err);

/* The stack of the call that comes now; 0 = none was noted. s may be NULL. */
uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s);
/* Another thread has taken over: of the one before nothing is pending. */
void ab_stream_sites_end_thread(struct ab_stream_sites *s);
void ab_stream_sites_free(struct ab_stream_sites *s);

/* A recording has more than calls: marks on their way into the table of a trace, and times from
 * stamps. */

struct ab_convert_marks {
    struct ab_mark_table table, requests;
    struct ab_spool_mark_name *names; /* AB_SPOOL_MARK_NAMES of the spool; NULL = they are lost */
    uint32_t numbers[AB_SPOOL_MARK_NAMES + 1]; /* by place + 1: in the table + 1 */
    bool has_time;                             /* events have times, too */
    uint64_t begin_ns, begin_ticks;            /* clocks at the start of the recording */
    double us_per_tick;                        /* 0 = not yet looked for */
    uint64_t base_stamp;                       /* whose time is 0; 0 = not yet */
    uint64_t last_us;
};

/* Reads what the spool says of all its processes. A spool without it has no names. */
void ab_convert_marks_open(struct ab_convert_marks *m, const char *folder);
/* Reads the names that have come since. */
void ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder);
void ab_convert_marks_close(struct ab_convert_marks *m);

/* A mark ahead of call `call`, set by `thread` of the trace or AB_MARK_NO_THREAD. */
void ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                           uint64_t call, uint32_t thread);
/* The time of an event, never less than that of the one before. The first one's is 0. */
uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp);

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
    bool has_exited;              /* of the thread only what it does on its way out is to come */
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
    struct ab_address_map large; /* blocks of which it may be said what is written: number and size
                                    as of the last call that gave them, whose number it is */
    struct ab_places places;     /* where blocks have been */
    uint64_t next_number;        /* of allocations, where there is no writer */
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

/* Opens the streams of an image. */
void ab_converter_open(struct ab_converter *c, const char *folder,
                       const struct ab_spool_entry *image, struct ab_convert_report *report);
/* Makes room for n lanes. */
void ab_converter_make_room(struct ab_converter *c, uint32_t n);
void ab_converter_close(struct ab_converter *c);

/* The process begins with these blocks, in this order. Before the first event. */
enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err);

/* A lane with events: its turn comes. */
void ab_converter_push_lane(struct ab_converter *c, uint32_t lane);

/* Goes through about n_events more events: *is_over at the last one (of those that are known to be
 * in order, while it is live), or after the fork. */
enum ab_status ab_converter_run(struct ab_converter *c, uint64_t n_events, bool *is_over,
                                struct ab_err *err);

/* One image on its way into a trace, from the opening of the trace to its end: what converting
 * when all is over (converter_trace.c) and converting meanwhile (converter_live.c) have in common. */

struct ab_conversion {
    struct ab_converter c;
    struct ab_site_table sites;
    struct ab_convert_marks marks;
    struct ab_trace_whole whole;
};

/* Opens the trace, once the converter is open. To be ended also when it fails. */
enum ab_status ab_conversion_begin(struct ab_conversion *v, FILE *to, bool has_thread,
                                   struct ab_err *err);
/* Takes all events that are left. What is no spool of ours ends the trace there: what came before
 * is whole. */
enum ab_status ab_conversion_take_all(struct ab_conversion *v, ab_convert_progress *progress,
                                      void *user, struct ab_err *err);
/* Ends the trace. */
enum ab_status ab_conversion_close(struct ab_conversion *v, struct ab_err *err);
void ab_conversion_end(struct ab_conversion *v);

/* Takes over what the image itself says of its recording. */
void ab_conversion_take_image(struct ab_convert_report *report, const struct ab_spool_image *image);

#endif
