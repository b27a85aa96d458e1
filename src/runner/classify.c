/* SPDX-License-Identifier: MIT
 *
 * Decides from exit status, signals, timers and the report of a worker what became of it, and says
 * where it was.
 */
#include "runner/classify.h"

#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"
#include "runner/crash_text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void verdict(struct ab_outcome *out, enum ab_backend_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void verdict(struct ab_outcome *out, enum ab_backend_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, args);
    va_end(args);
    out->status = status;
}

static bool has_text(const char *s)
{
    return s != NULL && s[0] != 0;
}

/* "in op 5000 (alloc of 64 bytes, phase churn)": where the worker was last seen. */
static const char *place(const struct ab_evidence *e, char *buf, size_t cap)
{
    const struct ab_run_report *r = e->report;
    const struct ab_tape_image *image = e->tape->image;
    uint32_t state = r->state, op = r->op, index = r->burst;
    struct ab_tape_part part = ab_tape_part(image, index < image->n_bursts ? index : 0);
    if (state == AB_WORKER_NONE) {
        snprintf(buf, cap, "before main, while the library was loaded");
        return buf;
    }
    if (state == AB_WORKER_RUNNING && e->is_check) {
        snprintf(buf, cap, "%s", has_text(e->call) ? e->call : "during the check");
        return buf;
    }
    if (state != AB_WORKER_RUNNING || op >= part.n_ops) {
        snprintf(buf, cap, "before the first op");
        return buf;
    }
    if (image->n_lanes > 1 && r->op_granularity > 1) {
        uint32_t at = r->phase < image->n_phases ? r->phase : 0;
        snprintf(buf, cap, "in phase %s, in one of the threads", e->tape->phases[at].name);
        return buf;
    }
    const char *phase = "?";
    for (uint32_t i = 0; i < image->n_phases; i++)
        if (part.first + op >= e->tape->phases[i].begin && part.first + op < e->tape->phases[i].end)
            phase = e->tape->phases[i].name;
    struct ab_op_view view = ab_op_decode(part.ops[op], part.wide);
    int kind = view.kind;
    op += part.first;
    if (r->op_granularity > 1)
        snprintf(buf, cap, "between ops %u and %u of phase %s", op, op + r->op_granularity, phase);
    else if (kind < 0 || kind == AB_OP_FREE || kind == AB_OP_ACCESS)
        snprintf(buf, cap, "in op %u (%s, phase %s)", op,
                 kind < 0 ? "touch" : ab_op_kind_name((enum ab_op_kind)kind), phase);
    else
        snprintf(buf, cap, "in op %u (%s of %llu bytes, phase %s)", op,
                 ab_op_kind_name((enum ab_op_kind)kind), (unsigned long long)view.size, phase);
    return buf;
}

/* "; write to 0x8: not mapped; in libmine.so+0x1139 (free+0x29)" */
static void tell_place(const struct ab_evidence *e, const struct ab_outcome *out, char *buf,
                       size_t cap)
{
    const struct ab_crash_text *c = &out->crash;
    buf[0] = 0;
    if (!e->is_check) /* a check has lines of its own for them */
        snprintf(buf, cap, "%s%s%s%s", c->memory[0] != 0 ? "; " : "", c->memory,
                 c->function[0] != 0 ? "; in " : "", c->function);
}

static void classify_death(const struct ab_evidence *e, struct ab_outcome *out)
{
    char where[384], meaning[64] = "", about[sizeof out->crash + 8];
    int status = e->ending->wait_status;
    place(e, where, sizeof where);
    tell_place(e, out, about, sizeof about);
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        const char *means = e->is_check ? ab_crash_meaning(WTERMSIG(status)) : NULL;
        if (means != NULL)
            snprintf(meaning, sizeof meaning, "(%s) ", means);
        if (WTERMSIG(status) == SIGKILL && e->ending->oom_killed)
            verdict(out, AB_BACKEND_OOM, "killed by the OOM killer %s", where);
        else
            verdict(out, AB_BACKEND_CRASHED, "SIG%s %s%s%s", name == NULL ? "?" : name, meaning,
                    where, about);
    } else {
        verdict(out, AB_BACKEND_CRASHED, "the process exited with status %d %s",
                WEXITSTATUS(status), where);
    }
}

static enum ab_status classify_failure(const struct ab_evidence *e, struct ab_outcome *out,
                                       struct ab_err *err)
{
    char reason[AB_TEXT_MAX * 4], raw[AB_TEXT_MAX];
    memcpy(raw, e->report->reason, sizeof raw);
    raw[sizeof raw - 1] = 0;
    ab_text_printable(reason, sizeof reason, raw);
    switch (e->report->failure) {
    case AB_FAILURE_LIBRARY:
        verdict(out, AB_BACKEND_WRONG_LIBRARY, "%.900s", reason);
        break;
    case AB_FAILURE_NULL:
        verdict(out, AB_BACKEND_OOM, "%.900s", reason);
        break;
    case AB_FAILURE_OPEN:
    case AB_FAILURE_CHECK:
        verdict(out, AB_BACKEND_FAILED_CHECK, "%.900s", reason);
        break;
    default:
        return ab_fail(err, AB_SYSTEM, "internal worker error: %s", reason);
    }
    return AB_OK;
}

static void classify_forced_end(const struct ab_evidence *e, struct ab_outcome *out)
{
    char where[384], a[32], b[32];
    const struct ab_ending *ending = e->ending;
    place(e, where, sizeof where);
    if (ending->end == AB_END_MEMORY)
        verdict(out, AB_BACKEND_OOM, "used %s, more than --mem-limit %s, %s",
                ab_units_bytes(a, sizeof a, (double)ending->rss_bytes),
                ab_units_bytes(b, sizeof b, (double)e->memory_limit_bytes), where);
    else
        verdict(out, AB_BACKEND_TIMEOUT, "timed out after %s, last seen %s%s",
                ab_units_time(a, sizeof a, (double)e->timeout_ns), where,
                ending->ignored_term ? "; ignored SIGTERM, killed" : "");
}

static void first_line(char *dst, size_t cap, const char *text)
{
    char line[200];
    size_t n = strcspn(text, "\n");
    n = n < sizeof line - 1 ? n : sizeof line - 1;
    memcpy(line, text, n);
    line[n] = 0;
    ab_text_printable(dst, cap, line);
}

/* The work was done; was it done as a back end may? */
static void classify_conduct(const struct ab_evidence *e, struct ab_outcome *out)
{
    char line[256];
    if (e->ending->sent_signal != 0) {
        const char *name = sigabbrev_np(e->ending->sent_signal);
        verdict(out, AB_BACKEND_FAILED_CHECK, "sent SIG%s to allocbench",
                name == NULL ? "?" : name);
    } else if (e->ending->n_left > 0) {
        verdict(out, AB_BACKEND_FAILED_CHECK, "left %u child process%s running (killed)",
                e->ending->n_left, e->ending->n_left == 1 ? "" : "es");
    } else if (e->stdout_text[0] != 0) {
        first_line(line, sizeof line, e->stdout_text);
        verdict(out, AB_BACKEND_FAILED_CHECK, "printed to standard output: \"%s\"", line);
    }
}

enum ab_status ab_classify(const struct ab_evidence *e, struct ab_outcome *out, struct ab_err *err)
{
    const struct ab_ending *ending = e->ending;
    out->status = AB_BACKEND_OK;
    out->reason[0] = 0;
    first_line(out->note, sizeof out->note, e->stderr_text);
    if (ending->end == AB_END_INTERRUPTED)
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    bool is_exit = WIFEXITED(ending->wait_status);
    enum ab_status status = AB_OK;
    if (ending->end != AB_END_ITSELF)
        classify_forced_end(e, out);
    else if (is_exit && e->report->state == AB_WORKER_FAILED)
        status = classify_failure(e, out, err);
    else if (!is_exit || e->report->state != AB_WORKER_DONE ||
             WEXITSTATUS(ending->wait_status) != 0)
        classify_death(e, out);
    else
        classify_conduct(e, out);
    if (out->status == AB_BACKEND_WRONG_LIBRARY && out->note[0] != 0) {
        size_t used = strlen(out->reason);
        snprintf(out->reason + used, sizeof out->reason - used, " (%s)", out->note);
    }
    return status;
}
