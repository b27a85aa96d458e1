/* SPDX-License-Identifier: MIT
 *
 * A tape: the ops of all lanes, ready to run, with facts about them. Both producers, the workload
 * compiler and the trace reader, push ops through the builder below. The builder checks them (no
 * alloc into a live slot, no free of a dead one), collects the facts and computes the digest.
 *
 * Lanes. Ops are pushed in one global order, each for the lane that was last set with ab_tape_lane.
 * A tape stores them by phase, and within a phase by lane. Phases begin and end at a barrier of all
 * lanes. Within a phase the builder finds every place where a lane uses a slot that another lane
 * used last, and guards it. The first lane PUBLISHes its progress, and the second WAITs for it.
 *
 * A skew window bounds how far lanes may depart from the global order. The order is cut into frames
 * of half a window. A lane enters a frame only when all others of its group have finished the frame
 * before the last. Dependencies longer than that need no guard of their own.
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
    uint8_t only_code;                /* ALLOC, touched or not, if all ops are of that code; else
                                         0 */
    uint32_t begin, end;              /* ops [begin, end) of the tape */
    uint32_t n_ops[AB_OP_KIND_COUNT]; /* number of ops of each kind, including wide ones */
    /* number of touch ops, touched allocations and writing accesses */
    uint32_t n_touches;
    /* number of pages that the n_touches write to, for the cost estimate */
    uint64_t touched_pages;
    /* turns [turns_begin, turns_end) of the tape; 0, 0 with one lane */
    uint32_t turns_begin, turns_end;
    /* name of an iteration, "" = none; time budget of the allocator in each, 0 = none. Not in the
     * digest */
    char iteration[AB_PHASE_NAME_MAX + 1];
    uint64_t budget_ns;
    /* `renew` of a workload: a lane's thread ends after this many runs of the body (of the first
     * role that has it), and the change of threads counts as time of the phase. 0 = threads end
     * where a recorded one did, if at all, outside of timed intervals. In the digest */
    uint32_t renew;
    uint32_t n_iterations, n_thread_ends; /* sums over all lanes */
};

/* Returns the number of operations of the phase (ab_op_is_counted). */
static inline uint64_t ab_phase_ops(const struct ab_phase *phase)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        n += k != AB_OP_RESET ? phase->n_ops[k] : 0;
    return n;
}

/* Positions of the tape before which something happens in a lane; ascending within a lane. Those of
 * phase p, lane l are at[begin[p·lanes + l]] up to at[begin[p·lanes + l + 1]]. */
struct ab_tape_places {
    uint32_t *at, *begin; /* begin: NULL if there are none */
    uint32_t n;
};

/* A stretch of the global order: `n` ops of one lane, without WAITs and PUBLISHes. With n = 0 the
 * lane's thread ends here. */
struct ab_turn {
    uint32_t lane, n;
};
#define AB_LANES_MAX 256

/* A step in the time of the work, while ops themselves take no time. Before the op at `position` of
 * the common order, the time becomes time_ns, counted from the beginning of the tape. Guards count
 * as positions where they are met, as in the memory pass. All three members are ascending. At the
 * same position, steps of a phase come before those of the next one, so that a phase may consist of
 * time alone. Only the memory pass uses steps. */
struct ab_time_step {
    uint32_t position;
    /* flags: enum ab_step_flag; phase: index of the phase in which the time passes */
    uint16_t flags, phase;
    uint64_t time_ns;
};
enum ab_step_flag {
    AB_STEP_IDLE = 1, /* all lanes wait meanwhile, and nothing is called */
    /* from a recording: in the digest only if that also has an idle stretch */
    AB_STEP_RECORDED = 2,
};
/* Shortest gap of a recording that counts as an idle stretch. */
#define AB_IDLE_NS UINT64_C(1000000000)
/* Shortest time between two steps. Shorter times are merged into the next step, at the latest at
 * the end of the phase or tape. The value doubles after every AB_STEPS_FINE steps. */
#define AB_TIME_GRAIN_NS UINT64_C(1000000)
#define AB_STEPS_FINE (1u << 20)
#define AB_DAY_NS (UINT64_C(86400) * 1000000000)
#define AB_TIME_MAX_NS (366 * AB_DAY_NS) /* longest duration of a tape */

/* Skew window in ops of the global order; 0 = lanes run free. With AUTO there is a window if the
 * live bytes might otherwise rise more than a tenth above their peak. It is the widest that
 * prevents this, at least AB_WINDOW_LEAST. It binds only lanes that share blocks, if that is enough
 * (layout.h). */
#define AB_WINDOW_AUTO UINT32_MAX
#define AB_WINDOW_LEAST 256u

struct ab_tape {
    uint64_t *ops; /* n_ops, then AB_TAPE_PAD copies of a harmless op for prefetching */
    uint32_t n_ops;
    struct ab_wide *wide;
    uint32_t n_wide;
    struct ab_phase *phases;
    uint32_t n_phases;
    uint32_t n_slots;
    uint32_t *lane_begin; /* phase p, lane l: ops [x[p·lanes + l], x[p·lanes + l + 1]) */
    struct ab_turn *turns;
    uint32_t n_turns;
    uint32_t window;       /* narrowest window that was laid out; 0 = none */
    uint64_t n_edges;      /* guarded dependencies; 0 with one lane */
    uint64_t n_remote;     /* frees and resizes by a lane other than the one that allocated */
    struct ab_facts facts; /* facts.lanes is the number of lanes */
    uint64_t live_end_blocks, live_end_bytes; /* bytes that are live after the last op */
    uint64_t stretch_bytes; /* most bytes requested between two bulk resets, or between one and an
                               end of the tape */
    uint64_t no_op_frees;   /* frees of empty slots that the workload requested: counted, not run */
    uint64_t n_sized_frees; /* number of AB_CODE_FREE_SIZED ops */
    uint64_t n_trims;       /* calls of malloc_trim */
    uint32_t longest_walk;  /* longest walk in blocks; 0 = no walk */
    uint8_t **groups;     /* lane l: group of each of its allocations and resizes, including refused
                         ones, in the order of its ops; NULL = one group. Not in the digest */
    uint8_t *group_order; /* n_group_order groups of all lanes, in the common order */
    size_t n_group_order;
    /* ends of iterations; ops after a lane's last end belong to none. Not in the digest */
    struct ab_tape_places iterations;
    /* ends of a lane's thread; a fresh thread runs the ops after it. In the digest */
    struct ab_tape_places thread_ends;
    struct ab_time_step *steps; /* steps of the time, n_steps of them; NULL = no times */
    uint32_t n_steps;
    uint64_t duration_ns; /* time of the work at its end, counted from the very beginning, … */
    uint64_t idle_ns;     /* part of duration_ns that passes in idle stretches */
    uint32_t n_idle;
    /* SHA-256 of ops, side table, phases and times, little-endian: the same digest means the same
     * work */
    char sha256[65];
};
#define AB_TAPE_PAD 16
#define AB_TAPE_MAX_OPS (UINT32_MAX - 64)

struct ab_tape_builder; /* opaque */

struct ab_tape_builder *ab_tape_begin(void);
void ab_tape_abandon(struct ab_tape_builder *b);

/* Begins a phase. A tape has at least one; ops before the first are an error. */
enum ab_status ab_tape_phase(struct ab_tape_builder *b, const char *name, bool is_measured,
                             struct ab_err *err);

/* Declares that the current phase consists of iterations, each of which ends with
 * ab_tape_iteration. The name is cut to AB_PHASE_NAME_MAX. */
void ab_tape_each(struct ab_tape_builder *b, const char *name, uint64_t budget_ns);
/* Ends the thread of the current lane here; a fresh one continues the lane. */
enum ab_status ab_tape_thread_end(struct ab_tape_builder *b, struct ab_err *err);
/* Declares that threads of the current phase end after `every` runs of the body, each time with
 * ab_tape_thread_end. The time of the change belongs to the phase. */
void ab_tape_renew(struct ab_tape_builder *b, uint32_t every);
/* Ends the current lane's iteration here; the next one begins. */
enum ab_status ab_tape_iteration(struct ab_tape_builder *b, struct ab_err *err);
/* Ends the iteration of every lane that has ops in it, or of the only lane. The current lane stays
 * the same. */
enum ab_status ab_tape_iteration_of_all(struct ab_tape_builder *b, struct ab_err *err);

/* Sets the time of the work to time_ns before the next push. `flags`: enum ab_step_flag. Setting
 * the same time again keeps a step here. Returns AB_INPUT if time runs backwards or exceeds
 * AB_TIME_MAX_NS. */
enum ab_status ab_tape_time(struct ab_tape_builder *b, uint64_t time_ns, unsigned flags,
                            struct ab_err *err);
/* Sets the time before the op that was pushed when ab_tape_pushed was n, within the current phase,
 * for times that are known only afterwards. n must be ascending. */
enum ab_status ab_tape_time_at(struct ab_tape_builder *b, uint32_t n, uint64_t time_ns,
                               unsigned flags, struct ab_err *err);
uint32_t ab_tape_pushed(const struct ab_tape_builder *b);
/* Converts values of ab_tape_pushed to positions in the common order, as the memory pass counts,
 * for a tape that is laid out. Each value is at the beginning of one of n items of `stride` bytes;
 * they are ascending. */
void ab_tape_place(const struct ab_tape *tape, void *items, size_t stride, uint32_t n);

/* Sets a bit at the position where each operation of the tape (ab_op_is_counted) is done, including
 * its touch. Positions are in the common order, or with `as_it_lies` lane after lane. `bits` must
 * be zeroed and have one bit for each position. */
void ab_tape_mark_ops(const struct ab_tape *tape, bool as_it_lies, uint64_t *bits);

/* Sets the lane of the next pushes, < AB_LANES_MAX. A phase begins in lane 0. */
enum ab_status ab_tape_lane(struct ab_tape_builder *b, uint32_t lane, struct ab_err *err);
/* Sets the group of the next allocations and resizes; 0 until it is called. A tape has groups only
 * if this was called before the first op. Not for tapes in bursts. */
#define AB_GROUPS_MAX 64
void ab_tape_group(struct ab_tape_builder *b, uint32_t group);
/* Sets the skew window before ab_tape_end; the default is AUTO. `always` also binds lanes in phases
 * in which they share no block, because recorded programs have an order of their own, unlike
 * synthetic ones. */
void ab_tape_set_window(struct ab_tape_builder *b, uint32_t window, bool always);

/* The arguments of one allocation. Zero-initialise and set what differs. */
struct ab_request {
    uint64_t size;
    uint64_t align; /* 0 = natural; else a power of two, which makes it alloc_aligned */
    bool is_zeroed;
    bool may_fail;        /* the program got NULL, so no block becomes live */
    unsigned touch;       /* enum ab_touch, or AB_TOUCH_LEADING */
    uint32_t touch_bytes; /* for AB_TOUCH_FIRST, < 2^29 */
};

/* Restricts the touch to the first pages. Does nothing if the block has no more pages. */
void ab_request_touch_leading(struct ab_request *r, uint64_t n_pages);
/* Converts a touch of AB_TOUCH_SHARE, with the share in millionths in touch_bytes, to one that can
 * be pushed. */
#define AB_TOUCH_WHOLE 1000000
void ab_request_touch_share(struct ab_request *r);

/* Push an op. Each returns AB_INPUT on a wrong op ("slot 7 is live already"), or AB_SYSTEM if the
 * tape exceeds AB_TAPE_MAX_OPS or memory. A resize to size 0 must be pushed as a free. */
enum ab_status ab_tape_alloc(struct ab_tape_builder *b, uint32_t slot,
                             const struct ab_request *request, struct ab_err *err);
enum ab_status ab_tape_resize(struct ab_tape_builder *b, uint32_t slot,
                              const struct ab_request *request, struct ab_err *err);
enum ab_status ab_tape_free(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);
/* Pushes a free through the function that takes the size. A block that was resized is freed
 * normally, because not every library accepts it there. */
enum ab_status ab_tape_free_sized(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);
static inline enum ab_status ab_tape_free_by(struct ab_tape_builder *b, uint32_t slot,
                                             bool is_sized, struct ab_err *err)
{
    return is_sized ? ab_tape_free_sized(b, slot, err) : ab_tape_free(b, slot, err);
}

/* Pushes a call of malloc_trim(bytes), rounded to pages. The current lane calls it if the library
 * has the function. */
enum ab_status ab_tape_trim(struct ab_tape_builder *b, uint64_t bytes, struct ab_err *err);

/* Pushes a read or write of one cache line of a block, which must be live and not empty. */
enum ab_status ab_tape_access(struct ab_tape_builder *b, uint32_t slot, enum ab_access how,
                              struct ab_err *err);

/* Pushes a walk that reads these blocks, each with an access. None may be empty or larger than
 * AB_WALK_BYTES_MAX. */
enum ab_status ab_tape_walk(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                            enum ab_walk_order order, struct ab_err *err);

/* Frees all these slots, which must be live, at once. Pushes one RESET op and the n frees that it
 * replaces. If no other block is live, a back end with a bulk reset does only the reset and skips
 * the frees. Otherwise the frees are executed in this order. */
enum ab_status ab_tape_reset(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                             struct ab_err *err);

/* Takes a save point of the current lane's heap. *depth names it until it is forgotten; 0 = too
 * many are open, so there is none. */
enum ab_status ab_tape_mark(struct ab_tape_builder *b, uint32_t *depth, struct ab_err *err);
/* Frees slots like ab_tape_reset, at the end of what began with the mark. If everything that the
 * lane allocated or resized since then is dead after it, a back end with save points returns to
 * that one instead of freeing. *is_one: a back end that can does it in one call.
 *
 * With n = 0, such a back end returns to the save point if all these blocks were freed one by one;
 * else nothing is done. The mark stays open until ab_tape_forget_mark. */
enum ab_status ab_tape_release(struct ab_tape_builder *b, uint32_t depth, const uint32_t *slots,
                               uint32_t n, bool *is_one, struct ab_err *err);
/* Closes the mark of this depth. */
void ab_tape_forget_mark(struct ab_tape_builder *b, uint32_t depth);
/* True if the current lane allocated or resized the live block after the mark. */
bool ab_tape_is_younger(const struct ab_tape_builder *b, uint32_t depth, uint32_t slot);

/* Makes the current lane's next push wait for the last use of the slot, which is live. A lane that
 * receives many blocks at once thereby waits once for the last of them, not for each. */
enum ab_status ab_tape_await(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err);

/* Prefetches the builder's state of a slot that will be pushed soon. Any number is allowed. */
void ab_tape_prefetch(const struct ab_tape_builder *b, uint32_t slot);

/* True if the slot is live; then sets *size. For verbs such as `toggle` and `replace`. */
bool ab_tape_is_live(const struct ab_tape_builder *b, uint32_t slot, uint64_t *size);
/* Counts a free of an empty slot; nothing runs. */
void ab_tape_note_no_op_free(struct ab_tape_builder *b);
/* Returns the number of ops pushed so far, without touches; `until: ops(n)` uses it. */
uint64_t ab_tape_count(const struct ab_tape_builder *b);
/* Return the bytes requested so far over the whole tape, and the bytes and blocks that are live
 * now. */
uint64_t ab_tape_allocated_bytes(const struct ab_tape_builder *b);
uint64_t ab_tape_live_bytes(const struct ab_tape_builder *b);
uint64_t ab_tape_live_blocks(const struct ab_tape_builder *b);

/* Finishes the tape and frees the builder, also on failure. Free the tape with ab_tape_fini. */
enum ab_status ab_tape_end(struct ab_tape_builder *b, struct ab_tape *out, struct ab_err *err);
void ab_tape_fini(struct ab_tape *tape);
/* Returns the number of operations of all phases. */
uint64_t ab_tape_ops(const struct ab_tape *tape);

/* ---- a tape in bursts ----
 *
 * A tape that is too long for memory is cut. The ops since the last cut are a burst, which is a
 * tape of its own that begins and ends at a barrier of all lanes. Slots, live blocks and facts
 * continue. */

/* Sets the number of lanes before the first cut, because all bursts must agree on it. */
void ab_tape_set_lanes(struct ab_tape_builder *b, uint32_t n_lanes);
/* Cuts off a burst. *out is borrowed until the next ab_tape_phase, which must come before any
 * other push. Its facts, n_slots and live_end count from the very beginning; all else is the
 * burst's own. */
enum ab_status ab_tape_cut(struct ab_tape_builder *b, const struct ab_tape **out,
                           struct ab_err *err);
/* Returns the size in bytes of the ops since the last cut as a tape, without guards. */
uint64_t ab_tape_bytes(const struct ab_tape_builder *b);
/* Adds a burst to the totals: facts, counts, phases and digest; a total has no ops. Each burst has
 * all phases. Before the first burst the total is zero except for the names of its phases. */
void ab_tape_total_add(struct ab_tape *total, const struct ab_tape *burst);

/* Origin of an allocation, which a recording knows beyond its op and a placement may use. One byte
 * for each allocation of a tape, including refused ones, in the common order. A resize has the
 * origin of its block's allocation. Not in tapes and not in digests. */
#define AB_ORIGIN_CLASSES 64
#define AB_ORIGIN_CLASS 0x3fu  /* class of call sites that match the same patterns */
#define AB_ORIGIN_SCOPED 0x40u /* dies before the end of the scope in which it was allocated */
#define AB_ORIGIN_ODD 0x80u    /* lowest bit of the number of that scope, from 0 */

#endif
