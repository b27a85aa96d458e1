/* SPDX-License-Identifier: MIT
 *
 * A tape: the ops of all lanes, ready to run, with what is known about them. Both producers, the
 * workload compiler and the trace reader, push ops through the builder below, which checks them
 * (no alloc into a live slot, no free of a dead one), keeps the facts and takes the digest.
 *
 * Lanes. Ops are pushed in one global order, each for the lane that `ab_tape_lane` named last;
 * a tape holds them phase by phase, and in a phase lane by lane. Phases begin and end at a barrier
 * of all lanes. Within a phase the builder finds every place where a lane takes up a slot that
 * another lane had last, and guards it: the first lane PUBLISHes how far it is, the second WAITs
 * for that. A skew window bounds how far lanes may part from the order of the pushes: the order
 * is cut into frames of half a window, and a lane enters a frame only when all others of its group
 * are through with the frame before the last; edges longer than that need no guard of their own.
 */
#ifndef AB_TAPE_TAPE_H
#define AB_TAPE_TAPE_H

#include "core/status.h"
#include "tape/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_PHASE_NAME_MAX 64

struct ab_phase {
    char name[AB_PHASE_NAME_MAX + 1];
    bool is_measured;
    uint8_t only_code;                /* ALLOC, touched or not, where all ops are that; else 0 */
    uint32_t begin, end;              /* ops [begin, end) of the tape */
    uint32_t n_ops[AB_OP_KIND_COUNT]; /* how many of each kind, wide ones included */
    uint32_t n_touches;               /* touch ops, touched allocs, writing accesses */
    uint64_t touched_pages;           /* page writes that they do, for the cost estimate */
    uint32_t turns_begin, turns_end;  /* [begin, end) of the tape's turns; 0, 0 with one lane */
    /* What one of its iterations is called, "" = it has none; what the allocator may take of each,
     * 0 = no such bound. In no digest. */
    char iteration[AB_PHASE_NAME_MAX + 1];
    uint64_t budget_ns;
    /* `renew` of a workload: a lane's thread ends after so many times of the body (of the first role
     * that has it), and what the change of threads takes is in the time of the phase; 0 = threads end
     * where a recorded one did, if at all, and their ends are in no time. In the digest. */
    uint32_t renew;
    uint32_t n_iterations, n_thread_ends; /* over all lanes */
};

/* Operations of the phase (ab_op_is_counted). */
static inline uint64_t ab_phase_ops(const struct ab_phase *phase)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += k != AB_OP_RESET ? phase->n_ops[k] : 0;
    return n;
}

/* Positions of the tape at which something happens in a lane, before the op there; those of a lane are
 * ascending. Phase p, lane l has at[begin[p·lanes + l]] up to at[begin[p·lanes + l + 1]]. */
struct ab_tape_places {
    uint32_t *at, *begin; /* begin: NULL where there are none */
    uint32_t n;
};

/* A stretch of the global order: `n` ops of one lane, WAITs and PUBLISHes not counted. With n = 0 the
 * lane's thread ends here. */
struct ab_turn {
    uint32_t lane, n;
};
#define AB_LANES_MAX 256

/* Time of the work, which ops take none of: before the op at `position` of the common order (guards
 * counted as they are met, as the memory pass counts) it becomes time_ns, counted from the begin of
 * the tape. Ascending in all three. At the same position steps of a phase come before those of the
 * next one, so that a phase may consist of nothing but time. Only the memory pass serves them. */
struct ab_time_step {
    uint32_t position;
    uint16_t flags, phase; /* enum ab_step_flag; index of the phase in which the time passes */
    uint64_t time_ns;
};
enum ab_step_flag {
    AB_STEP_IDLE = 1, /* all lanes wait meanwhile, and nothing is called */
    /* Of a recording: in the digest only where that has an idle stretch too. */
    AB_STEP_RECORDED = 2,
};
#define AB_IDLE_NS UINT64_C(1000000000) /* a gap of a recording is an idle stretch from here on */
/* What passes in less is not kept: the next step stands for it, at the latest the one where the phase
 * or the tape ends. Twice as much after each AB_STEPS_FINE steps. */
#define AB_TIME_GRAIN_NS UINT64_C(1000000)
#define AB_STEPS_FINE (1u << 20)
#define AB_DAY_NS (UINT64_C(86400) * 1000000000)
#define AB_TIME_MAX_NS (366 * AB_DAY_NS) /* that a tape may last */

/* Skew window in ops of the global order. AUTO: where the live bytes might go more than a tenth
 * above their peak without one, the widest that keeps them below, of at least AB_WINDOW_LEAST; for
 * lanes that share blocks, if that is enough (layout.h). 0: lanes run free. */
#define AB_WINDOW_AUTO UINT32_MAX
#define AB_WINDOW_LEAST 256u

struct ab_tape {
    uint64_t *ops; /* n_ops, then AB_TAPE_PAD copies of a harmless op for the prefetch */
    uint32_t n_ops;
    struct ab_wide *wide;
    uint32_t n_wide;
    struct ab_phase *phases;
    uint32_t n_phases;
    uint32_t n_slots;
    uint32_t *lane_begin; /* phase p, lane l: ops [x[p·lanes + l], x[p·lanes + l + 1]) */
    struct ab_turn *turns;
    uint32_t n_turns;
    uint32_t window;       /* narrowest that was laid down; 0 = none */
    uint64_t n_edges;      /* guarded places; 0 with one lane */
    uint64_t n_remote;     /* frees and resizes by another lane than the one that allocated */
    struct ab_facts facts; /* lanes: how many */
    uint64_t live_end_blocks, live_end_bytes; /* still live after the last op */
    uint64_t stretch_bytes; /* most that is requested between two bulk resets, or the ends */
    uint64_t no_op_frees;   /* frees of empty slots that the workload asked for: counted, not run */
    uint64_t n_sized_frees; /* AB_CODE_FREE_SIZED */
    uint64_t n_trims;       /* calls of malloc_trim */
    uint32_t longest_walk;  /* in blocks; 0 = there is none */
    uint8_t **groups; /* lane l: the group of each of its allocations and resizes, refused ones as
                         well, in the order of its ops; NULL = one group. In no digest. */
    uint8_t *group_order; /* the same of all lanes, in the common order: n_group_order */
    size_t n_group_order;
    /* Where iterations end. What follows a lane's last end is in none. In no digest. */
    struct ab_tape_places iterations;
    /* Where a lane's thread ends; what follows is run by a fresh one. In the digest. */
    struct ab_tape_places thread_ends;
    struct ab_time_step *steps; /* NULL where it has no times */
    uint32_t n_steps;
    uint64_t duration_ns; /* time of the work at its end, counted from the very beginning, … */
    uint64_t idle_ns;     /* … and how much of it is in idle stretches */
    uint32_t n_idle;
    /* Of ops, side table, phases and times, little-endian: same digest, same work. */
    char sha256[65];
};
#define AB_TAPE_PAD 16
#define AB_TAPE_MAX_OPS (UINT32_MAX - 64)

struct ab_tape_builder; /* opaque */

struct ab_tape_builder *ab_tape_begin(void);
void ab_tape_abandon(struct ab_tape_builder *b);

/* Names what follows. A tape has at least one phase; ops before the first call are an error. */
enum ab_status ab_tape_phase(struct ab_tape_builder *b, const char *name, bool is_measured,
                             struct ab_err *err);

/* The phase that has begun consists of iterations, each of which ends with ab_tape_iteration; the
 * name is cut to AB_PHASE_NAME_MAX. */
void ab_tape_each(struct ab_tape_builder *b, const char *name, uint64_t budget_ns);
/* The thread of the current lane ends here, and a fresh one goes on with the lane. */
enum ab_status ab_tape_thread_end(struct ab_tape_builder *b, struct ab_err *err);
/* The threads of the phase that has begun end after so many times of the body, each time with
 * ab_tape_thread_end; what that takes is in the time of the phase. */
void ab_tape_renew(struct ab_tape_builder *b, uint32_t every);
/* The current lane's iteration ends here, and the next one begins. */
enum ab_status ab_tape_iteration(struct ab_tape_builder *b, struct ab_err *err);
/* That of every lane with ops in it, or of the only lane. The current lane stays. */
enum ab_status ab_tape_iteration_of_all(struct ab_tape_builder *b, struct ab_err *err);

/* Before what is pushed next the time of the work becomes time_ns; `flags`: enum ab_step_flag. The same time
 * again: a step is kept here. AB_INPUT where it runs backwards or beyond AB_TIME_MAX_NS. */
enum ab_status ab_tape_time(struct ab_tape_builder *b, uint64_t time_ns, unsigned flags,
                            struct ab_err *err);
/* The same before what was pushed when ab_tape_pushed was n, in the phase that goes on: a time that is
 * known afterwards only. Ascending. */
enum ab_status ab_tape_time_at(struct ab_tape_builder *b, uint32_t n, uint64_t time_ns,
                               unsigned flags, struct ab_err *err);
uint32_t ab_tape_pushed(const struct ab_tape_builder *b);
/* Of a tape that is laid down: makes positions in the common order, as the memory pass counts, of what
 * ab_tape_pushed was. They are ascending, each at the begin of one of n items of `stride` bytes. */
void ab_tape_place(const struct ab_tape *tape, void *items, size_t stride, uint32_t n);

/* Sets a bit for each operation of the tape (ab_op_is_counted) at the position where it is done, its touch
 * included: in the common order, or `as_it_lies`, lane after lane. `bits`: zeroes, one for each position. */
void ab_tape_mark_ops(const struct ab_tape *tape, bool as_it_lies, uint64_t *bits);

/* The lane of what is pushed next, < AB_LANES_MAX; a phase begins in lane 0. */
enum ab_status ab_tape_lane(struct ab_tape_builder *b, uint32_t lane, struct ab_err *err);
/* The group of what is allocated and resized next; 0 until it is called. A tape has groups only where
 * it was called before the first op. Not for a tape in bursts. */
#define AB_GROUPS_MAX 64
void ab_tape_group(struct ab_tape_builder *b, uint32_t group);
/* Before ab_tape_end; else AUTO. `always` keeps lanes together also in phases where they share no
 * block: recorded programs have an order of their own, made-up ones have not. */
void ab_tape_set_window(struct ab_tape_builder *b, uint32_t window, bool always);

/* What one allocation asks for; zero-initialise and set what differs. */
struct ab_request {
    uint64_t size;
    uint64_t align; /* 0 = natural; else a power of two: becomes alloc_aligned */
    bool is_zeroed;
    bool may_fail;        /* the program got NULL: no block comes to life */
    unsigned touch;       /* enum ab_touch, or AB_TOUCH_LEADING */
    uint32_t touch_bytes; /* of AB_TOUCH_FIRST, < 2^29 */
};

/* Of the block only the first pages are touched; where these are all, the request stays as it is. */
void ab_request_touch_leading(struct ab_request *r, uint64_t n_pages);
/* Its touch is AB_TOUCH_SHARE, touch_bytes the share in millionths: it becomes one that can be pushed. */
#define AB_TOUCH_WHOLE 1000000
void ab_request_touch_share(struct ab_request *r);

/* Each fails with AB_INPUT ("slot 7 is live already") or, when the tape grows beyond
 * AB_TAPE_MAX_OPS or memory, with AB_SYSTEM. A resize to size 0 must be pushed as a free. */
enum ab_status ab_tape_alloc(struct ab_tape_builder *b, uint32_t slot,
                             const struct ab_request *request, struct ab_err *err);
enum ab_status ab_tape_resize(struct ab_tape_builder *b, uint32_t slot,
                              const struct ab_request *request, struct ab_err *err);
enum ab_status ab_tape_free(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);
/* By the function that takes the size. Not every library's may be given a block that was resized: such
 * a block is freed as ever. */
enum ab_status ab_tape_free_sized(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);
static inline enum ab_status ab_tape_free_by(struct ab_tape_builder *b, uint32_t slot,
                                             bool is_sized, struct ab_err *err)
{
    return is_sized ? ab_tape_free_sized(b, slot, err) : ab_tape_free(b, slot, err);
}

/* malloc_trim, which is to leave so many bytes, in whole pages: the current lane calls it where the library
 * has it. */
enum ab_status ab_tape_trim(struct ab_tape_builder *b, uint64_t bytes, struct ab_err *err);

/* Reads or writes one cache line of a block, which must be live and not empty. */
enum ab_status ab_tape_access(struct ab_tape_builder *b, uint32_t slot, enum ab_access how,
                              struct ab_err *err);

/* Reads these blocks, which are neither empty nor larger than AB_WALK_BYTES_MAX, each by an access, as one
 * walk. */
enum ab_status ab_tape_walk(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                            enum ab_walk_order order, struct ab_err *err);

/* All these slots, which must be live, die at once: pushed as one RESET op and the n frees that it
 * stands for. Where they are all that is live, a back end with a bulk reset does just that and the
 * frees are passed over; otherwise the frees are carried out in this order. */
enum ab_status ab_tape_reset(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                             struct ab_err *err);

/* The current lane takes a save point of its heap. *depth names it until it is forgotten; 0: too
 * many are open, and there is none. */
enum ab_status ab_tape_mark(struct ab_tape_builder *b, uint32_t *depth, struct ab_err *err);
/* As ab_tape_reset, at the end of what began with the mark. Where all that the lane has allocated or
 * resized since then is dead after it, a back end with save points goes back to that one instead of the
 * frees. *is_one: a back end that can does it in one call. Of 0 blocks: such a back end goes back where
 * all of these blocks were freed one by one, and else nothing is done. The mark is open until
 * ab_tape_forget_mark. */
enum ab_status ab_tape_release(struct ab_tape_builder *b, uint32_t depth, const uint32_t *slots,
                               uint32_t n, bool *is_one, struct ab_err *err);
/* The mark of this depth is over. */
void ab_tape_forget_mark(struct ab_tape_builder *b, uint32_t depth);
/* Was the live block allocated or resized by the current lane after the mark? */
bool ab_tape_is_younger(const struct ab_tape_builder *b, uint32_t depth, uint32_t slot);

/* What the current lane pushes next comes after the last use of the slot, which is live: how a
 * lane that receives many blocks at once waits once for the last of them, and not for each. */
enum ab_status ab_tape_await(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);

/* The slot will be pushed soon: it may be any number. */
void ab_tape_prefetch(const struct ab_tape_builder *b, uint32_t slot);

/* Is the slot live, and with what size? For verbs such as `toggle` and `replace`. */
bool ab_tape_is_live(const struct ab_tape_builder *b, uint32_t slot, uint64_t *size);
/* A free of an empty slot: counted, nothing runs. */
void ab_tape_note_no_op_free(struct ab_tape_builder *b);
/* Ops pushed so far, touches not counted: what `until: ops(n)` counts. */
uint64_t ab_tape_count(const struct ab_tape_builder *b);
/* Bytes requested so far over the whole tape, and live now. */
uint64_t ab_tape_allocated_bytes(const struct ab_tape_builder *b);
uint64_t ab_tape_live_bytes(const struct ab_tape_builder *b);
uint64_t ab_tape_live_blocks(const struct ab_tape_builder *b);

/* Hands the tape out and frees the builder (also on failure). End it with ab_tape_fini. */
enum ab_status ab_tape_end(struct ab_tape_builder *b, struct ab_tape *out, struct ab_err *err);
void ab_tape_fini(struct ab_tape *tape);
/* Operations of all phases. */
uint64_t ab_tape_ops(const struct ab_tape *tape);

/* ---- a tape in bursts ----
 * What is too long to be held is cut: what was pushed since the last cut is a burst, a tape of its
 * own that begins and ends at a barrier of all lanes. Slots, live blocks and facts go on. */

/* Before the first cut: bursts must agree on the number of lanes, used or not. */
void ab_tape_set_lanes(struct ab_tape_builder *b, uint32_t n_lanes);
/* *out is borrowed until the next ab_tape_phase, which must come before anything else is pushed.
 * Its facts, n_slots and live_end count from the very beginning, all else is the burst's own. */
enum ab_status ab_tape_cut(struct ab_tape_builder *b, const struct ab_tape **out,
                           struct ab_err *err);
/* What the ops since the last cut take up as a tape, what guards them not counted. */
uint64_t ab_tape_bytes(const struct ab_tape_builder *b);
/* Adds a burst to what is known of all: facts, counts, phases and digest; a total has no ops. Its
 * phases are there, as many as each burst has; it is zero but for their names before the first. */
void ab_tape_total_add(struct ab_tape *total, const struct ab_tape *burst);

/* What a recording knows of each allocation beyond its op, and a placement may ask for: one byte for
 * each allocation of a tape, refused ones as well, in the common order. A resize is asked the same as
 * the allocation of its block. In no tape and in no digest. */
#define AB_ORIGIN_CLASSES 64
#define AB_ORIGIN_CLASS 0x3fu  /* call sites that the same patterns fit are of one class */
#define AB_ORIGIN_SCOPED 0x40u /* it dies before the scope ends in which it was born */
#define AB_ORIGIN_ODD 0x80u    /* of that scope, counted from 0 */

#endif
