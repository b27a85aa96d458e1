/* SPDX-License-Identifier: MIT
 *
 * Compiles a valid workload to a tape. generate.c has phases, lanes and their turns, and the bodies
 * of a lane. steps.c executes verbs. The two are one state machine and share this header;
 * generate.c calls steps.c, which calls nothing of generate.c.
 */
#ifndef AB_WORKLOAD_GENERATE_GENERATE_H
#define AB_WORKLOAD_GENERATE_GENERATE_H

#include "tape/slot_pool.h"
#include "workload/config.h"
#include "workload/generate/live_set.h"
#include "workload/generate/queue.h"
#include "workload/yaml_index.h"

/* Length of a lane's turn in ops, or in steps that find nothing to do. Then it is the next lane's
 * turn. */
#define AB_TURN_STEPS 16

/* A set as one lane sees it, or for a shared set all lanes. */
struct ab_instance {
    struct ab_live_set live;
    struct ab_window {
        uint32_t fill;        /* where the search for an empty position begins */
        uint32_t begin, next; /* of the survivors: now, and when the window is full again */
        uint32_t n_left;      /* other positions that must still be freed */
    } window;
    uint32_t base;   /* slot of position 0, unless … */
    uint32_t *slots; /* … blocks move: slot of each occupied position */
    struct ab_queue queue;
    struct ab_play *play; /* state of a model's playback */
};

/* A loop that a lane is in: the phase's own, then one for each `repeat` and `scope`. */
struct ab_loop {
    const struct ab_verb *body;
    size_t n_body, next;
    uint64_t done, limit;
    uint64_t begin; /* ops of this lane at its begin */
    struct ab_place place;
    const struct ab_verb *scope; /* scope whose body it is, or NULL; … */
    uint32_t n_before;           /* … blocks of the scope's set that lived at its begin and still
                                    do */
    uint32_t save;               /* … and the save point that the lane took then; 0 = none */
};
#define AB_LOOPS_MAX (AB_CONFIG_MAX_DEPTH / 2)

enum ab_wait {
    AB_WAIT_NONE,
    AB_WAIT_ROOM,
    AB_WAIT_MESSAGE,
    AB_WAIT_SETTLE, /* for the other lanes, and then for wait_ns */
    AB_WAIT_TIME    /* until wait_ns */
};

/* State of a lane that executes a body: its sets, random streams and position. The streams continue
 * from phase to phase. */
struct ab_generator_lane {
    uint32_t index;
    struct ab_rng sizes, positions, order, choices;
    uint64_t *turns;   /* of cycles, one for each distribution */
    uint64_t *cursors; /* array, one per verb */
    uint64_t n_ops, idle;
    /* state in a phase */
    const struct ab_role *role;
    struct ab_loop loops[AB_LOOPS_MAX];
    uint32_t depth;
    bool is_finished;
    enum ab_wait wait;
    struct ab_queue *waits_at;
    uint64_t wait_ns;
    uint64_t body_ns, body_ops; /* time and n_ops when the current run of the body began */
    /* state in a verb; verb may be NULL */
    const struct ab_verb *verb;
    uint64_t step, n_steps, count; /* count: that of the verb, or drawn */
    uint32_t *picked;              /* positions that an order has chosen */
    size_t cap_picked;
    struct ab_queue *queue; /* queue of the message, or NULL */
    bool is_refused;        /* the message found a full queue: its blocks are freed */
    struct ab_message message;
};

struct ab_generator {
    const struct ab_workload *w;
    struct ab_tape_builder *tape;
    struct ab_instance *instances;
    uint32_t *first_instance; /* index of the first instance of each set */
    struct ab_slot_pool pool;
    struct ab_generator_lane *lanes;
    uint32_t n_lanes;
    struct ab_generator_lane *lane;    /* lane whose turn it is */
    uint32_t tape_lane;                /* lane of the tape that executes it */
    uint64_t ready[AB_LANES_MAX / 64]; /* bits of the lanes that neither wait nor have finished */
    uint64_t max_ops, idle, n_grown;   /* idle steps of all lanes; positions by which sets grew */
    const struct ab_phase_def *phase;
    uint64_t until; /* value of the phase's counter that ends it */
    bool is_done;
    bool is_final; /* the bodies have ended, and `finally` runs */
    /* progress of the phase's counter: value at the beginning, highest value since, iterations
     * since that was reached, and ops of the tape at that time */
    uint64_t start, highest, stalled, highest_at;
    uint64_t begin,
        /* ops of the tape at the beginning of the phase, and at the next check of its progress */
        probe_at;
    uint64_t n_turns;
    struct ab_clock {              /* time of the work */
        uint64_t now_ns, begin_ns; /* beginning of the phase's repetition */
        uint64_t n_bodies;         /* runs of the body in it, over all lanes */
        struct ab_pace {           /* positions of the phase's ops, for `over` */
            uint32_t pushed, n_ops;
        } * paces;
        size_t n_paces, cap_paces;
        uint64_t stride; /* one of this many ops has a pace */
    } clock;
    struct ab_workload_bursts *bursts; /* NULL = the tape is held whole; else … */
    struct ab_tape *total;             /* … totals of the bursts so far, … */
    uint32_t first_phase;              /* … and the phase in which the burst began */
    struct ab_err *err;
};

/* Sets the error `file:line:col: message`, the lane if there are several, and the source line.
 * Returns AB_CONFIG. */
enum ab_status ab_generate_fail(struct ab_generator *g, struct ab_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum ab_status ab_generate_too_many(struct ab_generator *g, struct ab_place at, double n_ops);
/* Counts n steps that found nothing to do. Fails if there are too many in relation to the ops
 * made. */
enum ab_status ab_generate_idle(struct ab_generator *g, struct ab_place at, uint64_t n);
/* Returns the number that `until` counts, over the whole phase. */
uint64_t ab_generate_counter(const struct ab_generator *g);

/* Returns the verb's count, or draws it. */
uint64_t ab_step_draw_count(const struct ab_generator *g, const struct ab_verb *v);
/* Begins a verb in the current lane: sets the number of its steps, and chooses the positions of an
 * `order`. */
enum ab_status ab_step_begin(struct ab_generator *g, const struct ab_verb *v);
/* Executes one step of the lane's verb and counts it in `step`. Or sets the lane's `wait`, until
 * another lane's step clears it. */
enum ab_status ab_step(struct ab_generator *g);
/* Frees all blocks that were allocated in the scope's set since its begin, together, the youngest
 * first. */
enum ab_status ab_step_end_scope(struct ab_generator *g, const struct ab_loop *scope);

/* ---- play.c ---- */
struct ab_play *ab_play_begin(const struct ab_model *t, uint64_t seed, uint64_t stream);
void ab_play_end(struct ab_play *p); /* NULL is allowed */
/* Makes one call of the model, or sets *is_over. Errors are those of the tape. */
enum ab_status ab_play_step(struct ab_generator *g, struct ab_play *p, const struct ab_verb *v,
                            bool *is_over);

static inline struct ab_instance *ab_instance_of(const struct ab_generator *g, uint32_t set,
                                                 uint32_t lane)
{
    const struct ab_set_def *def = &g->w->sets[set];
    uint32_t index = def->is_shared ? 0 : lane - def->first_lane;
    return &g->instances[g->first_instance[set] + index];
}

/* True if `until` counts something that may end the phase in the middle of a body. */
static inline bool ab_generate_counts(const struct ab_generator *g)
{
    return g->phase->until != AB_UNTIL_ITERS && !g->is_final;
}

/* Returns the slot of a position. For an empty position that does not move, it is the slot of its
 * next block. */
static inline uint32_t ab_instance_slot(const struct ab_instance *s, uint32_t position)
{
    return s->slots != NULL ? s->slots[position] : s->base + position;
}

static inline void ab_lane_set_ready(struct ab_generator *g, uint32_t lane, bool is_ready)
{
    uint64_t bit = UINT64_C(1) << lane % 64;
    g->ready[lane / 64] = is_ready ? g->ready[lane / 64] | bit : g->ready[lane / 64] & ~bit;
}

/* Returns a lower bound on the ops of the workload's tape, from the text alone; saturating. */
uint64_t ab_estimate_ops(const struct ab_workload *w);

#endif
