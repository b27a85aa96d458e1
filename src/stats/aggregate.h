/* SPDX-License-Identifier: MIT
 *
 * Computes the figures of a session over all its rounds: merged histograms, medians, ratios and
 * their intervals. Tables and gates both take them from here, so that both show one number.
 */
#ifndef AB_STATS_AGGREGATE_H
#define AB_STATS_AGGREGATE_H

#include "result/result.h"
#include "stats/effect.h"

/* One number a round. */
struct ab_round_range {
    uint32_t n;               /* rounds that have it; 0 = the rest is NaN */
    double median, low, high; /* low and high: extremes of the rounds */
};

/* Returns the range of x[0..n), which it sorts. */
struct ab_round_range ab_round_range_of(double *x, uint32_t n);
/* Half the range of the rounds in parts of the median; NaN below two rounds. */
double ab_round_range_half(const struct ab_round_range *s);

/* Two numbers a round, of what is set against each other; for ratios that can be recomputed from
 * the two medians shown. */
struct ab_pairs {
    double *x; /* numerators, denominators, ratios: cap of each */
    uint32_t n, cap;
    bool is_by_round; /* rounds of several machines: medians over all of them say nothing */
};
void ab_pairs_init(struct ab_pairs *p, uint32_t most);
void ab_pairs_fini(struct ab_pairs *p);
/* Passes over a pair of which one is missing, not finite or negative. 0 by 0 is 1. */
void ab_pairs_add(struct ab_pairs *p, double of, double by);
/* median: the ratio of the two medians, or with is_by_round the median of the ratios; low, high:
 * extremes of the ratios of single rounds, between which it always lies. */
struct ab_round_range ab_pairs_ratio(const struct ab_pairs *p);
/* The same ratio, the interval of the effect of the pairs, widened to hold it. */
struct ab_effect ab_pairs_effect(const struct ab_pairs *p);

/* The null back end runs for the price of the harness; it is no allocator and wins nothing. */
bool ab_backend_is_null(const struct ab_backend_info *b);
/* Compiled into the loop: beside rows that are called it is no like for like. */
bool ab_backend_is_inlined(const struct ab_backend_info *b);
/* Status ok and not null. */
bool ab_backend_is_comparable(const struct ab_backend_info *b);
/* Returns the back end that this one is compared with: the one that the session names, else glibc,
 * else the first comparable, of the same combination of values; UINT32_MAX = none, or the one that is
 * named has no numbers. The other: any such back end, for its own name and for whether there is one. */
uint32_t ab_session_base_of(const struct ab_session *s, uint32_t backend);
uint32_t ab_session_base(const struct ab_session *s);

/* The back end of this name; UINT32_MAX = none. */
uint32_t ab_session_backend(const struct ab_session *s, const char *name);

/* NULL when there is none. */
const struct ab_result *ab_session_find(const struct ab_session *s, uint32_t backend,
                                        const char *phase, unsigned op, uint32_t round);
/* Did any back end with numbers do this op in this phase? */
bool ab_session_has_op(const struct ab_session *s, const char *phase, unsigned op);

struct ab_merged {    /* one back end, phase and op over all rounds */
    uint64_t n;       /* timed ops, overflow included */
    double max;       /* NaN = none */
    double max_least; /* the most CPU time of a call that was interrupted; NaN = none */
    uint32_t n_rounds;
};
/* Merges histograms into *hdr (initialised here). */
struct ab_merged ab_session_merge(const struct ab_session *s, uint32_t backend, const char *phase,
                                  unsigned op, struct ab_hdr *hdr);

/* Time of a phase by its ops, in ns an op; of the whole run (phase NULL) in ns: that of all measured
 * phases, of a real program from its start to its end. NaN = not known. */
double ab_session_time_of_round(const struct ab_session *s, uint32_t backend, const char *phase,
                                uint32_t round);
/* Are peaks known with what is resident only during a call (peak_bytes)? Of every row or of none: rows
 * are compared by one number. */
bool ab_session_has_peaks(const struct ab_session *s);
/* The most resident bytes that the heap added in any measured phase, with what is resident only during a
 * call or without; of a real program the kernel's own peak, which has it all. */
double ab_session_peak_of_round(const struct ab_session *s, uint32_t backend, uint32_t round,
                                bool with_calls);
/* Ops of a phase in one round, of a back end that does all of them; 0 = not known. Of every combination
 * of values: the most. */
uint64_t ab_session_phase_ops(const struct ab_session *s, uint32_t combination, const char *phase);
/* Did it give back a region in one call? Else a reset was frees one by one, or the work has none. */
bool ab_session_did_reset(const struct ab_session *s, uint32_t backend);

#endif
