/* SPDX-License-Identifier: MIT
 *
 * Reads a trace file. Checks all numbers before use: lengths against limits, checksums before
 * decoding, calls against the live blocks.
 */
#include "trace/reader.h"

#include "base/bytes.h"
#include "core/alloc.h"
#include "core/text.h"
#include "trace/chunk.h"
#include "trace/compress.h"
#include "trace/format.h"
#include "trace/live_state.h"
#include "trace/written_table.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

struct ab_site_reader { /* zero-initialize it */
    uint32_t *column;
    size_t n, at;
    bool has_column; /* True until the column's last event has been read */
};

/* ---- columns of sites and their events ---- */

static const char mismatch[] = "a column of call sites that does not match its events";

static void site_reader_fini(struct ab_site_reader *r)
{
    free(r->column);
    *r = (struct ab_site_reader){.column = NULL};
}

static const char *take_column(struct ab_site_reader *r, const struct ab_site_table *table,
                               const uint8_t *raw, size_t bytes)
{
    if (r->has_column)
        return "a second column of call sites for the same events";
    if (r->column == NULL)
        r->column = ab_alloc(AB_TRACE_CHUNK_EVENTS_MAX * sizeof r->column[0]);
    r->at = 0;
    r->has_column = true;
    return ab_site_decode_column(table, raw, bytes, r->column, AB_TRACE_CHUNK_EVENTS_MAX, &r->n);
}

/* Sets the sites of the next n events of a chunk. If no more events of the chunk follow (is_last),
 * checks that the column is used up. Events of a chunk without a column get no sites. */
static const char *site_reader_give(struct ab_site_reader *r, struct ab_event *events, size_t n,
                                    bool is_last)
{
    if (!r->has_column)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!ab_event_has_site(&events[i]))
            continue;
        if (r->at == r->n)
            return mismatch;
        events[i].site = r->column[r->at++];
    }
    r->has_column = !is_last;
    return is_last && r->at != r->n ? mismatch : NULL;
}

struct ab_trace_reader {
    int fd;
    char path[1024]; /* path with unprintable characters replaced */
    struct ab_trace_options options;
    uint64_t offset, chunk_offset;
    uint32_t sequence;
    uint64_t n_events; /* events returned or skipped, including ends of threads */
    struct ab_account account;
    struct ab_chunk_codec codec;
    ZSTD_DCtx *unpacker;
    struct ab_event *records;
    size_t n, at; /* n: number of decoded records; at: number of these already returned */
    uint8_t *stored, *raw;
    size_t cap_records, cap_stored, cap_raw; /* capacities in bytes */
    struct ab_site_reader sites;
    /* written pages of the whole file, sorted by call; read ahead, because the file has them after
     * their calls */
    struct ab_written_table written;
    size_t next_written;   /* index in `written` of the next item to return */
    bool is_written_twice; /* True if `written` had two items of one call */
    SHA2_CTX sha;
    bool is_over;
};

static __attribute__((format(printf, 4, 5))) enum ab_status bad(const struct ab_trace_reader *r,
                                                                uint64_t offset, struct ab_err *err,
                                                                const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return ab_fail(err, AB_INPUT, "%s: byte %llu: %s", r->path, (unsigned long long)offset, text);
}

/* Reads n bytes. Sets *got to the number of bytes read, which is less at the end of the file. */
static enum ab_status take(struct ab_trace_reader *r, void *to, size_t n, size_t *got,
                           struct ab_err *err)
{
    *got = 0;
    while (*got < n) {
        ssize_t k = read(r->fd, (char *)to + *got, n - *got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return ab_fail_errno(err, AB_INPUT, "%s: byte %llu: cannot read", r->path,
                                 (unsigned long long)r->offset);
        if (k == 0)
            break;
        *got += (size_t)k;
        r->offset += (uint64_t)k;
    }
    return AB_OK;
}

static enum ab_status truncated(struct ab_trace_reader *r, struct ab_err *err)
{
    struct ab_trace_info *info = &r->account.info;
    if (!r->options.is_partial)
        return bad(r, r->offset, err,
                   "the file ends here without its end mark; %llu events before it are complete",
                   (unsigned long long)info->events);
    info->is_partial = true;
    info->file_bytes = r->chunk_offset;
    r->is_over = true;
    if (r->options.marks != NULL)
        ab_mark_table_cut(r->options.marks, info->events, info->threads);
    if (r->options.requests != NULL)
        ab_mark_table_cut(r->options.requests, info->events, info->threads);
    return AB_OK;
}

static enum ab_status cut_header(const struct ab_trace_reader *r, struct ab_err *err)
{
    return bad(r, r->offset, err,
               "the file ends here without its end mark; 0 events before it are "
               "complete: the header is truncated");
}

static enum ab_status read_header(struct ab_trace_reader *r, struct ab_err *err)
{
    uint8_t head[AB_TRACE_HEADER_MAX];
    size_t got;
    AB_TRY(take(r, head, AB_TRACE_HEADER_FIXED, &got, err));
    if (got == 0)
        return bad(r, 0, err, "the file is empty");
    if (got < AB_TRACE_MAGIC_BYTES || memcmp(head, AB_TRACE_MAGIC, AB_TRACE_MAGIC_BYTES) != 0)
        return bad(r, 0, err,
                   "not an allocbench trace (wrong magic number); use allocbench run "
                   "for a workload");
    if (got < AB_TRACE_HEADER_FIXED)
        return cut_header(r, err);
    uint32_t version = ab_get_u32(head + 8), total = ab_get_u32(head + 12);
    uint32_t n = ab_get_u32(head + 24);
    if (version == 0)
        return bad(r, 8, err, "trace version 0 (provisional); record it again");
    if (version != AB_TRACE_VERSION)
        return bad(r, 8, err, "trace version %u; this allocbench reads version %d", version,
                   AB_TRACE_VERSION);
    if (n > AB_TRACE_PROGRAM_MAX || total != AB_TRACE_HEADER_FIXED + n + 8)
        return bad(r, 12, err, "a header of %u bytes with a name of %u", total, n);
    uint64_t flags = ab_get_u64(head + 16);
    if ((flags & ~(uint64_t)AB_TRACE_HAS_TIME) != 0 || ab_get_u32(head + 28) != 0)
        return bad(r, 16, err, "flags that version %d does not know", AB_TRACE_VERSION);
    AB_TRY(take(r, head + AB_TRACE_HEADER_FIXED, n + 8, &got, err));
    if (got < n + 8)
        return cut_header(r, err);
    if (ab_get_u64(head + total - 8) != XXH64(head, total - 8, 0))
        return bad(r, 0, err, "the header does not match its checksum");
    if (memchr(head + AB_TRACE_HEADER_FIXED, 0, n) != NULL)
        return bad(r, AB_TRACE_HEADER_FIXED, err, "a NUL in the name of the program");
    memcpy(r->account.info.program, head + AB_TRACE_HEADER_FIXED, n);
    r->codec.has_time = r->account.info.has_time = (flags & AB_TRACE_HAS_TIME) != 0;
    return AB_OK;
}

/* Reads ahead the written pages of large blocks, which come in the file only after the blocks were
 * freed. Errors are reported later, when the chunk is read in its turn. */
static void read_written(struct ab_trace_reader *r)
{
    uint8_t head[AB_TRACE_CHUNK_HEADER];
    struct stat st;
    off_t at = lseek(r->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    while (pread(r->fd, head, sizeof head, at) == (ssize_t)sizeof head &&
           ab_get_u32(head) == AB_TRACE_CHUNK_MAGIC) {
        uint32_t n_raw = ab_get_u32(head + 16), n_stored = ab_get_u32(head + 20);
        if (n_raw > AB_TRACE_RAW_MAX || n_stored > AB_TRACE_STORED_MAX)
            break;
        at += (off_t)sizeof head;
        if (ab_get_u32(head + 4) == AB_TRACE_CHUNK_WRITTEN) {
            r->stored = ab_grow_anew(r->stored, &r->cap_stored, n_stored);
            r->raw = ab_grow_anew(r->raw, &r->cap_raw, (size_t)n_raw + 1);
            if (pread(r->fd, r->stored, n_stored, at) != (ssize_t)n_stored ||
                !ab_optional_unpack(r->stored, n_stored, r->raw, n_raw) ||
                ab_written_decode(&r->written, r->raw, n_raw) != NULL)
                break;
        }
        at += (off_t)n_stored;
    }
    r->is_written_twice = !ab_written_sort(&r->written);
    if (r->is_written_twice)
        ab_written_table_fini(&r->written);
    r->account.info.has_written = r->written.n > 0;
}

static enum ab_status check_file(int fd, const char *shown, struct ab_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ab_fail_errno(err, AB_INPUT, "cannot read '%s'", shown);
    if (S_ISDIR(st.st_mode))
        return ab_fail(err, AB_INPUT, "%s: a directory, not a trace", shown);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return ab_fail(err, AB_INPUT, "%s: neither a file nor a pipe", shown);
    return AB_OK;
}

static void prepare(struct ab_trace_reader *r)
{
    const struct ab_trace_options *o = &r->options;
    ab_account_init(&r->account);
    if (o->live_blocks_max > 0 && o->live_blocks_max < r->account.live_blocks_max)
        r->account.live_blocks_max = o->live_blocks_max;
    if (o->live_bytes_max > 0 && o->live_bytes_max < r->account.live_bytes_max)
        r->account.live_bytes_max = o->live_bytes_max;
    SHA256Init(&r->sha);
    r->unpacker = ab_unpacker_new();
}

enum ab_status ab_trace_open_with(const char *path, const struct ab_trace_options *options,
                                  struct ab_trace_reader **out, struct ab_err *err)
{
    struct ab_trace_reader *r = ab_alloc_zeroed(1, sizeof *r);
    r->options = *options;
    if (options->requests != NULL)
        options->requests->is_of_requests = true;
    ab_text_printable(r->path, sizeof r->path, path);
    r->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    enum ab_status status = r->fd < 0
                                ? ab_fail_errno(err, AB_INPUT, "cannot open trace '%s'", r->path)
                                : check_file(r->fd, r->path, err);
    prepare(r);
    if (status == AB_OK)
        status = read_header(r, err);
    if (status == AB_OK)
        read_written(r);
    if (status == AB_OK)
        *out = r;
    else
        ab_trace_close(r);
    return status;
}

enum ab_status ab_trace_open(const char *path, struct ab_trace_reader **out, struct ab_err *err)
{
    return ab_trace_open_with(path, &(struct ab_trace_options){.is_partial = false}, out, err);
}

void ab_trace_close(struct ab_trace_reader *r)
{
    if (r == NULL)
        return;
    if (r->fd >= 0)
        close(r->fd);
    ab_account_fini(&r->account);
    ab_chunk_codec_fini(&r->codec);
    site_reader_fini(&r->sites);
    ab_written_table_fini(&r->written);
    ZSTD_freeDCtx(r->unpacker);
    free(r->records);
    free(r->stored);
    free(r->raw);
    free(r);
}

struct chunk_head {
    uint32_t kind, n_events, raw_bytes, stored_bytes;
};

static void fit_chunk(struct ab_trace_reader *r, const struct chunk_head *h)
{
    r->stored = ab_grow_anew(r->stored, &r->cap_stored, h->stored_bytes);
    r->raw = ab_grow_anew(r->raw, &r->cap_raw, (size_t)h->raw_bytes + 1);
    r->records = ab_grow_anew(r->records, &r->cap_records, h->n_events * sizeof r->records[0]);
    ab_chunk_codec_fit(&r->codec, h->n_events);
}

static enum ab_status check_inherited(const struct ab_trace_reader *r, struct ab_err *err)
{
    uint64_t left = r->account.info.inherited - r->n_events;
    for (size_t i = 0; i < r->n && i < left; i++)
        if (!ab_event_gives_block(&r->records[i]))
            return bad(r, r->chunk_offset, err,
                       "event %llu: of %llu inherited blocks, but no allocation",
                       (unsigned long long)(r->n_events + i),
                       (unsigned long long)r->account.info.inherited);
    return AB_OK;
}

static enum ab_status check_lengths(const struct ab_trace_reader *r, const struct chunk_head *h,
                                    struct ab_err *err)
{
    uint64_t at = r->chunk_offset;
    bool is_end = h->kind == AB_TRACE_CHUNK_END;
    if (h->kind != AB_TRACE_CHUNK_EVENTS
            ? h->n_events != 0
            : h->n_events == 0 || h->n_events > AB_TRACE_CHUNK_EVENTS_MAX)
        return bad(r, at + 12, err,
                   h->kind != AB_TRACE_CHUNK_EVENTS ? "%u events in a chunk of another kind"
                                                    : "%u events in a chunk; 1 to %d are allowed",
                   h->n_events, AB_TRACE_CHUNK_EVENTS_MAX);
    if (h->raw_bytes > AB_TRACE_RAW_MAX ||
        (is_end && (h->raw_bytes != AB_TRACE_SUMMARY_BYTES || h->stored_bytes != h->raw_bytes)))
        return bad(r, at + 16, err, "a chunk of %u bytes; at most %d are allowed", h->raw_bytes,
                   is_end ? AB_TRACE_SUMMARY_BYTES : AB_TRACE_RAW_MAX);
    if (h->stored_bytes > AB_TRACE_STORED_MAX)
        return bad(r, at + 20, err, "a chunk stored in %u bytes; at most %d are allowed",
                   h->stored_bytes, AB_TRACE_STORED_MAX);
    return AB_OK;
}

static enum ab_status check_head(const struct ab_trace_reader *r, const uint8_t *head,
                                 struct chunk_head *out, struct ab_err *err)
{
    struct chunk_head h = {ab_get_u32(head + 4), ab_get_u32(head + 12), ab_get_u32(head + 16),
                           ab_get_u32(head + 20)};
    uint32_t sequence = ab_get_u32(head + 8);
    uint64_t first = ab_get_u64(head + 24), at = r->chunk_offset;
    if (ab_get_u32(head) != AB_TRACE_CHUNK_MAGIC)
        return bad(r, at, err, "no chunk begins here");
    if (h.kind != AB_TRACE_CHUNK_EVENTS && h.kind != AB_TRACE_CHUNK_END &&
        (h.kind & AB_TRACE_CHUNK_OPTIONAL) == 0)
        return bad(r, at + 4, err, "a chunk of unknown kind %u", h.kind);
    if (sequence != r->sequence)
        return bad(r, at + 8, err, "chunk %u where chunk %u is expected", sequence, r->sequence);
    if (first != r->n_events)
        return bad(r, at + 24, err, "a chunk that begins with event %llu after %llu events",
                   (unsigned long long)first, (unsigned long long)r->n_events);
    AB_TRY(check_lengths(r, &h, err));
    *out = h;
    return AB_OK;
}

static bool is_checksum_right(const struct ab_trace_reader *r, const uint8_t *head,
                              const struct chunk_head *h)
{
/* for fuzzing, which must reach the code that runs after the checksums are verified */
#ifdef AB_TRACE_UNCHECKED
    (void)r, (void)head, (void)h;
    return true;
#else
    return ab_trace_chunk_checksum(head, r->stored, h->stored_bytes) ==
           ab_get_u64(head + AB_TRACE_CHUNK_CHECKED);
#endif
}

static enum ab_status check_marks(const struct ab_trace_reader *r,
                                  const struct ab_mark_table *marks, struct ab_err *err)
{
    const struct ab_trace_info *info = &r->account.info;
    const char *wrong = marks != NULL ? ab_mark_table_check(marks, info->events, info->threads)
                                      : NULL;
    return wrong == NULL ? AB_OK : bad(r, r->chunk_offset, err, "%s", wrong);
}

static enum ab_status end_of_trace(struct ab_trace_reader *r, struct ab_err *err)
{
    uint8_t expected[AB_TRACE_SUMMARY_BYTES], more;
    size_t got;
    ab_trace_summary_encode(&r->account.info, expected);
    if (memcmp(expected, r->stored, sizeof expected) != 0)
        return bad(r, r->chunk_offset, err, "the totals in the end mark do not match the events");
    AB_TRY(check_marks(r, r->options.marks, err));
    AB_TRY(check_marks(r, r->options.requests, err));
    if (r->next_written < r->written.n)
        return bad(r, r->chunk_offset, err, "what was written of a block beyond the last call");
    uint64_t end = r->offset;
    AB_TRY(take(r, &more, 1, &got, err));
    if (got != 0)
        return bad(r, end, err, "data after the end mark");
    r->account.info.file_bytes = end;
    r->is_over = true;
    return AB_OK;
}

/* Decodes the next events of the chunk being read. */
static enum ab_status decode_more(struct ab_trace_reader *r, struct ab_err *err)
{
    r->at = 0;
    r->n = ab_chunk_next(&r->codec);
    const char *wrong = ab_chunk_take(&r->codec, r->records);
    if (wrong == NULL)
        wrong = site_reader_give(&r->sites, r->records, r->n, ab_chunk_next(&r->codec) == 0);
    if (wrong != NULL)
        return bad(r, r->chunk_offset, err, "%s", wrong);
    return r->n_events < r->account.info.inherited ? check_inherited(r, err) : AB_OK;
}

static enum ab_status open_events(struct ab_trace_reader *r, const struct chunk_head *h,
                                  struct ab_err *err)
{
    const char *wrong = ab_unpacker_take(r->unpacker, r->stored, h->stored_bytes, r->raw,
                                         h->raw_bytes);
    if (wrong != NULL)
        return bad(r, r->chunk_offset, err, "a chunk that cannot be decompressed: %s", wrong);
    r->raw[h->raw_bytes] = 0;
    wrong = ab_chunk_open(&r->codec, r->raw, h->raw_bytes, h->n_events);
    return wrong == NULL ? AB_OK : bad(r, r->chunk_offset, err, "%s", wrong);
}

/* Decodes a chunk of definitions or of a column of call sites. Both come before the events that
 * they belong to. */
static const char *take_sites(struct ab_trace_reader *r, const struct chunk_head *h)
{
    r->account.info.has_sites = true;
    if (r->options.sites == NULL)
        return NULL;
    if (!ab_optional_unpack(r->stored, h->stored_bytes, r->raw, h->raw_bytes))
        return "a chunk of call sites that cannot be decompressed";
    return h->kind == AB_TRACE_CHUNK_SITE_COLUMN
               ? take_column(&r->sites, r->options.sites, r->raw, h->raw_bytes)
               : ab_site_decode_definitions(r->options.sites, r->raw, h->raw_bytes);
}

static const char *take_marks(struct ab_trace_reader *r, const struct chunk_head *h)
{
    r->account.info.has_marks = true;
    if (r->options.marks == NULL)
        return NULL;
    return ab_optional_unpack(r->stored, h->stored_bytes, r->raw, h->raw_bytes)
               ? ab_mark_decode(r->options.marks, r->account.info.events, r->raw, h->raw_bytes)
               : "a chunk of marks that cannot be decompressed";
}

/* Checks a chunk of written pages, which read_written has read ahead. In a pipe it could not. */
static const char *take_written(struct ab_trace_reader *r, const struct chunk_head *h)
{
    struct ab_trace_info *info = &r->account.info;
    struct ab_written_table checked = {0};
    const char *wrong = "a chunk of what was written that cannot be decompressed";
    if (ab_optional_unpack(r->stored, h->stored_bytes, r->raw, h->raw_bytes))
        wrong = ab_written_decode(&checked, r->raw, h->raw_bytes);
    if (wrong == NULL && r->is_written_twice)
        wrong = "what was written of the block of one call, twice";
    info->is_written_unread = checked.n > 0 && r->written.n == 0;
    ab_written_table_fini(&checked);
    return wrong;
}

static const char *take_requests(struct ab_trace_reader *r, const struct chunk_head *h)
{
    r->account.info.has_requests = true;
    if (r->options.requests == NULL)
        return NULL;
    return ab_optional_unpack(r->stored, h->stored_bytes, r->raw, h->raw_bytes)
               ? ab_mark_decode(r->options.requests, r->account.info.events, r->raw, h->raw_bytes)
               : "a chunk of requests that cannot be decompressed";
}

/* Decodes the chunk that says how many of the first events allocate blocks inherited at a fork. It
 * is a single u64, and comes once, before all events. */
static const char *take_inherited(struct ab_trace_reader *r, const struct chunk_head *h)
{
    uint64_t *inherited = &r->account.info.inherited;
    if (h->stored_bytes != AB_TRACE_INHERITED_BYTES || h->raw_bytes != h->stored_bytes)
        return "a chunk of inherited blocks of another length than 8 bytes";
    if (r->n_events > 0 || *inherited > 0)
        return "a chunk of inherited blocks after events, or a second one";
    *inherited = ab_get_u64(r->stored);
    return NULL;
}

/* Decodes the totals of the whole program, one u64 each. */
static const char *take_whole(struct ab_trace_reader *r, const struct chunk_head *h)
{
    struct ab_trace_whole *out = &r->account.info.whole;
    if (out->is_there)
        return "a second chunk of the program as a whole";
    if (h->stored_bytes != AB_TRACE_WHOLE_BYTES || h->raw_bytes != h->stored_bytes)
        return "a chunk of the program as a whole of another length than 40 bytes";
    struct ab_trace_whole w = {.is_there = true,
                               .cpu_ns = ab_get_u64(r->stored),
                               .recorder_ns = ab_get_u64(r->stored + 8),
                               .calls = ab_get_u64(r->stored + 16),
                               .anonymous_bytes = ab_get_u64(r->stored + 24),
                               .unasked_bytes = ab_get_u64(r->stored + 32)};
    bool has_anonymous = w.anonymous_bytes != AB_WHOLE_UNKNOWN;
    if (w.unasked_bytes != AB_WHOLE_UNKNOWN &&
        (!has_anonymous || w.unasked_bytes > w.anonymous_bytes))
        return "more memory that was not asked for than there was";
    *out = w;
    return NULL;
}

/* Decodes the chunk as stored in a file. Returns an error if *out already has the contents of
 * another such chunk, so that *out must be zero before the first. */
static const char *bypass_take(const uint8_t *stored, size_t n_stored, size_t n_raw,
                               struct ab_trace_bypass *out)
{
    if (out->is_there)
        return "a second chunk of calls past the recorder";
    if (n_raw != n_stored)
        return "a chunk of calls past the recorder of two lengths";
    return ab_bypass_decode(stored, n_stored, out);
}

static const char *take_optional(struct ab_trace_reader *r, const struct chunk_head *h)
{
    struct ab_trace_info *info = &r->account.info;
    switch (h->kind) {
    case AB_TRACE_CHUNK_INHERITED:
        return take_inherited(r, h);
    case AB_TRACE_CHUNK_SITES:
    case AB_TRACE_CHUNK_SITE_COLUMN:
        return take_sites(r, h);
    case AB_TRACE_CHUNK_BYPASS:
        return bypass_take(r->stored, h->stored_bytes, h->raw_bytes, &info->bypass);
    case AB_TRACE_CHUNK_MARKS:
        return take_marks(r, h);
    case AB_TRACE_CHUNK_WRITTEN:
        return take_written(r, h);
    case AB_TRACE_CHUNK_REQUESTS:
        return take_requests(r, h);
    case AB_TRACE_CHUNK_WHOLE:
        return take_whole(r, h);
    default:
        info->optional_chunks++;
        return NULL;
    }
}

static enum ab_status read_chunk(struct ab_trace_reader *r, struct ab_err *err)
{
    uint8_t head[AB_TRACE_CHUNK_HEADER];
    struct chunk_head h = {0};
    size_t got;
    r->chunk_offset = r->offset;
    AB_TRY(take(r, head, sizeof head, &got, err));
    if (got < sizeof head)
        return truncated(r, err);
    AB_TRY(check_head(r, head, &h, err));
    fit_chunk(r, &h);
    AB_TRY(take(r, r->stored, h.stored_bytes, &got, err));
    if (got < h.stored_bytes)
        return truncated(r, err);
    if (!is_checksum_right(r, head, &h))
        return bad(r, r->chunk_offset, err, "chunk %u does not match its checksum", r->sequence);
    r->sequence++;
    if ((h.kind & AB_TRACE_CHUNK_OPTIONAL) != 0) {
        const char *wrong = take_optional(r, &h);
        return wrong != NULL ? bad(r, r->chunk_offset, err, "%s", wrong) : AB_OK;
    }
    return h.kind == AB_TRACE_CHUNK_END ? end_of_trace(r, err) : open_events(r, &h, err);
}

/* Reads until there are records to return, or the end is reached. */
static enum ab_status have_records(struct ab_trace_reader *r, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    while (status == AB_OK && r->at == r->n && !r->is_over)
        status = ab_chunk_next(&r->codec) > 0 ? decode_more(r, err) : read_chunk(r, err);
    return status;
}

/* Sets the written pages of the blocks that events[0..n) gave. `call` is the number of calls before
 * events[0]. */
static enum ab_status give_written(struct ab_trace_reader *r, struct ab_event *events, size_t n,
                                   uint64_t call, struct ab_err *err)
{
    struct ab_trace_info *info = &r->account.info;
    for (size_t i = 0; i < n && r->next_written < r->written.n; i++) {
        const struct ab_trace_written *w = &r->written.items[r->next_written];
        struct ab_event *e = &events[i];
        if (e->kind == AB_EVENT_THREAD_END || call++ < w->call)
            continue;
        if (e->kind > AB_EVENT_RESIZE || e->failed || e->released ||
            w->known > e->size / AB_WRITTEN_PAGE)
            return bad(r, r->chunk_offset, err,
                       "call %llu: more is said to be written than it gave",
                       (unsigned long long)w->call);
        e->known_pages = w->known;
        e->written_pages = w->pages;
        info->written_known_bytes += w->known * (uint64_t)AB_WRITTEN_PAGE;
        info->written_bytes += w->pages * (uint64_t)AB_WRITTEN_PAGE;
        r->next_written++;
    }
    return AB_OK;
}

/* Takes the next n records into the account and copies them to `events`. *kept is the number of
 * events to return, without ends of threads unless they were requested. */
static enum ab_status take_records(struct ab_trace_reader *r, struct ab_event *events, size_t n,
                                   size_t *kept, struct ab_err *err)
{
    const char *wrong;
    uint64_t thread_ends = r->account.info.thread_ends, calls = r->account.info.events;
    size_t taken = ab_account_take_all(&r->account, &r->records[r->at], n, events, &wrong);
    r->at += taken;
    r->n_events += taken;
    if (wrong != NULL)
        return bad(r, r->chunk_offset, err, "event %llu: %s", (unsigned long long)r->n_events,
                   wrong);
    if (r->next_written < r->written.n)
        AB_TRY(give_written(r, events, n, calls, err));
    for (size_t i = 0; r->options.has_digest && i < n; i++) {
        uint8_t record[AB_DIGEST_RECORD_MAX];
        SHA256Update(&r->sha, record, ab_event_canonical(&events[i], r->codec.has_time, record));
    }
    *kept = r->options.has_thread_ends || r->account.info.thread_ends == thread_ends
                ? n
                : ab_events_without_thread_ends(events, n);
    return AB_OK;
}

enum ab_status ab_trace_next(struct ab_trace_reader *r, struct ab_event *events, size_t cap,
                             size_t *n, struct ab_err *err)
{
    size_t done = 0;
    while (done < cap) {
        size_t kept = 0;
        AB_TRY(have_records(r, err));
        if (r->at == r->n)
            break;
        size_t left = r->n - r->at, room = cap - done;
        AB_TRY(take_records(r, events + done, left < room ? left : room, &kept, err));
        done += kept;
    }
    *n = done;
    return AB_OK;
}

enum ab_status ab_trace_has_more(struct ab_trace_reader *r, bool *has_more, struct ab_err *err)
{
    AB_TRY(have_records(r, err));
    *has_more = r->at < r->n;
    return AB_OK;
}

const struct ab_trace_info *ab_trace_reader_info(const struct ab_trace_reader *r)
{
    return &r->account.info;
}

const char *ab_trace_reader_name(const struct ab_trace_reader *r)
{
    return r->path;
}

uint64_t ab_trace_reader_offset(const struct ab_trace_reader *r)
{
    return r->chunk_offset;
}

void ab_trace_reader_digest(struct ab_trace_reader *r, char hex[65])
{
    SHA256End(&r->sha, hex);
}

/* ---- totals from the end of a seekable file ---- */

enum { MARK = AB_TRACE_CHUNK_HEADER + AB_TRACE_SUMMARY_BYTES };

static bool read_last(const char *path, uint8_t mark[MARK])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool done = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= MARK &&
                pread(fd, mark, MARK, st.st_size - MARK) == MARK;
    if (fd >= 0)
        close(fd);
    return done;
}

bool ab_trace_read_end(const char *path, struct ab_trace_info *info)
{
    uint8_t mark[MARK];
    const uint8_t *fields = mark + AB_TRACE_CHUNK_HEADER;
    if (!read_last(path, mark) || ab_get_u32(mark) != AB_TRACE_CHUNK_MAGIC ||
        ab_get_u32(mark + 4) != AB_TRACE_CHUNK_END ||
        ab_trace_chunk_checksum(mark, fields, AB_TRACE_SUMMARY_BYTES) !=
            ab_get_u64(mark + AB_TRACE_CHUNK_CHECKED))
        return false;
    *info = (struct ab_trace_info){
        /* in the order of ab_trace_summary_encode */
        .events = ab_get_u64(fields),
        .threads = ab_get_u64(fields + 8),
        .live_peak_bytes = ab_get_u64(fields + 16),
        .live_peak_blocks = ab_get_u64(fields + 24),
    };
    return true;
}
