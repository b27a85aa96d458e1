/* SPDX-License-Identifier: MIT
 *
 * Compiles a valid workload to a tape. generate.c executes phases, turns and the bodies of lanes;
 * steps.c executes verbs. Both work on the same state, which this header defines. generate.c calls
 * functions of steps.c and play.c, which call no function of generate.c.
 */
#ifndef AB_WORKLOAD_GENERATE_GENERATE_H
#define AB_WORKLOAD_GENERATE_GENERATE_H

#include "tape/slot_pool.h"
#include "workload/config.h"
#include "workload/generate/live_set.h"
#include "workload/generate/queue.h"
#include "workload/yaml_index.h"

/* Length of a lane's turn: this many ops, or steps without effect. Then the next lane has its
 * turn. */
#define AB_TURN_STEPS 16

/* The blocks of a set in one lane, or in all lanes if the set is shared. */
struct ab_instance {
    struct ab_live_set live;
    struct ab_window {
        uint32_t fill; /* position at which the search for an empty one begins */
        /* first position of the survivors: `begin` since the window was last full, `next` when it
         * is full again */
        uint32_t begin, next;
        /* number of blocks that must still be freed before the window is filled again */
        uint32_t n_left;
    } window;
    uint32_t base;   /* slot of position 0, if `slots` is NULL */
    uint32_t *slots; /* slot of each position, if blocks change their position; else NULL */
    struct ab_queue queue;
    struct ab_play *play; /* state of `play` for a set of kind model; NULL until it begins */
};

/* A body that a lane is executing repeatedly: first the body of its role, then one for each
 * `repeat`, `scope` or other control verb that the lane is in. */
struct ab_loop {
    const struct ab_verb *body;
    size_t n_body, next;
    uint64_t done, limit;
    uint64_t begin; /* number of ops that the lane had made at the beginning */
    struct ab_place place;
    /* verb `scope` to which the body belongs, or NULL; the next two fields are for scopes */
    const struct ab_verb *scope;
    /* blocks of the scope's set that were live at the beginning and still are */
    uint32_t n_before;
    uint32_t save; /* save point that the lane took at the beginning; 0 = none */
};
#define AB_LOOPS_MAX (AB_CONFIG_MAX_DEPTH / 2)

enum ab_wait {
    AB_WAIT_NONE,
    AB_WAIT_ROOM,
    AB_WAIT_MESSAGE,
    AB_WAIT_SETTLE, /* waits until all other lanes wait too, and then for wait_ns */
    AB_WAIT_TIME    /* waits until the time wait_ns */
};

/* State of a lane that executes a body: its random streams and its position in the body. The
 * streams continue from phase to phase. */
struct ab_generator_lane {
    uint32_t index;
    struct ab_rng sizes, positions, order, choices;
    uint64_t *turns;   /* number of draws of each distribution, for cycles */
    uint64_t *cursors; /* one cursor for each verb */
    uint64_t n_ops, idle;
    /* state in the current phase */
    const struct ab_role *role;
    struct ab_loop loops[AB_LOOPS_MAX];
    uint32_t depth;
    bool is_finished;
    enum ab_wait wait;
    struct ab_queue *waits_at;
    uint64_t wait_ns;
    /* time and n_ops at the beginning of the current iteration of the body */
    uint64_t body_ns, body_ops;
    /* state in a verb; verb NULL = between two verbs */
    const struct ab_verb *verb;
    /* step: number of steps done; count: number that the verb gives, or that was drawn */
    uint64_t step, n_steps, count;
    uint32_t *picked; /* positions that an `order` has chosen */
    size_t cap_picked;
    struct ab_queue *queue; /* queue that `message` goes to or comes from; NULL = none */
    /* True if the queue was full when the message began, so that its blocks are freed */
    bool is_refused;
    struct ab_message message;
};

struct ab_generator {
    const struct ab_workload *w;
    struct ab_tape_builder *tape;
    struct ab_instance *instances;
    uint32_t *first_instance; /* index in `instances` of the first instance of each set */
    struct ab_slot_pool pool;
    struct ab_generator_lane *lanes;
    uint32_t n_lanes;
    struct ab_generator_lane *lane; /* lane that has its turn */
    uint32_t tape_lane;             /* lane of the tape that gets the ops of `lane` */
    /* one bit for each lane: 1 = it neither waits nor has finished */
    uint64_t ready[AB_LANES_MAX / 64];
    /* idle: steps without effect of all lanes; n_grown: positions by which sets have grown */
    uint64_t max_ops, idle, n_grown;
    const struct ab_phase_def *phase;
    uint64_t until; /* value of the phase's counter at which the phase ends */
    bool is_done;
    bool is_final; /* True if the bodies have ended and `finally` is executed */
    /* progress of the phase's counter. start: its value at the beginning; highest: its highest
     * value since; stalled: iterations since it reached `highest`; highest_at: ops of the tape when
     * it did */
    uint64_t start, highest, stalled, highest_at;
    uint64_t begin,
        /* begin: ops of the tape at the beginning of the phase; probe_at: ops at which its progress
         * is checked next */
        probe_at;
    uint64_t n_turns;
    struct ab_clock {              /* simulated time */
        uint64_t now_ns, begin_ns; /* begin_ns: time at the beginning of the phase's repetition */
        /* number of iterations in this repetition, summed over all lanes */
        uint64_t n_bodies;
        struct ab_pace { /* sample of the positions of the phase's ops, for `over` */
            uint32_t pushed, n_ops;
        } * paces;
        size_t n_paces, cap_paces;
        uint64_t stride; /* one op in `stride` ops is in the sample */
    } clock;
    /* where bursts go; NULL = the tape is not split. The next two fields are for bursts */
    struct ab_workload_bursts *bursts;
    struct ab_tape *total; /* totals of the bursts so far */
    uint32_t first_phase;  /* index of the phase in which the current burst began */
    struct ab_err *err;
};

/* Sets the error to `file:line:col: message` with the source line below. If the phase has several
 * lanes, also names the current lane. Returns AB_CONFIG. */
enum ab_status ab_generate_fail(struct ab_generator *g, struct ab_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum ab_status ab_generate_too_many(struct ab_generator *g, struct ab_place at, double n_ops);
/* Counts n steps without effect at the verb at `at`. Fails if there are too many for the ops
 * made. */
enum ab_status ab_generate_idle(struct ab_generator *g, struct ab_place at, uint64_t n);
/* Returns the current value of the phase's counter, which `until` limits. */
uint64_t ab_generate_counter(const struct ab_generator *g);

/* Returns the count of the verb, or draws it from the verb's distribution. */
uint64_t ab_step_draw_count(const struct ab_generator *g, const struct ab_verb *v);
/* Begins a verb in the current lane: sets the number of its steps, and for an `order` chooses the
 * positions. */
enum ab_status ab_step_begin(struct ab_generator *g, const struct ab_verb *v);
/* Executes one step of the current lane's verb and counts it in lane->step. If the step must wait
 * for another lane, sets lane->wait instead. */
enum ab_status ab_step(struct ab_generator *g);
/* Frees together all blocks of the scope's set that were allocated since the scope began, the
 * youngest first. */
enum ab_status ab_step_end_scope(struct ab_generator *g, const struct ab_loop *scope);

/* ---- play.c ---- */
struct ab_play *ab_play_begin(const struct ab_model *t, uint64_t seed, uint64_t stream);
void ab_play_end(struct ab_play *p); /* p may be NULL */
/* Generates the model's next call, or sets *is_over if there is none. Errors come from the tape
 * builder and have no place. */
enum ab_status ab_play_step(struct ab_generator *g, struct ab_play *p, const struct ab_verb *v,
                            bool *is_over);

static inline struct ab_instance *ab_instance_of(const struct ab_generator *g, uint32_t set,
                                                 uint32_t lane)
{
    const struct ab_set_def *def = &g->w->sets[set];
    uint32_t index = def->is_shared ? 0 : lane - def->first_lane;
    return &g->instances[g->first_instance[set] + index];
}

/* True if the phase ends when a counter reaches a value, perhaps in the middle of a body. */
static inline bool ab_generate_counts(const struct ab_generator *g)
{
    return g->phase->until != AB_UNTIL_ITERS && !g->is_final;
}

/* Returns the slot of a position. If blocks do not move, an empty position has a slot too: that of
 * its next block. */
static inline uint32_t ab_instance_slot(const struct ab_instance *s, uint32_t position)
{
    return s->slots != NULL ? s->slots[position] : s->base + position;
}

static inline void ab_lane_set_ready(struct ab_generator *g, uint32_t lane, bool is_ready)
{
    uint64_t bit = UINT64_C(1) << lane % 64;
    g->ready[lane / 64] = is_ready ? g->ready[lane / 64] | bit : g->ready[lane / 64] & ~bit;
}

/* Returns a lower bound on the ops of the workload's tape. Uses the text alone; saturates. */
uint64_t ab_estimate_ops(const struct ab_workload *w);

#endif
