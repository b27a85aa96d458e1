/* SPDX-License-Identifier: MIT
 *
 * Converts while the command runs, on a thread that only takes what no other thread of the machine
 * wants of its CPUs, and gives back the space of the spool that is converted. It begins once the
 * spool is large: short recordings are converted when they are over.
 *
 * It converts the one process that the command is, for as long as that records; when it becomes another
 * program, that one's trace is begun instead. Children need all that their parents did: where they are
 * recorded too, nothing is converted before the end.
 *
 * The trace in the making is a file beside the spool, whole chunk by whole chunk: it is what is left
 * of that which was given back when we are killed.
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
    const char *folder, *part; /* the spool, the trace in the making: both stay the caller's */
    uint32_t command;          /* process id */
    uint64_t from_bytes;       /* of spool: then it begins */
    bool is_eager;             /* for tests: like any other thread */
    struct ab_relay *relay;    /* open until ab_live_converter_stop */
};
struct ab_live_converter *ab_live_converter_start(const struct ab_live_converter_options *options);

/* Events that are converted; 0 until it has begun. */
uint64_t ab_live_converter_events(const struct ab_live_converter *a);

/* It goes no further: the recording is over. a may be NULL, here and below. */
void ab_live_converter_stop(struct ab_live_converter *a);

/* Has it begun with this image, so that finishing it is all that is left? */
bool ab_live_converter_has(const struct ab_live_converter *a, const struct ab_spool_entry *image);
/* Converts the rest, into `to` as ab_convert would. Where space was given back, `progress` cannot
 * end it: the rest would be lost. */
enum ab_status ab_live_converter_finish(struct ab_live_converter *a,
                                        const struct ab_spool_entry *image, FILE *to,
                                        struct ab_convert_report *report,
                                        ab_convert_progress *progress, void *user,
                                        struct ab_err *err);
void ab_live_converter_close(struct ab_live_converter *a);

/* A converter of an image whose process runs. */

/* Opens it. Nothing is there before the first refresh. `image` stays the caller's, and is changed by
 * refreshes. */
void ab_converter_open_live(struct ab_converter *c, const char *folder,
                            struct ab_spool_entry *image, struct ab_convert_report *report);
/* Sees what has come since: then what is known to be in order can be run through. */
enum ab_status ab_converter_refresh(struct ab_converter *c, struct ab_spool_entry *image,
                                    struct ab_err *err);
/* Once nothing more is recorded: what is left can be run through, as of any other image. */
void ab_converter_settle(struct ab_converter *c);

/* The space that a spool takes of the disk, given back while it is written. */

/* Gives the space of chunks back that were read. Returns how many bytes; 0 also where they are few,
 * and where the file system cannot. */
uint64_t ab_spool_free_read(struct ab_stream *s);

/* Was space of it given back, so that its events are not all there? */
bool ab_spool_is_freed(const char *folder, const struct ab_spool_entry *image);

#endif
