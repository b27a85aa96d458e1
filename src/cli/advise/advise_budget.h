/* SPDX-License-Identifier: MIT
 *
 * What the allocator's calls take in single scopes, before and after the advice: replays that time
 * each call (the tail pass, as of `replay --each scope --budget`).
 */
#ifndef AB_CLI_ADVISE_ADVISE_BUDGET_H
#define AB_CLI_ADVISE_ADVISE_BUDGET_H

#include "advise/advise.h"
#include "app/options.h"
#include "result/result.h"

struct ab_advised_scopes { /* of all rounds */
    bool is_known;         /* else `reason`, and the rest is nothing */
    double worst_ns;       /* of a round; their median */
    uint32_t n_rounds;     /* that have one */
    uint64_t n, n_missed;  /* scopes that were timed; of these, longer than the budget */
    uint64_t n_scheduler;  /* left out: the scheduler gave the CPU away in them */
    struct ab_hdr *hdr;    /* of the n scopes, ns; NULL = none */
    char reason[192];
};

struct ab_advised_budget {
    struct ab_advised_scopes before, after; /* after: nothing where nothing is advised */
};

/* Of all records of a back end in the session, to be ended with ab_advised_scopes_fini. False: out of
 * memory. */
bool ab_advise_read_scopes(const struct ab_session *s, uint32_t backend,
                           struct ab_advised_scopes *out);

void ab_advised_scopes_fini(struct ab_advised_scopes *x);

/* used: the heaps that are advised. What a replay fails with; a row that fails is no failure but a
 * reason. End both with ab_advised_scopes_fini in any case. Nothing is run for a trace without scopes. */
enum ab_status ab_advise_budget(const struct ab_options *o, const struct ab_advice *a,
                                const char *base, uint32_t used, struct ab_advised_budget *out,
                                struct ab_err *err);

#endif
