/* SPDX-License-Identifier: MIT
 *
 * Collects records, encodes and compresses a chunk when it is full, and writes header, chunks and
 * end mark.
 */
#include "trace/writer.h"

#include "base/bytes.h"
#include "trace/live_state.h"
#include "trace/chunk.h"
#include "trace/checksum.h"
#include "trace/format.h"
#include "trace/compress.h"
#include "trace/summary.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct ab_trace_writer {
    FILE *to;
    struct ab_account account;
    struct ab_block_codec codec;
    struct ab_packer *packer;
    struct ab_trace_record *records;
    size_t n, cap;
    uint8_t *raw, *stored;
    uint32_t sequence;
    uint64_t n_events; /* in blocks that are written */
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

static enum ab_status put_header(struct ab_trace_writer *w, const char *program,
                                 struct ab_err *err)
{
    uint8_t head[AB_TRACE_HEADER_MAX] = {0};
    size_t n = strlen(program);
    n = n < AB_TRACE_PROGRAM_MAX ? n : AB_TRACE_PROGRAM_MAX;
    size_t total = AB_TRACE_HEADER_FIXED + n + 8;
    memcpy(head, AB_TRACE_MAGIC, AB_TRACE_MAGIC_BYTES);
    ab_put_u32(head + 8, AB_TRACE_VERSION);
    ab_put_u32(head + 12, (uint32_t)total);
    ab_put_u64(head + 16, w->codec.has_time ? AB_TRACE_HAS_TIME : 0);
    ab_put_u32(head + 24, (uint32_t)n);
    memcpy(head + AB_TRACE_HEADER_FIXED, program, n);
    ab_put_u64(head + total - 8, XXH64(head, total - 8, 0));
    memcpy(w->account.info.program, program, n);
    return put(w, head, total, err);
}

enum ab_status ab_trace_writer_open_with(FILE *to, const struct ab_trace_writer_options *options,
                                         struct ab_trace_writer **out, struct ab_err *err)
{
    struct ab_trace_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    w->to = to;
    w->cap = options->block_events != 0 && options->block_events < AB_TRACE_BLOCK_EVENTS_MAX
                 ? options->block_events
                 : AB_TRACE_BLOCK_EVENTS_MAX;
    ab_account_init(&w->account);
    w->records = malloc(w->cap * sizeof w->records[0]);
    w->raw = malloc(AB_TRACE_RAW_MAX);
    w->stored = malloc(AB_TRACE_STORED_MAX);
    w->packer = ab_packer_new();
    bool is_ready = ab_block_codec_fit(&w->codec, w->cap) && w->records != NULL && w->raw != NULL &&
                    w->stored != NULL && w->packer != NULL;
    w->codec.has_time = w->account.info.has_time = options->has_time;
    enum ab_status status = is_ready ? put_header(w, options->program, err)
                                     : ab_fail(err, AB_SYSTEM, "out of memory");
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

/* Writes a block of w->stored. */
static enum ab_status put_block(struct ab_trace_writer *w, uint32_t kind, size_t raw_bytes,
                                size_t stored_bytes, struct ab_err *err)
{
    uint8_t head[AB_TRACE_BLOCK_HEADER];
    ab_put_u32(head, AB_TRACE_BLOCK_MAGIC);
    ab_put_u32(head + 4, kind);
    ab_put_u32(head + 8, w->sequence++);
    ab_put_u32(head + 12, kind == AB_TRACE_BLOCK_EVENTS ? (uint32_t)w->n : 0);
    ab_put_u32(head + 16, (uint32_t)raw_bytes);
    ab_put_u32(head + 20, (uint32_t)stored_bytes);
    ab_put_u64(head + 24, w->n_events);
    ab_put_u64(head + AB_TRACE_BLOCK_CHECKED,
               ab_trace_block_checksum(head, w->stored, stored_bytes));
    enum ab_status status = put(w, head, sizeof head, err);
    return status == AB_OK ? put(w, w->stored, stored_bytes, err) : status;
}

static enum ab_status flush_events(struct ab_trace_writer *w, struct ab_err *err)
{
    size_t ends[AB_BLOCK_COLUMNS], stored;
    if (w->n == 0)
        return AB_OK;
    ab_block_encode(&w->codec, w->records, w->n, w->raw, ends);
    enum ab_status status = ab_packer_take(w->packer, w->raw, ends, AB_BLOCK_COLUMNS, w->stored,
                                           &stored, err);
    if (status == AB_OK)
        status = put_block(w, AB_TRACE_BLOCK_EVENTS, ends[AB_BLOCK_COLUMNS - 1], stored, err);
    w->n_events += w->n;
    w->n = 0;
    return status;
}

enum ab_status ab_trace_writer_inherit(struct ab_trace_writer *w, uint64_t n, struct ab_err *err)
{
    w->account.info.inherited = n;
    ab_put_u64(w->stored, n);
    return put_block(w, AB_TRACE_BLOCK_INHERITED, AB_TRACE_INHERITED_BYTES,
                     AB_TRACE_INHERITED_BYTES, err);
}

/* `wrong`: what the account says of the record; new_number is its block's where it gives one. */
static enum ab_status put_record(struct ab_trace_writer *w, const struct ab_trace_record *record,
                                 const char *wrong, uint64_t new_number, uint64_t *number,
                                 struct ab_err *err)
{
    if (wrong != NULL)
        return ab_fail(err, ab_status_of_wrong(wrong), "event %llu: %s",
                       (unsigned long long)(w->n_events + w->n), wrong);
    if (!ab_block_codec_know(&w->codec, record->thread))
        return ab_fail(err, AB_SYSTEM, "out of memory for the threads");
    w->records[w->n] = *record;
    if (ab_record_gives_block(record))
        *number = w->records[w->n].block = new_number;
    w->n++;
    return w->n < w->cap ? AB_OK : flush_events(w, err);
}

enum ab_status ab_trace_write(struct ab_trace_writer *w, const struct ab_trace_record *record,
                              uint64_t *number, struct ab_err *err)
{
    struct ab_event event;
    uint64_t new_number = 0;
    const char *wrong = ab_account_take(&w->account, record, &event, &new_number);
    return put_record(w, record, wrong, new_number, number, err);
}

enum ab_status ab_trace_write_known(struct ab_trace_writer *w, const struct ab_trace_record *record,
                                    uint64_t old_size, uint64_t *number, struct ab_err *err)
{
    uint64_t new_number = 0;
    const char *wrong = ab_account_take_known(&w->account, record, old_size, &new_number);
    return put_record(w, record, wrong, new_number, number, err);
}

enum ab_status ab_trace_writer_close(struct ab_trace_writer *w, struct ab_trace_info *info,
                                     struct ab_err *err)
{
    enum ab_status status = flush_events(w, err);
    if (status == AB_OK) {
        ab_trace_summary_encode(&w->account.info, w->stored);
        status = put_block(w, AB_TRACE_BLOCK_END, AB_TRACE_SUMMARY_BYTES, AB_TRACE_SUMMARY_BYTES,
                           err);
    }
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
    ab_block_codec_fini(&w->codec);
    ab_packer_free(w->packer);
    free(w->records);
    free(w->raw);
    free(w->stored);
    free(w);
}
