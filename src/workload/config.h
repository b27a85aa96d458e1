/* SPDX-License-Identifier: MIT
 *
 * A workload as plain records: every value is read, every default filled in, every name resolved to
 * an index. All values are valid, so the generator (generate.c) does not check them again.
 */
#ifndef AB_WORKLOAD_CONFIG_H
#define AB_WORKLOAD_CONFIG_H

#include "tape/op.h"
#include "workload/diag.h"
#include "workload/dist.h"
#include "workload/model.h"
#include "workload/values.h"
#include "workload/workload.h"
#include "workload/workload_language.h"
#include "workload/yaml_index.h"

#define AB_NAME_MAX 64
#define AB_MAX_ENTRIES 1000 /* limit for each of params, sizes, sets, phases, back ends */
#define AB_NO_SET UINT32_MAX
#define AB_MAX_POSITIONS ((uint64_t)AB_SLOT_MAX + 1)

enum ab_on_full { AB_ON_FULL_BLOCK, AB_ON_FULL_DROP, AB_ON_FULL_FREE };

struct ab_set_def {
    char name[AB_NAME_MAX + 1];
    struct ab_place place; /* line and column of `count`; without one, of the set */
    enum ab_set_kind kind;
    char *via; /* back end that serves the set in the row @map; NULL = none */
    struct ab_place via_place;
    bool is_shared; /* per: all */
    bool is_broken; /* has errors of its own, so that further ones are suppressed */
    bool is_moving; /* blocks change their position, so the slot of each position is stored */
    uint32_t count; /* positions, or messages of a queue; 0 = grows */
    size_t fixed;   /* distribution of its fixed size; SIZE_MAX = verbs give the size */
    uint32_t unit;  /* queue: blocks in a message */
    bool is_lifo;
    enum ab_on_full on_full;
    double survive; /* window: fraction of a full window that survives, … */
    uint32_t n_survivors;
    bool is_below_lifo, is_above_lifo; /* … and the order in which the others die */
    uint32_t first_lane, end_lane;     /* lanes that use it, over all phases; at least one */
    struct ab_model model;
    uint32_t base; /* slot of position 0 of the first lane; only if blocks do not move */
};

/* True if the set is a table of `count` positions; false if it grows. */
static inline bool ab_set_has_positions(const struct ab_set_def *set)
{
    return set->kind == AB_SET_SLOTS || set->kind == AB_SET_WINDOW;
}

struct ab_size_def {
    char name[AB_NAME_MAX + 1];
    size_t dist;
};

enum ab_amount { AB_AMOUNT_COUNT, AB_AMOUNT_ALL, AB_AMOUNT_FRACTION };

struct ab_bin {
    double share;        /* cumulated probability; the last one is 1 */
    uint32_t begin, end; /* positions */
};

struct ab_verb {
    enum ab_verb_kind kind;
    struct ab_place place;
    uint32_t set;
    uint32_t other;    /* set of `from`, `into` or `with`, whose positions are picked; else
                          AB_NO_SET */
    bool to_next_lane; /* send */
    bool is_freed;     /* recv: `then: free` is given; it is the default without `into` */
    bool is_sized;     /* frees through the function that takes the size */
    enum ab_pick pick;
    enum ab_pick with_pick; /* exchange */
    uint64_t step;          /* for STRIDE and EVERY */
    struct ab_bin *bins;
    size_t n_bins;
    enum ab_amount amount;
    uint64_t count;  /* or the smallest one, if there is … */
    size_t counts;   /* … a distribution of it, drawn anew each time; SIZE_MAX = none */
    double fraction; /* MAYBE: probability */
    double share;    /* branch of CHOOSE: cumulated probability; the last one is 1 */
    size_t dist;     /* sizes: alloc, replace, resize */
    uint64_t align;
    unsigned touch; /* enum ab_touch, or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_access mode;     /* access */
    enum ab_walk_order walk; /* walk */
    uint32_t cursor;         /* index of the verb's own cursor */
    uint64_t time_ns;        /* settle: duration; every: interval */
    struct ab_verb *body;    /* body of a control verb; count is the number of repetitions. CHOOSE:
                                its branches */
    size_t n_body;
};

enum ab_until { AB_UNTIL_ITERS, AB_UNTIL_OPS, AB_UNTIL_ALLOCATED, AB_UNTIL_LIVE, AB_UNTIL_SECONDS };

/* The work of some lanes of a phase. All lanes share one role unless the workload has `roles`. */
struct ab_role {
    char name[AB_NAME_MAX + 1];
    uint32_t first_lane, n_lanes;
    struct ab_verb *body;
    size_t n_body;
    struct ab_verb *finally; /* done once, when the bodies of all roles have ended; or NULL */
    size_t n_finally;
    uint64_t renew; /* a lane's thread ends after so many iterations; 0 = never */
};

/* Limit on the live bytes of a set after an allocation: other blocks of the set are freed first. */
struct ab_cap {
    uint32_t set;
    uint64_t limit; /* 0 = no cap */
    enum ab_pick evict;
};

struct ab_phase_def {
    char name[AB_NAME_MAX + 1];
    struct ab_place place; /* line and column of `until`; without one, of the phase */
    bool is_measured;
    uint64_t repeat;
    enum ab_until until;
    uint64_t limit;   /* for SECONDS in ns */
    uint64_t over_ns; /* time over which its ops are spread; 0 = they take no time */
    uint32_t n_lanes;
    char each[AB_NAME_MAX + 1]; /* name of an iteration; "" = iterations are not timed */
    uint64_t budget_ns;         /* time budget of the allocator in one iteration, ns; 0 = none */
    uint64_t renew;             /* from the first role that has one; 0 = no thread ends */
    bool is_run_by_main;        /* lane 0 runs the bodies of all lanes */
    struct ab_cap cap;
    struct ab_role *roles;
    size_t n_roles;
};

/* Statistics of one `reset`, or of the ends of one `scope`, from making the tape. Empty ones are
 * not counted. */
struct ab_reset_count {
    uint64_t n, n_bulk; /* n_bulk: those that freed everything that was live */
    /* set that had other live blocks the first time a reset was not bulk, perhaps the same set;
     * AB_NO_SET = none */
    uint32_t other;
};

/* A line of `gates:` or `claims:`. The workload stores its text and position only, because the back
 * ends and numbers that it may name are known to the command that runs it. */
struct ab_remark {
    struct ab_node node; /* a copy; its text is the gate or claim */
    char *says, *source; /* claims: never NULL; gates: NULL */
    bool is_warning;     /* gates: level: warn */
};

struct ab_remarks {
    struct ab_remark *items;
    size_t n;
};

struct ab_workload {
    char *file, *text; /* name as given, and content without byte order mark */
    size_t n_text;
    char name[AB_NAME_MAX + 1];
    char *about; /* never NULL */
    uint64_t seed;
    uint32_t window;   /* skew window of the tape */
    bool wants_groups; /* record in the tape which set each request is for */
    struct ab_params params;
    char **param_texts, **settings; /* "name=value"; settings have whole lists, "name=100,1000"; end
                                       with NULL */
    char *values;                   /* values of parameters that have a list: "n=1000 m=4"; "" =
                                       none has */
    size_t n_combinations;
    struct ab_dists dists;
    struct ab_size_def *sizes;
    size_t n_sizes;
    struct ab_set_def *sets;
    size_t n_sets;
    struct ab_phase_def *phases;
    size_t n_phases;
    char **backends;
    size_t n_backends;
    struct ab_remarks gates, claims;
    uint32_t n_cursors;
    struct ab_reset_count *resets;                /* by verb->cursor; NULL until compiled */
    void (*progress)(void *user, uint64_t n_ops); /* called while it is compiled; NULL = none */
    void *progress_user;
};

#endif
