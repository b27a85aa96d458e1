/* SPDX-License-Identifier: MIT
 *
 * The entries are in arrays; hash tables of their numbers find existing entries.
 */
#include "trace/site_table.h"

#include "base/bytes.h"
#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void fini_index(struct ab_site_index *x)
{
    free(x->hashes);
    free(x->numbers);
}

void ab_site_table_fini(struct ab_site_table *t)
{
    for (size_t i = 0; i < t->n_modules; i++)
        free(t->modules[i].path);
    free(t->modules);
    free(t->frames);
    free(t->lists);
    free(t->stacks);
    fini_index(&t->known_modules);
    fini_index(&t->known_frames);
    fini_index(&t->known_stacks);
    *t = (struct ab_site_table){0};
}

/* ---- appending ---- */

void ab_site_append_module(struct ab_site_table *t, const char *path, size_t n_path,
                           const uint8_t *build_id, size_t n_build_id)
{
    struct ab_site_module module = {.path = ab_strndup(path, n_path),
                                    .n_build_id = (uint8_t)n_build_id};
    if (n_build_id > 0)
        memcpy(module.build_id, build_id, n_build_id);
    AB_GROW(t->modules, t->cap_modules, t->n_modules);
    t->modules[t->n_modules++] = module;
}

void ab_site_append_frame(struct ab_site_table *t, struct ab_site_frame frame)
{
    AB_GROW(t->frames, t->cap_frames, t->n_frames);
    t->frames[t->n_frames++] = frame;
}

void ab_site_append_stack(struct ab_site_table *t, const uint32_t *frames, size_t depth,
                          enum ab_site_end end)
{
    AB_GROW(t->stacks, t->cap_stacks, t->n_stacks);
    AB_GROW(t->lists, t->cap_lists, t->n_lists + depth);
    struct ab_site_stack stack = {(uint32_t)t->n_lists, (uint8_t)depth, (uint8_t)end};
    memcpy(t->lists + t->n_lists, frames, depth * sizeof frames[0]);
    t->n_lists += depth;
    t->stacks[t->n_stacks++] = stack;
}

/* ---- finding ---- */

static void grow_index(struct ab_site_index *x)
{
    enum { LEAST = 1024 };
    size_t n_places = x->hashes == NULL ? LEAST : 2 * (x->mask + 1);
    struct ab_site_index larger = {.hashes = ab_alloc_zeroed(n_places, sizeof x->hashes[0]),
                                   .numbers = ab_alloc_zeroed(n_places, sizeof x->numbers[0]),
                                   .mask = n_places - 1,
                                   .n = x->n};
    for (size_t i = 0; x->hashes != NULL && i <= x->mask; i++) {
        size_t at = x->hashes[i] & larger.mask;
        while (x->numbers[i] != 0 && larger.numbers[at] != 0)
            at = (at + 1) & larger.mask;
        if (x->numbers[i] != 0) {
            larger.hashes[at] = x->hashes[i];
            larger.numbers[at] = x->numbers[i];
        }
    }
    fini_index(x);
    *x = larger;
}

/* Returns the place in the hash table of the entry with this hash and content, or the empty place
 * for it. */
static uint32_t *seek(struct ab_site_index *x, uint64_t hash, const void *what,
                      bool (*is_same)(const struct ab_site_table *, uint32_t, const void *),
                      const struct ab_site_table *t)
{
    if (x->hashes == NULL || 2 * x->n >= x->mask)
        grow_index(x);
    size_t at = hash & x->mask;
    while (x->numbers[at] != 0 && (x->hashes[at] != hash || !is_same(t, x->numbers[at], what)))
        at = (at + 1) & x->mask;
    x->hashes[at] = hash;
    return &x->numbers[at];
}

/* Stores `number`, that of the entry just appended, in the place that seek() has returned. */
static void note(struct ab_site_index *x, uint32_t *place, size_t number)
{
    *place = (uint32_t)number;
    x->n++;
}

struct module_key {
    const char *path;
    const uint8_t *build_id;
    size_t n_path, n_build_id;
};

static bool is_module(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_module *m = &t->modules[number - 1];
    const struct module_key *k = what;
    return strlen(m->path) == k->n_path && memcmp(m->path, k->path, k->n_path) == 0 &&
           m->n_build_id == k->n_build_id &&
           (k->n_build_id == 0 || memcmp(m->build_id, k->build_id, k->n_build_id) == 0);
}

uint32_t ab_site_know_module(struct ab_site_table *t, const char *path, size_t n_path,
                             const uint8_t *build_id, size_t n_build_id)
{
    struct module_key key = {path, build_id, strnlen(path, n_path), n_build_id};
    uint64_t hash = XXH64(build_id, n_build_id, XXH64(path, key.n_path, 0));
    uint32_t *place = seek(&t->known_modules, hash, &key, is_module, t);
    if (*place == 0 && t->n_modules < AB_SITE_MODULES_MAX) {
        ab_site_append_module(t, path, key.n_path, build_id, n_build_id);
        note(&t->known_modules, place, t->n_modules);
    }
    return *place;
}

static bool is_frame(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_frame *a = &t->frames[number - 1], *b = what;
    return a->address == b->address && a->module == b->module;
}

/* Returns the index of a frame, appending it if it is new; UINT32_MAX = too many. */
static uint32_t know_frame(struct ab_site_table *t, struct ab_site_frame frame)
{
    uint64_t hash = XXH64(&frame.address, sizeof frame.address, frame.module);
    uint32_t *place = seek(&t->known_frames, hash, &frame, is_frame, t);
    if (*place == 0 && t->n_frames < AB_SITE_FRAMES_MAX) {
        ab_site_append_frame(t, frame);
        note(&t->known_frames, place, t->n_frames);
    }
    return *place - 1;
}

struct stack_key {
    const uint32_t *frames;
    size_t depth;
    enum ab_site_end end;
};

static bool is_stack(const struct ab_site_table *t, uint32_t number, const void *what)
{
    const struct ab_site_stack *s = &t->stacks[number - 1];
    const struct stack_key *k = what;
    return s->depth == k->depth && s->end == k->end &&
           memcmp(t->lists + s->first, k->frames, k->depth * sizeof k->frames[0]) == 0;
}

uint32_t ab_site_know_stack(struct ab_site_table *t, const struct ab_site_frame *frames,
                            size_t depth, enum ab_site_end end)
{
    uint32_t indexes[AB_SITE_DEPTH_MAX];
    struct stack_key key = {indexes, depth, end};
    bool has_room = t->n_stacks < AB_SITE_STACKS_MAX;
    for (size_t i = 0; i < depth; i++) {
        indexes[i] = know_frame(t, frames[i]);
        has_room = has_room && indexes[i] != UINT32_MAX;
    }
    uint64_t hash = XXH64(indexes, depth * sizeof indexes[0], (uint64_t)end);
    uint32_t *place = seek(&t->known_stacks, hash, &key, is_stack, t);
    if (*place == 0 && has_room) {
        ab_site_append_stack(t, indexes, depth, end);
        note(&t->known_stacks, place, t->n_stacks);
    }
    return *place;
}

uint32_t ab_site_know_stack_of(struct ab_site_table *t, const struct ab_site_table *other,
                               uint32_t stack)
{
    struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
    const struct ab_site_stack *s = &other->stacks[stack - 1];
    for (size_t i = 0; i < s->depth; i++) {
        frames[i] = *ab_site_frame(other, stack, i);
        if (frames[i].module == 0)
            continue;
        const struct ab_site_module *m = &other->modules[frames[i].module - 1];
        frames[i].module = ab_site_know_module(t, m->path, strlen(m->path), m->build_id,
                                               m->n_build_id);
        if (frames[i].module == 0)
            frames[i].address = 0;
    }
    return ab_site_know_stack(t, frames, s->depth, s->end);
}

/* ---- chunks ----
 *
 * Definitions are stored once, and their numbers count over the whole file. The number of entries
 * in a chunk is limited so that even entries of the largest size fit. */

/* limits per chunk; such a chunk has at most 128 × 4,167 + 65,536 × 14 + 131,072 × 7 bytes */
enum {
    MODULES_MOST = 128,
    FRAMES_MOST = 65536,
    PLACES_MOST = 131072, /* frames in stacks */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- writing chunks ---- */

/* Returns the end of the definitions that fit into the next chunk. The module of a frame, and the
 * frames of a stack, must be in the same chunk or an earlier one. */
static struct ab_sites_done end_of(const struct ab_site_table *t, const struct ab_sites_done *from)
{
    struct ab_sites_done end = *from;
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

size_t ab_site_encode_definitions(const struct ab_site_table *t, struct ab_sites_done *done,
                                  uint8_t *raw)
{
    struct ab_sites_done end = end_of(t, done);
    if (end.n_modules == done->n_modules && end.n_frames == done->n_frames &&
        end.n_stacks == done->n_stacks)
        return 0;
    uint8_t *p = put_modules(t, done->n_modules, end.n_modules, raw);
    p = put_frames(t, done->n_frames, end.n_frames, p);
    p = put_stacks(t, done->n_stacks, end.n_stacks, p);
    *done = end;
    return (size_t)(p - raw);
}

size_t ab_site_encode_column(const uint32_t *sites, size_t n, uint8_t *raw)
{
    uint8_t *p = raw;
    for (size_t i = 0; i < n; i++)
        p = ab_put_varint(p, sites[i]);
    return (size_t)(p - raw);
}

/* ---- reading chunks ---- */

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
    ab_site_append_module(t, (const char *)path, n_path, id, *n_id);
    return NULL;
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
    ab_site_append_frame(t, frame);
    return NULL;
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
    ab_site_append_stack(t, frames, head[0], head[1]);
    return NULL;
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
