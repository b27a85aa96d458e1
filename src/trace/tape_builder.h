/* SPDX-License-Identifier: MIT
 *
 * The builder's inside, shared by tape.c (which pushes) and tape_layout.c (which lays the lanes
 * down and guards what crosses them). Nobody else includes it.
 */
#ifndef AB_TRACE_TAPE_BUILDER_H
#define AB_TRACE_TAPE_BUILDER_H

#include "trace/tape.h"

struct ab_block_state { /* of one slot */
    uint64_t size;
    bool is_live;
    uint8_t born_lane, last_lane;
    uint32_t last_phase; /* index + 1, over all bursts; 0 = never used */
    uint32_t last_op;    /* index in last_lane's ops */
};

struct ab_lane_ops {
    uint64_t *ops;
    size_t n, cap;
};

/* Where a lane takes up a slot that another lane had last in the same phase. */
struct ab_edge {
    uint32_t phase;
    uint8_t to_lane, from_lane;
    uint32_t to, from; /* indexes in these lanes' ops */
};

struct ab_tape_builder {
    struct ab_tape tape; /* ops and lane_begin come at the end */
    size_t cap_wide, cap_phases, cap_turns, cap_ops, cap_lane_begin;
    struct ab_lane_ops *lanes;
    uint32_t n_lanes, lane; /* used so far; of what is pushed next */
    uint32_t *starts;       /* phase p, lane l: x[p·AB_LANES_MAX + l], ops of the lane before it */
    size_t cap_starts;
    struct ab_edge *edges;
    size_t n_edges, cap_edges;
    uint32_t *awaited;      /* in this phase: lane `to` has waited for x[to·MAX + from] ops of from */
    uint32_t window;
    bool is_window_always;
    struct ab_block_state *slots;
    size_t cap_slots;
    uint64_t n_pushed, n_requests;
    uint64_t live_blocks, live_bytes;
    uint32_t phases_before; /* of bursts that were cut off */
    bool is_cut;            /* the tape is lent out; its arrays are used again */
};

/* Makes room for one more element; false when out of memory. */
bool ab_tape_grow(void **items, size_t *cap, size_t n, size_t item_bytes);

/* Notes an edge from the slot's last use to the op pushed next by the current lane, if that is
 * another lane's in this phase and no edge covers it yet. False when out of memory. */
bool ab_tape_note_wait(struct ab_tape_builder *b, const struct ab_block_state *slot);

/* Notes that the op pushed next by the current lane uses the slot; an edge where another lane used
 * it last in this phase. False when out of memory. */
bool ab_tape_note_use(struct ab_tape_builder *b, struct ab_block_state *slot);

/* Takes the arrays of the burst that was cut off back for the next one. */
void ab_tape_take_back(struct ab_tape_builder *b);

/* From the lanes' ops to tape.ops and lane_begin, with WAITs, PUBLISHes and frames. */
enum ab_status ab_tape_lay_down(struct ab_tape_builder *b, struct ab_err *err);

#endif
