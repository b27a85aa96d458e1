/* SPDX-License-Identifier: MIT
 *
 * Internals of the tape builder, shared by tape.c (pushes ops) and layout.c (lays out the lanes and
 * guards accesses between them). No other file includes it.
 */
#ifndef AB_TAPE_LAYOUT_H
#define AB_TAPE_LAYOUT_H

#include "base/save_points.h"
#include "tape/tape.h"

struct ab_block_state { /* state of one slot */
    uint64_t size;
    bool is_live;
    uint8_t born_lane, last_lane;
    uint8_t align_log2; /* log2 of the requested alignment; 0 = natural */
    bool is_resized;
    /* phase in which the slot was used last, plus 1, counted over all bursts; 0 = never used */
    uint32_t last_phase;
    uint32_t last_op;   /* last use of the slot: index in the ops of last_lane */
    uint32_t born_save; /* number of save points that born_lane had taken when the block was
                            allocated, as ab_save_born() returns it */
};

/* Course of a lane's contribution to the live bytes, where a block counts AB_BLOCK_WEIGHT bytes
 * more than it requests. The contribution is what the lane allocated minus what it freed. It is
 * below 0 if the lane frees other lanes' blocks. */
struct ab_crest {
    uint32_t end;  /* end of this stretch in the lane's ops; it begins where the previous crest
                      ended */
    int64_t most;  /* highest level, including the level before the first op */
    int64_t level; /* level after the last op */
};
enum { AB_BLOCK_WEIGHT = 16, AB_CREST_OPS = 64, AB_CREST_OPS_ALONE = 256, AB_CREST_GAP = 1024 };

/* Kinds of events at places of a lane: the end of an iteration, or of its thread. */
enum ab_place_kind { AB_PLACE_ITERATION, AB_PLACE_THREAD_END, AB_PLACE_KINDS };

struct ab_lane_places {
    struct ab_lane_place { /* the event is before op `op` of the lane in phase `phase` */
        uint32_t phase, op;
    } * items;
    size_t n, cap, next; /* next: index of the first place that is not laid out yet */
};

struct ab_lane_ops {
    uint64_t *ops;
    size_t n, cap;
    int64_t begin_level; /* level before the lane's first op */
    int64_t level, most; /* current level; highest since the last crest ended */
    uint64_t pushed_at;  /* number of ops of all lanes when the lane's last op was pushed */
    struct ab_crest *crests;
    size_t n_crests, cap_crests;
    size_t crest_begin; /* first op of the next crest */
    uint8_t *groups;    /* groups of the lane's allocations and resizes, see ab_tape_group */
    size_t n_groups, cap_groups;
    struct ab_lane_places places[AB_PLACE_KINDS];
    uint64_t unwritten_bytes;     /* AB_TOUCH_APART: bytes of consecutive blocks that were not
                                     touched */
    struct ab_save_points *saves; /* save points of the lane, owned; NULL until it takes one */
};

/* A dependency between lanes: `to_lane` uses a slot that `from_lane` used last in the same
 * phase. */
struct ab_edge {
    uint32_t phase;
    uint8_t to_lane, from_lane;
    uint32_t to, from; /* indices in these lanes' ops */
};

struct ab_tape_builder {
    struct ab_tape tape; /* ops and lane_begin are filled at the end */
    size_t cap_wide, cap_phases, cap_turns, cap_ops, cap_lane_begin;
    size_t cap_places[AB_PLACE_KINDS], cap_places_begin[AB_PLACE_KINDS];
    struct ab_lane_ops *lanes;
    uint32_t n_lanes, lane; /* lanes used so far; lane of the next push */
    struct ab_lane_ops *to; /* lanes[lane] */
    struct ab_phase *phase; /* current phase; NULL before the first */
    /* x = starts: x[p·AB_LANES_MAX + l] is the number of ops of lane l before phase p */
    uint32_t *starts;
    size_t cap_starts;
    uint64_t *peaks; /* peak of live bytes in each phase, weighted as in the lanes */
    size_t cap_peaks;
    struct ab_edge *edges;
    size_t n_edges, cap_edges;
    /* x = awaited, in this phase: lane `to` has waited for x[to·MAX + from] ops of lane `from` */
    uint32_t *awaited;
    size_t cap_group_order;
    bool has_groups, has_places[AB_PLACE_KINDS];
    uint8_t group; /* group of the next push */
    uint32_t window;
    bool is_window_always;
    struct ab_block_state *slots;
    size_t cap_slots;
    uint64_t n_pushed, n_requests;
    uint64_t live_blocks, live_bytes;
    uint64_t reset_at_bytes; /* bytes requested before the last bulk reset */
    bool lost_resets;        /* True if a bulk reset was forbidden when lanes were laid out */
    uint32_t phases_before;  /* phases in bursts that were cut off */
    /* capacity of tape.steps, whose positions are numbers of ops pushed before until the tape is
     * laid out */
    size_t cap_steps;
    uint64_t n_kept;     /* number of steps over all bursts */
    uint64_t kept_ns;    /* time of the last step in ns; the current time is tape.duration_ns */
    uint16_t time_flags; /* flags of the time that has passed since the last step */
    bool is_time_work;   /* True if the steps of this burst are part of its digest */
    bool is_cut;         /* True while the tape is lent out as a burst; its arrays will be reused */
};

/* Ends the lane's current crest. */
void ab_tape_end_crest(struct ab_lane_ops *lane);

/* Adds a step here for the time that has passed since the last one. */
void ab_tape_keep_time(struct ab_tape_builder *b);

/* Lays out the lanes' ops into tape.ops and lane_begin, with WAITs, PUBLISHes and frames. */
enum ab_status ab_tape_lay_down(struct ab_tape_builder *b, struct ab_err *err);

/* Choice of the skew window of a phase: which lanes it binds to each other, and how far they may
 * part. Without a window, lanes wait only for blocks that they share. One may then run ahead and
 * allocate what the others have not freed yet, which is not the recorded work any more.
 *
 * The window is as wide as possible, as long as every schedule keeps the live bytes within a tenth
 * of the phase's peak (or AB_WINDOW_SPARE per lane). The bound: lanes that are within two frames of
 * each other hold at most their highest levels in these two frames. */

/* Bytes that a lane may hold in addition in any case. So little fits into the cache next to the
 * core, and binding lanes more closely would cost more waits than it is worth. */
#define AB_WINDOW_SPARE 32768

struct ab_tape_window {
    uint32_t frame_ops; /* half of the window, in ops of the group; 0 = no window */
    int64_t worst;      /* largest number of live bytes, weighted (above) */
    uint32_t n_groups;
    uint16_t group[AB_LANES_MAX]; /* group of each lane: frames bind the lanes of a group */
};

/* Chooses the window of phase `p`, whose edges are edges[0 … n_edges). */
void ab_tape_choose_window(const struct ab_tape_builder *b, uint32_t p, const struct ab_edge *edges,
                           size_t n_edges, struct ab_tape_window *window);

#endif
