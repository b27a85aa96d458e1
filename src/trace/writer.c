/* SPDX-License-Identifier: MIT
 *
 * Writes a trace file: collects events, passes full chunks to the encoder, and writes header,
 * chunks and end mark.
 */
#include "trace/writer.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "core/alloc.h"
#include "trace/compress.h"
#include "trace/encoder.h"
#include "trace/format.h"
#include "trace/live_state.h"
#include "trace/written_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct ab_trace_writer {
    FILE *to;
    struct ab_account account;
    struct ab_encoder *encoder;
    struct ab_chunk_batch *batch; /* batch being filled; owned by the encoder */
    size_t cap;                   /* events in a chunk */
    uint32_t sequence;
    const struct ab_site_table *sites; /* NULL = events have no sites */
    struct ab_sites_done sites_done;
    struct { /* columns of sites: one is filled, the other waits until its events are encoded */
        uint32_t *sites;
        size_t n;
    } columns[2];
    unsigned filling;
    const struct ab_mark_table *marks, *requests; /* NULL = none */
    struct ab_marks_done marks_done, requests_done;
    const struct ab_trace_whole *whole;
    struct ab_written_table written; /* written pages of blocks */
    size_t written_done;             /* number of entries of `written` that are already stored */
    uint8_t *raw, *stored;           /* buffers for optional chunks; NULL = not needed yet */
    uint64_t n_events;               /* number of events in chunks already stored */
    uint64_t file_bytes;
};

static enum ab_status put(struct ab_trace_writer *w, const void *bytes, size_t n,
                          struct ab_err *err)
{
    if (fwrite(bytes, 1, n, w->to) != n)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write the trace");
    w->file_bytes += n;
    return AB_OK;
}

static enum ab_status put_header(struct ab_trace_writer *w, const char *program, struct ab_err *err)
{
    uint8_t head[AB_TRACE_HEADER_MAX] = {0};
    size_t n = strlen(program);
    n = n < AB_TRACE_PROGRAM_MAX ? n : AB_TRACE_PROGRAM_MAX;
    size_t total = AB_TRACE_HEADER_FIXED + n + 8;
    memcpy(head, AB_TRACE_MAGIC, AB_TRACE_MAGIC_BYTES);
    ab_put_u32(head + 8, AB_TRACE_VERSION);
    ab_put_u32(head + 12, (uint32_t)total);
    ab_put_u64(head + 16, w->account.info.has_time ? AB_TRACE_HAS_TIME : 0);
    ab_put_u32(head + 24, (uint32_t)n);
    memcpy(head + AB_TRACE_HEADER_FIXED, program, n);
    ab_put_u64(head + total - 8, XXH64(head, total - 8, 0));
    memcpy(w->account.info.program, program, n);
    return put(w, head, total, err);
}

enum ab_status ab_trace_writer_open_with(FILE *to, const struct ab_trace_writer_options *options,
                                         struct ab_trace_writer **out, struct ab_err *err)
{
    struct ab_trace_writer *w = ab_alloc_zeroed(1, sizeof *w);
    w->to = to;
    w->cap = options->chunk_events != 0 && options->chunk_events < AB_TRACE_CHUNK_EVENTS_MAX
                 ? options->chunk_events
                 : AB_TRACE_CHUNK_EVENTS_MAX;
    ab_account_init(&w->account);
    w->account.info.has_time = options->has_time;
    w->sites = options->sites;
    w->marks = options->marks;
    w->requests = options->requests;
    w->whole = options->whole;
    for (unsigned i = 0; i < 2 && w->sites != NULL; i++)
        w->columns[i].sites = ab_alloc(w->cap * sizeof w->columns[i].sites[0]);
    if (w->sites != NULL || w->marks != NULL || w->requests != NULL) {
        w->raw = ab_alloc(AB_TRACE_RAW_MAX);
        w->stored = ab_alloc(AB_TRACE_STORED_MAX);
    }
    w->encoder = ab_encoder_new(w->cap, options->has_time, options->has_thread);
    w->batch = ab_encoder_batch(w->encoder);
    enum ab_status status = put_header(w, options->program, err);
    if (status == AB_OK)
        *out = w;
    else
        ab_trace_writer_abandon(w);
    return status;
}

enum ab_status ab_trace_writer_open(FILE *to, const char *program, struct ab_trace_writer **out,
                                    struct ab_err *err)
{
    struct ab_trace_writer_options options = {.program = program};
    return ab_trace_writer_open_with(to, &options, out, err);
}

static enum ab_status put_chunk(struct ab_trace_writer *w, uint32_t kind,
                                const struct ab_stored_chunk *chunk, struct ab_err *err)
{
    uint8_t head[AB_TRACE_CHUNK_HEADER];
    ab_put_u32(head, AB_TRACE_CHUNK_MAGIC);
    ab_put_u32(head + 4, kind);
    ab_put_u32(head + 8, w->sequence++);
    ab_put_u32(head + 12, (uint32_t)chunk->n_events);
    ab_put_u32(head + 16, (uint32_t)chunk->n_raw);
    ab_put_u32(head + 20, (uint32_t)chunk->n_bytes);
    ab_put_u64(head + 24, w->n_events);
    ab_put_u64(head + AB_TRACE_CHUNK_CHECKED,
               ab_trace_chunk_checksum(head, chunk->bytes, chunk->n_bytes));
    w->n_events += chunk->n_events;
    AB_TRY(put(w, head, sizeof head, err));
    return put(w, chunk->bytes, chunk->n_bytes, err);
}

/* Stores the contents of `raw` as an optional chunk. */
static enum ab_status put_optional(struct ab_trace_writer *w, uint32_t kind, size_t n_raw,
                                   struct ab_err *err)
{
    size_t n_stored = 0;
    AB_TRY(ab_optional_pack(w->raw, n_raw, w->stored, &n_stored, err));
    return put_chunk(w, kind, &(struct ab_stored_chunk){w->stored, n_stored, n_raw, 0}, err);
}

/* Stores new definitions and the waiting column of sites, ahead of the events of the column. */
static enum ab_status put_sites(struct ab_trace_writer *w, struct ab_err *err)
{
    unsigned waiting = w->filling ^ 1;
    if (w->sites == NULL || w->sites->n_stacks == 0)
        return AB_OK;
    w->account.info.has_sites = true;
    for (size_t n; (n = ab_site_encode_definitions(w->sites, &w->sites_done, w->raw)) > 0;)
        AB_TRY(put_optional(w, AB_TRACE_CHUNK_SITES, n, err));
    size_t n = ab_site_encode_column(w->columns[waiting].sites, w->columns[waiting].n, w->raw);
    return put_optional(w, AB_TRACE_CHUNK_SITE_COLUMN, n, err);
}

/* Stores all marks and requests known so far. None of them belongs to a call in a chunk already
 * stored. */
static enum ab_status put_marks(struct ab_trace_writer *w, struct ab_err *err)
{
    for (size_t n;
         w->marks != NULL && (n = ab_mark_encode(w->marks, &w->marks_done, w->raw)) > 0;) {
        w->account.info.has_marks = true;
        AB_TRY(put_optional(w, AB_TRACE_CHUNK_MARKS, n, err));
    }
    for (size_t n;
         w->requests != NULL && (n = ab_mark_encode(w->requests, &w->requests_done, w->raw)) > 0;) {
        w->account.info.has_requests = true;
        AB_TRY(put_optional(w, AB_TRACE_CHUNK_REQUESTS, n, err));
    }
    return AB_OK;
}

/* Stores all written pages known so far. Most of them belong to calls in chunks already stored. */
static enum ab_status put_written(struct ab_trace_writer *w, struct ab_err *err)
{
    if (w->written_done == w->written.n)
        return AB_OK;
    if (w->raw == NULL) {
        w->raw = ab_alloc(AB_TRACE_RAW_MAX);
        w->stored = ab_alloc(AB_TRACE_STORED_MAX);
    }
    w->account.info.has_written = true;
    for (size_t n; (n = ab_written_encode(&w->written, &w->written_done, w->raw)) > 0;)
        AB_TRY(put_optional(w, AB_TRACE_CHUNK_WRITTEN, n, err));
    return AB_OK;
}

void ab_trace_writer_written(struct ab_trace_writer *w, uint64_t call, uint32_t known_pages,
                             uint32_t written_pages)
{
    ab_written_add(&w->written, (struct ab_trace_written){call, known_pages, written_pages});
    w->account.info.written_known_bytes += known_pages * (uint64_t)AB_WRITTEN_PAGE;
    w->account.info.written_bytes += written_pages * (uint64_t)AB_WRITTEN_PAGE;
}

/* Stores the chunk that the encoder was given last. */
static enum ab_status put_encoded(struct ab_trace_writer *w, struct ab_err *err)
{
    struct ab_stored_chunk chunk;
    AB_TRY(ab_encoder_end(w->encoder, &chunk, err));
    if (chunk.n_events == 0)
        return AB_OK;
    AB_TRY(put_sites(w, err));
    AB_TRY(put_marks(w, err));
    AB_TRY(put_written(w, err));
    return put_chunk(w, AB_TRACE_CHUNK_EVENTS, &chunk, err);
}

static enum ab_status flush_events(struct ab_trace_writer *w, struct ab_err *err)
{
    enum ab_status status = put_encoded(w, err);
    if (status == AB_OK && w->batch->n > 0) {
        ab_encoder_begin(w->encoder);
        w->filling ^= 1; /* the column just filled belongs to the events being encoded */
        w->columns[w->filling].n = 0;
        w->batch = ab_encoder_batch(w->encoder);
    }
    return status;
}

enum ab_status ab_trace_writer_inherit(struct ab_trace_writer *w, uint64_t n, struct ab_err *err)
{
    uint8_t bytes[AB_TRACE_INHERITED_BYTES];
    w->account.info.inherited = n;
    ab_put_u64(bytes, n);
    return put_chunk(w, AB_TRACE_CHUNK_INHERITED,
                     &(struct ab_stored_chunk){bytes, sizeof bytes, sizeof bytes, 0}, err);
}

static enum ab_status refuse(const struct ab_trace_writer *w, const char *wrong, struct ab_err *err)
{
    const struct ab_trace_info *info = &w->account.info;
    return ab_fail(err, AB_INPUT, "event %llu: %s",
                   (unsigned long long)(info->events + info->thread_ends), wrong);
}

/* Adds the site of a call to the column being filled. */
static inline void add_site(struct ab_trace_writer *w, uint32_t site)
{
    w->columns[w->filling].sites[w->columns[w->filling].n++] = site;
}

static inline enum ab_status put_event(struct ab_trace_writer *w, struct ab_chunk_event event,
                                       struct ab_err *err)
{
    struct ab_chunk_batch *batch = w->batch;
    batch->events[batch->n] = event;
    return AB_LIKELY(++batch->n < w->cap) ? AB_OK : flush_events(w, err);
}

/* Stores an event that the account has taken, or returns an error with `wrong` if the account has
 * refused it. */
static inline enum ab_status put_taken(struct ab_trace_writer *w, const struct ab_event *event,
                                       const char *wrong, uint64_t *number, struct ab_err *err)
{
    if (AB_UNLIKELY(wrong != NULL))
        return refuse(w, wrong, err);
    if (ab_event_gives_block(event))
        *number = event->block;
    if (AB_UNLIKELY(w->batch->times != NULL))
        w->batch->times[w->batch->n] = event->time_us;
    if (w->sites != NULL && ab_event_has_site(event))
        add_site(w, event->site);
    return put_event(w, ab_chunk_event_of(event), err);
}

enum ab_status ab_trace_write(struct ab_trace_writer *w, const struct ab_event *event,
                              uint64_t *number, struct ab_err *err)
{
    struct ab_event taken = *event;
    const char *wrong = ab_account_take(&w->account, &taken);
    if (taken.known_pages > 0 && wrong == NULL)
        ab_trace_writer_written(w, w->account.info.events - 1, taken.known_pages,
                                taken.written_pages);
    return put_taken(w, &taken, wrong, number, err);
}

enum ab_status ab_trace_write_known(struct ab_trace_writer *w, const struct ab_event *event,
                                    uint64_t old_size, uint64_t *number, struct ab_err *err)
{
    struct ab_event taken = *event;
    const char *wrong = ab_account_take_known(&w->account, &taken, old_size);
    return put_taken(w, &taken, wrong, number, err);
}

enum ab_status ab_trace_write_free(struct ab_trace_writer *w, uint32_t thread, uint64_t block,
                                   uint64_t old_size, struct ab_err *err)
{
    ab_account_drop_known(&w->account, old_size);
    ab_account_count(&w->account, AB_EVENT_FREE, thread);
    struct ab_chunk_event event = {.block = block, .thread = thread, .code = AB_EVENT_FREE};
    return put_event(w, event, err);
}

enum ab_status ab_trace_write_alloc(struct ab_trace_writer *w, struct ab_trace_alloc alloc,
                                    uint64_t size, uint64_t *number, struct ab_err *err)
{
    struct ab_chunk_event event = {
        .size = size, .thread = alloc.thread, .code = alloc.kind, .log2 = alloc.log2};
    const char *wrong = ab_account_give_known(&w->account, size, &event.block);
    if (AB_UNLIKELY(wrong != NULL))
        return refuse(w, wrong, err);
    *number = event.block;
    ab_account_count(&w->account, alloc.kind, alloc.thread);
    if (w->sites != NULL)
        add_site(w, alloc.site);
    return put_event(w, event, err);
}

/* Stores the last events: those of the chunk in progress, and those of a last chunk that is not
 * full. */
static enum ab_status put_rest(struct ab_trace_writer *w, struct ab_err *err)
{
    AB_TRY(flush_events(w, err));
    return put_encoded(w, err);
}

uint64_t ab_trace_writer_calls(const struct ab_trace_writer *w)
{
    return w->account.info.events;
}

void ab_trace_writer_bypass(struct ab_trace_writer *w, const struct ab_trace_bypass *bypass)
{
    w->account.info.bypass = *bypass;
}

static enum ab_status put_bypass(struct ab_trace_writer *w, struct ab_err *err)
{
    uint8_t bytes[AB_TRACE_BYPASS_MAX];
    if (!w->account.info.bypass.is_there)
        return AB_OK;
    size_t n = ab_bypass_encode(&w->account.info.bypass, bytes);
    return put_chunk(w, AB_TRACE_CHUNK_BYPASS, &(struct ab_stored_chunk){bytes, n, n, 0}, err);
}

static void encode_whole(const struct ab_trace_whole *w, uint8_t out[AB_TRACE_WHOLE_BYTES])
{
    const uint64_t fields[] = {w->cpu_ns, w->recorder_ns, w->calls, w->anonymous_bytes,
                               w->unasked_bytes};
    _Static_assert(sizeof fields == AB_TRACE_WHOLE_BYTES, "one u64 a field");
    for (unsigned n = 0; n < AB_ARRAY_LEN(fields); n++)
        ab_put_u64(out + 8 * n, fields[n]);
}

static enum ab_status put_whole(struct ab_trace_writer *w, struct ab_err *err)
{
    uint8_t bytes[AB_TRACE_WHOLE_BYTES];
    if (w->whole == NULL || !w->whole->is_there)
        return AB_OK;
    w->account.info.whole = *w->whole;
    encode_whole(&w->account.info.whole, bytes);
    return put_chunk(w, AB_TRACE_CHUNK_WHOLE,
                     &(struct ab_stored_chunk){bytes, sizeof bytes, sizeof bytes, 0}, err);
}

static enum ab_status put_end(struct ab_trace_writer *w, struct ab_err *err)
{
    uint8_t bytes[AB_TRACE_SUMMARY_BYTES];
    ab_trace_summary_encode(&w->account.info, bytes);
    return put_chunk(w, AB_TRACE_CHUNK_END,
                     &(struct ab_stored_chunk){bytes, sizeof bytes, sizeof bytes, 0}, err);
}

enum ab_status ab_trace_writer_close(struct ab_trace_writer *w, struct ab_trace_info *info,
                                     struct ab_err *err)
{
    enum ab_status status = put_rest(w, err);
    if (status == AB_OK)
        status = put_marks(w, err);
    if (status == AB_OK)
        status = put_written(w, err);
    ab_account_end_known(&w->account);
    if (status == AB_OK)
        status = put_bypass(w, err);
    if (status == AB_OK)
        status = put_whole(w, err);
    if (status == AB_OK)
        status = put_end(w, err);
    w->account.info.file_bytes = w->file_bytes;
    if (status == AB_OK && info != NULL)
        *info = w->account.info;
    ab_trace_writer_abandon(w);
    return status;
}

void ab_trace_writer_abandon(struct ab_trace_writer *w)
{
    if (w == NULL)
        return;
    ab_account_fini(&w->account);
    ab_encoder_free(w->encoder);
    free(w->columns[0].sites);
    free(w->columns[1].sites);
    ab_written_table_fini(&w->written);
    free(w->raw);
    free(w->stored);
    free(w);
}
