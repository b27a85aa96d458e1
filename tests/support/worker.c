/* SPDX-License-Identifier: MIT */
#include "support/worker.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <sys/mman.h>

void test_worker_open(struct ab_worker *w, const struct ab_tape_map *map)
{
    w->image = map->image;
    assert_true(ab_worker_enter_burst(w, 0));
    w->slots = calloc((size_t)map->image->n_slots + 1, sizeof w->slots[0]);
    ab_lanes_open(w);
}

void test_worker_close(struct ab_worker *w)
{
    size_t n_reports = (size_t)w->image->n_lanes * w->image->n_phases;
    if (w->image->n_lanes > 1)
        munmap(w->lanes[0].reports, n_reports * sizeof(struct ab_phase_report));
    munmap(w->lanes, w->image->n_lanes * sizeof w->lanes[0]);
    w->lanes = NULL;
    free(w->slots);
}

struct ab_target test_target_of_face(const struct ab_heap_face *face, struct ab_backend *hooks)
{
    *hooks = (struct ab_backend){
        .alloc = face->alloc,
        .free = face->free,
        .resize = face->resize,
        .alloc_zeroed = face->alloc_zeroed,
        .alloc_aligned = face->alloc_aligned,
        .reset = face->reset,
        .resolve = face->resolve,
        .usable_size = face->usable_size,
    };
    return (struct ab_target){.hooks = hooks, .heap = face->heap};
}
