/* SPDX-License-Identifier: MIT
 *
 * A workload as plain records: every value is read, every default is filled in, and every name is
 * replaced by an index. All values are valid, so the generator (generate.c) does not check them
 * again.
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
/* limit on the number of params, of sizes, of sets, of phases and of back ends */
#define AB_MAX_ENTRIES 1000
#define AB_NO_SET UINT32_MAX
#define AB_MAX_POSITIONS ((uint64_t)AB_SLOT_MAX + 1)

enum ab_on_full { AB_ON_FULL_BLOCK, AB_ON_FULL_DROP, AB_ON_FULL_FREE };

struct ab_set_def {
    char name[AB_NAME_MAX + 1];
    /* place of `count` in the file; if the set has no `count`, the place of the set */
    struct ab_place place;
    enum ab_set_kind kind;
    char *via; /* back end that serves the set in the row "@map"; NULL = none */
    struct ab_place via_place;
    bool is_shared; /* True if all lanes share one set (`per: all`) */
    /* True if an error in the set was reported, so that consequences are not reported too */
    bool is_broken;
    /* True if blocks change their position, so that the slot of each position must be stored */
    bool is_moving;
    uint32_t count; /* number of positions, or of messages that a queue can hold; 0 = no limit */
    /* index of the distribution that gives the one size of all blocks; SIZE_MAX = verbs give the
     * sizes */
    size_t fixed;
    uint32_t unit; /* queue: number of blocks in a message */
    bool is_lifo;
    enum ab_on_full on_full;
    double survive; /* window: fraction of the blocks of a full window that survives */
    uint32_t n_survivors;
    /* window: True if the blocks below (above) the survivors are freed from the highest position
     * down */
    bool is_below_lifo, is_above_lifo;
    /* range of the lanes that use the set in any phase; at least one lane */
    uint32_t first_lane, end_lane;
    struct ab_model model;
    uint32_t base; /* slot of position 0 of the first lane; not used if is_moving */
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
    double share;        /* sum of the probabilities up to this bin; the last one is 1 */
    uint32_t begin, end; /* positions */
};

struct ab_verb {
    enum ab_verb_kind kind;
    struct ab_place place;
    uint32_t set;
    uint32_t other;    /* index of the set that `from`, `into` or `with` names; AB_NO_SET = none */
    bool to_next_lane; /* send */
    /* recv: True if `then: free` is given. Without `into` blocks are freed in any case */
    bool is_freed;
    bool is_sized; /* True if blocks are freed by the function that takes their size */
    enum ab_pick pick;
    enum ab_pick with_pick; /* exchange */
    uint64_t step;          /* argument of stride(p) or every(k) */
    struct ab_bin *bins;
    size_t n_bins;
    enum ab_amount amount;
    uint64_t count; /* value of `count`; its smallest value if `counts` is set */
    /* index of the distribution from which the count is drawn each time; SIZE_MAX = `count` is
     * fixed */
    size_t counts;
    double fraction; /* value of `fraction`; for MAYBE the probability */
    /* branch of CHOOSE: cumulated probability of the branches up to this one; the last one has 1 */
    double share;
    size_t dist; /* alloc, replace, resize and others: index of the distribution of sizes */
    uint64_t align;
    unsigned touch; /* enum ab_touch, or AB_TOUCH_SHARE */
    uint32_t touch_bytes;
    enum ab_access mode;     /* access */
    enum ab_walk_order walk; /* walk */
    uint32_t cursor;         /* index of the verb's own cursor; each verb has one */
    uint64_t time_ns;        /* settle: duration; every: interval */
    /* verbs inside a control verb, executed `count` times; for CHOOSE the branches */
    struct ab_verb *body;
    size_t n_body;
};

enum ab_until { AB_UNTIL_ITERS, AB_UNTIL_OPS, AB_UNTIL_ALLOCATED, AB_UNTIL_LIVE, AB_UNTIL_SECONDS };

/* Verbs that some lanes of a phase execute. Without `roles` a phase has one role for all its
 * lanes. */
struct ab_role {
    char name[AB_NAME_MAX + 1];
    uint32_t first_lane, n_lanes;
    struct ab_verb *body;
    size_t n_body;
    /* executed once, after the bodies of all roles have ended; NULL = none */
    struct ab_verb *finally;
    size_t n_finally;
    /* number of iterations after which a lane's thread ends and a new one begins; 0 = never */
    uint64_t renew;
};

/* Limit on the live bytes of the whole tape during a phase. Before an allocation would exceed the
 * limit, blocks of `set` are freed. */
struct ab_cap {
    uint32_t set;
    uint64_t limit; /* bytes; 0 = no cap */
    enum ab_pick evict;
};

struct ab_phase_def {
    char name[AB_NAME_MAX + 1];
    /* place of `until` in the file; if the phase has no `until`, the place of the phase */
    struct ab_place place;
    bool is_measured;
    uint64_t repeat;
    enum ab_until until;
    uint64_t limit;   /* argument of `until`; for SECONDS in ns */
    uint64_t over_ns; /* ns over which the phase's ops are spread; 0 = ops take no time */
    uint32_t n_lanes;
    /* name of one iteration of the body; "" = iterations are not timed */
    char each[AB_NAME_MAX + 1];
    uint64_t budget_ns; /* ns that the allocator may take in one iteration; 0 = no budget */
    uint64_t renew;     /* `renew` of the first role that has one; 0 = no thread ends */
    /* True if lane 0 executes the bodies of all lanes (`run_as: main`) */
    bool is_run_by_main;
    struct ab_cap cap;
    struct ab_role *roles;
    size_t n_roles;
};

/* Statistics of one `reset` verb, or of the ends of one `scope` verb, counted while the tape is
 * made. A reset that frees nothing is not counted. */
struct ab_reset_count {
    uint64_t n, n_bulk; /* n: resets; n_bulk: resets that could free all their blocks in one call */
    /* index of the set that had live blocks when a reset was not bulk for the first time, perhaps
     * the set of the reset itself; AB_NO_SET = none */
    uint32_t other;
};

/* One entry of `gates:` or `claims:`. The workload stores only its text and position, because only
 * the command that runs the workload knows the back ends and numbers that the text may name. */
struct ab_remark {
    struct ab_node node; /* copy of the node; `text` is the gate or claim */
    char *says, *source; /* texts of a claim, never NULL; NULL for a gate */
    bool is_warning;     /* True if the gate has `level: warn` */
};

struct ab_remarks {
    struct ab_remark *items;
    size_t n;
};

struct ab_workload {
    char *file, *text; /* file: name as the user gave it; text: content without byte order mark */
    size_t n_text;
    char name[AB_NAME_MAX + 1];
    char *about; /* never NULL */
    uint64_t seed;
    /* skew window of the tape: how far lanes may drift apart, in ops; or AB_WINDOW_AUTO */
    uint32_t window;
    bool wants_groups; /* True to record in the tape which set each request is for */
    struct ab_params params;
    /* "name=value" of each parameter; in `settings` a list in full, "name=100,1000". Both end with
     * NULL */
    char **param_texts, **settings;
    /* values of the parameters that have a list: "n=1000 m=4"; "" = no parameter has a list */
    char *values;
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
    /* indexed by verb->cursor; NULL until the workload is compiled */
    struct ab_reset_count *resets;
    /* called now and then during compilation; NULL = not called */
    void (*progress)(void *user, uint64_t n_ops);
    void *progress_user;
};

#endif
