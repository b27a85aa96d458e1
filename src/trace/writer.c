/* SPDX-License-Identifier: MIT */
#include "trace/writer.h"

#include "core/bytes.h"
#include "trace/account.h"
#include "trace/block.h"
#include "trace/checksum.h"
#include "trace/format.h"
#include "trace/summary.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 3 };

struct ab_trace_writer {
    FILE *to;
    struct ab_account account;
    struct ab_trace_record *records;
    size_t n;
    uint8_t *raw, *stored;
    size_t stored_cap;
    uint32_t sequence;
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
    ab_put_u32(head + 24, (uint32_t)n);
    memcpy(head + AB_TRACE_HEADER_FIXED, program, n);
    ab_put_u64(head + total - 8, XXH64(head, total - 8, 0));
    memcpy(w->account.info.program, program, n);
    return put(w, head, total, err);
}

enum ab_status ab_trace_writer_open(FILE *to, const char *program, struct ab_trace_writer **out,
                                    struct ab_err *err)
{
    struct ab_trace_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    w->to = to;
    w->stored_cap = ZSTD_compressBound(AB_TRACE_RAW_MAX);
    w->records = malloc(AB_TRACE_BLOCK_EVENTS_MAX * sizeof w->records[0]);
    w->raw = malloc(AB_TRACE_RAW_MAX);
    w->stored = malloc(w->stored_cap);
    enum ab_status status = w->records == NULL || w->raw == NULL || w->stored == NULL
                                ? ab_fail(err, AB_SYSTEM, "out of memory")
                                : put_header(w, program, err);
    if (status == AB_OK)
        *out = w;
    else
        ab_trace_writer_abandon(w);
    return status;
}

static enum ab_status put_block(struct ab_trace_writer *w, uint32_t kind, size_t raw_bytes,
                                size_t stored_bytes, struct ab_err *err)
{
    uint8_t head[AB_TRACE_BLOCK_HEADER];
    ab_put_u32(head, AB_TRACE_BLOCK_MAGIC);
    ab_put_u32(head + 4, kind);
    ab_put_u32(head + 8, w->sequence++);
    ab_put_u32(head + 12, (uint32_t)w->n);
    ab_put_u32(head + 16, (uint32_t)raw_bytes);
    ab_put_u32(head + 20, (uint32_t)stored_bytes);
    ab_put_u64(head + 24, w->account.info.events - w->n);
    ab_put_u64(head + AB_TRACE_BLOCK_CHECKED,
               ab_trace_block_checksum(head, w->stored, stored_bytes));
    enum ab_status status = put(w, head, sizeof head, err);
    return status == AB_OK ? put(w, w->stored, stored_bytes, err) : status;
}

static enum ab_status flush_events(struct ab_trace_writer *w, struct ab_err *err)
{
    if (w->n == 0)
        return AB_OK;
    size_t raw = ab_block_encode(w->records, w->n, w->raw);
    size_t stored = ZSTD_compress(w->stored, w->stored_cap, w->raw, raw, ZSTD_LEVEL);
    if (ZSTD_isError(stored))
        return ab_fail(err, AB_SYSTEM, "cannot compress: %s", ZSTD_getErrorName(stored));
    enum ab_status status = put_block(w, AB_TRACE_BLOCK_EVENTS, raw, stored, err);
    w->n = 0;
    return status;
}

enum ab_status ab_trace_write(struct ab_trace_writer *w, const struct ab_trace_record *record,
                              uint64_t *number, struct ab_err *err)
{
    struct ab_event event;
    const char *wrong = ab_account_take(&w->account, record, &event, number);
    if (wrong != NULL)
        return ab_fail(err, AB_INPUT, "event %llu: %s",
                       (unsigned long long)w->account.info.events, wrong);
    w->records[w->n++] = *record;
    return w->n < AB_TRACE_BLOCK_EVENTS_MAX ? AB_OK : flush_events(w, err);
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
    free(w->records);
    free(w->raw);
    free(w->stored);
    free(w);
}
