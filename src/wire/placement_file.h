/* SPDX-License-Identifier: MIT
 *
 * A placement, as parent and worker exchange it: which heap serves which request of a tape. It is a
 * file of its own beside the tape's, read-only for the worker. It holds struct ab_placement_image,
 * the heaps, the offset of each burst's part, then the parts. A part is read into memory together
 * with its burst. It begins on a page of its own, and has:
 *
 *   offsets  64 bits for each list of the part: each lane's choices, each lane's resets, each
 *            heap's lives
 *   choices  one byte (the heap) for each allocation and resize of the lane, refused ones included,
 *            in the order of its ops
 *   resets   a mask of heaps, 16 bits, for each RESET that frees blocks or ends a scope. The heaps
 *            of the mask hold only blocks that this RESET frees, so each of them may be reset in
 *            bulk; 0 = free the blocks one by one. The RESET that ends a scope (AB_RESET_DEPTH) has
 *            a second mask: heaps in which all blocks since the scope's save point are freed. If
 *            both masks are 0, blocks are freed one by one. Each MARK has the second mask of the
 *            RESET that will end its scope.
 *   lives    for a heap that is renewed, numbers of 32 bits: after how many frees the heap becomes
 *            empty, counted from the beginning of the burst, then from each time it became empty.
 *            AB_PLACEMENT_NEVER ends the list.
 */
#ifndef AB_WIRE_PLACEMENT_FILE_H
#define AB_WIRE_PLACEMENT_FILE_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "tape/tape.h"
#include "wire/kinds.h"

#define AB_PLACEMENT_HEAPS_MAX 16
#define AB_PLACEMENT_RULES_MAX 64

/* Allocator of a heap that is compiled into the loop; CALLED = none is compiled in. In a placement
 * with a compiled-in heap, one lane makes all requests. */
enum ab_placement_inlined {
    AB_PLACEMENT_CALLED,
    AB_PLACEMENT_ARENA,
    AB_PLACEMENT_POOL,
    AB_PLACEMENT_SLAB
};

struct ab_placement_heap {
    uint32_t source;  /* enum ab_source */
    uint32_t n_lanes; /* lanes that use the heap */
    uint64_t want_dev, want_ino;
    uint64_t n_remote; /* frees and resizes by another lane than the one that allocated the block */
    char name[128];    /* name in messages */
    /* builtin, prefix, params, path, values: same meaning as in struct ab_run_request */
    char builtin[65], prefix[32], params[256], path[4096];
    uint64_t values[AB_PARAMS_MAX];
    /* facts of the requests that the heap serves; `lanes` is that of the tape, or 1 if `narrows` */
    struct ab_facts facts;
    uint32_t renews;  /* 1 = reset in bulk each time its last block is freed */
    uint32_t narrows; /* 1 = opened for a single lane, because only one lane uses it */
    /* enum ab_placement_inlined; a null heap has the value of the heap that it stands for */
    uint32_t inlined;
    uint32_t reserved;
    uint64_t n_lives; /* number of times that the heap becomes empty */
};

struct ab_placement_image {
    uint32_t magic, size;
    uint64_t total_bytes;
    uint32_t n_heaps, n_lanes;
    /* 1 = the placement is a null back end: a resize from one heap to another copies nothing */
    uint32_t is_null;
    uint32_t n_bursts;
    uint64_t heaps_offset;
    uint64_t parts_offset; /* offset of a table of 64-bit offsets, one for each burst's part */
    /* bytes of the largest part; the file has at least this many bytes after the offset of every
     * part */
    uint64_t most_bytes;
};
/* number of frees in `lives`: the heap does not become empty again */
#define AB_PLACEMENT_NEVER UINT32_MAX
#define AB_PLACEMENT_MAGIC 0x31724241u /* "ABr1" */

static inline const struct ab_placement_heap *ab_placement_heap_at(
    const struct ab_placement_image *image, uint32_t i)
{
    const char *file = (const char *)image;
    return (const struct ab_placement_heap *)(const void *)(file + image->heaps_offset) + i;
}

/* ---- a burst's part ---- */

static inline uint64_t ab_placement_part(const struct ab_placement_image *image, uint32_t burst)
{
    const char *file = (const char *)image;
    return ((const uint64_t *)(const void *)(file + image->parts_offset))[burst];
}

/* Returns the number of offsets at the beginning of a part: two for each lane, one for each
 * heap. */
static inline uint32_t ab_placement_part_offsets(const struct ab_placement_image *image)
{
    return 2 * image->n_lanes + image->n_heaps;
}

static inline const void *ab_placement_stretch(const struct ab_placement_image *image,
                                               uint32_t burst, uint32_t i)
{
    const char *file = (const char *)image;
    return file + ((const uint64_t *)(const void *)(file + ab_placement_part(image, burst)))[i];
}

static inline const uint8_t *ab_placement_choices(const struct ab_placement_image *image,
                                                  uint32_t burst, uint32_t lane)
{
    return (const uint8_t *)ab_placement_stretch(image, burst, lane);
}

static inline const uint16_t *ab_placement_resets(const struct ab_placement_image *image,
                                                  uint32_t burst, uint32_t lane)
{
    return (const uint16_t *)ab_placement_stretch(image, burst, image->n_lanes + lane);
}

static inline const uint32_t *ab_placement_lives(const struct ab_placement_image *image,
                                                 uint32_t burst, uint32_t heap)
{
    return (const uint32_t *)ab_placement_stretch(image, burst, 2 * image->n_lanes + heap);
}

#endif
