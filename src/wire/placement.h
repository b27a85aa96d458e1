/* SPDX-License-Identifier: MIT
 *
 * A placement, as parent and worker see it: which heap serves which request of a tape. A file of its
 * own beside the tape's, read-only for the worker: struct ab_placement_image, the heaps, where each burst's
 * part lies, then the parts. Each is brought into memory with its burst, and is, on pages of its own:
 *
 *   where its stretches lie, 64 bits each: of the choices of each lane, of its resets, of each heap's
 *   lives
 *   choices  one byte (the heap) for each allocation and resize of the lane, refused ones as well, in
 *            the order of its ops
 *   resets   for each of its RESETs with blocks or of a scope a mask of 16 bits: heaps that hold the blocks that die
 *            and nothing else, so that a bulk reset of each does the same; 0 = one by one. Of one that
 *            ends a scope (AB_RESET_DEPTH), a second mask: heaps in which all blocks since the scope's
 *            save point die; both 0 = one by one. For each MARK the heaps of which that will be true
 *   lives    of a heap that is renewed, 32 bits each: how many frees it takes from the begin of the
 *            burst until it is empty, and from there again and again; in the end AB_PLACEMENT_NEVER
 */
#ifndef AB_WIRE_PLACEMENT_H
#define AB_WIRE_PLACEMENT_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "tape/tape.h"
#include "wire/kinds.h"

#define AB_PLACEMENT_HEAPS_MAX 16
#define AB_PLACEMENT_RULES_MAX 64

/* Whose functions the loop has compiled in for a heap; of such a placement one lane alone makes all
 * requests. */
enum ab_placement_inlined {
    AB_PLACEMENT_CALLED,
    AB_PLACEMENT_ARENA,
    AB_PLACEMENT_POOL,
    AB_PLACEMENT_SLAB
};

struct ab_placement_heap {
    uint32_t source;  /* enum ab_source */
    uint32_t n_lanes; /* that use it */
    uint64_t want_dev, want_ino;
    uint64_t
        n_remote;   /* its blocks' frees and resizes by another lane than the one that allocated */
    char name[128]; /* as in messages */
    char builtin[65], prefix[32], params[256], path[4096]; /* as in struct ab_run_request */
    uint64_t values[AB_PARAMS_MAX];
    struct ab_facts facts; /* of what it serves; lanes: of the tape, or 1 as `narrows` says */
    uint32_t renews;       /* its bulk reset comes when its last block is freed */
    uint32_t narrows;      /* one lane alone uses it: it is opened as for a tape of one */
    uint32_t inlined; /* enum ab_placement_inlined; of a null: that of the heap it stands for */
    uint32_t reserved;
    uint64_t n_lives; /* how often it is empty */
};

struct ab_placement_image {
    uint32_t magic, size;
    uint64_t total_bytes;
    uint32_t n_heaps, n_lanes;
    uint32_t is_null; /* the null back end behind it: a resize from heap to heap copies nothing */
    uint32_t n_bursts;
    uint64_t heaps_offset;
    uint64_t parts_offset; /* 64 bits for each burst: where its part lies */
    uint64_t most_bytes;   /* of a part; so much of the file is there from any part's offset on */
};
#define AB_PLACEMENT_NEVER UINT32_MAX  /* frees until it is empty */
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

/* 2 offsets a lane, one a heap. */
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
