/* SPDX-License-Identifier: MIT
 *
 * Sums over stretches between two points where few short-lived blocks live, by their size; and
 * whether these stretches are scopes (search.h says when).
 */
#ifndef AB_TRACE_TOOLS_SCOPE_JUDGE_H
#define AB_TRACE_TOOLS_SCOPE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    AB_SCOPE_LOW = 8,       /* a scope ends where this part of the most blocks is left */
    AB_SCOPE_FRAGMENT = 8,  /* less than this part of the typical one is no scope */
    AB_SCOPE_BINS = 64 * 4, /* four for each power of two */
};

struct ab_scope_seen { /* one stretch */
    uint64_t allocs;
    uint64_t shorts;    /* of these: short-lived */
    uint64_t survivors; /* short-lived blocks that live at its end */
    uint64_t most;      /* that lived at once */
    uint64_t calls;     /* of the threads that are looked at */
    uint64_t area;      /* live short-lived blocks, summed over these */
};

struct ab_scope_tally { /* begins as {0} */
    struct ab_scope_bin {
        uint64_t n;
        struct ab_scope_seen sum;
    } bins[AB_SCOPE_BINS]; /* by allocations */
};

struct ab_scope_verdict {
    bool has_scopes;
    double typical;   /* allocations */
    double count;     /* scopes */
    double share;     /* of all allocations: freed in the scope they belong to, at least */
    double purity;    /* the same of allocations in scopes alone */
    double variation; /* standard deviation of the sizes by their mean */
    double expected;  /* scopes that blocks would leave by accident */
};

void ab_scope_tally_add(struct ab_scope_tally *t, const struct ab_scope_seen *seen);

/* So many stretches, whose sizes vary so much, are no accident: the standard deviation is at most 0.4
 * of the mean, or there are four times as many as accident would make. */
bool ab_scope_is_regular(double count, double variation, double expected);

/* allocs: of the whole trace. */
struct ab_scope_verdict ab_scope_judge(const struct ab_scope_tally *t, uint64_t allocs);

#endif
