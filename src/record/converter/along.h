/* SPDX-License-Identifier: MIT
 *
 * Converts while the command runs, on a thread that only takes what no other thread of the machine
 * wants of its CPUs, and gives back the space of the spool that is converted. It begins once the
 * spool is large: short recordings are converted when they are over.
 *
 * Of one process that the command is, for as long as it records; when it becomes another program,
 * that one's trace is begun instead. Children need all that their parents did: where they are
 * recorded too, nothing is converted before the end.
 *
 * The trace in the making is a file beside the spool, whole chunk by whole chunk: it is what is left
 * of that which was given back when we are killed.
 */
#ifndef AB_RECORD_CONVERTER_ALONG_H
#define AB_RECORD_CONVERTER_ALONG_H

#include "record/convert.h"
#include "record/relay.h"

#define AB_ALONG_PART "part.abt"

struct ab_along;

struct ab_along_wish {
    const char *folder, *part; /* the spool, the trace in the making: both stay the caller's */
    uint32_t command;          /* process id */
    uint64_t from_bytes;       /* of spool: then it begins */
    bool is_eager;             /* for tests: like any other thread */
    struct ab_relay *relay;    /* open until ab_along_stop */
};
enum ab_status ab_along_start(const struct ab_along_wish *wish, struct ab_along **out,
                              struct ab_err *err);

/* Events that are converted; 0 until it has begun. */
uint64_t ab_along_events(const struct ab_along *a);

/* It goes no further: the recording is over. a may be NULL, here and below. */
void ab_along_stop(struct ab_along *a);

/* Has it begun with this image, so that finishing it is all that is left? */
bool ab_along_has(const struct ab_along *a, const struct ab_spool_entry *image);
/* Converts the rest, into `to` as ab_convert would. Where space was given back, `progress` cannot
 * end it: the rest would be lost. */
enum ab_status ab_along_finish(struct ab_along *a, const struct ab_spool_entry *image, FILE *to,
                               struct ab_convert_report *report, ab_convert_progress *progress,
                               void *user, struct ab_err *err);
void ab_along_close(struct ab_along *a);

#endif
