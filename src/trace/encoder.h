/* SPDX-License-Identifier: MIT
 *
 * Encodes chunks of events: columns first, then zstd. Encoding is half of the work of writing a
 * trace, so that a separate thread does it while the caller fills the next chunk. The result is the
 * same without the thread.
 */
#ifndef AB_TRACE_ENCODER_H
#define AB_TRACE_ENCODER_H

#include "core/status.h"
#include "trace/chunk.h"

struct ab_chunk_batch { /* events of one chunk */
    struct ab_chunk_event *events;
    uint64_t *times; /* NULL = events have no times */
    size_t n;
};

struct ab_encoder;

/* Creates an encoder for chunks of at most chunk_events events. Works without a thread if none can
 * be started. */
struct ab_encoder *ab_encoder_new(size_t chunk_events, bool has_time, bool has_thread);
/* Waits for the chunk in progress and frees the encoder. */
void ab_encoder_free(struct ab_encoder *e);

/* Returns the batch to fill. Each ab_encoder_begin switches to another batch. */
struct ab_chunk_batch *ab_encoder_batch(struct ab_encoder *e);
/* Begins to encode the batch. The previous chunk must have been ended with ab_encoder_end. */
void ab_encoder_begin(struct ab_encoder *e);
/* Waits for the chunk in progress and returns it in *out (n_events 0 = there was none). *out is
 * valid until the next begin. */
enum ab_status ab_encoder_end(struct ab_encoder *e, struct ab_stored_chunk *out,
                              struct ab_err *err);

#endif
