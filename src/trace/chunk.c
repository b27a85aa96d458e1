/* SPDX-License-Identifier: MIT
 *
 * Converts chunks to columns and back. Encoding and decoding use the same order of events: thread
 * by thread.
 */
#include "trace/chunk.h"

#include "base/bytes.h"
#include "core/alloc.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

void ab_chunk_codec_fini(struct ab_chunk_codec *c)
{
    free(c->runs);
    free(c->numbers);
    free(c->order);
    free(c->groups);
    free(c->group_of);
    *c = (struct ab_chunk_codec){0};
}

void ab_chunk_codec_fit(struct ab_chunk_codec *c, size_t n)
{
    if (n <= c->cap)
        return;
    c->runs = ab_realloc(c->runs, n, sizeof c->runs[0]);
    c->numbers = ab_realloc(c->numbers, n, sizeof c->numbers[0]);
    c->order = ab_realloc(c->order, n, sizeof c->order[0]);
    c->groups = ab_realloc(c->groups, n, sizeof c->groups[0]);
    c->cap = n;
}

/* Appends a run, and makes room for its thread. */
static inline void add_run(struct ab_chunk_codec *c, uint32_t thread, uint32_t n)
{
    AB_GROW_ZEROED(c->group_of, c->cap_group_of, thread);
    c->runs[c->n_runs++] = (struct ab_chunk_run){thread, n};
}

/* Creates a group for each thread of the runs, and counts its events in `end`. */
static void count_groups(struct ab_chunk_codec *c)
{
    c->n_groups = 0;
    for (size_t k = 0; k < c->n_runs; k++) {
        uint32_t *group = &c->group_of[c->runs[k].thread];
        if (*group == 0) {
            c->groups[c->n_groups++] = (struct ab_chunk_group){.thread = c->runs[k].thread};
            *group = (uint32_t)c->n_groups;
        }
        c->groups[*group - 1].end += c->runs[k].n;
    }
}

/* Sets c->order and c->groups from c->runs: threads in the order of their first event, each with
 * its events in order. */
static void chunk_order(struct ab_chunk_codec *c)
{
    uint32_t place = 0, event = 0;
    count_groups(c);
    for (size_t g = 0; g < c->n_groups; g++) {
        uint32_t n_events = c->groups[g].end;
        c->groups[g].end = place; /* becomes the end while the group is filled */
        place += n_events;
    }
    for (size_t k = 0; k < c->n_runs; k++) {
        uint32_t *at = &c->groups[c->group_of[c->runs[k].thread] - 1].end;
        for (uint32_t left = c->runs[k].n; left > 0; left--)
            c->order[(*at)++] = event++;
    }
    for (size_t g = 0; g < c->n_groups; g++)
        c->group_of[c->groups[g].thread] = 0;
}

/* ---- decoding ----
 *
 * The lengths of columns are not stored, because the kinds determine the number of their values.
 * Before reading, all values are counted and skipped. Each column is then known to end with the
 * last byte of a varint, so that reading values cannot pass its end. */

enum { AT_ONCE = 512 };

static __attribute__((noinline)) uint64_t take_long(const uint8_t **p, bool *has_failed)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        if ((byte == 0 && shift > 0) || (byte > 1 && shift == 63))
            break;
        return v;
    }
    *has_failed = true;
    return 0;
}

/* Reads a varint. Handles one and two bytes without a branch, because which of them comes is
 * unpredictable. */
static inline uint64_t take(const uint8_t **p, bool *has_failed)
{
    unsigned low = (*p)[0], high = (*p)[1], is_two = low >> 7;
    if (AB_UNLIKELY((low & high) >= 0x80))
        return take_long(p, has_failed);
    *has_failed |= is_two > high;
    *p += 1 + is_two;
    return (low & 0x7f) | ((high << 7) & -is_two);
}

/* Returns the end of n varints; NULL if `end` comes before it. */
static const uint8_t *skip_varints(const uint8_t *p, const uint8_t *end, size_t n)
{
    for (; n >= 8 && end - p >= 8; p += 8) {
        uint64_t eight;
        memcpy(&eight, p, sizeof eight);
        n -= (size_t)__builtin_popcountll(~eight & UINT64_C(0x8080808080808080));
    }
    for (; n > 0 && p < end; p++)
        n -= *p < 0x80;
    return n == 0 ? p : NULL;
}

/* Decodes the runs of threads and advances *p past them. Returns false if they are malformed, or do
 * not cover exactly n events. */
static bool decode_runs(struct ab_chunk_codec *c, const uint8_t **p, const uint8_t *end, size_t n)
{
    struct ab_cursor lengths = {*p, end, false};
    uint64_t n_runs = ab_read_varint(&lengths);
    if (lengths.has_failed || n_runs == 0 || n_runs > n)
        return false;
    struct ab_cursor threads = lengths;
    threads.at = skip_varints(lengths.at, end, n_runs);
    if (threads.at == NULL)
        return false;
    size_t left = n;
    c->n_runs = 0;
    for (uint64_t k = 0; k < n_runs; k++) {
        uint64_t length = ab_read_varint(&lengths), thread = ab_read_varint(&threads);
        if (lengths.has_failed || threads.has_failed || length == 0 || length > left ||
            thread >= AB_TRACE_THREADS_MAX || (k > 0 && c->runs[k - 1].thread == thread))
            return false;
        add_run(c, (uint32_t)thread, (uint32_t)length);
        left -= length;
    }
    *p = threads.at;
    return left == 0;
}

static bool count_codes(const uint8_t *kinds, size_t n, uint32_t counts[16])
{
    uint32_t pairs[256] = {0};
    for (size_t i = 0; i < n / 2; i++)
        pairs[kinds[i]]++;
    for (unsigned code = 0; code < 16; code++)
        counts[code] = 0;
    for (unsigned pair = 0; pair < 256; pair++) {
        counts[pair & 15] += pairs[pair];
        counts[pair >> 4] += pairs[pair];
    }
    if (n % 2 == 1) {
        if (kinds[n / 2] > 15)
            return false;
        counts[kinds[n / 2]]++;
    }
    for (unsigned code = 0; code < 16; code++)
        if (counts[code] > 0 && (AB_KIND_CODES >> code & 1) == 0)
            return false;
    return true;
}

static const char *find_columns(const struct ab_chunk_codec *c, const uint8_t *p,
                                const uint8_t *end, size_t n, struct ab_chunk_columns *out)
{
    uint32_t codes[16];
    *out = (struct ab_chunk_columns){.kinds = p};
    if ((size_t)(end - p) < (n + 1) / 2)
        return "a column of kinds that does not match its events";
    if (!count_codes(p, n, codes))
        return "an event of unknown kind";
    size_t n_resizes = codes[3] + codes[11], n_aligned = codes[2] + codes[10];
    out->sizes = p + (n + 1) / 2;
    out->resize_sizes = skip_varints(out->sizes, end,
                                     codes[0] + codes[8] + codes[1] + codes[9] + n_aligned);
    if (out->resize_sizes != NULL)
        out->frees = skip_varints(out->resize_sizes, end, n_resizes);
    if (out->frees == NULL)
        return "a column of sizes that does not match its events";
    out->resizes = skip_varints(out->frees, end, codes[4]);
    if (out->resizes != NULL)
        out->aligns = skip_varints(out->resizes, end, n_resizes + codes[AB_KIND_RELEASED]);
    if (out->aligns == NULL)
        return "a column of references that does not match its events";
    if ((size_t)(end - out->aligns) < n_aligned)
        return "a column of alignments that does not match its events";
    out->times = out->aligns + n_aligned;
    const uint8_t *last = c->has_time ? skip_varints(out->times, end, n) : out->times;
    if (last == NULL)
        return "a column of times that does not match its events";
    return last == end ? NULL : "a chunk longer than its columns";
}

static inline unsigned code_at(const uint8_t *kinds, size_t place)
{
    return kinds[place / 2] >> (place % 2 * 4) & 15;
}

/* Decodes one event. *base is the block of the thread's last call, and is updated. */
static inline struct ab_event decode_event(struct ab_chunk_columns *c, unsigned code,
                                           uint32_t thread, uint64_t number, uint64_t *base)
{
    struct ab_event r = {.kind = (uint8_t)(code & 7), .failed = (code & 8) != 0, .thread = thread};
    if (r.kind == AB_EVENT_FREE) {
        r.block = *base += ab_unzigzag(take(&c->frees, &c->has_failed));
    } else if (r.kind <= AB_EVENT_ALLOC_ALIGNED) {
        r.size = take(&c->sizes, &c->has_failed);
        if (r.kind == AB_EVENT_ALLOC_ALIGNED) {
            c->has_failed |= *c->aligns > 63;
            r.align = UINT64_C(1) << (*c->aligns++ & 63);
        }
        if (!r.failed)
            r.block = *base = number;
    } else if (code != AB_EVENT_THREAD_END) {
        r.released = code == AB_KIND_RELEASED;
        r.kind = AB_EVENT_RESIZE;
        if (!r.released)
            r.size = take(&c->resize_sizes, &c->has_failed);
        r.block = *base += ab_unzigzag(take(&c->resizes, &c->has_failed));
    }
    return r;
}

/* Decodes n events of a chunk of one thread. `place` is the index of the first one in the column of
 * kinds. */
static void decode_one_thread(struct ab_chunk_codec *codec, struct ab_event *r, size_t n,
                              size_t place)
{
    struct ab_chunk_columns c = codec->columns;
    uint32_t thread = codec->runs[0].thread;
    uint64_t number = codec->next_number, base = codec->base;
    for (size_t i = 0; i < n; i++) {
        r[i] = decode_event(&c, code_at(c.kinds, place + i), thread, number, &base);
        number += ab_event_gives_block(&r[i]);
    }
    codec->next_number = number;
    codec->base = base;
    codec->columns = c;
}

/* Sets c->numbers. New blocks are numbered in the order of the events, which is not that of the
 * columns. Returns the number of new blocks. */
static uint32_t number_blocks(struct ab_chunk_codec *c, const uint8_t *kinds, size_t n)
{
    uint32_t number = 0;
    for (size_t place = 0; place < n; place++)
        c->numbers[c->order[place]] = code_at(kinds, place) <= AB_EVENT_ALLOC_ALIGNED;
    for (size_t i = 0; i < n; i++) {
        uint32_t is_new = c->numbers[i];
        c->numbers[i] = number;
        number += is_new;
    }
    return number;
}

static void decode_threads_apart(struct ab_chunk_codec *codec, struct ab_event *r, size_t n)
{
    struct ab_chunk_columns c = codec->columns;
    chunk_order(codec);
    uint32_t n_new = number_blocks(codec, c.kinds, n);
    size_t place = 0;
    for (size_t g = 0; g < codec->n_groups; g++) {
        struct ab_chunk_group group = codec->groups[g];
        uint64_t base = codec->next_number;
        for (; place < group.end; place++) {
            uint32_t i = codec->order[place];
            r[i] = decode_event(&c, code_at(c.kinds, place), group.thread,
                                codec->next_number + codec->numbers[i], &base);
        }
    }
    codec->next_number += n_new;
    codec->columns = c;
}

static const char *decode_times(struct ab_chunk_codec *c, struct ab_event *r, size_t n)
{
    bool has_failed = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t ticks = take(&c->columns.times, &has_failed);
        if (!c->has_begun && i == 0 && ticks != 0)
            return "a first event that is not at time 0";
        if (has_failed || ticks > INT64_MAX - c->time_us)
            return "a time that is not a number of ticks";
        r[i].time_us = c->time_us += ticks;
    }
    return NULL;
}

const char *ab_chunk_open(struct ab_chunk_codec *codec, const uint8_t *raw, size_t bytes, size_t n)
{
    const uint8_t *p = raw, *end = raw + bytes;
    codec->n_left = 0;
    if (!decode_runs(codec, &p, end, n))
        return "a column of threads that does not match its events";
    const char *wrong = find_columns(codec, p, end, n, &codec->columns);
    if (wrong != NULL)
        return wrong;
    codec->n_events = codec->n_left = n;
    codec->base = codec->next_number;
    return NULL;
}

size_t ab_chunk_next(const struct ab_chunk_codec *codec)
{
    return codec->n_runs > 1 || codec->n_left < AT_ONCE ? codec->n_left : AT_ONCE;
}

const char *ab_chunk_take(struct ab_chunk_codec *codec, struct ab_event *records)
{
    size_t n = ab_chunk_next(codec);
    if (codec->n_runs == 1)
        decode_one_thread(codec, records, n, codec->n_events - codec->n_left);
    else
        decode_threads_apart(codec, records, n);
    codec->n_left -= n;
    if (codec->columns.has_failed)
        return "a malformed number";
    const char *wrong = codec->has_time ? decode_times(codec, records, n) : NULL;
    codec->has_begun = true;
    return wrong;
}

/* ---- encoding ---- */

static void find_runs(struct ab_chunk_codec *c, const struct ab_chunk_event *r, size_t n)
{
    c->n_runs = 0;
    for (size_t i = 0; i < n;) {
        size_t begin = i;
        while (i < n && r[i].thread == r[begin].thread)
            i++;
        add_run(c, r[begin].thread, (uint32_t)(i - begin));
    }
}

static uint8_t *encode_threads(const struct ab_chunk_codec *c, uint8_t *p)
{
    p = ab_put_varint(p, c->n_runs);
    for (size_t k = 0; k < c->n_runs; k++)
        p = ab_put_varint(p, c->runs[k].n);
    for (size_t k = 0; k < c->n_runs; k++)
        p = ab_put_varint(p, c->runs[k].thread);
    return p;
}

/* Columns after the column of kinds. While they are filled, each has room for its longest possible
 * values, directly after the room of the column before; then they are moved together. `raw` has
 * enough room, because an event has at most 20 bytes in these columns. */
enum column { SIZES, NEW_SIZES, FREES, RESIZES, ALIGNS, COLUMNS };

struct columns {
    uint8_t *begin[COLUMNS], *end[COLUMNS];
};

/* Returns the event at index `place` of the columns. */
static inline const struct ab_chunk_event *at(const struct ab_chunk_codec *c,
                                              const struct ab_chunk_event *r, size_t place)
{
    return c->n_runs == 1 ? &r[place] : &r[c->order[place]];
}

static uint8_t *encode_kinds(const struct ab_chunk_codec *c, const struct ab_chunk_event *r,
                             size_t n, uint8_t *p, size_t n_of[16])
{
    memset(n_of, 0, 16 * sizeof n_of[0]);
    for (size_t i = 0; i < n; i += 2) {
        unsigned low = at(c, r, i)->code, high = i + 1 < n ? at(c, r, i + 1)->code : 0;
        n_of[low]++;
        n_of[high] += i + 1 < n;
        *p++ = (uint8_t)(low | high << 4);
    }
    return p;
}

static void lay_out(struct columns *columns, uint8_t *p, const size_t n_of[16])
{
    enum { F = AB_KIND_FAILED };
    size_t n_aligned = n_of[AB_EVENT_ALLOC_ALIGNED] + n_of[AB_EVENT_ALLOC_ALIGNED | F];
    size_t n_allocs = n_of[AB_EVENT_ALLOC] + n_of[AB_EVENT_ALLOC | F] + n_aligned +
                      n_of[AB_EVENT_ALLOC_ZEROED] + n_of[AB_EVENT_ALLOC_ZEROED | F];
    size_t n_resizes = n_of[AB_EVENT_RESIZE] + n_of[AB_EVENT_RESIZE | F];
    const size_t room[COLUMNS] = {
        [SIZES] = n_allocs * AB_VARINT_MAX,
        [NEW_SIZES] = n_resizes * AB_VARINT_MAX,
        [FREES] = n_of[AB_EVENT_FREE] * AB_VARINT_MAX,
        [RESIZES] = (n_resizes + n_of[AB_KIND_RELEASED]) * AB_VARINT_MAX,
        [ALIGNS] = n_aligned,
    };
    for (unsigned i = 0; i < COLUMNS; i++) {
        columns->begin[i] = columns->end[i] = p;
        p += room[i];
    }
}

static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    if (AB_LIKELY(v < 0x80)) {
        *p = (uint8_t)v;
        return p + 1;
    }
    return ab_put_varint(p, v);
}

/* Encodes one call. A block is stored as its distance from `base`, the block of the thread's last
 * call. Returns the base for the next call. */
static inline uint64_t encode_call(struct columns *columns, const struct ab_chunk_event *e,
                                   uint64_t base)
{
    uint8_t **end = columns->end;
    unsigned kind = e->code & (AB_KIND_FAILED - 1u);
    if (kind <= AB_EVENT_ALLOC_ALIGNED) {
        end[SIZES] = put_varint(end[SIZES], e->size);
        if (AB_UNLIKELY(kind == AB_EVENT_ALLOC_ALIGNED))
            *end[ALIGNS]++ = e->log2;
        return e->code != kind ? base : e->block;
    }
    if (AB_LIKELY(kind == AB_EVENT_FREE)) {
        end[FREES] = put_varint(end[FREES], ab_zigzag(e->block - base));
        return e->block;
    }
    if (kind == AB_EVENT_THREAD_END)
        return base;
    end[RESIZES] = put_varint(end[RESIZES], ab_zigzag(e->block - base));
    if (kind != AB_KIND_RELEASED)
        end[NEW_SIZES] = put_varint(end[NEW_SIZES], e->size);
    return e->block;
}

static void encode_calls(struct ab_chunk_codec *c, const struct ab_chunk_event *r, size_t n,
                         struct columns *columns)
{
    /* a local copy, so that its pointers are not reloaded after each byte written */
    struct columns own = *columns;
    uint64_t base = c->next_number;
    uint32_t thread = at(c, r, 0)->thread;
    for (size_t i = 0; i < n; i++) {
        const struct ab_chunk_event *e = at(c, r, i);
        if (AB_UNLIKELY(e->thread != thread)) {
            thread = e->thread;
            base = c->next_number;
        }
        base = encode_call(&own, e, base);
    }
    *columns = own;
}

static uint8_t *encode_times(struct ab_chunk_codec *c, const uint64_t *times, size_t n, uint8_t *p)
{
    for (size_t i = 0; i < n; i++) {
        p = ab_put_varint(p, times[i] - c->time_us);
        c->time_us = times[i];
    }
    return p;
}

void ab_chunk_encode(struct ab_chunk_codec *c, const struct ab_chunk_event *r,
                     const uint64_t *times, size_t n, uint8_t *raw, size_t ends[AB_CHUNK_COLUMNS])
{
    struct columns columns;
    size_t n_of[16];
    uint8_t *p = raw;
    size_t *end = ends;
    find_runs(c, r, n);
    if (c->n_runs > 1)
        chunk_order(c);
    *end++ = (size_t)((p = encode_threads(c, p)) - raw);
    *end++ = (size_t)((p = encode_kinds(c, r, n, p, n_of)) - raw);
    lay_out(&columns, p, n_of);
    encode_calls(c, r, n, &columns);
    for (unsigned i = 0; i < COLUMNS; i++) {
        size_t bytes = (size_t)(columns.end[i] - columns.begin[i]);
        memmove(p, columns.begin[i], bytes);
        *end++ = (size_t)((p += bytes) - raw);
    }
    if (c->has_time)
        p = encode_times(c, times, n, p);
    *end = (size_t)(p - raw);
    for (unsigned code = AB_EVENT_ALLOC; code <= AB_EVENT_ALLOC_ALIGNED; code++)
        c->next_number += n_of[code];
}
