/* SPDX-License-Identifier: MIT
 *
 * One session for --budget: general malloc and the advised mapping, each call timed.
 */
#include "cli/advise/advise_budget.h"

#include "app/replay.h"
#include "cli/advise/advise_measure.h"
#include "cli/advise/advise_rules.h"
#include "core/median.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 };

struct asked {
    const char *base;
    bool is_advised;
    struct ab_advised_budget *out;
};

void ab_advised_scopes_fini(struct ab_advised_scopes *x)
{
    free(x->hdr);
    x->hdr = NULL;
}

static bool add_record(const struct ab_iterations *x, struct ab_advised_scopes *out)
{
    out->n += x->n;
    out->n_missed += x->n_over_budget;
    out->n_scheduler += x->n_scheduler;
    if (x->hdr == NULL || x->n == 0)
        return true;
    if (out->hdr == NULL && (out->hdr = ab_hdr_new()) == NULL)
        return false;
    ab_hdr_merge(out->hdr, x->hdr);
    return true;
}

/* What went wrong with the back end comes before what a round of it lacks. */
static const char *reason_of(const struct ab_backend_info *b, const char *of_rounds)
{
    if (b->status != AB_BACKEND_OK)
        return b->reason[0] != 0 ? b->reason : ab_backend_status_name(b->status);
    return of_rounds != NULL ? of_rounds : AB_ADVISED_TOO_FAST;
}

bool ab_advise_read_scopes(const struct ab_session *s, uint32_t backend,
                           struct ab_advised_scopes *out)
{
    double worst[ROUNDS];
    size_t n = 0;
    const struct ab_backend_info *b = &s->backends[backend];
    const char *of_rounds = NULL;
    bool is_whole = true;
    *out = (struct ab_advised_scopes){.worst_ns = NAN};
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (x->backend != backend)
            continue;
        is_whole = add_record(x, out) && is_whole;
        if (x->n == 0 && x->reason[0] != 0)
            of_rounds = x->reason;
        else if (x->n > 0 && isfinite(x->max) && n < ROUNDS)
            worst[n++] = x->max;
    }
    out->is_known = b->status == AB_BACKEND_OK && n > 0;
    out->n_rounds = (uint32_t)n;
    if (out->is_known)
        out->worst_ns = ab_median(worst, n);
    else
        snprintf(out->reason, sizeof out->reason, "%.190s", reason_of(b, of_rounds));
    return is_whole;
}

/* The mapping comes last. */
static enum ab_status take(void *user, const struct ab_session *s, struct ab_err *err)
{
    const struct asked *asked = user;
    bool is_whole = true;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, asked->base) == 0)
            is_whole = ab_advise_read_scopes(s, i, &asked->out->before);
    if (is_whole && asked->is_advised)
        is_whole = ab_advise_read_scopes(s, s->n_backends - 1, &asked->out->after);
    return is_whole ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory for the times of scopes");
}

static void set_passes(struct ab_options *r)
{
    r->has_passes = true;
    memset(&r->passes, 0, sizeof r->passes);
    r->passes.rounds[AB_PASS_TAIL] = r->rounds = ROUNDS;
    r->processes = 1;
    r->touch = AB_TOUCH_PAGE; /* of no call's time */
}

enum ab_status ab_advise_budget(const struct ab_options *o, const struct ab_advice *a,
                                const char *base, uint32_t used, struct ab_advised_budget *out,
                                struct ab_err *err)
{
    static const struct ab_advised_scopes none = {.worst_ns = NAN, .reason = "it was not replayed"},
                                          no_scopes = {.worst_ns = NAN,
                                                       .reason = "the trace has no scopes"};
    struct asked asked = {.base = base, .is_advised = used != 0, .out = out};
    const struct ab_replay_watch watch = {.take = take, .user = &asked};
    struct ab_options r = *o;
    int exit_code = 0;
    *out = (struct ab_advised_budget){.before = none, .after = none};
    if (a->n_scopes == 0) {
        *out = (struct ab_advised_budget){.before = no_scopes, .after = no_scopes};
        return AB_OK;
    }
    struct ab_text rules = ab_advise_rules(a, used, base);
    if (rules.s == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    const char *map = rules.s;
    set_passes(&r);
    r.maps = &map;
    r.n_maps = used != 0;
    r.backends = &base;
    r.n_backends = 1;
    r.base = base;
    r.has_each_scope = true;
    r.each_budget_ns = o->budget_ns;
    r.stage.name = "budget";
    r.stage.n = r.stage.number;
    r.is_store_off = r.hides_failures = true;
    r.output = r.json = NULL;
    enum ab_status status = ab_replay(&r, &watch, &exit_code, err);
    ab_text_fini(&rules);
    return status;
}
