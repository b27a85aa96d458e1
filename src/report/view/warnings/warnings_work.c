/* SPDX-License-Identifier: MIT
 *
 * Numbers that are right and easily misread.
 */
#include "report/view/warnings/warnings_work.h"

#include "core/median.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/view/phases.h"
#include "report/view/warnings/warning_list.h"
#include "result/session.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };
static const double faults_worth_saying = 0.05, ratio_worth_saying = 1.25;
/* Less than this in a whole run cannot be timed: reading the clock, the first touch of a page and the
 * start of the loop are as long. Few ops that take long, such as huge blocks, can. */
static const double least_run_ns = 20e3, least_run_of_few_ns = 1e6, few_ops = 1000;

static void add_note(struct ab_view_warnings *w, const char *id, struct ab_view_texts *t,
                     struct ab_text *text)
{
    if (text->s != NULL)
        ab_warning_list_add(w, id, AB_VIEW_NOTE, ab_view_texts_addf(t, "%s", text->s), "");
    ab_text_fini(text);
}

/* Phases that were mostly waited through: their wall time says little about a back end. */
static void add_waits(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    double most = 0;
    uint32_t n = 0, n_waiting = 0;
    struct ab_text text = {0};
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op != AB_OP_ALL || isnan(x->wait_percent) || !ab_session_has_numbers(s, x->backend))
            continue;
        n++;
        n_waiting += ab_result_is_waiting(x);
        most = ab_result_is_waiting(x) ? fmax(most, x->wait_percent) : most;
    }
    if (n_waiting > 0)
        ab_text_addf(&text,
                     "in %u of %u measured phases threads waited for each other, up to %.0f %% of "
                     "their time; times and ratios leave this out (wall_ns_per_op has it)",
                     n_waiting, n, most);
    add_note(w, "waits", t, &text);
}

/* Most threads on few CPUs that wait for blocks of each other are never in the allocator at the same
 * time. The program's were, when the scheduler took the CPU from one that held a lock. */
static void add_crowd(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    uint32_t n_cpus = s->n_cpus > 0 ? s->n_cpus : s->host.cpus_allowed;
    double least = NAN;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op == AB_OP_ALL && ab_result_is_waiting(x) && ab_session_has_numbers(s, x->backend))
            least = fmin(least, x->ready_threads);
    }
    if (n_cpus == 0 || s->facts.lanes <= n_cpus || !(least < s->facts.lanes / 2.0))
        return;
    ab_warning_list_add(
        w, "crowd", AB_VIEW_WARNING,
        ab_view_texts_addf(
            t,
            "of %u threads on %u CPU%s only %.1f were ready to run at the same time, the "
            "others waited for blocks of each other: fewer of them contend for the "
            "locks of an allocator than in a program, where an op may take longer",
            s->facts.lanes, n_cpus, n_cpus == 1 ? "" : "s", least),
        "allocbench exec measures the program itself");
}

/* Page faults an op in a phase: of the back ends with fewest and with most, first round. */
struct fault_range {
    double low, high; /* NaN = none known */
    uint32_t of_low, of_high;
};

/* Median over the rounds; of no op it is not known. */
static double faults_per_op(const struct ab_session *s, uint32_t backend, const char *phase)
{
    double *x = ab_alloc_zeroed((size_t)s->n_results + 1, sizeof *x);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend == backend && r->op == AB_OP_ALL && r->n_ops > 0 && r->n_ops != UINT64_MAX &&
            r->faults_minor != UINT64_MAX && strcmp(r->phase, phase) == 0)
            x[n++] = (double)r->faults_minor / (double)r->n_ops;
    }
    double faults = ab_median(x, n);
    free(x);
    return faults;
}

static struct fault_range find_faults(const struct ab_session *s, const char *phase)
{
    struct fault_range range = {NAN, NAN, 0, 0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double faults = ab_backend_is_comparable(&s->backends[i]) ? faults_per_op(s, i, phase)
                                                                  : NAN;
        if (isfinite(faults) && !(faults >= range.low)) {
            range.low = faults;
            range.of_low = i;
        }
        if (isfinite(faults) && !(faults <= range.high)) {
            range.high = faults;
            range.of_high = i;
        }
    }
    return range;
}

/* First touches are timed in ns/op and in no latency: where they cost much, the two disagree. */
static void add_faults(const struct ab_session *s, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const char *between = "page faults of first touches count in the time per op, not in "
                          "latencies; faults per op: ";
    struct ab_text text = {0};
    const char *touch = ab_session_setting(s, "touch");
    if (touch != NULL && strcmp(touch, "apart") == 0)
        return; /* then they count in no time */
    for (uint32_t p = 0; p < s->n_phases && !ab_session_is_exec(s); p++) {
        struct fault_range range = find_faults(s, s->phases[p]);
        char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
        if (!(range.high >= faults_worth_saying))
            continue;
        ab_text_addf(&text, "%s%s %s", between, AB_SHOWN(600, s->phases[p]),
                     ab_format_ratio(high, range.high));
        if (range.high > range.low * ratio_worth_saying)
            ab_text_addf(&text, " (%s) to %s (%s)",
                         AB_SHOWN(NAME_BYTES, s->backends[range.of_high].name),
                         ab_format_ratio(low, range.low),
                         AB_SHOWN(NAME_BYTES, s->backends[range.of_low].name));
        between = ", ";
    }
    add_note(w, "faults", t, &text);
}

/* Their ratios are what was asked for, but no like for like. */
static void add_inlined(const struct ab_session *s, struct ab_view_texts *t,
                        struct ab_view_warnings *w)
{
    struct ab_text text = {0};
    for (uint32_t i = 0; i < s->n_backends && text.s == NULL; i++)
        if (ab_backend_is_inlined(&s->backends[i]))
            ab_text_add(&text, "inline+NAME is compiled into the measuring loop, without a call "
                               "(cursor+NAME allocates through its cursor); the others are called: "
                               "a ratio between the two applies only to programs that inline the "
                               "allocator so");
    add_note(w, "inline", t, &text);
}

/* Which back ends gave regions back in one call, and which freed them block by block: what they
 * did, not what they can do. */
static void add_resets(const struct ab_session *s, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    struct ab_text text = {0};
    bool has_any = false, is_trace = strcmp(s->kind, "trace") == 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        has_any = has_any || ab_session_did_reset(s, i);
    for (int bulk = 1; bulk >= 0 && has_any; bulk--) {
        const char *between = !bulk      ? "; individual frees: "
                              : is_trace ? "back to a save point after each scope: "
                                         : "bulk reset: ";
        for (uint32_t i = 0; i < s->n_backends; i++) {
            if (!ab_session_has_numbers(s, i) || ab_session_did_reset(s, i) != bulk)
                continue;
            ab_text_addf(&text, "%s%s", between, AB_SHOWN(NAME_BYTES, s->backends[i].name));
            between = ", ";
        }
    }
    add_note(w, "resets", t, &text);
}

/* The reason; `ops` of 0: not known. */
static const char *describe_little(struct ab_view_texts *t, double ops, double ns)
{
    if (ops == 0)
        return ab_view_texts_addf(t, "too little work: %s cannot be timed", AB_TIME(ns));
    return ab_view_texts_addf(t, "too little work: %.0f operation%s in %s cannot be timed", ops,
                              ops == 1 ? "" : "s", AB_TIME(ns));
}

/* Of the back end that took longest: where that cannot be timed, none can. */
static void add_little_work(const struct ab_session *s, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    double longest = NAN, ops = 0;
    bool is_replay = strcmp(s->kind, "trace") == 0;
    for (uint32_t i = 0; i < s->n_backends && !ab_session_is_exec(s); i++) {
        struct ab_round_range time = ab_session_run_time(s, i);
        if (!ab_backend_is_comparable(&s->backends[i]) || !isfinite(time.median))
            continue;
        longest = fmax(longest, time.median); /* fmax passes over NaN */
    }
    for (uint32_t p = 0; p < s->n_phases; p++)
        ops += (double)ab_view_phase_ops(s, s->phases[p]);
    if (!(longest < least_run_ns || (longest < least_run_of_few_ns && ops > 0 && ops < few_ops)))
        return;
    ab_warning_list_add(
        w, "little-work", AB_VIEW_WARNING, describe_little(t, ops, longest),
        is_replay ? "record more of the program, with its child processes: allocbench record "
                    "--follow"
                  : "more operations in the measured phases: until: ops(N), count");
}

void ab_view_warnings_work(const struct ab_session *s, struct ab_view_texts *texts,
                           struct ab_view_warnings *out)
{
    add_little_work(s, texts, out);
    add_waits(s, texts, out);
    add_crowd(s, texts, out);
    add_faults(s, texts, out);
    add_inlined(s, texts, out);
    add_resets(s, texts, out);
}
