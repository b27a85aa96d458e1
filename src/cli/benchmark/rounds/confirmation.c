/* SPDX-License-Identifier: MIT
 *
 * Around the rounds that confirm a failure, which the commands run themselves.
 */
#include "cli/benchmark/rounds/confirmation.h"

#include <stdio.h>

bool ab_confirmation_begin(struct ab_confirmation *c, const struct ab_options *o,
                           const struct ab_decision *decision, const struct ab_session *session)
{
    *c = (struct ab_confirmation){.options = *o};
    uint32_t n = ab_decision_suspicious(decision, session, c->is_concerned);
    if (n > 0 && !o->is_quiet)
        fprintf(stderr, "%u verdict%s to confirm: %u more rounds\n", n, n == 1 ? "" : "s",
                session->n_rounds);
    c->options.rounds = session->n_rounds;
    c->options.time_budget_ns = 0;
    c->options.precision = 0;
    return n > 0;
}

void ab_confirmation_describe(const struct ab_confirmation *c, struct ab_session *again)
{
    again->seed = ~again->seed;
    for (uint32_t i = 0; i < again->n_backends; i++)
        if (!c->is_concerned[i] && again->backends[i].status == AB_BACKEND_OK)
            again->backends[i].status = AB_BACKEND_ABSENT;
}

enum ab_status ab_confirmation_end(struct ab_decision *decision, struct ab_session *session,
                                   struct ab_session *again, enum ab_status status,
                                   struct ab_err *err)
{
    if (status == AB_OK)
        ab_decision_confirm(decision, session, again);
    else if (status == AB_INTERRUPTED)
        ab_fail(err, status, "interrupted while a failure was being confirmed; it stands");
    return status;
}
