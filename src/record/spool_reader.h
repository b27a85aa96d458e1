/* SPDX-License-Identifier: MIT
 *
 * Reads a spool: the images of a folder, and of one image the streams of its thread slots, each in
 * its own order. Files are opened for each read, because there may be more of them than
 * descriptors. The spool may be damaged: what is read is bounded by what the files hold.
 *
 * A stream may also be read while its thread writes it ("live"): then is_done says that no more is
 * there yet, and the stream can go on later (ab_stream_seek); once the thread has ended or records
 * no more, ab_stream_settle makes it one that is read to its end.
 */
#ifndef AB_RECORD_SPOOL_READER_H
#define AB_RECORD_SPOOL_READER_H

#include "base/bits.h"
#include "core/status.h"
#include "record/preload/spool.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_spool_entry { /* an image in the folder */
    struct ab_spool_image image;
    uint32_t generation; /* K: how many programs the process had been before */
    uint64_t n_events;
    uint64_t n_calls; /* of them */
};

/* All images of a folder, a process's in the order of its programs. Free *out. */
enum ab_status ab_spool_list(const char *folder, struct ab_spool_entry **out, size_t *n,
                             struct ab_err *err);

/* One of them. False where it is not there, or not whole. */
bool ab_spool_find(const char *folder, uint32_t pid, uint32_t generation,
                   struct ab_spool_entry *out);
/* Reads the image again, while its process runs; without events and calls. */
bool ab_spool_look_again(const char *folder, struct ab_spool_entry *image);

/* The file of a slot. */
void ab_spool_slot_path(char *out, size_t cap, const char *folder,
                        const struct ab_spool_entry *image, uint32_t slot);

/* Reads what all processes of the spool shared; free it. NULL where that is not there or not whole. */
struct ab_spool_control *ab_spool_read_control(const char *folder);
/* Why the recording of all was ended (enum ab_spool_stop); AB_SPOOL_RUNNING: it was not, or nothing
 * says so. */
uint32_t ab_spool_read_end(const char *folder);

struct ab_unseen {  /* processes of one program, with one reason */
    char path[240]; /* as it was called */
    uint32_t why;   /* enum ab_spool_stop; AB_SPOOL_RUNNING = it did not take the recorder in */
    uint32_t user;  /* that it was started as */
    uint64_t n;
};

/* The programs that were started under the recorder and have none of the images: they have left
 * nothing in the spool. Returns how many; free *out. *n_lost: how many more there may be. */
size_t ab_spool_read_unseen(const char *folder, const struct ab_spool_entry *images,
                            size_t n_images, struct ab_unseen **out, uint64_t *n_lost);

struct ab_stream {
    const char *folder;
    const struct ab_spool_entry *image; /* both are the caller's */
    const struct ab_spool_event *at,
        *end; /* the event, unless is_done; what is loaded ends there */
    bool is_done;
    bool is_cut; /* it ended before all of what it says was there */
    bool is_live;
    bool has_gap;    /* live and is_done: an event is about to be there, or came to nothing */
    bool is_partial; /* of the last half only n_taken events were there */
    uint32_t slot;
    uint64_t n_events;               /* of the whole stream */
    uint64_t half_number[2];         /* of the mapped halves, + 1 */
    uint64_t data_bytes, pack_bytes; /* of chunks in the file, of those that were not saved yet */
    uint64_t chunks_read;            /* of the two together, in bytes */
    struct ab_spool_event *half;     /* AB_SPOOL_HALF_EVENTS of half n_loaded - 1 */
    uint64_t n_loaded;
    uint32_t n_taken;
    uint64_t freed_bytes; /* of chunks in the file, that were given back */
    uint8_t *window;      /* what was read of the chunks: window_bytes from window_at on */
    uint64_t window_at, window_bytes;
    uint64_t n_unwritten; /* places that were taken and never filled, */
    uint64_t n_moved;     /* and how many of their events are at another one */
    uint64_t turn_ticks, site_ticks, n_timed_sites;
};

/* At its first event, or is_done. */
void ab_stream_open(struct ab_stream *s, const char *folder, const struct ab_spool_entry *image,
                    uint32_t slot);
/* To the next event that is there from `at` on, or is_done after the last. */
void ab_stream_seek(struct ab_stream *s);
static inline void ab_stream_next(struct ab_stream *s)
{
    if (AB_UNLIKELY(++s->at >= s->end || AB_SPOOL_KIND(s->at) == AB_SPOOL_NOTHING))
        ab_stream_seek(s);
}
void ab_stream_close(struct ab_stream *s);

/* A live stream, of a slot that need not be there yet: is_done. */
void ab_stream_open_live(struct ab_stream *s, const char *folder,
                         const struct ab_spool_entry *image, uint32_t slot);
/* From here on it is read as any other, from where it is. */
void ab_stream_settle(struct ab_stream *s);

#endif
