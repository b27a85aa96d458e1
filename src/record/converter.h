/* SPDX-License-Identifier: MIT
 *
 * Converts the events of one image, to a trace or only to find the blocks that live at a fork.
 * Shared by converter.c (order and meaning of events), converter_trace.c (the whole conversion),
 * converter_live.c (conversion while the program runs) and converter_forks.c (blocks inherited
 * from a parent).
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

/* ---- call sites: from the numbers of a stream to the table of a trace ---- */

struct ab_stream_sites; /* per stream; NULL until there are any */

/* Takes an event of kind SITE, FRAME or MODULE. Makes *s if needed. Returns AB_INPUT for an
 * event that no recorder writes. */
enum ab_status ab_stream_sites_take(struct ab_stream_sites **s, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err);

/* Returns the stack of the current call; 0 = none was noted. `s` may be NULL. */
uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s);
/* Forgets pending sites, because another thread has taken over the stream. */
void ab_stream_sites_end_thread(struct ab_stream_sites *s);
void ab_stream_sites_free(struct ab_stream_sites *s);

/* ---- marks, requests and times ---- */

struct ab_convert_marks {
    struct ab_mark_table table, requests;
    struct ab_spool_mark_name *names; /* AB_SPOOL_MARK_NAMES names of the spool; NULL = closed */
    /* number in the table + 1, by place in the spool + 1; 0 = not in the table yet */
    uint32_t numbers[AB_SPOOL_MARK_NAMES + 1];
    bool has_time;                  /* True if events have times */
    uint64_t begin_ns, begin_ticks; /* clocks at the start of the recording */
    double us_per_tick;             /* 0 = not yet determined */
    uint64_t base_stamp;            /* stamp of time 0; 0 = not yet known */
    uint64_t last_us;
};

/* Reads the marks and clocks from the control file. Without that file there are no names. */
void ab_convert_marks_open(struct ab_convert_marks *m, const char *folder);
/* Reads the names added since. */
void ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder);
void ab_convert_marks_close(struct ab_convert_marks *m);

/* Adds a mark ahead of call `call`, made by `thread` of the trace or AB_MARK_NO_THREAD. */
void ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                           uint64_t call, uint32_t thread);
/* Returns the time of an event in µs, never less than that of the previous one. The first event
 * has time 0. */
uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp);

/* Distance in ticks between a running program and the converter. A thread needs less time
 * between reading the stamp and storing the event, unless it waits for a CPU. In that case its
 * event is ordered later than its stamp says, but still before all events that depend on it. */
#define AB_LIVE_LAG_TICKS (100 * AB_REPAIR_TICKS)

/* A resize in progress. Meanwhile nobody owns the block, because its address may be given to
 * another thread or to a signal handler. */
struct ab_resizing {
    struct ab_held held;
    uint64_t address;
    bool is_known;
};

struct ab_convert_lane { /* one stream, and the thread that writes it */
    struct ab_stream stream;
    uint32_t thread;
    bool has_thread;
    /* True if the thread is exiting; only the frees of its exit follow */
    bool has_exited;
    uint64_t stamp;               /* stamp of the previous event */
    struct ab_resizing *resizing; /* resizes in progress; more than one if signal handlers nest */
    size_t n_resizing, cap_resizing;
    struct ab_stream_sites *sites; /* NULL = none */
};

struct ab_convert_turn { /* a lane and the stamp of its next event */
    uint64_t stamp;
    uint32_t lane;
};

struct ab_converter {
    const char *folder;
    const struct ab_spool_entry *image;
    struct ab_trace_writer *writer; /* NULL = no trace is written */
    struct ab_site_table *sites;    /* NULL = call sites are ignored */
    struct ab_convert_marks *marks; /* NULL = marks and times are ignored */
    bool has_time;                  /* True if events are written with times (from `marks`) */
    struct ab_address_map live;
    /* large blocks whose written pages may be reported; number of the last call that gave the
     * block, and its size */
    struct ab_address_map large;
    struct ab_places places; /* places that have contained blocks */
    uint64_t next_number;    /* next allocation number, if there is no writer */
    struct ab_convert_lane *lanes;
    uint32_t n_lanes;
    struct ab_convert_turn *heap; /* heap of lanes, the earliest first; without parked lanes */
    uint32_t n_heap;
    uint32_t *parked;
    uint32_t n_parked;
    /* True while the program runs: lanes may get more events, and lanes may be added */
    bool is_live;
    uint64_t limit; /* all events up to this stamp have been read; UINT64_MAX if not live */
    uint32_t n_threads;
    bool has_forker;         /* True while thread 0 is reserved for the thread that forked */
    uint64_t until_fork;     /* number of the fork to stop after; 0 = go to the end */
    bool has_reached;        /* True if that fork was reached */
    uint64_t n_done, n_bare; /* events; events of these for which the clock was not read */
    uint64_t n_sites;        /* calls with a noted stack */
    uint64_t first_stamp, last_stamp;
    struct ab_convert_report *report;
};

/* Opens the streams of an image. */
void ab_converter_open(struct ab_converter *c, const char *folder,
                       const struct ab_spool_entry *image, struct ab_convert_report *report);
/* Makes room for n lanes. */
void ab_converter_make_room(struct ab_converter *c, uint32_t n);
void ab_converter_close(struct ab_converter *c);

/* Starts with these blocks, in this order. Call it before the first event. */
enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err);

/* Adds a lane with events to the heap. */
void ab_converter_push_lane(struct ab_converter *c, uint32_t lane);

/* Converts about n_events more events. Sets *is_over at the last event, or after the fork. While
 * live, the last event is the last one whose place in the order is known. */
enum ab_status ab_converter_run(struct ab_converter *c, uint64_t n_events, bool *is_over,
                                struct ab_err *err);

/* Conversion of one image to a trace, from opening the trace to closing it. Used after the
 * recording (converter_trace.c) and during it (converter_live.c). */

struct ab_conversion {
    struct ab_converter c;
    struct ab_site_table sites;
    struct ab_convert_marks marks;
    struct ab_trace_whole whole;
};

/* Opens the trace, after the converter was opened. Call ab_conversion_end also on failure. */
enum ab_status ab_conversion_begin(struct ab_conversion *v, FILE *to, bool has_thread,
                                   struct ab_err *err);
/* Converts all remaining events. If damaged events end the trace, the events before them are
 * complete. */
enum ab_status ab_conversion_take_all(struct ab_conversion *v, ab_convert_progress *progress,
                                      void *user, struct ab_err *err);
/* Ends the trace. */
enum ab_status ab_conversion_close(struct ab_conversion *v, struct ab_err *err);
void ab_conversion_end(struct ab_conversion *v);

/* Copies the image's own numbers to the report. */
void ab_conversion_take_image(struct ab_convert_report *report, const struct ab_spool_image *image);

#endif
