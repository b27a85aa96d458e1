/* SPDX-License-Identifier: MIT
 *
 * In which form a heap of several threads is proposed: one for each thread, or one for all. Replays
 * of the forms beside each other.
 */
#ifndef AB_CLI_ADVISE_ADVISE_FORMS_H
#define AB_CLI_ADVISE_ADVISE_FORMS_H

#include "cli/advise/advise_measure.h"
#include "report/json.h"
#include "report/table/style.h"

#include <stdio.h>

struct ab_advised_form {
    enum ab_advice_threads threads;
    char backend[160];
    struct ab_advised_row row; /* base of all: the first form */
};

struct ab_advised_forms {
    struct ab_advised_form all[AB_ADVICE_HEAPS_MAX][AB_ADVICE_THREADS_COUNT];
    size_t n[AB_ADVICE_HEAPS_MAX]; /* 0 = there is no choice, or it was not measured */
    size_t taken[AB_ADVICE_HEAPS_MAX];
    uint32_t n_rounds;
    uint32_t left_out; /* bit i: heap i has a choice, and others have more calls */
};

/* Measures the forms of the heaps with the most calls, as far as AB_ADVISE_BESIDE_MAX rows go, and
 * gives each the one that is best. Fails as ab_advise_measure. */
enum ab_status ab_advise_measure_forms(const struct ab_options *o, struct ab_advice *a,
                                       struct ab_advised_forms *out, struct ab_err *err);
/* Of n forms: the fastest of those that are faster than the first one for certain, else that one; the
 * first that ran, where it did not. */
size_t ab_advise_decide_form(const struct ab_advised_form *forms, size_t n);

/* "300 scopes of 4 threads (found), 120 allocations a scope", of a trace that has some. */
void ab_advise_print_scopes(FILE *to, const struct ab_advice *a);
/* How threads use heap `i`, and what its forms are worth. Nothing where it is one thread's. */
void ab_advise_print_forms(FILE *to, const struct ab_advice *a, const struct ab_advised_forms *f,
                           size_t i, struct ab_table_style style);
/* null where there was no choice. */
json_t *ab_advise_json_forms(struct ab_json *w, const struct ab_advised_forms *f, size_t i,
                             json_t *(*row)(struct ab_json *w, const struct ab_advised_row *r));

#endif
