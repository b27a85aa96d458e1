/* SPDX-License-Identifier: MIT
 *
 * Computes the figures of a session over all its rounds: merged histograms, medians, ratios and
 * their intervals. Tables and gates both take them from here, so that both show one number.
 */
#ifndef AB_STATS_AGGREGATE_H
#define AB_STATS_AGGREGATE_H

#include "result/result.h"
#include "stats/effect.h"

/* Median and extremes of a number that has one value for each round. */
struct ab_round_range {
    /* number of rounds that have a value; 0 = the other members are NaN */
    uint32_t n;
    double median, low, high; /* low and high: extremes of the rounds */
};

/* Returns the range of x[0..n), which it sorts. */
struct ab_round_range ab_round_range_of(double *x, uint32_t n);
/* Returns half the distance between the extremes as a fraction of the median; NaN with fewer than
 * two rounds. */
double ab_round_range_half(const struct ab_round_range *s);

/* Pairs of numbers, one pair for each round. Their ratio is computed so that a reader can recompute
 * it from the two medians that are shown. */
struct ab_pairs {
    double *x; /* array of `cap` numerators, then `cap` denominators, then `cap` ratios */
    uint32_t n, cap;
    /* the rounds ran on several machines, so that a median over all of them means nothing */
    bool is_by_round;
};
void ab_pairs_init(struct ab_pairs *p, uint32_t most);
void ab_pairs_fini(struct ab_pairs *p);
/* Adds the pair of a numerator and a denominator. Ignores the pair if a number is missing, not
 * finite or negative. 0 divided by 0 counts as 1. */
void ab_pairs_add(struct ab_pairs *p, double of, double by);
/* Returns the ratio of the two medians as `median`; if is_by_round, the median of the ratios. low
 * and high are the extremes of the ratios of single rounds, and the median always lies between
 * them. */
struct ab_round_range ab_pairs_ratio(const struct ab_pairs *p);
/* Returns the median of ab_pairs_ratio with the confidence interval of the pairs. The interval is
 * widened if necessary to contain the median. */
struct ab_effect ab_pairs_effect(const struct ab_pairs *p);

/* True if this is the null back end, which measures the cost of the harness. It is not an allocator
 * and is never a winner. */
bool ab_backend_is_null(const struct ab_backend_info *b);
/* True if the back end is compiled into the loop. Comparing it with back ends that are called as
 * functions would be unfair. */
bool ab_backend_is_inlined(const struct ab_backend_info *b);
/* True if the status is ok and the back end is not the null back end. */
bool ab_backend_is_comparable(const struct ab_backend_info *b);
/* ab_session_base_of returns the back end that `backend` is compared with, within the same
 * combination: the one that the session names, else glibc, else the first comparable one. It
 * returns UINT32_MAX if there is none, or if the named one has no numbers. ab_session_base returns
 * one such base of any combination, for its name and to test whether a base exists. */
uint32_t ab_session_base_of(const struct ab_session *s, uint32_t backend);
uint32_t ab_session_base(const struct ab_session *s);

/* Returns the back end with this name; UINT32_MAX = none. */
uint32_t ab_session_backend(const struct ab_session *s, const char *name);

/* Returns the result record; NULL = none. */
const struct ab_result *ab_session_find(const struct ab_session *s, uint32_t backend,
                                        const char *phase, unsigned op, uint32_t round);
/* True if any back end with numbers did this op in this phase. */
bool ab_session_has_op(const struct ab_session *s, const char *phase, unsigned op);

struct ab_merged {    /* numbers of one back end, phase and op, over all rounds */
    uint64_t n;       /* number of timed ops, including overflow */
    double max;       /* NaN = none */
    double max_least; /* most CPU time of a call that the scheduler interrupted; NaN = none */
    uint32_t n_rounds;
};
/* Merges the histograms of all rounds into *hdr, which it initialises. */
struct ab_merged ab_session_merge(const struct ab_session *s, uint32_t backend, const char *phase,
                                  unsigned op, struct ab_hdr *hdr);

/* Returns the time of a phase divided by its ops, in ns per op. With phase NULL, returns the time
 * of the whole run in ns: the sum over all measured phases, or for a real program the time from
 * start to end. NaN = not known. */
double ab_session_time_of_round(const struct ab_session *s, uint32_t backend, const char *phase,
                                uint32_t round);
/* True if the peak including memory that is resident only during a call (peak_bytes) is known for
 * every row. It is not used if it is known for some rows only, because rows must be compared by one
 * number. */
bool ab_session_has_peaks(const struct ab_session *s);
/* Returns the ops of a phase in one round, from a back end that did all of them; 0 = not known. For
 * AB_EVERY_COMBINATION, the maximum over the combinations. */
uint64_t ab_session_phase_ops(const struct ab_session *s, uint32_t combination, const char *phase);
/* True if the back end released a region in one call. False if a reset freed the blocks one by one,
 * or if the work has no reset. */
bool ab_session_did_reset(const struct ab_session *s, uint32_t backend);

#endif
