/* SPDX-License-Identifier: MIT
 *
 * Encodes and compresses a batch on a separate thread while the next batch is filled. Without the
 * thread, encodes when the batch is passed on.
 */
#include "trace/encoder.h"

#include "core/alloc.h"
#include "trace/compress.h"
#include "trace/format.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum state { IDLE, ASKED, LEAVING };

struct ab_encoder {
    struct ab_chunk_codec codec;
    ZSTD_CCtx *packer;
    struct ab_chunk_batch batches[2]; /* one is filled while the other is encoded */
    unsigned filling;
    uint8_t *raw, *stored;
    struct ab_stored_chunk chunk; /* last encoded chunk */
    enum ab_status status;
    struct ab_err err;
    bool has_thread;
    pthread_t thread;
    /* protects `state`; while the state is ASKED, the thread owns everything else */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
};

static enum ab_status encode(struct ab_encoder *e, const struct ab_chunk_batch *batch)
{
    size_t ends[AB_CHUNK_COLUMNS], n_stored = 0;
    ab_chunk_encode(&e->codec, batch->events, batch->times, batch->n, e->raw, ends);
    enum ab_status status = ab_packer_take(e->packer, e->raw, ends, AB_CHUNK_COLUMNS, e->stored,
                                           &n_stored, &e->err);
    e->chunk = (struct ab_stored_chunk){e->stored, n_stored, ends[AB_CHUNK_COLUMNS - 1], batch->n};
    return status;
}

/* ---- the thread ---- */

static void change(struct ab_encoder *e, enum state state)
{
    pthread_mutex_lock(&e->lock);
    e->state = state;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* Waits until e->state differs from `state`. Returns the new state. */
static enum state wait_while(struct ab_encoder *e, enum state state)
{
    pthread_mutex_lock(&e->lock);
    while (e->state == state)
        pthread_cond_wait(&e->changed, &e->lock);
    enum state is = e->state;
    pthread_mutex_unlock(&e->lock);
    return is;
}

static void *serve(void *user)
{
    struct ab_encoder *e = user;
    while (wait_while(e, IDLE) == ASKED) {
        e->status = encode(e, &e->batches[e->filling ^ 1]);
        change(e, IDLE);
    }
    return NULL;
}

/* Starts the thread with all signals blocked, because signals are for the caller's thread. */
static void start_thread(struct ab_encoder *e)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e->has_thread = pthread_create(&e->thread, NULL, serve, e) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void end_thread(struct ab_encoder *e)
{
    if (!e->has_thread)
        return;
    wait_while(e, ASKED);
    change(e, LEAVING);
    pthread_join(e->thread, NULL);
}

/* ---- interface ---- */

static void make_batch(struct ab_chunk_batch *batch, size_t n, bool has_time)
{
    batch->events = ab_alloc(n * sizeof batch->events[0]);
    batch->times = has_time ? ab_alloc(n * sizeof batch->times[0]) : NULL;
}

struct ab_encoder *ab_encoder_new(size_t chunk_events, bool has_time, bool has_thread)
{
    struct ab_encoder *e = ab_alloc_zeroed(1, sizeof *e);
    e->codec.has_time = has_time;
    e->raw = ab_alloc(AB_TRACE_RAW_MAX);
    e->stored = ab_alloc(AB_TRACE_STORED_MAX);
    e->packer = ab_packer_new();
    ab_chunk_codec_fit(&e->codec, chunk_events);
    make_batch(&e->batches[0], chunk_events, has_time);
    if (has_thread) {
        make_batch(&e->batches[1], chunk_events, has_time);
        start_thread(e);
    }
    return e;
}

void ab_encoder_free(struct ab_encoder *e)
{
    if (e == NULL)
        return;
    end_thread(e);
    ab_chunk_codec_fini(&e->codec);
    ZSTD_freeCCtx(e->packer);
    for (unsigned i = 0; i < 2; i++) {
        free(e->batches[i].events);
        free(e->batches[i].times);
    }
    free(e->raw);
    free(e->stored);
    free(e);
}

struct ab_chunk_batch *ab_encoder_batch(struct ab_encoder *e)
{
    return &e->batches[e->filling];
}

void ab_encoder_begin(struct ab_encoder *e)
{
    if (e->has_thread) {
        e->filling ^= 1;
        change(e, ASKED);
    } else {
        e->status = encode(e, &e->batches[e->filling]);
    }
    e->batches[e->filling].n = 0;
}

enum ab_status ab_encoder_end(struct ab_encoder *e, struct ab_stored_chunk *out, struct ab_err *err)
{
    if (e->has_thread)
        wait_while(e, ASKED);
    enum ab_status status = e->status;
    if (status != AB_OK && err != NULL)
        *err = e->err;
    *out = e->chunk;
    e->chunk.n_events = 0;
    return status;
}
