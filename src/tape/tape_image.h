/* SPDX-License-Identifier: MIT
 *
 * The format of the mapped tape file: struct ab_tape_image, then the bursts, then data about all of
 * them. Plain data with a fixed layout, so that the worker needs no parser.
 */
#ifndef AB_TAPE_TAPE_IMAGE_H
#define AB_TAPE_TAPE_IMAGE_H

#include "tape/tape.h"

#include <stdint.h>

#define AB_PHASES_MAX 256

/* Bitmap of the positions of a burst that are operations (ab_tape_mark_ops). For each
 * AB_OP_MARKS_ROW positions there is also the number of operations of the whole tape before
 * them. */
struct ab_op_marks {
    uint64_t bits_offset, before_offset;
};
#define AB_OP_MARKS_ROW 4096u

/* A burst is a tape of its own: the whole tape, or a part of it. Its op i is op first + i of the
 * whole tape. Offsets are in bytes from the start of the file. */
struct ab_burst {
    uint64_t offset; /* start of the pages that contain it */
    uint64_t ops_offset, wide_offset, phases_offset, lane_begin_offset, turns_offset;
    struct ab_burst_places {
        uint64_t at_offset, begin_offset;
        /* first: number of ops in earlier bursts; n: number of ops in this one */
        uint32_t first, n;
    } iterations, thread_ends;
    uint32_t first, n_ops;
    struct ab_op_marks in_order, as_it_lies; /* after the pages that workers map */
};

/* Head of the tape file. */
struct ab_tape_image {
    uint32_t magic, size;
    uint64_t total_bytes;
    /* phases_offset: the phases of the whole tape; each burst has phases of its own too */
    uint64_t phases_offset, bursts_offset;
    /* size of the largest burst; at least this many bytes follow every burst's offset */
    uint64_t most_bytes;
    uint32_t n_ops, n_phases, n_slots, n_lanes; /* of all bursts */
    uint32_t window;
    uint32_t n_bursts;
    uint32_t n_iterations, n_thread_ends; /* of all bursts */
    uint64_t n_turns, n_edges, n_remote;
    uint64_t stretch_bytes; /* most bytes requested between two bulk resets, or between one and an
                               end of the tape */
    uint64_t n_sized_frees, n_trims;
    uint32_t longest_walk;
    uint32_t has_first_ended; /* True if a recorded thread of lane 0 ends */
    struct ab_facts facts;
    /* steps_offset: one array for the whole tape, with its positions */
    uint64_t steps_offset, duration_ns;
    uint32_t n_steps;
    uint32_t n_counted; /* number of operations; n_ops counts all positions */
};
#define AB_TAPE_IMAGE_MAGIC 0x31744241u /* "ABt1" */

struct ab_tape_part { /* pointers to a burst in a mapping of the tape file */
    const uint64_t *ops;
    const struct ab_wide *wide;
    const struct ab_phase *phases; /* its own phases; `begin` and `end` count from the start of the
                                      burst */
    const uint32_t *lane_begin;
    const struct ab_turn *turns;
    const uint32_t *iterations, *iteration_begin;   /* as in struct ab_tape; not to be read if there
                                                     are none */
    const uint32_t *thread_ends, *thread_end_begin; /* the same for ends of threads */
    uint32_t first_iteration, n_iterations, n_thread_ends;
    uint32_t first, n_ops;
};

/* Returns the phases of all bursts as if they were one. */
static inline const struct ab_phase *ab_tape_phases(const struct ab_tape_image *image)
{
    const char *file = (const char *)image;
    return (const struct ab_phase *)(const void *)(file + image->phases_offset);
}

static inline const struct ab_time_step *ab_tape_steps(const struct ab_tape_image *image)
{
    const char *file = (const char *)image;
    return (const struct ab_time_step *)(const void *)(file + image->steps_offset);
}

static inline const struct ab_burst *ab_tape_burst(const struct ab_tape_image *image, uint32_t i)
{
    const char *file = (const char *)image;
    return (const struct ab_burst *)(const void *)(file + image->bursts_offset) + i;
}

static inline struct ab_tape_part ab_tape_part(const struct ab_tape_image *image, uint32_t i)
{
    const struct ab_burst *b = ab_tape_burst(image, i);
    const char *file = (const char *)image;
    return (struct ab_tape_part){
        .ops = (const void *)(file + b->ops_offset),
        .wide = (const void *)(file + b->wide_offset),
        .phases = (const void *)(file + b->phases_offset),
        .lane_begin = (const void *)(file + b->lane_begin_offset),
        .turns = (const void *)(file + b->turns_offset),
        .iterations = (const void *)(file + b->iterations.at_offset),
        .iteration_begin = (const void *)(file + b->iterations.begin_offset),
        .thread_ends = (const void *)(file + b->thread_ends.at_offset),
        .thread_end_begin = (const void *)(file + b->thread_ends.begin_offset),
        .first_iteration = b->iterations.first,
        .n_iterations = b->iterations.n,
        .n_thread_ends = b->thread_ends.n,
        .first = b->first,
        .n_ops = b->n_ops,
    };
}

#endif
