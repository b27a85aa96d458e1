/* SPDX-License-Identifier: MIT
 *
 * Finds scopes from the lifetimes of blocks alone.
 *
 * For each horizon of 16, 64, 256 … calls, blocks that live for at most that many calls are
 * short-lived. A scope ends when the number of live short-lived blocks falls to an eighth of its
 * maximum since the last end, or to none if the maximum was less than eight. The end is at the
 * lowest point before the number rises again. A horizon has scopes if
 *  - there are at least AB_SCOPE_COUNT_LEAST of them with a quarter of all allocations; stretches
 *    of an eighth of the trace or more (start-up, shut-down) do not count;
 *  - the typical scope (half of the allocations are in scopes up to this size) has at least
 *    AB_SCOPE_ALLOCS_LEAST allocations; a stretch below an eighth of that is not a scope, but the
 *    beginning of the next one;
 *  - half of the allocations in them are freed before their end;
 *  - they are no accident. Either the standard deviation of their sizes is at most 0.4 of the mean
 *    (between accidents it is 0.6 to 1). Or there are four times as many as independent blocks
 *    would leave at the same rate (Poisson's law for the number of live blocks).
 * Among several horizons, the one with most allocations freed in their scope is chosen; within 5 %,
 * the one with the smallest scopes.
 *
 * One pass, with a fixed amount of memory beside that of the live blocks. Up to 262,144 ends per
 * horizon are kept; if there are more, a second pass finds them.
 */
#ifndef AB_TRACE_TOOLS_SCOPE_SEARCH_H
#define AB_TRACE_TOOLS_SCOPE_SEARCH_H

#include "trace_tools/scopes.h"

enum {
    AB_SCOPE_HORIZONS = 10, /* 2^4, 2^6 … 2^22 calls */
    AB_SCOPE_COUNT_LEAST = 10,
    AB_SCOPE_ALLOCS_LEAST = 8,
};
#define AB_SCOPE_ALL_THREADS UINT64_MAX

struct ab_scope_search;

struct ab_scope_choice { /* result of a search, for a second pass */
    unsigned horizon;    /* index of the horizon */
    double typical;      /* allocations in a typical scope */
    /* allocations in a typical scope of each horizon; 0 = the horizon has no scopes */
    double typicals[AB_SCOPE_HORIZONS];
    double count; /* number of scopes */
    /* share of the allocations in scopes that are freed before the end of their scope */
    double purity;
    /* smallest and largest scopes among those of all horizons */
    struct ab_scope_kind nested, outer;
};

/* Opens a search in the blocks that `thread` allocates; AB_SCOPE_ALL_THREADS = in all blocks. */
struct ab_scope_search *ab_scope_search_open(uint64_t thread);
void ab_scope_search_close(struct ab_scope_search *s);
/* Visitor for struct ab_walk; `user` is the search. */
enum ab_status ab_scope_search_visit(void *user, const struct ab_walk_batch *batch,
                                     struct ab_err *err);
/* Chooses a horizon after the walk, as `wish` says. Returns false if there are no scopes. */
bool ab_scope_search_choose(const struct ab_scope_search *s, enum ab_scopes_wish wish,
                            struct ab_scope_choice *out);

/* Makes the search remember the numbers of calls (32 MiB). Without them the ends of the scopes of
 * one thread are not kept. Call this before the walk. */
void ab_scope_search_number(struct ab_scope_search *s);

/* Moves the ends of the horizon that was chosen to `to`, after the walk. Returns false if these
 * ends were not kept. Also moves the kept ends of the other horizons with scopes to `others`,
 * horizon by horizon. */
bool ab_scope_search_hand_over(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                               struct ab_thread_scopes *to, struct ab_thread_scopes *others);

/* Makes the search write the ends for `choice` to `to` as it finds them. Call this before the
 * walk. */
void ab_scope_search_emit(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                          struct ab_thread_scopes *to);

/* True if scopes are too regular to be accidents. The standard deviation of their sizes is at most
 * 0.4 of the mean (`variation`), or there are four times as many as expected by accident. */
bool ab_scope_is_regular(double count, double variation, double expected);

#endif
