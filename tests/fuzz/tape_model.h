/* SPDX-License-Identifier: MIT
 *
 * What was pushed at a tape builder, kept beside it: the requests in their one order, which use of
 * a slot follows which, and the sums. And the check of the tape that comes out of it.
 */
#ifndef AB_TESTS_FUZZ_TAPE_MODEL_H
#define AB_TESTS_FUZZ_TAPE_MODEL_H

#include "base/save_points.h"
#include "tape/tape.h"

enum {
    MODEL_LANES = 8,
    MODEL_SLOTS = 64, /* of these programs; those that only pass the time come behind */
    MODEL_ALL_SLOTS = MODEL_SLOTS + MODEL_LANES,
    MODEL_REQUESTS = 60000, /* between two cuts */
    MODEL_PHASES = 64,
    MODEL_AWAITS = 2000,
};
#define MODEL_NONE UINT32_MAX

struct model_request {
    struct ab_request request;
    uint8_t kind; /* enum ab_op_kind */
    uint8_t lane;
    bool is_bulk;   /* RESET: of all that lives */
    bool is_mark;   /* RESET: a save point */
    bool is_dead;   /* RESET of a scope: nothing lives after it that its lane made since the mark */
    uint32_t depth; /* RESET of a scope */
    uint32_t slot;  /* of RESET: how many */
    uint32_t prev;  /* the slot's use before, in this phase; or NONE */
    uint32_t awaits; /* the first of what it must come behind; or NONE */
};

struct model_await {
    uint32_t of, next; /* a request; another await of the same one that waits, or NONE */
};

struct model_phase {
    uint32_t begin, end; /* requests */
    uint32_t n_ops[AB_OP_KIND_COUNT], n_touches;
    bool has_crossed; /* a slot went from lane to lane */
};

struct tape_model {
    uint32_t n_lanes, lane;
    uint32_t window; /* as set */
    bool is_window_always;
    uint32_t n_requests, n_phases, n_awaits;
    struct { /* slots */
        uint64_t size;
        uint32_t last; /* request of this phase, or NONE */
        uint8_t born_lane;
        bool is_live;
        uint64_t made[MODEL_LANES]; /* when the lane allocated or resized it last; 0 = never */
    } slots[MODEL_ALL_SLOTS];
    struct { /* lanes: save points, in time as above */
        uint64_t open[AB_SAVE_POINTS_MAX];
        uint32_t n;
        uint64_t last_made;
    } marks[MODEL_LANES];
    uint64_t n_made;
    /* from the beginning on */
    uint32_t n_slots, kinds;
    uint64_t live_blocks, live_bytes, peak_blocks, peak_bytes, total_blocks, total_bytes;
    uint64_t largest_bytes, largest_align, n_no_op_frees;
    uint64_t n_remote;               /* since the last cut */
    uint32_t pending[MODEL_LANES];   /* awaits of the lane's next request; or NONE */
    uint64_t unwritten[MODEL_LANES]; /* AB_TOUCH_APART: bytes since the last such touch */
    /* since the last cut; large, and never cleared */
    struct model_request requests[MODEL_REQUESTS];
    struct model_phase phases[MODEL_PHASES];
    struct model_await awaits[MODEL_AWAITS];
};

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            model_fail(#condition, __FILE__, __LINE__); \
    } while (0)
_Noreturn void model_fail(const char *condition, const char *file, int line);

/* Aborts when the tape is not what was pushed, or when its lanes, each on its own and held back
 * only by its guards, could hang, use a slot before its turn, or part further than the window. */
void model_check_tape(const struct tape_model *m, const struct ab_tape *tape);

#endif
