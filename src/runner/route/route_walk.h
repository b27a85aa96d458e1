/* SPDX-License-Identifier: MIT
 *
 * The walk over a tape that decides which heap serves each request, before it becomes a file.
 */
#ifndef AB_RUNNER_ROUTE_ROUTE_WALK_H
#define AB_RUNNER_ROUTE_ROUTE_WALK_H

#include "runner/route/route.h"

struct ab_route_lane { /* what becomes of a lane's stretch of the file; owned */
    uint8_t *choices;
    size_t n_choices, cap_choices;
    uint16_t *resets;
    size_t n_resets, cap_resets;
};

struct ab_route_lives { /* frees from one time that a heap is empty to the next; owned */
    uint32_t *frees;
    size_t n, cap;
    uint64_t since; /* the last of them */
    bool is_unsure; /* how many there are depends on what is refused */
};

struct ab_route_walk {
    struct ab_route_lane *lanes; /* one a lane of the tape; owned */
    struct ab_route_heap heaps[AB_ROUTE_HEAPS_MAX];
    struct ab_route_lives lives[AB_ROUTE_HEAPS_MAX];
    uint64_t n_requests[AB_ROUTE_RULES_MAX]; /* by rule */
    uint8_t *heap_of;                        /* as in struct ab_route; owned */
    struct ab_route_use (*uses)[AB_ROUTE_HEAPS_MAX];
};

/* End it with ab_route_walk_fini in any case. */
enum ab_status ab_route_walk(const struct ab_route_plan *plan, const struct ab_tape_map *tape,
                             uint8_t *const *groups, struct ab_route_walk *out, struct ab_err *err);
void ab_route_walk_fini(struct ab_route_walk *walk, uint32_t n_lanes);

/* So much of a heap's name is shown: all but the number of one of two that are taken in turn. */
int ab_route_shown_name(const char *name);
/* As which heap heaps[h] is shown: the how many-th name its own is, from 0. */
uint32_t ab_route_shown(const struct ab_route_heap *heaps, uint32_t h);

#endif
