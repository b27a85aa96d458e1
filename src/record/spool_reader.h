/* SPDX-License-Identifier: MIT
 *
 * Reads a spool: lists the images of a folder, and reads the streams of an image, one per thread
 * slot. Opens files for each read, because there may be more files than descriptors. Handles
 * damaged spools: reads never go beyond the files.
 *
 * A stream can also be read while its thread writes it ("live"). Then is_done means that no more
 * events exist yet, and ab_stream_seek can continue later. After the thread has ended,
 * ab_stream_settle allows the stream to be read to its end.
 */
#ifndef AB_RECORD_SPOOL_READER_H
#define AB_RECORD_SPOOL_READER_H

#include "base/bits.h"
#include "core/status.h"
#include "record/preload/spool.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_spool_entry { /* image in the folder of a spool */
    struct ab_spool_image image;
    uint32_t generation; /* number of programs that the process has executed before this one */
    uint64_t n_events;
    uint64_t n_calls; /* events that are calls */
};

/* Lists all images of a folder, sorted by process and program. Free *out. */
enum ab_status ab_spool_list(const char *folder, struct ab_spool_entry **out, size_t *n,
                             struct ab_err *err);

/* Reads one image. Returns false if the image is missing or incomplete. */
bool ab_spool_find(const char *folder, uint32_t pid, uint32_t generation,
                   struct ab_spool_entry *out);
/* Reads the image again while its process runs; does not count events and calls. */
bool ab_spool_look_again(const char *folder, struct ab_spool_entry *image);

/* Writes the path of the file of a slot. */
void ab_spool_slot_path(char *out, size_t cap, const char *folder,
                        const struct ab_spool_entry *image, uint32_t slot);

/* Reads the control file; free the result. Returns NULL if the file is missing or incomplete. */
struct ab_spool_control *ab_spool_read_control(const char *folder);
/* Returns why the recording of all processes was ended (enum ab_spool_stop). AB_SPOOL_RUNNING = it
 * was not ended, or that is not known. */
uint32_t ab_spool_read_end(const char *folder);

/* processes that started the same program and have no image for the same reason */
struct ab_unseen {
    char path[240]; /* path that was passed to exec */
    uint32_t why;   /* enum ab_spool_stop; AB_SPOOL_RUNNING = the recorder was not loaded */
    uint32_t user;  /* id of the user who started the program */
    uint64_t n;
};

/* Lists programs that were started under the recorder but have no image. Returns the number of
 * entries; free *out. *n_lost is the number of starts that could not be noted. */
size_t ab_spool_read_unseen(const char *folder, const struct ab_spool_entry *images,
                            size_t n_images, struct ab_unseen **out, uint64_t *n_lost);

struct ab_stream {
    const char *folder;
    const struct ab_spool_entry *image; /* borrowed, like `folder` */
    const struct ab_spool_event *at,
        *end; /* at: current event, unless is_done; end: end of the loaded events */
    bool is_done;
    bool is_cut; /* True if the stream ended before its announced number of events */
    bool is_live;
    /* if is_live and is_done: True if an event was begun but is not there yet, or was abandoned */
    bool has_gap;
    /* True if only the first n_taken events of the half read last have been read */
    bool is_partial;
    uint32_t slot;
    uint64_t n_events;       /* number of events in the whole stream */
    uint64_t half_number[2]; /* numbers of the halves in the two mapped buffers, plus 1 */
    /* data_bytes: bytes of chunks saved in the file; pack_bytes: bytes of chunks not yet saved */
    uint64_t data_bytes, pack_bytes;
    /* bytes read of these chunks, saved and not yet saved together */
    uint64_t chunks_read;
    /* buffer for AB_SPOOL_HALF_EVENTS events: the half with number n_loaded - 1 */
    struct ab_spool_event *half;
    uint64_t n_loaded;
    uint32_t n_taken;
    /* number of bytes at the start of the file's chunks whose disk space was given back */
    uint64_t freed_bytes;
    /* buffered chunks: window_bytes bytes from window_at on, a position like chunks_read */
    uint8_t *window;
    uint64_t window_at, window_bytes;
    uint64_t n_unwritten; /* places in the stream that were taken but never filled */
    /* events that were written to another place than the one they had taken */
    uint64_t n_moved;
    uint64_t turn_ticks, site_ticks, n_timed_sites;
};

/* Opens a stream at its first event; is_done if it has none. */
void ab_stream_open(struct ab_stream *s, const char *folder, const struct ab_spool_entry *image,
                    uint32_t slot);
/* Moves to the next event from `at` on; sets is_done after the last. */
void ab_stream_seek(struct ab_stream *s);
static inline void ab_stream_next(struct ab_stream *s)
{
    if (AB_UNLIKELY(++s->at >= s->end || AB_SPOOL_KIND(s->at) == AB_SPOOL_NOTHING))
        ab_stream_seek(s);
}
void ab_stream_close(struct ab_stream *s);

/* Opens a live stream. Reads nothing yet, so the slot need not exist; is_done is true until
 * ab_stream_seek finds an event. */
void ab_stream_open_live(struct ab_stream *s, const char *folder,
                         const struct ab_spool_entry *image, uint32_t slot);
/* Ends live reading, so that the stream can be read to its end from its current position on. */
void ab_stream_settle(struct ab_stream *s);

#endif
