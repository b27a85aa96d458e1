/* SPDX-License-Identifier: MIT
 *
 * Definitions are appended, never repeated: numbers count over the whole file. How many go into a
 * chunk is limited so that the worst of them fit.
 */
#include "trace/site_chunk.h"

#include "base/bytes.h"
#include "trace/format.h"

#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { /* of a chunk: 128 × 4,167 + 65,536 × 14 + 131,072 × 7 bytes at most */
       MODULES_MOST = 128,
       FRAMES_MOST = 65536,
       PLACES_MOST = 131072, /* frames in stacks */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- writing ---- */

/* How far the definitions of a chunk go: frames only of modules, and stacks only of frames, that
 * are known then. */
static struct ab_site_mark end_of(const struct ab_site_table *t, const struct ab_site_mark *from)
{
    struct ab_site_mark end = *from;
    size_t n_places = 0;
    end.n_modules = least(t->n_modules, from->n_modules + MODULES_MOST);
    while (end.n_frames < least(t->n_frames, from->n_frames + FRAMES_MOST) &&
           t->frames[end.n_frames].module <= end.n_modules)
        end.n_frames++;
    for (; end.n_stacks < t->n_stacks; end.n_stacks++) {
        const struct ab_site_stack *s = &t->stacks[end.n_stacks];
        n_places += s->depth;
        if (n_places > PLACES_MOST)
            return end;
        for (size_t i = 0; i < s->depth; i++)
            if (t->lists[s->first + i] >= end.n_frames)
                return end;
    }
    return end;
}

static uint8_t *put_modules(const struct ab_site_table *t, size_t from, size_t end, uint8_t *p)
{
    p = ab_put_varint(p, end - from);
    for (size_t i = from; i < end; i++) {
        const struct ab_site_module *m = &t->modules[i];
        size_t n_path = strlen(m->path);
        p = ab_put_varint(p, n_path);
        memcpy(p, m->path, n_path);
        p += n_path;
        *p++ = m->n_build_id;
        memcpy(p, m->build_id, m->n_build_id);
        p += m->n_build_id;
    }
    return p;
}

static uint8_t *put_frames(const struct ab_site_table *t, size_t from, size_t end, uint8_t *p)
{
    uint64_t before = 0;
    p = ab_put_varint(p, end - from);
    for (size_t i = from; i < end; i++) {
        p = ab_put_varint(p, t->frames[i].module);
        p = ab_put_varint(p, ab_zigzag(t->frames[i].address - before));
        before = t->frames[i].address;
    }
    return p;
}

static uint8_t *put_stacks(const struct ab_site_table *t, size_t from, size_t end, uint8_t *p)
{
    p = ab_put_varint(p, end - from);
    for (size_t i = from; i < end; i++) {
        const struct ab_site_stack *s = &t->stacks[i];
        *p++ = s->depth;
        *p++ = s->end;
        for (size_t k = 0; k < s->depth; k++)
            p = ab_put_varint(p, t->lists[s->first + k]);
    }
    return p;
}

size_t ab_site_encode_definitions(const struct ab_site_table *t, struct ab_site_mark *mark,
                                  uint8_t *raw)
{
    struct ab_site_mark end = end_of(t, mark);
    if (end.n_modules == mark->n_modules && end.n_frames == mark->n_frames &&
        end.n_stacks == mark->n_stacks)
        return 0;
    uint8_t *p = put_modules(t, mark->n_modules, end.n_modules, raw);
    p = put_frames(t, mark->n_frames, end.n_frames, p);
    p = put_stacks(t, mark->n_stacks, end.n_stacks, p);
    *mark = end;
    return (size_t)(p - raw);
}

size_t ab_site_encode_column(const uint32_t *sites, size_t n, uint8_t *raw)
{
    uint8_t *p = raw;
    for (size_t i = 0; i < n; i++)
        p = ab_put_varint(p, sites[i]);
    return (size_t)(p - raw);
}

/* ---- reading ---- */

static const char out_of_order[] = "call sites that name what is not defined";
static const char malformed[] = "malformed definitions of call sites";
static const char too_many[] = "more call sites than a trace can have";

static const uint8_t *take_bytes(struct ab_cursor *c, size_t n)
{
    const uint8_t *p = c->at;
    if (c->has_failed || (size_t)(c->end - c->at) < n) {
        c->has_failed = true;
        return NULL;
    }
    c->at += n;
    return p;
}

static const char *take_module(struct ab_site_table *t, struct ab_cursor *c)
{
    uint64_t n_path = ab_read_varint(c);
    const uint8_t *path = n_path <= AB_SITE_PATH_MAX ? take_bytes(c, n_path) : NULL;
    const uint8_t *n_id = take_bytes(c, 1);
    const uint8_t *id = n_id != NULL && *n_id <= AB_SITE_BUILD_ID_MAX ? take_bytes(c, *n_id) : NULL;
    if (path == NULL || id == NULL || memchr(path, 0, n_path) != NULL)
        return malformed;
    if (t->n_modules == AB_SITE_MODULES_MAX)
        return too_many;
    return ab_site_append_module(t, (const char *)path, n_path, id, *n_id) ? NULL : ab_no_memory;
}

static const char *take_frame(struct ab_site_table *t, struct ab_cursor *c, uint64_t *before)
{
    uint64_t module = ab_read_varint(c), address = *before + ab_unzigzag(ab_read_varint(c));
    *before = address;
    if (c->has_failed)
        return malformed;
    if (module > t->n_modules)
        return out_of_order;
    if (t->n_frames == AB_SITE_FRAMES_MAX)
        return too_many;
    struct ab_site_frame frame = {address, (uint32_t)module};
    return ab_site_append_frame(t, frame) ? NULL : ab_no_memory;
}

static const char *take_stack(struct ab_site_table *t, struct ab_cursor *c)
{
    uint32_t frames[AB_SITE_DEPTH_MAX];
    const uint8_t *head = take_bytes(c, 2);
    if (head == NULL || head[0] == 0 || head[0] > AB_SITE_DEPTH_MAX || head[1] >= AB_SITE_END_COUNT)
        return malformed;
    for (size_t i = 0; i < head[0]; i++) {
        uint64_t frame = ab_read_varint(c);
        if (c->has_failed)
            return malformed;
        if (frame >= t->n_frames)
            return out_of_order;
        frames[i] = (uint32_t)frame;
    }
    if (t->n_stacks == AB_SITE_STACKS_MAX || t->n_lists > UINT32_MAX - AB_SITE_DEPTH_MAX)
        return too_many;
    return ab_site_append_stack(t, frames, head[0], head[1]) ? NULL : ab_no_memory;
}

const char *ab_site_decode_definitions(struct ab_site_table *t, const uint8_t *raw, size_t bytes)
{
    struct ab_cursor c = {raw, raw + bytes, false};
    const char *wrong = NULL;
    uint64_t before = 0;
    for (uint64_t n = ab_read_varint(&c); n > 0 && wrong == NULL; n--)
        wrong = take_module(t, &c);
    if (wrong != NULL)
        return wrong;
    for (uint64_t n = ab_read_varint(&c); n > 0 && wrong == NULL; n--)
        wrong = take_frame(t, &c, &before);
    if (wrong != NULL)
        return wrong;
    for (uint64_t n = ab_read_varint(&c); n > 0 && wrong == NULL; n--)
        wrong = take_stack(t, &c);
    if (wrong != NULL)
        return wrong;
    return c.has_failed || c.at != c.end ? malformed : NULL;
}

const char *ab_site_decode_column(const struct ab_site_table *t, const uint8_t *raw, size_t bytes,
                                  uint32_t *sites, size_t cap, size_t *n)
{
    struct ab_cursor c = {raw, raw + bytes, false};
    size_t used = 0;
    while (c.at < c.end) {
        uint64_t site = ab_read_varint(&c);
        if (c.has_failed || used == cap)
            return "a column of call sites that does not match its events";
        if (site > t->n_stacks)
            return out_of_order;
        sites[used++] = (uint32_t)site;
    }
    *n = used;
    return NULL;
}

/* ---- bytes ---- */

enum { LEVEL = 4 };

enum ab_status ab_site_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                            struct ab_err *err)
{
    size_t n = ZSTD_compress(stored, AB_TRACE_STORED_MAX, raw, n_raw, LEVEL);
    if (ZSTD_isError(n))
        return ab_fail(err, AB_SYSTEM, "cannot compress: %s", ZSTD_getErrorName(n));
    *n_stored = n;
    return AB_OK;
}

const char *ab_site_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw)
{
    size_t n = ZSTD_decompress(raw, n_raw, stored, n_stored);
    if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        return ab_no_memory;
    return n == n_raw ? NULL : "a chunk of call sites that cannot be decompressed";
}
