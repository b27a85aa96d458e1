/* SPDX-License-Identifier: MIT
 *
 * Time by phase: ns per op of each back end in each phase, and that of the harness alone, which is in
 * every one of them.
 */
#ifndef AB_REPORT_VIEW_PHASES_H
#define AB_REPORT_VIEW_PHASES_H

#include "report/view/words.h"
#include "result/result.h"
#include "stats/metric.h"

struct ab_view_phase {
    const char *name;
    uint64_t n_ops; /* ab_view_phase_ops */
};

struct ab_view_time {
    struct ab_round_range ns_per_op; /* median is what is shown; n = 0: n/a */
    struct ab_effect speed;          /* above 1: faster than the base; NaN: nothing to compare */
    struct ab_view_factor vs;        /* "~" where not is_clear, of what is no base */
};

struct ab_view_harness { /* the null back end with one of the harnesses */
    uint32_t backend;    /* the first that has it */
    const char *boundary;
    char name[AB_HARNESS_NAME_BYTES]; /* ab_harness_name */
    double *ns_per_op;                /* by phase, median over the rounds; NaN = n/a */
};

struct ab_view_phases {
    struct ab_view_phase *phases;
    uint32_t n_phases, n_backends;
    struct ab_view_time *times;      /* [backend · n_phases + phase] */
    struct ab_view_harness *harness; /* n_harness: those of back ends with numbers, by boundary */
    unsigned n_harness;
    uint32_t *harness_of; /* a back end: the one that stands for its harness */
};

/* Ops of a phase in one round, of a back end that does all of them; 0 = not known. */
uint64_t ab_view_phase_ops(const struct ab_session *s, const char *phase);

void ab_view_phases_make(const struct ab_session *s, uint32_t base, struct ab_view_phases *out);
void ab_view_phases_fini(struct ab_view_phases *p);
const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase);
/* ns per op of a back end's harness; NaN = not measured. */
double ab_view_phases_harness(const struct ab_view_phases *p, uint32_t backend, uint32_t phase);

#endif
