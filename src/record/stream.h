/* SPDX-License-Identifier: MIT
 *
 * Reads a spool: the images of a folder, and of one image the streams of its thread slots, each in
 * its own order. Files are opened for each read, because there may be more of them than
 * descriptors. The spool may be damaged: what is read is bounded by what the files hold.
 */
#ifndef AB_RECORD_STREAM_H
#define AB_RECORD_STREAM_H

#include "core/status.h"
#include "record/spool.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_spool_entry { /* an image in the folder */
    struct ab_spool_image image;
    uint32_t generation; /* K: how many programs the process had been before */
    uint64_t n_events;
};

/* All images of a folder, a process's in the order of its programs. Free *out. */
enum ab_status ab_spool_list(const char *folder, struct ab_spool_entry **out, size_t *n,
                             struct ab_err *err);

struct ab_stream {
    uint32_t slot;
    uint64_t n_events, next;     /* of the whole stream; next to be given */
    uint64_t half_number[2];     /* of the mapped halves, + 1 */
    uint64_t data_bytes, pack_bytes; /* of chunks in the file, of those that were not saved yet */
    uint64_t chunks_read;            /* of the two together, in bytes */
    struct ab_spool_event *half; /* AB_SPOOL_HALF_EVENTS of half `loaded`, NULL = none */
    uint64_t loaded;             /* + 1 */
    struct ab_spool_event head;  /* valid unless is_done */
    bool is_done;
    uint64_t n_unwritten;        /* places that were taken and never filled */
    uint64_t turn_ticks;
};

/* At its first event, or is_done. */
enum ab_status ab_stream_open(struct ab_stream *s, const char *folder,
                              const struct ab_spool_entry *image, uint32_t slot,
                              struct ab_err *err);
/* To the next event in `head`, or is_done behind the last. */
enum ab_status ab_stream_next(struct ab_stream *s, const char *folder,
                              const struct ab_spool_entry *image, struct ab_err *err);
void ab_stream_close(struct ab_stream *s);

#endif
