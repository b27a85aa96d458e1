/* SPDX-License-Identifier: MIT
 *
 * The builder's inside, shared by tape.c (which pushes) and layout.c (which lays the lanes
 * down and guards what crosses them). Nobody else includes it.
 */
#ifndef AB_TAPE_BUILDER_H
#define AB_TAPE_BUILDER_H

#include "base/save_points.h"
#include "tape/tape.h"

struct ab_block_state { /* of one slot */
    uint64_t size;
    bool is_live;
    uint8_t born_lane, last_lane;
    uint32_t last_phase; /* index + 1, over all bursts; 0 = never used */
    uint32_t last_op;    /* index in last_lane's ops */
    uint32_t born_save;  /* of born_lane's save points: ab_save_born */
};

/* What a lane has added to the live bytes (a block counts AB_BLOCK_WEIGHT bytes more than it asks
 * for): allocated by it less freed by it, so below 0 where it frees other lanes' blocks. */
struct ab_crest {
    uint32_t end;  /* of the lane's ops up to here, from the end of the crest before */
    int64_t most;  /* highest, the level before the first of them included */
    int64_t level; /* after the last of them */
};
enum { AB_BLOCK_WEIGHT = 16, AB_CREST_OPS = 64, AB_CREST_OPS_ALONE = 256, AB_CREST_GAP = 1024 };

struct ab_iteration_end { /* before the lane's op of this index */
    uint32_t phase, op;
};

struct ab_lane_ops {
    uint64_t *ops;
    size_t n, cap;
    int64_t begin_level; /* before its first op */
    int64_t level, most; /* now; highest since the last crest ended */
    uint64_t pushed_at;  /* ops of all lanes when its last one came */
    struct ab_crest *crests;
    size_t n_crests, cap_crests;
    size_t crest_begin; /* the op that the next one begins with */
    uint8_t *groups;    /* of its allocations and resizes; ab_tape_group */
    size_t n_groups, cap_groups;
    struct ab_iteration_end *iterations;
    size_t n_iterations, cap_iterations, next_iteration; /* next: to be laid down */
    uint64_t unwritten_bytes;     /* AB_TOUCH_APART: of blocks that were passed over in a row */
    struct ab_save_points *saves; /* NULL until it takes one; owned */
};

/* Where a lane takes up a slot that another lane had last in the same phase. */
struct ab_edge {
    uint32_t phase;
    uint8_t to_lane, from_lane;
    uint32_t to, from; /* indexes in these lanes' ops */
};

struct ab_tape_builder {
    struct ab_tape tape; /* ops and lane_begin come at the end */
    size_t cap_wide, cap_phases, cap_turns, cap_ops, cap_lane_begin, cap_iterations,
        cap_iteration_begin;
    struct ab_lane_ops *lanes;
    uint32_t n_lanes, lane; /* used so far; of what is pushed next */
    struct ab_lane_ops *to; /* that lane */
    struct ab_phase *phase; /* that it is pushed to; NULL before the first */
    uint32_t *starts;       /* phase p, lane l: x[p·AB_LANES_MAX + l], ops of the lane before it */
    size_t cap_starts;
    uint64_t *peaks; /* of the live bytes in each phase, weighed as the lanes' are */
    size_t cap_peaks;
    struct ab_edge *edges;
    size_t n_edges, cap_edges;
    uint32_t *awaited; /* in this phase: lane `to` has waited for x[to·MAX + from] ops of from */
    bool has_groups, has_iterations;
    uint8_t group; /* of what is pushed next */
    uint32_t window;
    bool is_window_always;
    struct ab_block_state *slots;
    size_t cap_slots;
    uint64_t n_pushed, n_requests;
    uint64_t live_blocks, live_bytes;
    uint64_t reset_at_bytes; /* requested before the last bulk reset */
    bool lost_resets;        /* one was forbidden when lanes were laid down */
    uint32_t phases_before;  /* of bursts that were cut off */
    bool is_cut;             /* the tape is lent out; its arrays are used again */
};

/* Ends the lane's crest here. */
void ab_tape_end_crest(struct ab_lane_ops *lane);

/* Notes an edge from the slot's last use to the op pushed next by the current lane, if that is
 * another lane's in this phase and no edge covers it yet. */
void ab_tape_note_wait(struct ab_tape_builder *b, const struct ab_block_state *slot);

/* Notes the group of an allocation or resize that is pushed. */
void ab_tape_note_group(struct ab_tape_builder *b);
/* Hands the lanes' groups over to the tape. */
void ab_tape_keep_groups(struct ab_tape_builder *b);

/* Notes that the op pushed next by the current lane uses the slot; an edge where another lane used
 * it last in this phase. */
static inline bool ab_tape_note_use(struct ab_tape_builder *b, struct ab_block_state *slot)
{
    uint32_t phase = b->phases_before + b->tape.n_phases;
    if (slot->last_phase == phase && slot->last_lane != b->lane)
        ab_tape_note_wait(b, slot);
    slot->last_phase = phase;
    slot->last_lane = (uint8_t)b->lane;
    slot->last_op = (uint32_t)b->to->n;
    return true;
}

#endif
