/* SPDX-License-Identifier: MIT
 *
 * What pushing ops and laying them down share, and what is said of a tape before that.
 */
#include "tape/builder.h"

#include "core/grow.h"
#include "core/memory.h"

#include <stdlib.h>

/* A wait may be for so many ops more than it needs, if they come before it in the global order too:
 * one then does for all of a batch of blocks that was handed over. */
enum { WAIT_BATCH = 64 };

void ab_tape_end_crest(struct ab_lane_ops *lane)
{
    if (lane->n == lane->crest_begin)
        return;
    AB_GROW(lane->crests, lane->cap_crests, lane->n_crests);
    lane->crests[lane->n_crests++] = (struct ab_crest){
        .end = (uint32_t)lane->n, .most = lane->most, .level = lane->level};
    lane->most = lane->level;
    lane->crest_begin = lane->n;
}

void ab_tape_note_wait(struct ab_tape_builder *b, const struct ab_block_state *slot)
{
    uint32_t phase = b->tape.n_phases;
    if (slot->last_phase != b->phases_before + phase || slot->last_lane == b->lane)
        return;
    const size_t square = (size_t)AB_LANES_MAX * AB_LANES_MAX;
    if (b->awaited == NULL)
        b->awaited = ab_alloc_zeroed(square, sizeof(uint32_t));
    uint32_t *awaited = &b->awaited[(size_t)b->lane * AB_LANES_MAX + slot->last_lane];
    if (slot->last_op < *awaited)
        return;
    AB_GROW(b->edges, b->cap_edges, b->n_edges);
    uint32_t pushed = (uint32_t)b->lanes[slot->last_lane].n, wanted = slot->last_op + WAIT_BATCH;
    *awaited = wanted < pushed ? wanted : pushed;
    b->edges[b->n_edges++] = (struct ab_edge){.phase = phase - 1,
                                              .to_lane = (uint8_t)b->lane,
                                              .from_lane = slot->last_lane,
                                              .to = (uint32_t)b->to->n,
                                              .from = *awaited - 1};
}

void ab_tape_set_window(struct ab_tape_builder *b, uint32_t window, bool always)
{
    b->window = window;
    b->is_window_always = always;
}

void ab_tape_group(struct ab_tape_builder *b, uint32_t group)
{
    b->has_groups = b->has_groups || b->n_pushed == 0;
    b->group = (uint8_t)group;
}

void ab_tape_note_group(struct ab_tape_builder *b)
{
    struct ab_lane_ops *lane = b->to;
    AB_GROW(lane->groups, lane->cap_groups, lane->n_groups);
    lane->groups[lane->n_groups++] = b->group;
}

void ab_tape_keep_groups(struct ab_tape_builder *b)
{
    if (!b->has_groups)
        return;
    b->tape.groups = ab_alloc_zeroed(b->n_lanes, sizeof b->tape.groups[0]);
    for (uint32_t l = 0; l < b->n_lanes; l++) {
        b->tape.groups[l] = b->lanes[l].groups;
        b->lanes[l].groups = NULL;
    }
}
