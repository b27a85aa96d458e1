/* SPDX-License-Identifier: MIT
 *
 * Raw samples into results: ticks into histograms, reports into records.
 */
#ifndef AB_RUNNER_FOLD_FOLD_H
#define AB_RUNNER_FOLD_FOLD_H

#include "runner/run.h"

#include <stddef.h>

/* Where results go. Records hang in the session, which owns them. */
struct ab_fold {
    struct ab_session *session;
    const struct ab_tape_map *tape;
    const struct ab_clock *clock;
    uint32_t backend, round;
};

/* The throughput pass comes first: it makes the entries that the others fill. */
enum ab_status ab_fold_throughput(const struct ab_fold *f, const struct ab_outcome *run,
                                  struct ab_err *err);
void ab_fold_latency(const struct ab_fold *f, const struct ab_outcome *run);
void ab_fold_tail(const struct ab_fold *f, const struct ab_outcome *run);

/* Both passes of the null back end at one boundary, to session->nulls. */
enum ab_status ab_fold_null(const struct ab_fold *f, const char *boundary,
                            const struct ab_outcome *throughput, const struct ab_outcome *latency,
                            struct ab_err *err);

/* Drops what a back end measured before it failed. */
void ab_fold_forget(struct ab_session *session, uint32_t backend);

/* For those who fold: room for one more item; a histogram that is all zeroes (NULL: no memory);
 * ticks as nanoseconds, rounded; does the back end have a function for this kind of op? */
bool ab_fold_grow(void **items, uint32_t *cap, uint32_t n, size_t item_bytes);
struct ab_hdr *ab_fold_new_hdr(void);
static inline uint64_t ab_fold_ns(const struct ab_fold *f, uint64_t ticks)
{
    return (uint64_t)((double)ticks * f->clock->ns_per_tick + 0.5);
}
static inline bool ab_fold_is_served(const struct ab_outcome *run, unsigned kind)
{
    return (run->page->report.hooks >> kind & 1) != 0;
}

/* Median of x[0..n), n > 0; sorts x. */
double ab_median(double *x, size_t n);

#endif
