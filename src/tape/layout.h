/* SPDX-License-Identifier: MIT
 *
 * The builder's inside, shared by tape.c (which pushes) and layout.c (which lays the lanes down and
 * guards what crosses them). Nobody else includes it.
 */
#ifndef AB_TAPE_LAYOUT_H
#define AB_TAPE_LAYOUT_H

#include "base/save_points.h"
#include "tape/tape.h"

struct ab_block_state { /* of one slot */
    uint64_t size;
    bool is_live;
    uint8_t born_lane, last_lane;
    uint8_t align_log2; /* that it was allocated with; 0 = natural */
    bool is_resized;
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

/* What happens at places of a lane: its iterations end, or its threads do. */
enum ab_place_kind { AB_PLACE_ITERATION, AB_PLACE_THREAD_END, AB_PLACE_KINDS };

struct ab_lane_places {
    struct ab_lane_place { /* before the lane's op of this index */
        uint32_t phase, op;
    } * items;
    size_t n, cap, next; /* next: to be laid down */
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
    struct ab_lane_places places[AB_PLACE_KINDS];
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
    size_t cap_wide, cap_phases, cap_turns, cap_ops, cap_lane_begin;
    size_t cap_places[AB_PLACE_KINDS], cap_places_begin[AB_PLACE_KINDS];
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
    size_t cap_group_order;
    bool has_groups, has_places[AB_PLACE_KINDS];
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
    size_t cap_steps; /* tape.steps: at the number of ops pushed before, until they are laid down */
    uint64_t n_kept;  /* steps, over all bursts */
    uint64_t kept_ns; /* time of the last one; tape.duration_ns: now */
    uint16_t time_flags; /* of what has passed since */
    bool is_time_work;   /* the steps of this burst are in its digest */
    bool is_cut;         /* the tape is lent out; its arrays are used again */
};

/* Ends the lane's crest here. */
void ab_tape_end_crest(struct ab_lane_ops *lane);

/* What time has passed since the last step gets one here. */
void ab_tape_keep_time(struct ab_tape_builder *b);

/* Takes the arrays of the burst that was cut off back for the next one. */
void ab_tape_take_back(struct ab_tape_builder *b);

/* From the lanes' ops to tape.ops and lane_begin, with WAITs, PUBLISHes and frames. */
enum ab_status ab_tape_lay_down(struct ab_tape_builder *b, struct ab_err *err);

/* Which lanes of a phase a window binds to each other, and how far it lets them part. With no
 * window lanes wait only for blocks that they share; then one may run ahead, allocate what the
 * others have not freed yet, and the work is not what was recorded any more. So a window is chosen
 * as wide as can be with the live bytes of every possible schedule still within a tenth of the
 * phase's peak (or AB_WINDOW_SPARE a lane). What bounds them: lanes that are within two frames of
 * each other hold, each, at most the highest level that it has in these two frames. */

/* What a lane may hold more in any case: it fits the cache next to the core, and to keep so little
 * together would take more waits than it is worth. */
#define AB_WINDOW_SPARE 32768

struct ab_tape_window {
    uint32_t frame_ops; /* half a window, in ops of the group; 0 = none */
    int64_t worst;      /* most that can live at once, weighed (above) */
    uint32_t n_groups;
    uint16_t group[AB_LANES_MAX]; /* of each lane: frames bind lanes of one group */
};

/* Of phase `p`, whose edges are edges[0 … n_edges). */
void ab_tape_choose_window(const struct ab_tape_builder *b, uint32_t p, const struct ab_edge *edges,
                           size_t n_edges, struct ab_tape_window *window);

#endif
