/* SPDX-License-Identifier: MIT
 *
 * Advises which blocks of a trace belong in which heap: finds scopes and pinned pages, proposes
 * heaps, and measures what they gain.
 */
#ifndef AB_APP_ADVISE_ADVISING_H
#define AB_APP_ADVISE_ADVISING_H

#include "advise/code.h"
#include "app/advise/advise_measure.h"
#include "symbols/site_match.h"
#include "trace_tools/scopes.h"

#include <stdlib.h>

struct ab_advising { /* begins as {0} */
    const struct ab_advise_request *request;
    struct ab_stage stage; /* the next stage of the command */
    struct ab_advised_pins pins;
    struct ab_scopes scopes;
    struct ab_scopes_of_threads threads; /* other threads with scopes, besides scopes.thread */
    /* other: the rejected variant of the advice, with or without nested scopes */
    struct ab_advice advice, other;
    struct ab_advised measured;
    struct ab_advised_budget budget; /* times of scopes; empty without request->budget_ns */
    struct ab_advised_nested nested;
    char base[128]; /* name of the general malloc that serves all other blocks */
};

/* Works out and measures the advice on a trace. Fails as a replay does. The caller ends with
 * ab_advising_fini(), also after a failure. */
enum ab_status ab_advise_trace(const struct ab_advise_request *request, struct ab_advising *out,
                               struct ab_err *err);

static inline void ab_advising_fini(struct ab_advising *a)
{
    ab_advised_scopes_fini(&a->budget.before);
    ab_advised_scopes_fini(&a->budget.after);
    ab_advice_fini(&a->advice);
    ab_advice_fini(&a->other);
    ab_scopes_fini(&a->scopes);
    ab_scopes_of_threads_fini(&a->threads);
    free(a->pins.pins);
}

#endif
