/* SPDX-License-Identifier: MIT
 *
 * A placement, as parent and worker see it: which heap serves which request of a tape. A file of its
 * own beside the tape's, read-only for the worker: struct ab_route_image, the heaps, then for each
 * lane one byte (the heap) for each of its allocations and resizes, refused ones as well, in the
 * order of its ops; and for each of its RESETs with blocks a mask of 16 bits: heaps that hold the
 * blocks that die and nothing else, so that a bulk reset of each does the same; 0 = one by one. And
 * for each heap that is renewed, 32 bits each: how many frees it takes until it is empty, again and
 * again; in the end AB_ROUTE_NEVER.
 */
#ifndef AB_WIRE_ROUTE_H
#define AB_WIRE_ROUTE_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "tape/tape.h"
#include "wire/source.h"

#define AB_ROUTE_HEAPS_MAX 16
#define AB_ROUTE_RULES_MAX 64

struct ab_route_heap {
    uint32_t source;  /* enum ab_source */
    uint32_t n_lanes; /* that use it */
    uint64_t want_dev, want_ino;
    uint64_t
        n_remote;   /* its blocks' frees and resizes by another lane than the one that allocated */
    char name[128]; /* as in messages */
    char builtin[65], prefix[32], params[256], path[4096]; /* as in struct ab_run_request */
    uint64_t values[AB_PARAMS_MAX];
    struct ab_facts facts;          /* of what it serves; lanes: of the tape */
    uint32_t renews, reserved;      /* its bulk reset comes when its last block is freed */
    uint64_t lives_offset, n_lives; /* its frees from empty to empty, 32 bits each */
};

struct ab_route_image {
    uint32_t magic, size;
    uint64_t total_bytes;
    uint32_t n_heaps, n_lanes;
    uint32_t is_null; /* the null back end behind it: a resize from heap to heap copies nothing */
    uint32_t reserved;
    uint64_t heaps_offset;
    uint64_t choices_offset[AB_LANES_MAX]; /* bytes; of the lane's first request */
    uint64_t resets_offset[AB_LANES_MAX];  /* masks of 16 bits; of its first RESET */
};
#define AB_ROUTE_NEVER UINT32_MAX  /* frees until it is empty */
#define AB_ROUTE_MAGIC 0x31724241u /* "ABr1" */

static inline const struct ab_route_heap *ab_route_heap_at(const struct ab_route_image *image,
                                                           uint32_t i)
{
    const char *file = (const char *)image;
    return (const struct ab_route_heap *)(const void *)(file + image->heaps_offset) + i;
}

#endif
