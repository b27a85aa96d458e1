/* SPDX-License-Identifier: MIT
 *
 * Chunks of events on their way to what a file stores of them: columns, then zstd. That takes half
 * of what writing a trace takes; a thread of its own does it while the caller fills the next chunk.
 * What comes out is the same with the thread and without.
 */
#ifndef AB_TRACE_ENCODER_H
#define AB_TRACE_ENCODER_H

#include "core/status.h"
#include "trace/chunk.h"

struct ab_chunk_batch { /* of events, for one chunk */
    struct ab_chunk_event *events;
    uint64_t *times; /* NULL = they have none */
    size_t n;
};

struct ab_encoder;

/* An encoder of chunks of at most chunk_events events. Where no thread can be had it does without. */
struct ab_encoder *ab_encoder_new(size_t chunk_events, bool has_time, bool has_thread);
/* Waits for the chunk that is under way. */
void ab_encoder_free(struct ab_encoder *e);

/* The batch that is to be filled: another one after each begin. */
struct ab_chunk_batch *ab_encoder_batch(struct ab_encoder *e);
/* Begins to encode the batch. What was begun before has been ended. */
void ab_encoder_begin(struct ab_encoder *e);
/* Waits for what was begun; *out holds until the next begin. */
enum ab_status ab_encoder_end(struct ab_encoder *e, struct ab_stored_chunk *out,
                              struct ab_err *err);

#endif
