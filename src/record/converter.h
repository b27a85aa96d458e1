/* SPDX-License-Identifier: MIT
 *
 * Converts the events of one image to a trace, or only finds the blocks that live at a fork.
 * Interface between converter.c (order and meaning of events), converter_trace.c (the whole
 * conversion), converter_live.c (conversion while the program runs) and converter_forks.c (blocks
 * inherited from a parent).
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

struct ab_stream_sites; /* call sites of one stream; NULL until the stream has any */

/* Processes an event of kind SITE, FRAME or MODULE, which defines or names a call site. Makes *s if
 * needed. Returns AB_INPUT for an event that no recorder writes. */
enum ab_status ab_stream_sites_take(struct ab_stream_sites **s, const struct ab_spool_event *e,
                                    struct ab_site_table *table, struct ab_err *err);

/* Returns the number in the table of the current call's stack; 0 = the stream has none. `s` may be
 * NULL. */
uint32_t ab_stream_sites_of_call(struct ab_stream_sites *s);
/* Drops sites whose call has not come, because another thread has taken over the stream. */
void ab_stream_sites_end_thread(struct ab_stream_sites *s);
void ab_stream_sites_free(struct ab_stream_sites *s);

/* ---- marks, requests and times ---- */

struct ab_convert_marks {
    struct ab_mark_table table, requests;
    /* names of marks, AB_SPOOL_MARK_NAMES entries as in the control file; NULL = not open */
    struct ab_spool_mark_name *names;
    /* number of a name in the table + 1, indexed by its place in the control file + 1; 0 = not in
     * the table yet */
    uint32_t numbers[AB_SPOOL_MARK_NAMES + 1];
    bool has_time; /* True if events have times */
    /* values of CLOCK_MONOTONIC and of the tick counter at the start of the recording */
    uint64_t begin_ns, begin_ticks;
    double us_per_tick; /* length of a tick in µs; 0 = not yet determined */
    /* stamp of the first event, which has time 0; 0 = not yet known */
    uint64_t base_stamp;
    uint64_t last_us;
};

/* Reads the names of marks and the clocks from the control file. Without that file there are no
 * names. */
void ab_convert_marks_open(struct ab_convert_marks *m, const char *folder);
/* Reads the names of marks that were added since the last reading. */
void ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder);
void ab_convert_marks_close(struct ab_convert_marks *m);

/* Adds a mark before call number `call`, made by `thread` of the trace, or by AB_MARK_NO_THREAD. */
void ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                           uint64_t call, uint32_t thread);
/* Returns the time of an event in µs, never less than that of the previous one. The first event
 * has time 0. */
uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp);

/* Number of ticks by which live conversion stays behind the running program. A thread takes less
 * time between reading the stamp and storing the event, unless it waits for a CPU. In that case its
 * event is ordered later than its stamp says, but still before all events that depend on it. */
#define AB_LIVE_LAG_TICKS (100 * AB_REPAIR_TICKS)

/* A resize in progress. In the meantime the block belongs to nobody, because its address may be
 * given to another thread or to a signal handler. */
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
    uint64_t stamp; /* stamp of the previous event */
    /* resizes in progress; more than one if a signal handler interrupts a resize with another */
    struct ab_resizing *resizing;
    size_t n_resizing, cap_resizing;
    struct ab_stream_sites *sites; /* NULL = none */
};

struct ab_convert_turn { /* entry of the heap: a lane and the stamp of its next event */
    uint64_t stamp;
    uint32_t lane;
};

struct ab_converter {
    const char *folder;
    const struct ab_spool_entry *image;
    struct ab_trace_writer *writer; /* NULL = no trace is written */
    struct ab_site_table *sites;    /* NULL = call sites are ignored */
    struct ab_convert_marks *marks; /* NULL = marks and times are ignored */
    /* True if events are written with times, which come from `marks` */
    bool has_time;
    struct ab_address_map live;
    /* large blocks whose written pages may be reported: number of the last call that gave the
     * block, and the size */
    struct ab_address_map large;
    struct ab_places places; /* places that have contained blocks */
    uint64_t next_number;    /* next allocation number; used if there is no writer */
    struct ab_convert_lane *lanes;
    uint32_t n_lanes;
    /* heap of lanes, the lane with the earliest event first; parked lanes are not in it */
    struct ab_convert_turn *heap;
    uint32_t n_heap;
    uint32_t *parked;
    uint32_t n_parked;
    /* True while the program runs: lanes may get more events, and lanes may be added */
    bool is_live;
    uint64_t limit; /* all events up to this stamp have been read; UINT64_MAX if not live */
    uint32_t n_threads;
    bool has_forker;     /* True while thread 0 is reserved for the thread that forked */
    uint64_t until_fork; /* number of the fork after which to stop; 0 = go to the end */
    bool has_reached;    /* True if fork until_fork was reached */
    /* n_done: number of events; n_bare: number of these for which the clock was not read */
    uint64_t n_done, n_bare;
    uint64_t n_sites; /* number of calls that have a stack */
    uint64_t first_stamp, last_stamp;
    struct ab_convert_report *report;
};

/* Opens the streams of an image. */
void ab_converter_open(struct ab_converter *c, const char *folder,
                       const struct ab_spool_entry *image, struct ab_convert_report *report);
/* Makes room for n lanes in the arrays of lanes. */
void ab_converter_make_room(struct ab_converter *c, uint32_t n);
void ab_converter_close(struct ab_converter *c);

/* Adds the blocks that are live at the beginning, in this order. Call it before the first event. */
enum ab_status ab_converter_inherit(struct ab_converter *c, const struct ab_held *blocks, size_t n,
                                    struct ab_err *err);

/* Adds a lane that has events to the heap. */
void ab_converter_push_lane(struct ab_converter *c, uint32_t lane);

/* Converts about n_events more events. Sets *is_over at the last event, or after the fork. While
 * the program runs, the last event is the last one whose place in the order is known. */
enum ab_status ab_converter_run(struct ab_converter *c, uint64_t n_events, bool *is_over,
                                struct ab_err *err);

/* Conversion of one image to a trace, from the opening of the trace to its closing. Used after the
 * recording (converter_trace.c) and during the recording (converter_live.c). */

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
/* Writes the end of the trace, and completes the report. */
enum ab_status ab_conversion_close(struct ab_conversion *v, struct ab_err *err);
void ab_conversion_end(struct ab_conversion *v);

/* Copies the numbers that the recorded process has written into its image to the report. */
void ab_conversion_take_image(struct ab_convert_report *report, const struct ab_spool_image *image);

#endif
