/* SPDX-License-Identifier: MIT
 *
 * Speed is the time of the whole run, all phases together, never a mean of phases or of fenced
 * latencies. What it costs is said with it: memory, memory that is never given back, and the tail.
 */
#include "report/table/session/summary.h"

#include "base/units.h"
#include "core/units_show.h"
#include "report/format.h"
#include "stats/aggregate.h"

#include <math.h>
#include <string.h>

/* A p99.9 is mentioned when it is worse by this factor, and clearly worse; peaks of memory when they
 * differ by more than this share. */
static const double tail_worth_saying = 1.25, memory_worth_saying = 0.05;

static const char *name_of(const struct ab_session *s, uint32_t backend)
{
    return s->backends[backend].name;
}

/* What is compiled into the loop has no call to pay for: no like for like. */
static bool is_called(const struct ab_session *s, uint32_t backend)
{
    const char *boundary = s->backends[backend].boundary;
    return boundary == NULL || strcmp(boundary, ab_boundary_names[AB_BOUNDARY_INLINE]) != 0;
}

/* Has ns_per_op in every measured phase of at least one round. */
static bool takes_part(const struct ab_session *s, uint32_t backend)
{
    return is_called(s, backend) && ab_backend_is_comparable(&s->backends[backend]) &&
           ab_session_run_time(s, backend).n > 0;
}

static bool gives_nothing_back(const struct ab_session *s, uint32_t backend)
{
    return s->backends[backend].never_frees && !ab_session_did_reset(s, backend);
}

/* The fastest that takes part, with or without those that never free; UINT32_MAX = none. */
static uint32_t find_fastest(const struct ab_session *s, bool must_free, uint32_t except)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (i == except || !takes_part(s, i) || (must_free && gives_nothing_back(s, i)))
            continue;
        if (best == UINT32_MAX || ab_session_speed(s, i, best, NULL).ratio > 1)
            best = i;
    }
    return best;
}

static uint32_t count_participants(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += takes_part(s, i);
    return n;
}

/* "whole run: 17.3 ms against 30.6 ms" */
static void add_times(struct ab_text *out, const struct ab_session *s, uint32_t a, uint32_t b)
{
    char of_a[32], of_b[32];
    ab_text_addf(out, "whole run: %s vs. %s",
                 ab_units_time(of_a, sizeof of_a, ab_session_run_time(s, a).median),
                 ab_units_time(of_b, sizeof of_b, ab_session_run_time(s, b).median));
}

static void add_speed(struct ab_text *out, const struct ab_session *s, uint32_t a, uint32_t b)
{
    char ratio[AB_CELL_BYTES];
    struct ab_effect speed = ab_session_speed(s, a, b, NULL);
    if (speed.ratio >= 1)
        ab_text_addf(out, "%s as fast as %s",
                     ab_format_effect(ratio, speed.ratio, speed.low, speed.high), name_of(s, b));
    else
        ab_text_addf(out, "%s slower than %s",
                     ab_format_effect(ratio, 1 / speed.ratio, 1 / speed.high, 1 / speed.low),
                     name_of(s, b));
    ab_text_add(out, " (");
    add_times(out, s, a, b);
    ab_text_add(out, ")");
}

/* "41 % [40, 42] more"; without an interval "41 % more". */
static void add_percent(struct ab_text *out, const struct ab_effect *ratio, const char *what)
{
    double sign = ratio->ratio < 1 ? -1 : 1, ends[2] = {ratio->low, ratio->high};
    ab_text_addf(out, "%.0f %% ", sign * (ratio->ratio - 1) * 100);
    if (isfinite(ends[0]) && isfinite(ends[1]))
        ab_text_addf(out, "[%.0f, %.0f] ", sign * (ends[sign < 0] - 1) * 100,
                     sign * (ends[sign > 0] - 1) * 100);
    ab_text_add(out, what);
}

/* ", but takes 2.10x [2.05, 2.16] the peak memory (57.6 MiB vs. 27.4 MiB) and never frees" */
static void add_memory(struct ab_text *out, const struct ab_session *s, uint32_t a, uint32_t b)
{
    double of_a = ab_session_rss_peak(s, a).median, of_b = ab_session_rss_peak(s, b).median;
    struct ab_effect ratio = ab_session_rss_ratio(s, a, b);
    bool never_frees = gives_nothing_back(s, a), is_more = ratio.ratio > 1 + memory_worth_saying;
    bool is_less = ratio.ratio < 1 - memory_worth_saying;
    char peak_a[32], peak_b[32], cell[AB_CELL_BYTES];
    if (!isfinite(ratio.ratio)) {
        ab_text_add(out, never_frees ? ", but never frees" : "");
        return;
    }
    ab_text_add(out, is_more ? ", but takes " : is_less ? ", with " : ", at about the same");
    if (ratio.ratio >= 2)
        ab_text_addf(out, "%s the", ab_format_effect(cell, ratio.ratio, ratio.low, ratio.high));
    else if (is_more || is_less)
        add_percent(out, &ratio, is_more ? "more" : "less");
    ab_text_add(out, " peak memory");
    ab_text_addf(out, " (%s vs. %s)", ab_units_bytes(peak_a, sizeof peak_a, of_a),
                 ab_units_bytes(peak_b, sizeof peak_b, of_b));
    if (never_frees)
        ab_text_add(out, is_more ? " and never frees" : ", but never frees");
}

/* The p99.9 of `a` that is worst compared with that of `b`, if any is clearly worse. */
static void add_tail(struct ab_text *out, const struct ab_session *s, uint32_t a, uint32_t b)
{
    struct ab_effect worst = {.ratio = tail_worth_saying};
    const char *phase = NULL;
    unsigned op = 0;
    for (uint32_t p = 0; p < s->n_phases; p++)
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
            struct ab_effect ratio = ab_session_p999_ratio(s, a, b, s->phases[p], k);
            if (ratio.low > 1 && ratio.ratio >= worst.ratio) {
                worst = ratio;
                phase = s->phases[p];
                op = k;
            }
        }
    char text[AB_CELL_BYTES];
    if (phase != NULL)
        ab_text_addf(out, "; its p99.9 of %s in %s is %s higher than that of %s",
                     ab_result_op_name(op), phase,
                     ab_format_effect(text, worst.ratio, worst.low, worst.high), name_of(s, b));
}

/* "; jemalloc is the fastest that frees, 1.40x as fast as glibc …" */
static void add_fastest_that_frees(struct ab_text *out, const struct ab_session *s, uint32_t base)
{
    uint32_t best = find_fastest(s, true, UINT32_MAX);
    if (best == UINT32_MAX)
        return;
    uint32_t second = find_fastest(s, true, best);
    if (second == UINT32_MAX) {
        ab_text_addf(out, "; %s is the only one that frees", name_of(s, best));
        return;
    }
    struct ab_effect lead = ab_session_speed(s, best, second, NULL);
    if (!ab_effect_is_clear(&lead)) {
        ab_text_addf(out, "; no clear difference between %s and %s, the fastest that free",
                     name_of(s, best), name_of(s, second));
        return;
    }
    ab_text_addf(out, "; %s is the fastest that frees", name_of(s, best));
    struct ab_effect speed = ab_session_speed(s, best, base, NULL);
    if (best == base || !ab_effect_is_clear(&speed))
        return;
    ab_text_add(out, ", ");
    add_speed(out, s, best, base);
    add_memory(out, s, best, base);
    add_tail(out, s, best, base);
}

static void add_alone(struct ab_text *out, const struct ab_session *s, uint32_t only)
{
    char time[32], peak[32];
    double bytes = ab_session_rss_peak(s, only).median;
    ab_text_addf(out, "%s: %s for the whole run", name_of(s, only),
                 ab_units_time(time, sizeof time, ab_session_run_time(s, only).median));
    if (isfinite(bytes))
        ab_text_addf(out, ", peak memory %s", ab_units_bytes(peak, sizeof peak, bytes));
    if (gives_nothing_back(s, only))
        ab_text_add(out, "; it never frees");
}

/* Why a difference that the medians show is not called one. */
static void add_doubt(struct ab_text *out, const struct ab_effect *speed)
{
    if (speed->method == AB_EFFECT_FEW)
        ab_text_addf(out,
                     "; %u round%s cannot distinguish a difference from noise, at least %u "
                     "are needed",
                     speed->n_new, speed->n_new == 1 ? "" : "s", AB_EFFECT_MIN_ROUNDS);
}

/* What the rounds do not carry is shown as two times, and not called a difference. */
static void add_no_lead(struct ab_text *out, const struct ab_session *s, uint32_t first,
                        uint32_t second)
{
    ab_text_addf(out, "no clear difference between %s and %s%s (", name_of(s, first),
                 name_of(s, second), count_participants(s) > 2 ? ", the fastest two" : "");
    add_times(out, s, first, second);
    ab_text_add(out, ")");
}

/* The winner is beaten by none; it leads by what the rounds say about the second. */
static void add_comparison(struct ab_text *out, const struct ab_session *s)
{
    uint32_t first = find_fastest(s, false, UINT32_MAX);
    uint32_t second = find_fastest(s, false, first);
    uint32_t base = ab_session_base(s);
    if (base == UINT32_MAX || !takes_part(s, base) || first == base)
        base = second;
    struct ab_effect lead = ab_session_speed(s, first, second, NULL);
    struct ab_effect speed = ab_session_speed(s, first, base, NULL);
    bool leads = ab_effect_is_clear(&lead), beats_base = ab_effect_is_clear(&speed);
    if (!leads)
        add_no_lead(out, s, first, second);
    if (!leads && beats_base && base != second)
        ab_text_add(out, "; ");
    if (leads || (beats_base && base != second)) {
        ab_text_addf(out, "%s is ", name_of(s, first));
        add_speed(out, s, first, base);
        add_memory(out, s, first, base);
    } else if (gives_nothing_back(s, first)) {
        ab_text_addf(out, "; %s never frees", name_of(s, first));
    }
    if (beats_base && !gives_nothing_back(s, first))
        add_tail(out, s, first, base);
    if (gives_nothing_back(s, first))
        add_fastest_that_frees(out, s, base);
    add_doubt(out, &lead);
}

void ab_summary_add(struct ab_text *out, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    uint32_t n = count_participants(session);
    if (n == 0)
        ab_text_add(out, "No back end has comparable results");
    else if (n == 1)
        add_alone(out, session, find_fastest(session, false, UINT32_MAX));
    else
        add_comparison(out, session);
    if (!session->is_complete)
        ab_text_add(out, "; the run was not completed");
    ab_text_add(out, ".");
    ab_format_end(&guard);
}
