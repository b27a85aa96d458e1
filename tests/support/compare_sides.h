/* SPDX-License-Identifier: MIT
 *
 * Two sides of a comparison, the second a copy to be changed, for the tests of verdicts.
 */
#ifndef AB_TESTS_SUPPORT_COMPARE_SIDES_H
#define AB_TESTS_SUPPORT_COMPARE_SIDES_H

#include "result/numbers.h"
#include "stats/compare.h"

#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct fake_session *a, *b;
    struct ab_comparison c;
};

enum { ROUNDS = 8 };
static const double limit = 0.05;

static inline struct fake_session *new_side(uint32_t n_rounds)
{
    struct fake_session *f = fake_session_of(n_rounds);
    f->s.n_backends = 2; /* glibc and jemalloc, which are ok */
    for (uint32_t i = 0; i < f->s.n_backends; i++)
        f->backends[i].build_id[0] = 0; /* so that neither is known to be the same build in both */
    strcpy(f->s.host.fingerprint, "f00d");
    f->s.is_complete = true;
    return f;
}

static inline int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    x->a = new_side(ROUNDS);
    x->b = new_side(ROUNDS);
    *state = x;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *x = *state;
    ab_comparison_fini(&x->c);
    fake_session_free(x->a);
    fake_session_free(x->b);
    free(x);
    return 0;
}

static inline void compare(struct fixture *x)
{
    ab_comparison_fini(&x->c);
    ab_compare_results(&x->a->s, &x->b->s, limit, &x->c);
}

static inline void slow_down(struct fake_session *f, unsigned backend, double factor)
{
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == backend)
            f->results[i].ns_per_op *= factor;
}

/* The cell of a metric; NULL as phase or op where it has none. */
static inline const struct ab_checked *cell(const struct fixture *x, unsigned backend,
                                            const char *phase, const char *op, const char *metric)
{
    for (uint32_t i = 0; i < x->c.n_cells; i++) {
        const struct ab_checked *c = &x->c.cells[i];
        bool is_phase = phase == NULL ? c->phase == NULL
                                      : c->phase != NULL && strcmp(c->phase, phase) == 0;
        bool is_op = op == NULL ? c->op == NULL : c->op != NULL && strcmp(c->op, op) == 0;
        if (is_phase && is_op && strcmp(c->metric, metric) == 0 &&
            strcmp(c->backend, x->a->backends[backend].name) == 0)
            return c;
    }
    return NULL;
}

static inline const struct ab_checked *time_of(const struct fixture *x, unsigned backend)
{
    const struct ab_checked *c = cell(x, backend, NULL, NULL, "time");
    assert_non_null(c);
    return c;
}

#endif
