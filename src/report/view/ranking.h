/* SPDX-License-Identifier: MIT
 *
 * The back ends of a session, the fastest first: one row each, with all that decides between them.
 */
#ifndef AB_REPORT_VIEW_RANKING_H
#define AB_REPORT_VIEW_RANKING_H

#include "report/view/memory.h"
#include "report/view/words.h"
#include "result/result.h"
#include "stats/metric.h"

enum ab_view_standing {
    AB_VIEW_RANKED, /* by the time of the whole run */
    AB_VIEW_ASIDE, /* has numbers and is not compared: did other work, failed its checks, is wrapped,
                       or is the null back end */
    AB_VIEW_FAILED /* has no numbers: failed, or is not installed */
};

struct ab_view_rank {
    uint32_t backend; /* of session->backends */
    const char *name; /* as asked for; may be hostile */
    enum ab_view_standing standing;
    bool is_base;
    bool is_inlined;              /* compiled into the loop: no like for like, wins nothing */
    bool never_frees;             /* gives nothing back while the work runs */
    struct ab_round_range run_ns; /* time of the whole run; of a real program its wall time */
    struct ab_effect speed;   /* above 1: faster than the base. Ratio of the two medians that are
                                     shown; NaN: is the base, or nothing to compare with */
    struct ab_view_factor vs; /* the same in words */
    /* Latency of calls that return a block (alloc, alloc_zeroed, alloc_aligned, resize) in all
     * phases, each weighted by how often the work makes it. ns; NaN = n/a, too few samples */
    double p99_ns, p999_ns;
    double peak_bytes; /* most resident bytes that the heap added, of the run with the median peak:
                          the one of memory; of a real program that of all its processes */
    double times_live; /* peak_bytes by the most live bytes; NaN = n/a */
    struct ab_effect peak_ratio; /* peak_bytes by that of the base, which a reader can work out */
    double after_free_bytes;     /* resident when all is freed, after the longest wait; NaN = n/a */
    double after_purge_bytes;
    double growth_bytes; /* of the footprint at constant live bytes, in 1,000,000 ops: growth.h */
    double growth_over_ops; /* how many ops it was seen in */
    const char *why_growth; /* it is n/a; "" = it is not */
};

struct ab_view_ranking {
    struct ab_view_rank
        *rows; /* n_rows = session->n_backends: ranked ones by time, those of unknown
                                  time after them; then aside, then failed, as they were asked for */
    uint32_t n_rows, n_ranked;
    uint32_t base;                         /* index of session->backends; UINT32_MAX = none */
    unsigned drain;                        /* of ab_drain_names: what after_free_bytes is read at */
    bool has_drain, has_purge, has_growth; /* of some back end it is known */
};

/* `memory` is that of the same session. */
void ab_view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                          struct ab_view_ranking *out);
void ab_view_ranking_fini(struct ab_view_ranking *r);
/* Row of a back end. */
const struct ab_view_rank *ab_view_ranking_find(const struct ab_view_ranking *r, uint32_t backend);
/* Of the two peaks that are shown, with the interval of the pairs of rounds; of results of several
 * hosts that of the rounds. Ratio NaN: not known. */
struct ab_effect ab_view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                    const struct ab_view_rank *base);

#endif
