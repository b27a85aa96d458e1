/* SPDX-License-Identifier: MIT
 *
 * What a recording has beside its calls: marks on their way into the table of a trace, and times
 * from stamps.
 */
#ifndef AB_RECORD_CONVERTER_CONVERTER_MARKS_H
#define AB_RECORD_CONVERTER_CONVERTER_MARKS_H

#include "core/status.h"
#include "record/preload/spool.h"
#include "trace/optional/mark_table.h"

struct ab_convert_marks {
    struct ab_mark_table table;
    struct ab_spool_mark_name *names; /* AB_SPOOL_MARK_NAMES of the spool; NULL = they are lost */
    uint32_t numbers[AB_SPOOL_MARK_NAMES + 1]; /* by place + 1: in the table + 1 */
    bool has_time;                             /* events have times, too */
    uint64_t begin_ns, begin_ticks;            /* clocks at the start of the recording */
    double us_per_tick;                        /* 0 = not yet looked for */
    uint64_t base_stamp;                       /* whose time is 0; 0 = not yet */
    uint64_t last_us;
};

/* Reads what the spool says of all its processes. A spool without it has no names. */
enum ab_status ab_convert_marks_open(struct ab_convert_marks *m, const char *folder,
                                     struct ab_err *err);
/* Names that have come since. */
enum ab_status ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder,
                                        struct ab_err *err);
void ab_convert_marks_close(struct ab_convert_marks *m);

/* A mark ahead of call `call`, set by `thread` of the trace or AB_MARK_NO_THREAD. */
enum ab_status ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                                     uint64_t call, uint32_t thread, struct ab_err *err);
/* The time of an event, never less than that of the one before. The first one's is 0. */
uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp);

#endif
