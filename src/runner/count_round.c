/* SPDX-License-Identifier: MIT
 *
 * Counts instructions with the processor's counter if possible, else with callgrind; then system
 * calls.
 */
#include "runner/count_round.h"

#include "core/alloc.h"
#include "core/text.h"
#include "result/session.h"
#include "runner/callgrind.h"
#include "runner/estimate.h"
#include "runner/fold.h"
#include "runner/sample_tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allowances for callgrind, which is about 50 times slower and has bookkeeping of its own in
 * memory. */
enum { SLOWER = 80, START_NS = 1000000000, BOOKS_BYTES = 512 << 20 };

struct counter {
    const struct ab_count_plan *plan;
    struct ab_run_context context; /* plan->context with `sample` as its tape */
    struct ab_tape_map sample;
    struct ab_callgrind callgrind;
    struct ab_phase_counts *nulls,
        counts; /* nulls: one for each back end, filled only for those whose null back end is run */
    struct ab_rng rng;
};

static bool is_counted(const struct ab_count_plan *plan, uint32_t backend)
{
    return plan->session->backends[backend].combination == plan->combination &&
           ab_session_has_numbers(plan->session, backend) &&
           plan->cases[backend].decorator == AB_DECORATOR_NONE;
}

static void show_progress(const struct ab_count_plan *plan, const char *backend, enum ab_pass pass)
{
    if (plan->progress != NULL)
        plan->progress(plan->user, backend, pass);
}

/* Turns a failure of the worker into a reason and returns AB_OK, so that the failure does not end
 * the session. */
static enum ab_status reason_of_failure(enum ab_status status, const struct ab_err *why,
                                        char *reason, size_t cap, struct ab_err *err)
{
    static const char internal[] = "internal worker error: ";
    const char *text = why->text;
    if (status != AB_SYSTEM) {
        if (status != AB_OK)
            *err = *why;
        return status;
    }
    if (strncmp(text, internal, sizeof internal - 1) == 0)
        text += sizeof internal - 1;
    size_t n = strnlen(text, cap < 200 ? cap - 1 : 200);
    memcpy(reason, text, n);
    reason[n] = 0;
    return AB_OK;
}

/* ---- instructions ---- */

static void take_counts(struct counter *c, const struct ab_outcome *run)
{
    uint32_t n = c->sample.image->n_phases;
    if (c->context.counter == AB_COUNTER_CALLGRIND) {
        ab_callgrind_take(&c->callgrind, c->counts.n, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        c->counts.n[i] = run != NULL ? run->page->report.phases[i].instructions : AB_NOT_COUNTED;
}

/* Runs a case once with the chosen counter. `reason` receives why there are no counts; "" = there
 * are. */
static enum ab_status run_once(struct counter *c, const struct ab_case *what, char *reason,
                               size_t cap, struct ab_outcome *run, struct ab_err *err)
{
    struct ab_err why = {.text = ""};
    char message[200] = "";
    bool is_callgrind = c->context.counter == AB_COUNTER_CALLGRIND;
    *run = (struct ab_outcome){0};
    enum ab_status status = ab_run(&c->context, what, AB_PASS_INSTRUCTIONS, &c->rng, run, &why);
    bool is_ok = status == AB_OK && run->status == AB_BACKEND_OK;
    reason[0] = 0;
    if (is_callgrind && !is_ok)
        ab_callgrind_message(&c->callgrind, message, sizeof message);
    if (status == AB_OK && !is_ok)
        snprintf(reason, cap, "%s%.100s%s%.100s", is_callgrind ? "under callgrind: " : "",
                 run->reason, message[0] != 0 ? "; " : "", message);
    take_counts(c, is_ok ? run : NULL);
    return reason_of_failure(status, &why, reason, cap, err);
}

/* Runs the null back ends with the chosen counter. `reason` receives why the counter does not work;
 * "" = it works. */
static enum ab_status run_nulls(struct counter *c, char *reason, size_t cap, struct ab_err *err)
{
    const struct ab_count_plan *plan = c->plan;
    enum ab_status status = AB_OK;
    reason[0] = 0;
    for (uint32_t b = 0; b < plan->session->n_backends && status == AB_OK && reason[0] == 0; b++) {
        struct ab_outcome run;
        struct ab_case null = ab_run_null_case(&plan->cases[b]);
        struct ab_fold fold = {plan->session, plan->context->tape, &plan->context->clock, b,
                               plan->round};
        bool is_used = false;
        for (uint32_t i = b; i < plan->session->n_backends; i++)
            is_used = is_used || (is_counted(plan, i) && ab_session_harness(plan->session, i) == b);
        if (!is_used)
            continue;
        show_progress(plan, "null", AB_PASS_INSTRUCTIONS);
        status = run_once(c, &null, reason, cap, &run, err);
        ab_outcome_fini(&run);
        c->nulls[b] = c->counts;
        if (status == AB_OK && reason[0] == 0)
            ab_fold_null_instructions(&fold, &c->sample, &c->nulls[b]);
    }
    return status;
}

static enum ab_status run_backend(struct counter *c, uint32_t backend, struct ab_err *err)
{
    const struct ab_count_plan *plan = c->plan;
    struct ab_backend_info *b = &plan->session->backends[backend];
    struct ab_outcome run;
    struct ab_fold fold = {plan->session, plan->context->tape, &plan->context->clock, backend,
                           plan->round};
    show_progress(plan, b->name, AB_PASS_INSTRUCTIONS);
    enum ab_status status = run_once(c, &plan->cases[backend], b->uncounted, sizeof b->uncounted,
                                     &run, err);
    if (status == AB_OK && b->uncounted[0] == 0 &&
        !ab_fold_instructions(&fold, &c->sample, &run, &c->counts,
                              &c->nulls[ab_session_harness(plan->session, backend)]))
        AB_FIT(b->uncounted, "the first %u ops do not reach every phase (--instr-ops)",
               c->sample.image->n_counted);
    ab_outcome_fini(&run);
    return status;
}

/* Cuts the beginning of the tape as a sample, and runs the null back ends on the sample. */
static enum ab_status begin(struct counter *c, enum ab_counter counter, uint32_t n_ops,
                            struct ab_err *err)
{
    struct ab_counting *counting = &c->plan->session->counting;
    AB_TRY(ab_sample_tape(c->plan->context->tape, n_ops, &c->sample, err));
    c->context = *c->plan->context;
    c->context.tape = &c->sample;
    c->context.counter = counter;
    if (counter == AB_COUNTER_CALLGRIND) {
        c->context.under = c->callgrind.arguments;
        c->context.memory_limit_bytes += BOOKS_BYTES;
        if (c->context.timeout_ns == 0)
            c->context.timeout_ns = ab_estimate_timeout_ns(&c->sample);
        c->context.timeout_ns = SLOWER * c->context.timeout_ns + START_NS;
    }
    enum ab_status status = run_nulls(c, counting->reason, sizeof counting->reason, err);
    if (status == AB_OK && counting->reason[0] == 0) {
        AB_FIT(counting->method, "%s",
               counter == AB_COUNTER_CALLGRIND ? "callgrind" : "cpu counter");
        counting->n_ops = c->sample.image->n_counted;
    } else {
        ab_tape_map_close(&c->sample);
    }
    return status;
}

/* Chooses the processor's counter if there is one, else callgrind if it is installed. */
static enum ab_status choose(struct counter *c, struct ab_err *err)
{
    struct ab_counting *counting = &c->plan->session->counting;
    enum ab_status status = begin(c, AB_COUNTER_CPU, UINT32_MAX, err);
    if (status != AB_OK || counting->method[0] != 0)
        return status;
    if (ab_callgrind_open(&c->callgrind))
        return begin(c, AB_COUNTER_CALLGRIND, c->plan->sample_ops, err);
    AB_FIT(counting->reason,
           "the processor's counter cannot be read, and valgrind is missing: install the package "
           "%s",
           AB_CALLGRIND_PACKAGE);
    return AB_OK;
}

static enum ab_status count_instructions(struct counter *c, struct ab_err *err)
{
    struct ab_counting *counting = &c->plan->session->counting;
    uint32_t n_lanes = c->plan->context->tape->image->n_lanes;
    if (n_lanes != 1) {
        AB_FIT(counting->reason,
               "instructions are counted of one thread, the work has %u (replay --threads 1 "
               "runs all in one)",
               n_lanes);
        return AB_OK;
    }
    enum ab_status status = choose(c, err);
    for (uint32_t i = 0; i < c->plan->session->n_backends && status == AB_OK; i++)
        if (counting->method[0] != 0 && is_counted(c->plan, i))
            status = run_backend(c, i, err);
    ab_tape_map_close(&c->sample);
    ab_callgrind_close(&c->callgrind);
    return status;
}

/* ---- system calls ---- */

static enum ab_status count_calls(const struct ab_count_plan *plan, uint32_t backend,
                                  struct ab_call_counts *calls, struct ab_err *err)
{
    struct ab_backend_info *b = &plan->session->backends[backend];
    struct ab_run_context context = *plan->context;
    struct ab_fold fold = {plan->session, context.tape, &context.clock, backend, plan->round};
    struct ab_outcome run = {0};
    struct ab_err why = {.text = ""};
    struct ab_rng rng;
    char reason[200] = "";
    memset(calls, 0, sizeof *calls);
    context.calls = calls;
    ab_rng_init(&rng, 0, 0);
    show_progress(plan, b->name, AB_PASS_SYSTEM_CALLS);
    enum ab_status status = ab_run(&context, &plan->cases[backend], AB_PASS_SYSTEM_CALLS, &rng,
                                   &run, &why);
    if (status == AB_OK && run.status != AB_BACKEND_OK)
        AB_COPY(reason, run.reason);
    else if (status == AB_OK && calls->has_listener)
        ab_fold_calls(&fold, calls);
    status = reason_of_failure(status, &why, reason, sizeof reason, err);
    size_t used = strlen(b->uncounted);
    if (reason[0] != 0)
        snprintf(b->uncounted + used, sizeof b->uncounted - used, "%ssystem calls: %s",
                 used > 0 ? "; " : "", reason);
    ab_outcome_fini(&run);
    return status;
}

enum ab_status ab_count_round(const struct ab_count_plan *plan, struct ab_err *err)
{
    struct counter *c = ab_alloc_zeroed(1, sizeof *c);
    struct ab_call_counts *calls = ab_alloc_zeroed(1, sizeof *calls);
    plan->session->counting = (struct ab_counting){.is_asked = true};
    c->nulls = ab_alloc_zeroed(plan->session->n_backends + 1u, sizeof c->nulls[0]);
    c->plan = plan;
    ab_rng_init(&c->rng, 0, 0);
    enum ab_status status = count_instructions(c, err);
    for (uint32_t i = 0; i < plan->session->n_backends && status == AB_OK; i++)
        if (is_counted(plan, i))
            status = count_calls(plan, i, calls, err);
    free(c->nulls);
    free(c);
    free(calls);
    return status;
}
