/* SPDX-License-Identifier: MIT
 *
 * Records into the columns of a chunk.
 */
#include "base/bits.h"
#include "base/bytes.h"
#include "trace/chunk/chunk.h"
#include "trace/chunk/chunk_kinds.h"

#include <string.h>

static bool find_runs(struct ab_chunk_codec *c, const struct ab_chunk_event *r, size_t n)
{
    size_t i = 0;
    for (c->n_runs = 0; i < n; c->n_runs++) {
        size_t begin = i;
        uint32_t thread = r[i].thread;
        while (i < n && r[i].thread == thread)
            i++;
        c->runs[c->n_runs] = (struct ab_chunk_run){thread, (uint32_t)(i - begin)};
        if (!ab_chunk_codec_know(c, thread))
            return false;
    }
    return true;
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

/* The columns after the kinds. While they are filled each has room for the longest values that it
 * can hold, after the room of the one before; then they are moved together. Room is enough: an
 * event has at most 20 bytes in them. */
enum column { SIZES, NEW_SIZES, FREES, RESIZES, ALIGNS, COLUMNS };

struct columns {
    uint8_t *begin[COLUMNS], *end[COLUMNS];
};

/* An event of the chunk by its place in the columns. */
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

/* One call; a call names its block by the distance from the one that its thread's call before
 * had. Returns the block that the next one's is counted from. */
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
    struct columns own = *columns; /* not to be read back after each byte */
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

bool ab_chunk_encode(struct ab_chunk_codec *c, const struct ab_chunk_event *r,
                     const uint64_t *times, size_t n, uint8_t *raw, size_t ends[AB_CHUNK_COLUMNS])
{
    struct columns columns;
    size_t n_of[16];
    uint8_t *p = raw;
    size_t *end = ends;
    if (!find_runs(c, r, n))
        return false;
    if (c->n_runs > 1)
        ab_chunk_order(c);
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
    return true;
}
