/* SPDX-License-Identifier: MIT
 *
 * Writes a placement to a sealed memfd that workers map.
 */
#include "runner/route/route.h"

#include "base/bits.h"
#include "runner/route/route_walk.h"

#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Offsets of all that is in the file. */
static struct ab_route_image plan_image(struct ab_route_walk *walk, uint32_t n_heaps,
                                        uint32_t n_lanes)
{
    struct ab_route_image image = {
        .magic = AB_ROUTE_MAGIC, .size = sizeof image, .n_heaps = n_heaps, .n_lanes = n_lanes};
    uint64_t at = image.heaps_offset = ab_align_up(sizeof image, 64);
    at += n_heaps * sizeof walk->heaps[0];
    for (uint32_t l = 0; l < n_lanes; l++) {
        at = image.resets_offset[l] = ab_align_up(at, 64);
        at += walk->lanes[l].n_resets * sizeof walk->lanes[l].resets[0];
        at = image.choices_offset[l] = ab_align_up(at, 64);
        at += walk->lanes[l].n_choices;
    }
    for (uint32_t h = 0; h < n_heaps; h++) {
        if (walk->heaps[h].renews == 0)
            continue;
        at = walk->heaps[h].lives_offset = ab_align_up(at, 64);
        at += (walk->heaps[h].n_lives + 1) * sizeof walk->lives[h].frees[0];
    }
    image.total_bytes = ab_align_up(at + 64, 4096);
    return image;
}

static void copy(char *file, uint64_t offset, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(file + offset, from, bytes);
}

static void fill(char *file, const struct ab_route_image *image, const struct ab_route_walk *walk)
{
    copy(file, 0, image, sizeof *image);
    copy(file, image->heaps_offset, walk->heaps, image->n_heaps * sizeof walk->heaps[0]);
    for (uint32_t l = 0; l < image->n_lanes; l++) {
        const struct ab_route_lane *lane = &walk->lanes[l];
        copy(file, image->resets_offset[l], lane->resets, lane->n_resets * sizeof lane->resets[0]);
        copy(file, image->choices_offset[l], lane->choices, lane->n_choices);
    }
    for (uint32_t h = 0; h < image->n_heaps; h++)
        if (walk->heaps[h].renews != 0)
            copy(file, walk->heaps[h].lives_offset, walk->lives[h].frees,
                 (walk->heaps[h].n_lives + 1) * sizeof walk->lives[h].frees[0]);
}

/* `bytes` that can be written to, until seal. */
static char *begin_file(size_t bytes, int *fd, struct ab_err *err)
{
    *fd = ab_memfd("allocbench-route", bytes);
    void *p = *fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (p != MAP_FAILED)
        return p;
    ab_fail_errno(err, AB_SYSTEM, "cannot map the placement");
    if (*fd >= 0)
        close(*fd);
    return NULL;
}

static enum ab_status seal(int fd, char *file, size_t bytes, struct ab_route *out,
                           struct ab_err *err)
{
    munmap(file, bytes);
    const struct ab_route_image *image = MAP_FAILED;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0)
        image = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (image == MAP_FAILED) {
        enum ab_status status = ab_fail_errno(err, AB_SYSTEM, "cannot seal the placement");
        close(fd);
        return status;
    }
    *out = (struct ab_route){.fd = fd, .image = image};
    return AB_OK;
}

enum ab_status ab_route_make(const struct ab_route_plan *plan, const struct ab_tape_map *tape,
                             uint8_t *const *groups, struct ab_route *out, struct ab_err *err)
{
    struct ab_route_walk walk;
    int fd;
    if (tape->image->n_bursts > 1)
        return ab_fail(
            err, AB_USAGE,
            "a placement needs the whole tape in memory, and this trace is replayed in "
            "bursts; give it more with --tape-mem, or a shorter one made by `trace cut`");
    enum ab_status status = ab_route_walk(plan, tape, groups, &walk, err);
    if (status == AB_OK) {
        struct ab_route_image image = plan_image(&walk, plan->n_heaps, tape->image->n_lanes);
        char *file = begin_file(image.total_bytes, &fd, err);
        status = AB_SYSTEM;
        if (file != NULL) {
            fill(file, &image, &walk);
            status = seal(fd, file, image.total_bytes, out, err);
            memcpy(out->n_requests, walk.n_requests, sizeof out->n_requests);
        }
    }
    if (status == AB_OK) {
        out->heap_of = walk.heap_of;
        out->uses = walk.uses;
        walk.heap_of = NULL;
        walk.uses = NULL;
    }
    ab_route_walk_fini(&walk, tape->image->n_lanes);
    return status;
}

/* Only what the harness does is left; no byte is left over from the heap that was there. */
static void make_null_heap(struct ab_route_heap *heap)
{
    const struct ab_route_heap was = *heap;
    memset(heap, 0, sizeof *heap);
    heap->source = AB_SOURCE_BUILTIN;
    heap->n_lanes = was.n_lanes;
    heap->n_remote = was.n_remote;
    strcpy(heap->name, "null");
    strcpy(heap->builtin, "null");
    heap->facts = was.facts;
    heap->renews = was.renews;
    heap->lives_offset = was.lives_offset;
    heap->n_lives = was.n_lives;
}

enum ab_status ab_route_make_null(const struct ab_route *of, struct ab_route *out,
                                  struct ab_err *err)
{
    int fd;
    char sha256[65];
    size_t bytes = of->image->total_bytes;
    char *file = begin_file(bytes, &fd, err);
    if (file == NULL)
        return AB_SYSTEM;
    memcpy(file, of->image, bytes);
    ((struct ab_route_image *)(void *)file)->is_null = 1;
    for (uint32_t h = 0; h < of->image->n_heaps; h++)
        make_null_heap((struct ab_route_heap *)(void *)(file + of->image->heaps_offset) + h);
    SHA256Data((const uint8_t *)file, bytes, sha256);
    AB_TRY(seal(fd, file, bytes, out, err));
    memcpy(out->sha256, sha256, sizeof sha256);
    return AB_OK;
}

void ab_route_close(struct ab_route *route)
{
    if (route->image == NULL)
        return;
    munmap((void *)route->image, route->image->total_bytes);
    close(route->fd);
    free(route->heap_of);
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
