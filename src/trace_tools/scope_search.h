/* SPDX-License-Identifier: MIT
 *
 * Finds scopes from the lifetimes of blocks alone.
 *
 * For each horizon of 16, 64, 256 … calls, blocks that live at most so many calls are short-lived.
 * A scope ends where the number of live short-lived blocks falls to an eighth of the highest since
 * the last end, or below (of fewer than eight: to none), at the lowest point before it rises
 * again. A horizon has scopes when
 *  - there are at least AB_SCOPE_COUNT_LEAST of them, besides stretches of an eighth of the trace
 *    and more (start-up, shut-down), and they hold a quarter of all allocations;
 *  - the typical one (half of the allocations lie in such or smaller ones) has at least
 *    AB_SCOPE_ALLOCS_LEAST allocations; stretches of less than an eighth of that are no scopes, but
 *    the beginning of the next one;
 *  - half of the allocations in them are freed before their end;
 *  - this is no accident: the standard deviation of their sizes is at most 0.4 of the mean (of
 *    stretches between accidents it is 0.6 to 1), or there are four times as many as blocks would leave that come and go independently of each other at
 *    the same rate (Poisson's law for the number of live ones).
 * Of several horizons, the one where most allocations are freed in their scope; within 5 % of
 * these, the one with the smallest scopes.
 *
 * One pass, a fixed amount of memory beside that of the live blocks. The ends of each horizon are
 * kept meanwhile, up to 262,144 of them: beyond that it takes a second pass to say where they are.
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

struct ab_scope_choice {                /* what a second pass needs */
    unsigned horizon;                   /* its number */
    double typical;                     /* allocations */
    double typicals[AB_SCOPE_HORIZONS]; /* the same of all; 0 = it has no scopes */
    double count;                       /* scopes */
    double purity; /* the part of the allocations in scopes that are freed before their end */
    struct ab_scope_kind nested, outer; /* the smallest and the largest that other horizons show */
};

/* Of the blocks that `thread` allocates. */
struct ab_scope_search *ab_scope_search_open(uint64_t thread);
void ab_scope_search_close(struct ab_scope_search *s);
/* For struct ab_walk: user is the search. */
enum ab_status ab_scope_search_visit(void *user, const struct ab_walk_batch *batch,
                                     struct ab_err *err);
/* After the walk; false = there are no scopes. */
bool ab_scope_search_choose(const struct ab_scope_search *s, enum ab_scopes_wish wish,
                            struct ab_scope_choice *out);

/* Before the walk: the calls keep their numbers, without which the ends of a thread's scopes are not
 * kept. 32 MiB. */
void ab_scope_search_number(struct ab_scope_search *s);

/* After it: the ends by `choice` go to `to`, if they were kept: true; else none does. The ends of
 * all other horizons that have scopes go to `others`, one horizon after the other, as far as they
 * were kept. */
bool ab_scope_search_hand_over(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                               struct ab_thread_scopes *to, struct ab_thread_scopes *others);

/* Before the walk: the ends by `choice` go to `to` as they are found. */
void ab_scope_search_emit(struct ab_scope_search *s, const struct ab_scope_choice *choice,
                          struct ab_thread_scopes *to);

/* So many stretches, whose sizes vary so much, are no accident: the standard deviation is at most 0.4
 * of the mean, or there are four times as many as accident would make. */
bool ab_scope_is_regular(double count, double variation, double expected);

#endif
