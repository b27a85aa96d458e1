/* SPDX-License-Identifier: MIT */
#include "core/bits.h"
#include "core/bytes.h"
#include "trace/block.h"
#include "trace/block_kinds.h"

static void find_runs(struct ab_block_codec *c, const struct ab_trace_record *r, size_t n)
{
    c->n_runs = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || r[i].thread != r[i - 1].thread)
            c->runs[c->n_runs++] = (struct ab_block_run){.thread = r[i].thread};
        c->runs[c->n_runs - 1].n++;
    }
}

static uint8_t *encode_threads(const struct ab_block_codec *c, uint8_t *p)
{
    p = ab_put_varint(p, c->n_runs);
    for (size_t k = 0; k < c->n_runs; k++)
        p = ab_put_varint(p, c->runs[k].n);
    for (size_t k = 0; k < c->n_runs; k++)
        p = ab_put_varint(p, c->runs[k].thread);
    return p;
}

static uint8_t *encode_kinds(const struct ab_block_codec *c, const struct ab_trace_record *r,
                             size_t n, uint8_t *p)
{
    for (size_t i = 0; i < n; i += 2) {
        unsigned low = ab_kind_code(&r[c->order[i]]);
        unsigned high = i + 1 < n ? ab_kind_code(&r[c->order[i + 1]]) : 0;
        *p++ = (uint8_t)(low | high << 4);
    }
    return p;
}

static uint8_t *encode_sizes(const struct ab_block_codec *c, const struct ab_trace_record *r,
                             size_t n, uint8_t *p, bool of_resizes)
{
    for (size_t i = 0; i < n; i++) {
        const struct ab_trace_record *e = &r[c->order[i]];
        if (of_resizes ? e->kind == AB_EVENT_RESIZE && !e->released
                       : e->kind <= AB_EVENT_ALLOC_ALIGNED)
            p = ab_put_varint(p, e->size);
    }
    return p;
}

/* A call names its block by the distance from the one that its thread's call before had. */
static uint8_t *encode_references(const struct ab_block_codec *c, const struct ab_trace_record *r,
                                  size_t n, uint8_t *p, enum ab_event_kind kind)
{
    uint64_t base = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_trace_record *e = &r[c->order[i]];
        if (i == 0 || e->thread != r[c->order[i - 1]].thread)
            base = c->next_number;
        if (e->kind == kind)
            p = ab_put_varint(p, ab_zigzag(e->block - base));
        if (e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE || ab_record_gives_block(e))
            base = e->block;
    }
    return p;
}

static uint8_t *encode_aligns(const struct ab_block_codec *c, const struct ab_trace_record *r,
                              size_t n, uint8_t *p)
{
    for (size_t i = 0; i < n; i++)
        if (r[c->order[i]].kind == AB_EVENT_ALLOC_ALIGNED)
            *p++ = (uint8_t)ab_log2(r[c->order[i]].align);
    return p;
}

static uint8_t *encode_times(struct ab_block_codec *c, const struct ab_trace_record *r, size_t n,
                             uint8_t *p)
{
    for (size_t i = 0; i < n; i++) {
        p = ab_put_varint(p, r[i].time_us - c->time_us);
        c->time_us = r[i].time_us;
    }
    return p;
}

void ab_block_encode(struct ab_block_codec *c, const struct ab_trace_record *r, size_t n,
                     uint8_t *raw, size_t ends[AB_BLOCK_COLUMNS])
{
    uint8_t *p = raw;
    size_t *end = ends;
    find_runs(c, r, n);
    ab_block_order(c);
    *end++ = (size_t)((p = encode_threads(c, p)) - raw);
    *end++ = (size_t)((p = encode_kinds(c, r, n, p)) - raw);
    *end++ = (size_t)((p = encode_sizes(c, r, n, p, false)) - raw);
    *end++ = (size_t)((p = encode_sizes(c, r, n, p, true)) - raw);
    *end++ = (size_t)((p = encode_references(c, r, n, p, AB_EVENT_FREE)) - raw);
    *end++ = (size_t)((p = encode_references(c, r, n, p, AB_EVENT_RESIZE)) - raw);
    *end++ = (size_t)((p = encode_aligns(c, r, n, p)) - raw);
    if (c->has_time)
        p = encode_times(c, r, n, p);
    *end = (size_t)(p - raw);
    for (size_t i = 0; i < n; i++)
        c->next_number += ab_record_gives_block(&r[i]);
}
