/* SPDX-License-Identifier: MIT
 *
 * The walk over a tape that decides which heap serves each request, before it becomes a file.
 */
#ifndef AB_RUNNER_ROUTE_WALK_H
#define AB_RUNNER_ROUTE_WALK_H

#include "base/save_points.h"
#include "runner/route.h"

struct ab_route_lane { /* what becomes of a lane's stretches in a burst's part of the file; owned */
    uint8_t *choices;
    size_t n_choices, cap_choices;
    uint16_t *resets;
    size_t n_resets, cap_resets;
    struct ab_save_points *saves; /* NULL until it takes one; owned */
};

struct
    ab_route_lives { /* of a heap in a burst: frees from one time that it is empty to the next; owned */
    uint32_t *frees;
    size_t n, cap;
    uint64_t since; /* the last of them */
    bool is_unsure; /* how many there are depends on what is refused */
};

struct ab_route_block { /* of a slot */
    uint64_t size;
    uint32_t lane;
    uint32_t born_save; /* of that lane's save points: ab_save_born */
    uint8_t heap, origin;
};

struct ab_route_walk { /* begins as {0} */
    /* of the burst that was walked last */
    struct ab_route_lane *lanes; /* one a lane of the tape; owned */
    struct ab_route_lives lives[AB_ROUTE_HEAPS_MAX];
    uint8_t *heap_of; /* as in struct ab_route, of its ops; owned */
    /* of all so far */
    struct ab_route_heap heaps[AB_ROUTE_HEAPS_MAX];
    uint64_t n_requests[AB_ROUTE_RULES_MAX];         /* by rule */
    struct ab_route_use (*uses)[AB_ROUTE_HEAPS_MAX]; /* as in struct ab_route; owned */
    /* how far it is */
    const struct ab_route_plan *plan;
    const struct ab_tape_image *image;
    uint8_t *const *groups;
    struct ab_tape_part tape;
    struct ab_route_block *blocks; /* one a slot; owned */
    uint64_t live_blocks[AB_ROUTE_HEAPS_MAX], live_bytes[AB_ROUTE_HEAPS_MAX];
    uint8_t shown[AB_ROUTE_HEAPS_MAX]; /* as in struct ab_route */
    struct ab_route_use *use;          /* of the phase */
    bool is_user[AB_ROUTE_HEAPS_MAX][AB_LANES_MAX];
    bool may_reset; /* of the phase: one lane at work */
    size_t n_born;  /* allocations so far, refused ones as well */
};

/* `plan`, `tape` and `groups` (of a tape in one burst) are borrowed until the end. End it with
 * ab_route_walk_fini in any case. */
void ab_route_walk_begin(struct ab_route_walk *w, const struct ab_route_plan *plan,
                         const struct ab_tape_image *tape, uint8_t *const *groups);
/* The bursts in their order; the last life of a heap that asks to be renewed is AB_ROUTE_NEVER. */
void ab_route_walk_burst(struct ab_route_walk *w, uint32_t burst);
/* After the last one: which heaps are renewed is known then. AB_INPUT for origins of another work. */
enum ab_status ab_route_walk_end(struct ab_route_walk *w, struct ab_err *err);
void ab_route_walk_fini(struct ab_route_walk *w);

/* So much of a heap's name is shown: all but the number of one of two that are taken in turn. */
int ab_route_shown_name(const char *name);
/* As which heap heaps[h] is shown: the how many-th name its own is, from 0. */
uint32_t ab_route_shown(const struct ab_route_heap *heaps, uint32_t h);

#endif
