/* SPDX-License-Identifier: MIT
 *
 * Runs the checks of `verify` on one back end. Turns the outcome of each worker into a verdict.
 */
#include "runner/run_checks.h"

#include "allocators/builtin.h"
#include "backend/settings.h"
#include "core/text.h"
#include "worker/checks/checks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Lines after those of the checks: the tape of the work is run through the checker op by op, and
 * then with all its lanes in parallel. */
enum { WORK_OPS, WORK_LANES, WORK_COUNT };
static const char *const work_names[WORK_COUNT] = {"work", "work-lanes"};

const char *ab_verify_word(const char *list, size_t *n)
{
    list += *n;
    list += *list == ',';
    *n = strcspn(list, ",");
    return *n > 0 ? list : NULL;
}

static bool is_wanted(const struct ab_verify_plan *plan, uint32_t check)
{
    const struct ab_check *k = &ab_checks[check];
    size_t n = 0;
    for (const char *w = plan->only; w != NULL && (w = ab_verify_word(w, &n)) != NULL;) {
        const char *group = k->is_info ? "info" : "required";
        if ((strlen(k->name) == n && strncmp(w, k->name, n) == 0) ||
            (strlen(group) == n && strncmp(w, group, n) == 0))
            return true;
    }
    return plan->only == NULL;
}

uint32_t ab_verify_count(const struct ab_verify_plan *plan)
{
    uint32_t n = plan->has_work ? WORK_COUNT : 0;
    for (uint32_t i = 0; i < ab_check_count; i++)
        n += is_wanted(plan, i);
    return n;
}

const char *ab_verify_check_name(uint32_t i)
{
    return i < ab_check_count ? ab_checks[i].name : NULL;
}

static void set_verdict(struct ab_verify_line *line, enum ab_verify_verdict verdict,
                        const char *text)
{
    line->verdict = verdict;
    AB_COPY(line->text, text);
}

/* True if the process ended deliberately: it exited, or aborted. In some checks an allocator may
 * abort, and that is better than not noticing the misuse. */
static bool is_deliberate(const struct ab_outcome *run)
{
    int status = run->wait_status, signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return signal == SIGABRT || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS ||
           (signal == 0 && WIFEXITED(status));
}

static void judge_failure(struct ab_verify_line *line, const struct ab_outcome *run, bool may_abort)
{
    enum ab_verify_verdict verdict = run->status == AB_BACKEND_CRASHED   ? AB_VERIFY_CRASHED
                                     : run->status == AB_BACKEND_TIMEOUT ? AB_VERIFY_TIMEOUT
                                                                         : AB_VERIFY_FAILED;
    if (verdict == AB_VERIFY_CRASHED && may_abort && (line->is_info || is_deliberate(run)))
        set_verdict(line, AB_VERIFY_INFO,
                    !is_deliberate(run) ? "crashes"
                    : line->is_info     ? "detected"
                                        : "aborts");
    else if (line->is_info && verdict == AB_VERIFY_TIMEOUT)
        set_verdict(line, AB_VERIFY_INFO, "hangs");
    else
        set_verdict(line, verdict, run->reason);
}

static void judge_end(struct ab_verify_line *line, const struct ab_verify_report *r, uint64_t floor)
{
    char text[sizeof r->text + 1];
    AB_FIT(text, "%.*s", (int)sizeof r->text - 1, r->text);
    switch (r->answer) {
    case AB_ANSWER_SKIPPED:
        set_verdict(line, AB_VERIFY_SKIPPED, text);
        break;
    case AB_ANSWER_INFO:
        set_verdict(line, AB_VERIFY_INFO, text);
        break;
    case AB_ANSWER_BROKEN:
        AB_FIT(line->text,
               "contradicts its own claim: %s: "
               "%s",
               line->rule, text);
        line->verdict = AB_VERIFY_FAILED;
        break;
    default:
        line->verdict = line->work < floor ? AB_VERIFY_NOT_PROVEN : AB_VERIFY_OK;
        if (line->verdict == AB_VERIFY_NOT_PROVEN)
            AB_FIT(line->text, "%s: %llu; at least %llu are needed", line->unit,
                   (unsigned long long)line->work, (unsigned long long)floor);
    }
}

/* True if the back end cannot even be opened, so that all other checks would fail in the same
 * way. */
static bool is_hopeless(const struct ab_outcome *run)
{
    return run->status == AB_BACKEND_WRONG_LIBRARY ||
           (run->status != AB_BACKEND_OK && run->page->report.state < AB_WORKER_RUNNING) ||
           (run->page->report.failure == AB_FAILURE_OPEN && run->status != AB_BACKEND_OK);
}

static void note_identity(struct ab_backend_info *info, const struct ab_run_report *r)
{
    if (info->version[0] == 0)
        AB_FIT(info->version, "%.*s", (int)sizeof r->version - 1, r->version);
}

/* ---- capacities ---- */

struct attempt { /* a run of a check, and what it was called with */
    const struct ab_run_context *context;
    const struct ab_case *c;
    enum ab_pass pass;
    const struct ab_outcome *run;
};

/* Replaces the user's settings of a case by the defaults. Returns false if there were no
 * settings. */
static bool take_defaults(struct ab_case *c)
{
    uint64_t values[AB_PARAMS_MAX] = {0};
    struct ab_err err;
    const struct ab_backend *b = c->builtin != NULL ? ab_builtin_find(c->builtin) : NULL;
    bool has_text = c->params != NULL && c->params[0] != 0;
    if (b == NULL || ab_params_parse(b, "", values, &err) != AB_OK)
        memcpy(values, c->values, sizeof values);
    bool has_values = memcmp(values, c->values, sizeof values) != 0;
    memcpy(c->values, values, sizeof values);
    c->params = NULL;
    return has_text || has_values;
}

/* Reports that a capacity which the user set is too small for a check. The verdict is "skipped" for
 * an informational check, unless the back end claims the property; otherwise "not proven". */
static void say_capacity(struct ab_verify_line *line, const struct ab_outcome *run)
{
    uint32_t n = run->page->report.verify.n_live;
    bool is_claimed = (run->page->report.traits & AB_TRAIT_DETECTS_MISUSE) != 0;
    char blocks[32] = "";
    if (n > 0)
        AB_FIT(blocks, "%u block%s: ", n, n == 1 ? "" : "s");
    line->verdict = line->is_info && !is_claimed ? AB_VERIFY_SKIPPED : AB_VERIFY_NOT_PROVEN;
    AB_FIT(line->text, "capacity: %s%.900s; with the default settings the check passes", blocks,
           run->reason);
}

/* Judges a failed allocation by running the check again without the user's settings. If the check
 * then passes, the settings caused the failure. A capacity that the user set is not a defect, but
 * nothing is proven. */
static enum ab_status judge_null(const struct attempt *a, struct ab_verify_line *line,
                                 struct ab_err *err)
{
    struct ab_outcome control;
    struct ab_case plain = *a->c;
    struct ab_rng rng;
    if (a->run->page->report.failure != AB_FAILURE_NULL || !take_defaults(&plain))
        return AB_OK;
    ab_rng_init(&rng, a->context->verify.seed, 0);
    enum ab_status status = ab_run(a->context, &plain, a->pass, &rng, &control, err);
    if (status != AB_OK)
        return status;
    if (control.status == AB_BACKEND_OK && control.page->report.verify.answer != AB_ANSWER_BROKEN)
        say_capacity(line, a->run);
    ab_outcome_fini(&control);
    return AB_OK;
}

static struct ab_run_context context_of_check(const struct ab_verify_plan *plan, uint32_t check)
{
    struct ab_run_context context = plan->context;
    context.verify = (struct ab_verify_request){.check = check, .seed = plan->seed};
    if (context.timeout_ns == 0)
        context.timeout_ns = (uint64_t)ab_checks[check].deadline_ms * 1000000;
    return context;
}

static void note_crash(struct ab_crash_text *crash, const struct ab_outcome *run)
{
    if (run->status != AB_BACKEND_OK)
        *crash = run->crash;
}

static enum ab_status run_check(const struct ab_verify_plan *plan, const struct ab_case *c,
                                uint32_t check, struct ab_backend_info *info,
                                struct ab_verify_line *line, struct ab_err *err)
{
    struct ab_outcome run;
    struct ab_run_context context = context_of_check(plan, check);
    struct ab_rng rng;
    const struct ab_check *k = &ab_checks[check];
    *line = (struct ab_verify_line){
        .check = k->name, .rule = k->rule, .unit = k->unit, .is_info = k->is_info};
    ab_rng_init(&rng, plan->seed, check);
    enum ab_status status = ab_run(&context, c, AB_PASS_CHECK, &rng, &run, err);
    if (status != AB_OK)
        return status;
    note_identity(info, &run.page->report);
    note_crash(&line->crash, &run);
    line->work = run.page->report.verify.work;
    if (is_hopeless(&run)) {
        info->status = run.status;
        memcpy(info->reason, run.reason, sizeof info->reason);
    }
    if (run.status != AB_BACKEND_OK)
        judge_failure(line, &run, k->may_abort);
    else
        judge_end(line, &run.page->report.verify, k->floor);
    status = judge_null(&(struct attempt){&context, c, AB_PASS_CHECK, &run}, line, err);
    ab_outcome_fini(&run);
    return status;
}

static void add_text(struct ab_verify_line *line, const char *text)
{
    size_t n = strlen(line->text);
    snprintf(line->text + n, sizeof line->text - n, "%s", text);
}

static struct ab_run_context context_of_work(const struct ab_verify_plan *plan, unsigned which,
                                             enum ab_pass *pass)
{
    struct ab_run_context context = plan->context;
    context.verify_ops = UINT32_MAX;
    *pass = which == WORK_LANES ? AB_PASS_THROUGHPUT : AB_PASS_VERIFY;
    return context;
}

static enum ab_status run_work(const struct ab_verify_plan *plan, const struct ab_case *c,
                               unsigned which, struct ab_verify_line *line, struct ab_err *err)
{
    static const char *const rules[WORK_COUNT] = {
        "every op of the workload, checked, in one thread",
        "every op of the workload, checked, all threads in parallel"};
    struct ab_outcome run;
    enum ab_pass pass;
    struct ab_run_context context = context_of_work(plan, which, &pass);
    struct ab_case checked = *c;
    struct ab_rng rng;
    *line = (struct ab_verify_line){
        .check = work_names[which], .rule = rules[which], .unit = "ops"};
    if (which == WORK_LANES && context.tape->image->n_lanes == 1) {
        set_verdict(line, AB_VERIFY_SKIPPED, "the workload has one thread");
        return AB_OK;
    }
    checked.decorator = which == WORK_LANES ? AB_DECORATOR_CHECKED : AB_DECORATOR_NONE;
    ab_rng_init(&rng, plan->seed, which);
    enum ab_status status = ab_run(&context, &checked, pass, &rng, &run, err);
    if (status != AB_OK)
        return status;
    note_crash(&line->crash, &run);
    line->work = which == WORK_OPS ? run.page->report.verify.work : context.tape->image->n_counted;
    if (run.status != AB_BACKEND_OK)
        judge_failure(line, &run, false);
    else if (ab_run_missing(context.tape->image->facts.kinds, run.page->report.hooks, line->text,
                            sizeof line->text))
        add_text(line, ": these ops were omitted");
    status = judge_null(&(struct attempt){&context, &checked, pass, &run}, line, err);
    ab_outcome_fini(&run);
    return status;
}

enum ab_status ab_verify_backend_run(const struct ab_verify_plan *plan, const struct ab_case *c,
                                     struct ab_backend_info *info, struct ab_verify_backend *out,
                                     struct ab_err *err)
{
    enum ab_status status = AB_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ab_check_count && status == AB_OK; i++)
        if (is_wanted(plan, i) && info->status == AB_BACKEND_OK) {
            status = run_check(plan, c, i, info, &out->lines[n++], err);
            if (info->status != AB_BACKEND_OK)
                out->crash = out->lines[n - 1].crash;
        }
    for (unsigned i = 0; plan->has_work && i < WORK_COUNT && status == AB_OK; i++)
        if (info->status == AB_BACKEND_OK)
            status = run_work(plan, c, i, &out->lines[n++], err);
    for (uint32_t i = 0; i < n; i++) {
        out->n_failed += ab_verify_verdict_fails(out->lines[i].verdict);
        out->n_not_proven += out->lines[i].verdict == AB_VERIFY_NOT_PROVEN;
    }
    return status;
}

enum ab_status ab_verify_alone(const struct ab_verify_plan *plan, const struct ab_case *c,
                               struct ab_err *err)
{
    for (uint32_t i = 0; i < ab_check_count; i++)
        if (strcmp(plan->only, ab_checks[i].name) == 0) {
            struct ab_run_context context = context_of_check(plan, i);
            return ab_run_alone(&context, c, AB_PASS_CHECK, err);
        }
    enum ab_pass pass;
    struct ab_case checked = *c;
    unsigned which = strcmp(plan->only, work_names[WORK_LANES]) == 0 ? WORK_LANES : WORK_OPS;
    struct ab_run_context context = context_of_work(plan, which, &pass);
    checked.decorator = which == WORK_LANES ? AB_DECORATOR_CHECKED : AB_DECORATOR_NONE;
    return ab_run_alone(&context, &checked, pass, err);
}
