/* SPDX-License-Identifier: MIT
 *
 * Converts while the command runs, on a thread of idle priority, and frees the converted space of
 * the spool. Begins only when the spool is large; short recordings are converted when they end.
 *
 * Converts only the process of the command, as long as it records. When the process executes
 * another program, drops this trace and begins the trace of that program. If children are recorded
 * too, nothing is converted before the end, because a child needs all events of its parents.
 *
 * The trace in progress is a file beside the spool and always consists of whole chunks. If
 * allocbench is killed, this file has the events whose spool space was freed.
 */
#ifndef AB_RECORD_CONVERTER_LIVE_H
#define AB_RECORD_CONVERTER_LIVE_H

#include "record/convert.h"
#include "record/converter.h"
#include "record/relay.h"
#include "record/spool_reader.h"

#define AB_LIVE_CONVERTER_PART "part.abt"

struct ab_live_converter;

struct ab_live_converter_options {
    /* folder: the spool; part: path of the trace in progress; both are borrowed */
    const char *folder, *part;
    uint32_t command;       /* process id of the command */
    uint64_t from_bytes;    /* size of the spool at which conversion begins */
    bool is_eager;          /* True in tests: the thread has normal priority */
    struct ab_relay *relay; /* must stay open until ab_live_converter_stop */
};
struct ab_live_converter *ab_live_converter_start(const struct ab_live_converter_options *options);

/* Returns the number of converted events; 0 before conversion has begun. `a` may be NULL. */
uint64_t ab_live_converter_events(const struct ab_live_converter *a);

/* Stops the thread at the end of the recording. `a` may be NULL. */
void ab_live_converter_stop(struct ab_live_converter *a);

/* True if the conversion of this image has begun, so that it only needs to be finished. `a` may be
 * NULL. */
bool ab_live_converter_has(const struct ab_live_converter *a, const struct ab_spool_entry *image);
/* Converts the remaining events and writes the trace to `to`, as ab_convert would. If spool space
 * was freed, `progress` cannot stop the conversion, because the freed events cannot be converted
 * again. */
enum ab_status ab_live_converter_finish(struct ab_live_converter *a,
                                        const struct ab_spool_entry *image, FILE *to,
                                        struct ab_convert_report *report,
                                        ab_convert_progress *progress, void *user,
                                        struct ab_err *err);
void ab_live_converter_close(struct ab_live_converter *a);

/* ---- converting an image whose process runs ---- */

/* Opens a converter without events; the first refresh adds them. Borrows `image`, which
 * refreshes change. */
void ab_converter_open_live(struct ab_converter *c, const char *folder,
                            struct ab_spool_entry *image, struct ab_convert_report *report);
/* Reads the events that are new in all streams. Events whose order is known can then be
 * converted. */
enum ab_status ab_converter_refresh(struct ab_converter *c, struct ab_spool_entry *image,
                                    struct ab_err *err);
/* Changes from live reading to normal reading once nothing more is recorded, so that all remaining
 * events can be converted. */
void ab_converter_settle(struct ab_converter *c);

/* ---- freeing space of the spool while it is written ---- */

/* Frees the space of the chunks that were read. Returns the number of freed bytes; 0 also if there
 * are too few, or if the file system cannot free them. */
uint64_t ab_spool_free_read(struct ab_stream *s);

/* True if space of the image was freed, so that not all of its events exist any more. */
bool ab_spool_is_freed(const char *folder, const struct ab_spool_entry *image);

#endif
