/* SPDX-License-Identifier: MIT
 *
 * Writes the notes below the tables: clock and harness, the meaning of columns, noise, conditions,
 * the work of each heap, and rounds.
 */
#include "answer/answer.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/metric.h"
#include "stats/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rounds ---- */

static const enum ab_pass passes[] = {
#define ITEM(pass) pass,
    AB_ROUND_PASSES(ITEM)
#undef ITEM
};
enum { N_PASSES = sizeof passes / sizeof passes[0] };

/* Adds the names of the passes that ran in n rounds, "tail and memory". Returns the number of
 * names. */
static unsigned list_passes(const struct ab_session *s, uint32_t n, struct ab_text *out)
{
    const char *names[N_PASSES];
    unsigned count = 0;
    for (unsigned i = 0; i < N_PASSES; i++)
        if (passes[i] != AB_PASS_THROUGHPUT && ab_pass_round_count(s, passes[i]) == n)
            names[count++] = ab_pass_names[passes[i]];
    for (unsigned i = 0; i < count; i++)
        ab_text_addf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    return count;
}

/* Adds the passes that ran in some rounds only, grouped by the number of rounds. */
static void add_fewer(const struct ab_session *s, struct ab_text *out)
{
    for (unsigned i = 0; i < N_PASSES; i++) {
        uint32_t n = ab_pass_round_count(s, passes[i]);
        bool is_new = n > 0 && n < s->n_rounds;
        for (unsigned k = 0; k < i; k++)
            is_new = is_new && ab_pass_round_count(s, passes[k]) != n;
        if (!is_new)
            continue;
        ab_text_add(out, out->n > 0 ? "; " : "");
        list_passes(s, n, out);
        ab_text_addf(out, " in %u of %u rounds", n, s->n_rounds);
    }
}

void ab_rounds_note_unrun(const struct ab_session *s, struct ab_text *out)
{
    struct ab_text none = {0};
    if (s->passes.is_known && s->n_rounds > 0 && list_passes(s, 0, &none) > 0)
        ab_text_addf(out, "%snot run: %s (%s)", out->n > 0 ? "; " : "", none.s,
                     s->is_strict ? "--order strict" : "--passes");
    ab_text_fini(&none);
}

void ab_rounds_note_passes(const struct ab_session *s, struct ab_text *out)
{
    if (!s->passes.is_known || s->n_rounds == 0)
        return;
    add_fewer(s, out);
    ab_rounds_note_unrun(s, out);
}

/* Adds the width of the widest interval, if there is one. */
static void add_width(const struct ab_session *s, struct ab_text *out)
{
    double width = ab_session_precision(s);
    if (s->stopping.precision > 0 && isfinite(width))
        ab_text_addf(out, "; widest interval of a whole run within %.2g %% (goal %.2g %%)",
                     fmax(0.1, 100 * width), 100 * s->stopping.precision);
}

void ab_rounds_note_end(const struct ab_session *s, struct ab_text *out)
{
    const struct ab_stopping *rule = &s->stopping;
    switch (rule->ended) {
    case AB_ENDED_PRECISION:
        ab_text_addf(out,
                     "stopped after %u rounds: the ratio of each back end to its base is known to "
                     "within %.2g %%",
                     s->n_rounds, 100 * rule->precision);
        break;
    case AB_ENDED_TIME:
        ab_text_addf(out,
                     "stopped after %u rounds: another one would have exceeded the --time-budget "
                     "of %.3g s",
                     s->n_rounds, rule->time_budget_s);
        add_width(s, out);
        break;
    case AB_ENDED_ROUNDS:
        if (s->n_rounds < rule->n_rounds_most)
            ab_text_addf(out,
                         "stopped after %u rounds: there is no ratio whose interval could "
                         "narrow",
                         s->n_rounds);
        else
            ab_text_addf(out, "stopped at the limit of %u rounds", s->n_rounds);
        add_width(s, out);
        break;
    default:
        break;
    }
}

/* ---- noise: neighbours on the CPU core, interruptions, CPU time ---- */

static void add_slices(const struct ab_noise *n, struct ab_text *note)
{
    char waited[32];
    double quiet = 100 * n->quiet_s / n->slices_s;
    ab_units_time(waited, sizeof waited, n->waited_s * 1e9);
    if (quiet < 5)
        ab_text_addf(note,
                     "other programs used the CPU core all the time, so times are those of a "
                     "shared core (waited %s for an idle one)",
                     waited);
    else
        ab_text_addf(note,
                     "other programs used the CPU core in %.0f %% of the throughput runs; that "
                     "part is left out (waited %s)",
                     100 - quiet, waited);
    ab_text_addf(note, "; %.0f interruption%s", n->interruptions, n->interruptions == 1 ? "" : "s");
}

struct latency_noise {      /* sums over the session */
    double timed, left_out; /* timed, left_out: number of ops of the latency pass */
    /* scheduler: number of ops during which the scheduler ran something else; scheduler_max:
     * longest of these, in ns */
    double scheduler, scheduler_max;
    /* n_phases: phases of all results; n_loud: those of them whose percentiles include all ops,
     * because the core was hardly ever free */
    uint32_t n_phases, n_loud;
};

static struct latency_noise sum_latency(const struct ab_session *s)
{
    struct latency_noise sum = {0};
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        bool is_all = r->op == AB_OP_ALL;
        if (is_all && r->latency_quiet_percent >= 0) {
            sum.n_phases++;
            sum.n_loud += r->latency_quiet_percent < 100 && r->n_left_out == 0;
        }
        if (is_all || isnan(r->n_scheduler))
            continue;
        sum.timed += (double)r->n + (r->n_left_out > 0 ? r->n_left_out : 0);
        sum.left_out += r->n_left_out > 0 ? r->n_left_out : 0;
        sum.scheduler += r->n_scheduler;
        sum.scheduler_max = fmax(sum.scheduler_max, r->scheduler_max_ns);
    }
    return sum;
}

/* Says which ops are in no percentile, and why. */
static void add_latency(const struct ab_session *s, struct ab_text *note)
{
    const struct latency_noise sum = sum_latency(s);
    char longest[32];
    ab_units_time(longest, sizeof longest, sum.scheduler_max);
    if (sum.left_out > 0)
        ab_text_addf(note, "; %.1f %% of the timed ops are left out of the percentiles",
                     100 * sum.left_out / sum.timed);
    if (sum.n_loud > 0)
        ab_text_addf(note,
                     "; in %u of %u phases the core was hardly ever free: their percentiles are "
                     "those of a shared core",
                     sum.n_loud, sum.n_phases);
    if (sum.scheduler > 0)
        ab_text_addf(note,
                     "; the scheduler ran something else during %.0f op%s, up to %s: percentiles "
                     "exclude them, max counts their CPU time",
                     sum.scheduler, sum.scheduler == 1 ? "" : "s", longest);
}

void ab_view_noise(const struct ab_session *s, struct ab_text *note)
{
    const struct ab_noise *n = &s->noise;
    if (!(n->runs > 0) || !(n->wall_s > 0))
        return;
    ab_text_addf(note, "noise: ");
    if (n->slices_s > 0)
        add_slices(n, note);
    else
        ab_text_addf(note, "whether other programs used the CPU core is not known (several "
                           "threads)");
    ab_text_addf(note, "; %.0f involuntary context switch%s; CPU time %.1f %% of wall time",
                 n->switches_involuntary, n->switches_involuntary == 1 ? "" : "es",
                 100 * n->cpu_s / n->wall_s);
    add_latency(s, note);
}

/* ---- clock, harness, conditions ---- */

/* Returns the time that an op takes in the harness of a back end, without an allocator: the median
 * over rounds and phases. */
static double null_ns(const struct ab_session *s, uint32_t backend)
{
    double *x = ab_alloc_zeroed((size_t)s->n_nulls + 1, sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (ab_null_is_of(&s->nulls[i], &s->backends[backend]) && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    double median = ab_median(x, n);
    free(x);
    return median;
}

static void add_nulls(const struct ab_session *s, struct ab_text *note)
{
    char cell[AB_CELL_BYTES], name[AB_HARNESS_NAME_BYTES], shown[AB_HARNESS_NAME_BYTES * 4];
    const char *before = " Harness overhead (not subtracted): ";
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double ns = ab_harness_is_used(s, i) ? null_ns(s, i) : (double)NAN;
        if (!isfinite(ns))
            continue;
        ab_harness_name(s, i, name);
        ab_text_addf(note, "%s%s ns/op (%s)", before, ab_format_ratio(cell, ns),
                     ab_text_printable(shown, sizeof shown, name));
        before = ", ";
    }
}

/* Adds *note as a paragraph unless it is empty, and frees it. */
static void add(struct ab_view_texts *out, struct ab_text *note)
{
    if (note->n > 0)
        ab_view_texts_addf(out, "%s", note->s);
    ab_text_fini(note);
}

static void add_clock(const struct ab_session *s, struct ab_view_texts *out)
{
    struct ab_text note = {0};
    char cell[AB_CELL_BYTES];
    double floor_ns = s->timer.floor_ns;
    if (isfinite(floor_ns))
        ab_text_addf(&note, "timer floor: %s; smaller values are shown as <%s.",
                     ab_units_time(cell, sizeof cell, floor_ns), cell);
    else
        ab_text_add(&note, "timer floor unknown.");
    ab_text_addf(&note, " Clock quantum %s.",
                 isfinite(s->timer.quantum_ns)
                     ? ab_units_time(cell, sizeof cell, s->timer.quantum_ns)
                     : "unknown");
    add_nulls(s, &note);
    add(out, &note);
}

static void add_meanings(const struct ab_session *s, const char *spread, struct ab_view_texts *out)
{
    struct ab_text note = {0};
    ab_text_add(&note, "n: number of timed ops (a random sample, all rounds). A percentile is "
                       "shown only with at least 10 samples above it. max: slowest of all ops; !: "
                       "the op was slow in one round only, and may have been interrupted.");
    if (ab_session_base(s) != UINT32_MAX)
        ab_text_addf(&note,
                     " Ratios compare the time per op; [low, high]: 90 %% interval, from %u "
                     "rounds on; ~: not clearly different from 1.",
                     AB_EFFECT_MIN_ROUNDS);
    ab_text_addf(&note, " %s: half of (max - min) over the rounds.", spread);
    add(out, &note);
}

static void add_conditions(const struct ab_session *s, struct ab_view_texts *out)
{
    const char *touch = ab_session_setting(s, "touch");
    struct ab_text note = {0};
    ab_text_addf(&note, "touch: %s", touch != NULL ? touch : "workload default");
    if (s->facts.lanes > 1)
        ab_text_addf(&note, "; %u threads%s, window %u", s->facts.lanes,
                     s->is_strict ? " in strict order" : "", s->window);
    if (s->cpu >= 0)
        ab_text_addf(&note, "; CPU affinity: %d", (int)s->cpu);
    else
        ab_text_addf(&note, "; CPU affinity: %s",
                     s->noise.slices_s > 0 ? "the quietest one, chosen before each throughput run"
                                           : "none");
    ab_text_addf(&note, "; %u of %u rounds, seed %llu, tape %.12s, THP %s", s->n_rounds,
                 s->n_rounds_planned, (unsigned long long)s->seed,
                 s->tape_sha256 != NULL ? s->tape_sha256 : "unknown",
                 s->host.thp[0] != 0 ? s->host.thp : "unknown");
    if (s->shard.count > 0)
        ab_text_addf(&note, "; shard %u of %u", s->shard.index, s->shard.count);
    if (s->n_parts > 0)
        ab_text_addf(&note, "; merged from %u results", s->n_parts);
    add(out, &note);
}

/* Adds " (94.9 %, 5.1 % of the requests)": the share of the requests that each rule decided. */
static void add_shares(const struct ab_mapped_rules *rules, struct ab_text *note)
{
    double all = 0;
    for (uint32_t i = 0; i < rules->n; i++)
        all += (double)rules->n_requests[i];
    for (uint32_t i = 0; i < rules->n && all > 0; i++)
        ab_text_addf(note, "%s%.1f %%", i == 0 ? " (" : ", ",
                     (double)rules->n_requests[i] / all * 100);
    if (rules->n > 0 && all > 0)
        ab_text_add(note, " of the requests)");
}

/* Adds, for each back end that maps calls to several heaps, what each heap served and by which
 * rules. */
static void add_placements(const struct ab_session *s, struct ab_view_texts *out)
{
    char count[AB_CELL_BYTES], bytes[AB_CELL_BYTES];
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        struct ab_text note = {0};
        for (uint32_t h = 0; h < b->n_heaps; h++) {
            const struct ab_mapped_heap *heap = &b->heaps[h];
            ab_text_addf(&note, "%s%s%s %s %s of %s, ", h == 0 ? ab_backend_label(b) : "",
                         h == 0 ? ": " : "; ", heap->name,
                         ab_units_count(count, sizeof count, (double)heap->n_requests),
                         heap->n_requests == 1 ? "request" : "requests",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->requested_bytes));
            ab_text_addf(&note, "up to %s live",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->live_peak_bytes));
        }
        if (note.s != NULL)
            ab_text_addf(&note, ". Rules: %s", b->map);
        add_shares(&b->rules, &note);
        if (note.s != NULL)
            ab_text_add(&note, ".");
        add(out, &note);
    }
}

void ab_view_notes(const struct ab_session *s, bool has_time, const char *spread,
                   struct ab_view_texts *out)
{
    struct ab_text noise = {0}, fewer = {0};
    if (has_time) {
        add_clock(s, out);
        add_meanings(s, spread, out);
        ab_view_noise(s, &noise);
        add(out, &noise);
    }
    add_conditions(s, out);
    add_placements(s, out);
    ab_rounds_note_passes(s, &fewer);
    add(out, &fewer);
}

void ab_view_names(const struct ab_session *s, struct ab_view_texts *out)
{
    char full[AB_BACKEND_FULL_BYTES];
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        const char *label = AB_OWN_LABEL(b), *means = ab_backend_spelling(b, full);
        if (b->combination == 0 && b->program[0] == 0 && strcmp(label, means) != 0)
            ab_view_texts_addf(out, "%s: %s", AB_SHOWN(4 * AB_BACKEND_NAME_BYTES, label),
                               AB_SHOWN(4 * AB_BACKEND_FULL_BYTES, means));
    }
    for (uint32_t i = 0; i < s->n_programs; i++)
        ab_view_texts_addf(out, "%s: %s", AB_SHOWN(4 * AB_PROGRAM_NAME_BYTES, s->programs[i].name),
                           AB_SHOWN(2000, s->programs[i].command));
}
