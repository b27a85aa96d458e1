/* SPDX-License-Identifier: MIT
 *
 * Writes a placement to a file that workers map, burst by burst as the walk over the tape goes on; and
 * to another one which heap each op goes to, for the parent.
 */
#include "runner/route.h"

#include "base/bits.h"
#include "core/memory.h"
#include "runner/route_walk.h"
#include "runner/tape_file.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROW = 64, DIGESTED = 16 << 20 };

struct making {
    struct ab_route_walk walk;
    struct ab_route_image image;
    struct ab_shared_file file, heap_of;
    uint64_t *parts;   /* owned */
    uint64_t *offsets; /* of the stretches of a part; owned */
};

/* Lays out the image; the parts follow it. */
static struct ab_route_image plan_image(uint32_t n_heaps, const struct ab_tape_image *tape,
                                        uint64_t *end)
{
    struct ab_route_image image = {.magic = AB_ROUTE_MAGIC,
                                   .size = sizeof image,
                                   .n_heaps = n_heaps,
                                   .n_lanes = tape->n_lanes,
                                   .n_bursts = tape->n_bursts};
    image.heaps_offset = ab_align_up(sizeof image, ROW);
    image.parts_offset = ab_align_up(image.heaps_offset + n_heaps * sizeof(struct ab_route_heap),
                                     ROW);
    *end = image.parts_offset + tape->n_bursts * sizeof(uint64_t);
    return image;
}

static enum ab_status begin(struct making *m, const struct ab_route_plan *plan,
                            const struct ab_tape_map *tape, uint8_t *const *groups,
                            struct ab_err *err)
{
    bool is_held = tape->image->n_bursts == 1;
    uint64_t end;
    m->image = plan_image(plan->n_heaps, tape->image, &end);
    m->parts = ab_alloc_zeroed(tape->image->n_bursts, sizeof m->parts[0]);
    m->offsets = ab_alloc_zeroed(ab_route_part_offsets(&m->image), sizeof m->offsets[0]);
    ab_route_walk_begin(&m->walk, plan, tape->image, groups);
    AB_TRY(ab_shared_file_begin(is_held, "the placement", end, &m->file, err));
    return ab_shared_file_begin(is_held, "the placement", 0, &m->heap_of, err);
}

static enum ab_status add_stretches(struct making *m, uint32_t n_lanes, struct ab_err *err)
{
    uint64_t *offset = m->offsets;
    for (uint32_t l = 0; l < n_lanes; l++) {
        const struct ab_route_lane *lane = &m->walk.lanes[l];
        AB_TRY(ab_shared_file_append(&m->file, lane->choices, lane->n_choices, ROW, offset++, err));
    }
    for (uint32_t l = 0; l < n_lanes; l++) {
        const struct ab_route_lane *lane = &m->walk.lanes[l];
        AB_TRY(ab_shared_file_append(&m->file, lane->resets,
                                     lane->n_resets * sizeof lane->resets[0], ROW, offset++, err));
    }
    for (uint32_t h = 0; h < m->image.n_heaps; h++) {
        const struct ab_route_lives *lives = &m->walk.lives[h];
        size_t n = m->walk.heaps[h].renews != 0 ? lives->n + 1 : 0;
        AB_TRY(ab_shared_file_append(&m->file, lives->frees, n * sizeof lives->frees[0], ROW,
                                     offset++, err));
    }
    return AB_OK;
}

/* Keeps at most one burst of a tape in our memory. */
static void forget_burst(const struct ab_tape_image *tape, uint32_t burst)
{
    if (tape->n_bursts > 1)
        madvise((char *)tape + ab_tape_burst(tape, burst)->offset, tape->most_bytes, MADV_DONTNEED);
}

static enum ab_status add_burst(struct making *m, const struct ab_tape_image *tape, uint32_t burst,
                                struct ab_err *err)
{
    size_t n = ab_route_part_offsets(&m->image) * sizeof m->offsets[0];
    uint64_t at = m->parts[burst] = ab_align_up(m->file.end, PAGE), heap_of_at;
    ab_route_walk_burst(&m->walk, burst);
    m->file.end = at + n;
    AB_TRY(add_stretches(m, tape->n_lanes, err));
    AB_TRY(ab_shared_file_write(&m->file, at, m->offsets, n, err));
    if (m->file.end - at > m->image.most_bytes)
        m->image.most_bytes = ab_align_up(m->file.end - at, PAGE);
    AB_TRY(ab_shared_file_append(&m->heap_of, m->walk.heap_of, m->walk.tape.n_ops, 1, &heap_of_at,
                                 err));
    ab_shared_file_push(&m->file, at);
    ab_shared_file_push(&m->heap_of, heap_of_at);
    forget_burst(tape, burst);
    return AB_OK;
}

static enum ab_status protect(struct ab_shared_file *file, struct ab_route_image *image,
                              struct ab_route *out, struct ab_err *err)
{
    const void *p;
    AB_TRY(ab_shared_file_write(file, 0, image, sizeof *image, err));
    AB_TRY(ab_shared_file_protect(file, image->total_bytes, err));
    AB_TRY(ab_shared_file_map(file, image->total_bytes, &out->fd, &p, err));
    out->image = p;
    return AB_OK;
}

/* The parent alone reads it, by its mapping. */
static enum ab_status map_heap_of(struct making *m, struct ab_route *out, struct ab_err *err)
{
    uint64_t n = m->heap_of.end > 0 ? m->heap_of.end : 1; /* none maps to nothing */
    const void *p;
    int fd;
    AB_TRY(ab_shared_file_protect(&m->heap_of, n, err));
    AB_TRY(ab_shared_file_map(&m->heap_of, n, &fd, &p, err));
    close(fd);
    out->heap_of = p;
    out->n_bytes = n;
    return AB_OK;
}

/* Copies what is the same for a null; no other byte of the heap is kept. */
static void fill_null(const struct ab_route_heap *heap, struct ab_route_heap *null)
{
    memset(null, 0, sizeof *null);
    null->source = AB_SOURCE_BUILTIN;
    null->n_lanes = heap->n_lanes;
    null->n_remote = heap->n_remote;
    strcpy(null->name, "null");
    strcpy(null->builtin, "null");
    null->facts = heap->facts;
    null->renews = heap->renews;
    null->inlined = heap->inlined;
    null->n_lives = heap->n_lives;
}

/* Digests what a null has of it: the parts are read a stretch at a time. */
static void digest(const struct ab_route_image *of, char sha256[65])
{
    struct ab_route_image image = *of;
    const uint8_t *file = (const uint8_t *)of;
    SHA2_CTX sha;
    SHA256Init(&sha);
    image.is_null = 1;
    SHA256Update(&sha, (const uint8_t *)&image, sizeof image);
    for (uint32_t h = 0; h < of->n_heaps; h++) {
        struct ab_route_heap heap;
        fill_null(ab_route_heap_at(of, h), &heap);
        SHA256Update(&sha, (const uint8_t *)&heap, sizeof heap);
    }
    for (uint64_t at = of->parts_offset, next; at < of->total_bytes; at = next) {
        next = ab_align_up(at + 1, DIGESTED);
        next = next < of->total_bytes ? next : of->total_bytes;
        SHA256Update(&sha, file + at, next - at);
        if (of->n_bursts > 1)
            madvise((void *)(file + (at & ~(uint64_t)(PAGE - 1))), next - at, MADV_DONTNEED);
    }
    SHA256End(&sha, sha256);
}

static enum ab_status end(struct making *m, struct ab_route *out, struct ab_err *err)
{
    struct ab_route_image *image = &m->image;
    AB_TRY(ab_route_walk_end(&m->walk, err));
    AB_TRY(ab_shared_file_write(&m->file, image->heaps_offset, m->walk.heaps,
                                image->n_heaps * sizeof m->walk.heaps[0], err));
    AB_TRY(ab_shared_file_write(&m->file, image->parts_offset, m->parts,
                                image->n_bursts * sizeof m->parts[0], err));
    image->total_bytes = m->parts[image->n_bursts - 1] + image->most_bytes;
    AB_TRY(protect(&m->file, image, out, err));
    AB_TRY(map_heap_of(m, out, err));
    digest(out->image, out->sha256);
    memcpy(out->n_requests, m->walk.n_requests, sizeof out->n_requests);
    out->uses = m->walk.uses;
    m->walk.uses = NULL;
    return AB_OK;
}

enum ab_status ab_route_make(const struct ab_route_plan *plan, const struct ab_tape_map *tape,
                             uint8_t *const *groups, struct ab_route *out, struct ab_err *err)
{
    struct making *m = ab_alloc_zeroed(1, sizeof *m);
    *out = (struct ab_route){0};
    enum ab_status status = begin(m, plan, tape, groups, err);
    for (uint32_t b = 0; b < tape->image->n_bursts && status == AB_OK; b++)
        status = add_burst(m, tape->image, b, err);
    if (status == AB_OK)
        status = end(m, out, err);
    if (status != AB_OK)
        ab_route_close(out);
    ab_route_walk_fini(&m->walk);
    ab_shared_file_abandon(&m->file);
    ab_shared_file_abandon(&m->heap_of);
    free(m->parts);
    free(m->offsets);
    free(m);
    return status;
}

/* Part by part: no more than one is kept in our memory. */
static enum ab_status copy_parts(const struct ab_route *of, struct ab_shared_file *file,
                                 struct ab_err *err)
{
    const struct ab_route_image *image = of->image;
    const char *from = (const char *)image;
    uint64_t at = image->parts_offset, end = at + image->n_bursts * sizeof(uint64_t);
    AB_TRY(ab_shared_file_write(file, at, from + at, end - at, err));
    for (uint32_t b = 0; b < image->n_bursts; b++) {
        at = ab_route_part(image, b);
        end = b + 1 < image->n_bursts ? ab_route_part(image, b + 1) : image->total_bytes;
        AB_TRY(ab_shared_file_write(file, at, from + at, end - at, err));
        if (image->n_bursts > 1)
            madvise((char *)image + at, end - at, MADV_DONTNEED);
    }
    return AB_OK;
}

static enum ab_status copy_as_null(const struct ab_route *of, struct ab_shared_file *file,
                                   struct ab_route *out, struct ab_err *err)
{
    struct ab_route_image image = *of->image;
    image.is_null = 1;
    AB_TRY(copy_parts(of, file, err));
    for (uint32_t h = 0; h < image.n_heaps; h++) {
        struct ab_route_heap heap;
        fill_null(ab_route_heap_at(of->image, h), &heap);
        AB_TRY(ab_shared_file_write(file, image.heaps_offset + h * sizeof heap, &heap, sizeof heap,
                                    err));
    }
    return protect(file, &image, out, err);
}

enum ab_status ab_route_make_null(const struct ab_route *of, struct ab_route *out,
                                  struct ab_err *err)
{
    struct ab_shared_file file = {0};
    *out = (struct ab_route){0};
    AB_TRY(ab_shared_file_begin(of->image->n_bursts == 1, "the placement", of->image->total_bytes,
                                &file, err));
    enum ab_status status = copy_as_null(of, &file, out, err);
    ab_shared_file_abandon(&file);
    return status;
}

void ab_route_forget(const struct ab_route *route)
{
    if (route->image->n_bursts > 1 && route->heap_of != NULL)
        madvise((void *)route->heap_of, route->n_bytes, MADV_DONTNEED);
}

void ab_route_close(struct ab_route *route)
{
    if (route->image == NULL)
        return;
    munmap((void *)route->image, route->image->total_bytes);
    close(route->fd);
    if (route->heap_of != NULL)
        munmap((void *)route->heap_of, route->n_bytes);
    free(route->uses);
    *route = (struct ab_route){0};
}

bool ab_route_has_null(const struct ab_route *route)
{
    for (uint32_t h = 0; h < route->image->n_heaps; h++)
        if (strcmp(ab_route_heap_at(route->image, h)->builtin, "null") == 0)
            return true;
    return false;
}

bool ab_route_loads(const struct ab_route *route)
{
    for (uint32_t h = 0; h < route->image->n_heaps; h++) {
        uint32_t source = ab_route_heap_at(route->image, h)->source;
        if (source == AB_SOURCE_PLUGIN || source == AB_SOURCE_PREFIX)
            return true;
    }
    return false;
}
