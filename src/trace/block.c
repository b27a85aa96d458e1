/* SPDX-License-Identifier: MIT */
#include "trace/block.h"

#include "core/bits.h"
#include "core/bytes.h"
#include "trace/format.h"

enum { HEAD_BYTES = 12 }; /* u32 length of sizes, of references, of alignments */

static bool has_size(const struct ab_trace_record *r)
{
    return r->kind != AB_EVENT_FREE;
}

static bool has_reference(const struct ab_trace_record *r)
{
    return r->kind == AB_EVENT_FREE || r->kind == AB_EVENT_RESIZE;
}

static uint8_t *encode_sizes(const struct ab_trace_record *r, size_t n, uint8_t *p)
{
    uint64_t previous = 0;
    for (size_t i = 0; i < n; i++)
        if (has_size(&r[i])) {
            p = ab_put_varint(p, ab_zigzag(r[i].size - previous));
            previous = r[i].size;
        }
    return p;
}

static uint8_t *encode_references(const struct ab_trace_record *r, size_t n, uint8_t *p)
{
    uint64_t previous = 0;
    for (size_t i = 0; i < n; i++)
        if (has_reference(&r[i])) {
            p = ab_put_varint(p, ab_zigzag(r[i].block - previous));
            previous = r[i].block;
        }
    return p;
}

static uint8_t *encode_threads(const struct ab_trace_record *r, size_t n, uint8_t *p)
{
    for (size_t i = 0; i < n;) {
        size_t run = i + 1;
        while (run < n && r[run].thread == r[i].thread)
            run++;
        p = ab_put_varint(p, r[i].thread);
        p = ab_put_varint(p, run - i);
        i = run;
    }
    return p;
}

size_t ab_block_encode(const struct ab_trace_record *r, size_t n, uint8_t *raw)
{
    uint8_t *p = raw + HEAD_BYTES, *begin;
    for (size_t i = 0; i < n; i++)
        *p++ = (uint8_t)(r[i].kind | (r[i].failed ? AB_TRACE_FAILED : 0) |
                         (r[i].released ? AB_TRACE_RELEASED : 0));
    begin = p;
    p = encode_sizes(r, n, p);
    ab_put_u32(raw, (uint32_t)(p - begin));
    begin = p;
    p = encode_references(r, n, p);
    ab_put_u32(raw + 4, (uint32_t)(p - begin));
    begin = p;
    for (size_t i = 0; i < n; i++)
        if (r[i].kind == AB_EVENT_ALLOC_ALIGNED)
            *p++ = (uint8_t)ab_log2(r[i].align);
    ab_put_u32(raw + 8, (uint32_t)(p - begin));
    p = encode_threads(r, n, p);
    return (size_t)(p - raw);
}

/* The next column of `bytes` bytes, taken off `rest`; one that is too long fails `rest`. */
static struct ab_cursor take_column(struct ab_cursor *rest, size_t bytes)
{
    struct ab_cursor column = {rest->at, rest->at, false};
    if (bytes > (size_t)(rest->end - rest->at)) {
        rest->has_failed = true;
        rest->at = rest->end;
        return column;
    }
    rest->at += bytes;
    column.end = rest->at;
    return column;
}

static bool decode_kinds(const struct ab_cursor *kinds, struct ab_trace_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = kinds->at[i];
        r[i] = (struct ab_trace_record){.kind = byte & AB_TRACE_KIND_MASK,
                                        .failed = (byte & AB_TRACE_FAILED) != 0,
                                        .released = (byte & AB_TRACE_RELEASED) != 0};
        if (r[i].kind >= AB_EVENT_KIND_COUNT || byte >= AB_TRACE_RELEASED * 2)
            return false;
    }
    return true;
}

static void decode_values(struct ab_cursor *sizes, struct ab_cursor *references,
                          struct ab_cursor *aligns, struct ab_trace_record *r, size_t n)
{
    uint64_t size = 0, block = 0;
    for (size_t i = 0; i < n; i++) {
        if (has_size(&r[i]))
            r[i].size = size += ab_unzigzag(ab_read_varint(sizes));
        if (has_reference(&r[i]))
            r[i].block = block += ab_unzigzag(ab_read_varint(references));
        if (r[i].kind == AB_EVENT_ALLOC_ALIGNED) {
            if (aligns->at == aligns->end || *aligns->at > 63)
                aligns->has_failed = true;
            else
                r[i].align = UINT64_C(1) << *aligns->at++;
        }
    }
}

static bool decode_threads(struct ab_cursor *threads, struct ab_trace_record *r, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t thread = ab_read_varint(threads), run = ab_read_varint(threads);
        if (threads->has_failed || thread >= AB_TRACE_THREADS_MAX || run == 0 || run > n - i)
            return false;
        for (; run > 0; run--)
            r[i++].thread = (uint32_t)thread;
    }
    return true;
}

static bool is_used_up(const struct ab_cursor *c)
{
    return !c->has_failed && c->at == c->end;
}

const char *ab_block_decode(const uint8_t *raw, size_t bytes, struct ab_trace_record *records,
                            size_t n)
{
    if (bytes < HEAD_BYTES)
        return "a block shorter than its own head";
    struct ab_cursor rest = {raw + HEAD_BYTES, raw + bytes, false};
    struct ab_cursor kinds = take_column(&rest, n);
    struct ab_cursor sizes = take_column(&rest, ab_get_u32(raw));
    struct ab_cursor references = take_column(&rest, ab_get_u32(raw + 4));
    struct ab_cursor aligns = take_column(&rest, ab_get_u32(raw + 8));
    if (rest.has_failed)
        return "columns longer than their block";
    if (!decode_kinds(&kinds, records, n))
        return "an event of unknown kind";
    decode_values(&sizes, &references, &aligns, records, n);
    if (!is_used_up(&sizes))
        return "a column of sizes that does not match its events";
    if (!is_used_up(&references))
        return "a column of references that does not match its events";
    if (!is_used_up(&aligns))
        return "a column of alignments that does not match its events";
    if (!decode_threads(&rest, records, n) || !is_used_up(&rest))
        return "a column of threads that does not match its events";
    return NULL;
}
