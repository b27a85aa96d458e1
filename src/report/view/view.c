/* SPDX-License-Identifier: MIT
 *
 * Puts the view together, in the order in which its parts need each other.
 */
#include "report/view/view.h"

#include "base/bits.h"
#include "core/median.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/view/latency.h"
#include "report/view/memory.h"
#include "report/view/pictures.h"
#include "report/view/program.h"
#include "report/view/warnings.h"
#include "result/session.h"
#include "stats/growth.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static uint32_t count_shown(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].status != AB_BACKEND_ABSENT;
    return n;
}

/* What it printed is a setting of the result where it was the same under all. */
static const char *title_of_program(const struct ab_session *s, struct ab_view_texts *t)
{
    char output[80] = "";
    const char *bytes = ab_session_setting(s, "output_bytes");
    if (bytes != NULL && s->n_results > 0) /* else there is none to be identical */
        snprintf(output, sizeof output, ", identical output (%.24s bytes)", AB_SHOWN(64, bytes));
    return ab_view_texts_addf(t, "%s: the %s under %u allocator%s%s; %u round%s",
                              AB_SHOWN(2000, s->name),
                              ab_program_is_server(s) ? "server" : "program", count_shown(s),
                              plural(count_shown(s)), output, s->n_rounds, plural(s->n_rounds));
}

static const char *title_of(const struct ab_session *s, uint64_t n_ops, struct ab_view_texts *t)
{
    char count[AB_CELL_BYTES];
    if (ab_session_is_exec(s))
        return title_of_program(s, t);
    char merged[48] = "";
    if (s->n_parts > 0)
        snprintf(merged, sizeof merged, ", merged from %u results", s->n_parts);
    else if (s->shard.count > 0)
        snprintf(merged, sizeof merged, ", shard %u of %u", s->shard.index, s->shard.count);
    char live[64] = "", combinations[48] = "";
    if (s->n_combinations > 0)
        snprintf(combinations, sizeof combinations, ", %u combinations of values",
                 s->n_combinations);
    if (s->facts.live_peak_bytes != UINT64_MAX)
        snprintf(live, sizeof live, ", up to %s live", AB_BYTES(s->facts.live_peak_bytes));
    return ab_view_texts_addf(
        t,
        "%s: %s%s operations, %u phase%s, %s%u thread%s%s%s; "
        "%u round%s%s",
        AB_SHOWN(2000, s->name), s->n_combinations > 0 ? "up to " : "",
        ab_format_count(count, (double)n_ops), s->n_phases, plural(s->n_phases),
        s->n_combinations > 0 && s->facts.lanes > 1 ? "up to " : "", s->facts.lanes,
        plural(s->facts.lanes), live, combinations, s->n_rounds, plural(s->n_rounds), merged);
}

/* Speed is the time of the whole run, all phases together, never a mean of phases or of timed calls.
 * What it costs is said with it: memory, memory that is never given back, and the tail. */

/* A p99.9 is mentioned when it is worse by this factor, and clearly worse; peaks of memory when they
 * differ by more than this share. Where an interval is wider than this and the machine was noisy,
 * noise is why there is no verdict. */
static const double tail_worth_saying = 1.25, memory_worth_saying = 0.05, wide_interval = 1.1;

enum { NAME_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };

struct writer {
    const struct ab_session *s;
    const struct ab_view_ranking *ranking;
    const struct ab_view_warnings *warnings;
    struct ab_view_texts *texts;
    struct ab_view_headline *out;
    struct ab_text text;  /* the sentence that is written */
    uint32_t combination; /* of values: whose back ends it is about */
};

/* ---- words ---- */

static const char *name_of(const struct writer *w, uint32_t backend, char buf[NAME_BYTES])
{
    return ab_text_printable(buf, NAME_BYTES, AB_OWN_NAME(&w->s->backends[backend]));
}
#define NAME(backend) name_of(w, backend, (char[NAME_BYTES]){0})

static void end_sentence(struct writer *w)
{
    if (w->text.s != NULL && w->out->n_sentences < AB_VIEW_SENTENCES_MAX)
        w->out->sentences[w->out->n_sentences++] = ab_view_texts_addf(w->texts, "%s.", w->text.s);
    ab_text_fini(&w->text);
}

static const struct ab_view_rank *row_of(const struct writer *w, uint32_t backend)
{
    return ab_view_ranking_find(w->ranking, backend);
}

static double time_of(const struct writer *w, uint32_t backend)
{
    return row_of(w, backend)->run_ns.median;
}

/* "1.78x [1.69, 1.80] faster" */
static void add_speed(struct writer *w, const struct ab_effect *speed)
{
    char times[AB_CELL_BYTES];
    struct ab_view_factor f = ab_view_factor_of(speed);
    ab_text_addf(&w->text, "%s %s", ab_format_effect(times, f.times, f.low, f.high),
                 f.is_less ? "slower" : "faster");
}

/* Fills the rows of the ranking and sorts them. */

static enum ab_view_standing standing_of(const struct ab_session *s, uint32_t backend)
{
    const struct ab_backend_info *b = &s->backends[backend];
    if (!ab_backend_status_has_numbers(b->status))
        return AB_VIEW_FAILED;
    return ab_backend_is_comparable(b) ? AB_VIEW_RANKED : AB_VIEW_ASIDE;
}

static unsigned last_drain(const struct ab_session *s)
{
    unsigned last = 0;
    for (uint32_t i = 0; i < s->n_memory; i++)
        for (unsigned when = 0; when < AB_DRAIN_COUNT - 1; when++)
            if (ab_session_has_numbers(s, s->memory[i].backend) &&
                isfinite(s->memory[i].drained_bytes[when]) && when > last)
                last = when;
    return last;
}

/* What nothing is compared with yet. */
static void fill(const struct ab_session *s, const struct ab_view_memory *memory,
                 const struct ab_view_ranking *of, struct ab_view_rank *row)
{
    static const double quantiles[] = {0.99, 0.999};
    double ns[2] = {NAN, NAN};
    const struct ab_view_memory_row *m = &memory->rows[row->backend];
    const struct ab_growth growth = ab_growth_of(s, row->backend, AB_GROWTH_ALL_ROUNDS);
    ab_view_latency_of_allocation(s, row->backend, quantiles, 2, ns);
    row->never_frees = s->backends[row->backend].never_frees &&
                       !ab_session_did_reset(s, row->backend);
    row->run_ns = ab_session_run_time(s, row->backend);
    row->p99_ns = ns[0];
    row->p999_ns = ns[1];
    row->peak_bytes = m->peak_bytes;
    row->times_live = m->live_peak_bytes > 0 ? m->peak_bytes / m->live_peak_bytes : NAN;
    row->after_free_bytes = ab_view_memory_drained(s, row->backend, of->drain);
    row->after_purge_bytes = ab_view_memory_drained(s, row->backend, AB_DRAIN_COUNT - 1);
    row->growth_bytes = growth.bytes;
    row->growth_over_ops = growth.over_ops;
    row->why_growth = growth.why;
}

static const struct ab_view_span no_span = {NAN, NAN};

static void clear(struct ab_view_rank *row)
{
    row->run_range = row->peak_range = no_span;
    row->run_ns = (struct ab_round_range){0, NAN, NAN, NAN};
    row->speed = row->peak_ratio = ab_effect_paired(NULL, NULL, 0);
    row->p99_ns = row->p999_ns = row->peak_bytes = row->times_live = NAN;
    row->after_free_bytes = row->after_purge_bytes = row->growth_bytes = NAN;
    row->growth_over_ops = NAN;
    row->why_growth = "";
}

static struct ab_effect program_peak_ratio(const struct ab_session *s, uint32_t a, uint32_t b)
{
    struct ab_program_value peak;
    ab_program_value_of(s, a, b, ab_program_field("resident_peak_bytes"), &peak);
    return peak.ratio;
}

/* Of the two peaks that are shown, with the interval of the pairs of rounds; of results of several
 * hosts that of the rounds. Ratio NaN: not known. */
static struct ab_effect view_peak_ratio(const struct ab_session *s, const struct ab_view_rank *row,
                                        const struct ab_view_rank *base)
{
    struct ab_effect e;
    if (!(row->peak_bytes > 0)) /* nothing was seen to be resident: no ratio says that */
        return ab_effect_paired(NULL, NULL, 0);
    if (ab_session_is_exec(s))
        return program_peak_ratio(s, row->backend, base->backend);
    e = ab_session_rss_ratio(s, row->backend, base->backend);
    if (s->n_hosts > 1) /* peaks of several machines: only those of one round may be compared */
        return e;
    return ab_effect_shown(&e, base->peak_bytes > 0 ? row->peak_bytes / base->peak_bytes : NAN);
}

/* Of a speed: the higher, the shorter the time. */
static struct ab_view_span time_range(double base_ns, const struct ab_effect *speed)
{
    if (!isfinite(base_ns) || !isfinite(speed->low) || !isfinite(speed->high) || speed->low <= 0)
        return no_span;
    return (struct ab_view_span){base_ns / speed->high, base_ns / speed->low};
}

static void ranking_compare(const struct ab_session *s, const struct ab_view_rank *base,
                            struct ab_view_rank *row)
{
    row->is_base = row == base;
    if (base != NULL && !row->is_base && row->standing == AB_VIEW_RANKED) {
        row->speed = ab_session_speed(s, row->backend, base->backend, NULL);
        row->peak_ratio = view_peak_ratio(s, row, base);
        row->run_range = time_range(base->run_ns.median, &row->speed);
        row->peak_range = (struct ab_view_span){base->peak_bytes * row->peak_ratio.low,
                                                base->peak_bytes * row->peak_ratio.high};
    }
    row->vs = ab_view_factor_of(&row->speed);
}

static int by_rank(const void *a, const void *b)
{
    const struct ab_view_rank *x = a, *y = b;
    double of_x = x->run_ns.median, of_y = y->run_ns.median;
    if (x->standing != y->standing)
        return x->standing < y->standing ? -1 : 1;
    if (x->combination != y->combination)
        return x->combination < y->combination ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && isfinite(of_x) != isfinite(of_y))
        return isfinite(of_x) ? -1 : 1;
    if (x->standing == AB_VIEW_RANKED && of_x != of_y && isfinite(of_x))
        return of_x < of_y ? -1 : 1;
    return (x->backend > y->backend) - (x->backend < y->backend);
}

static void fill_all(const struct ab_session *s, const struct ab_view_memory *memory,
                     struct ab_view_ranking *out)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        struct ab_view_rank *row = &out->rows[i];
        *row = (struct ab_view_rank){.backend = i,
                                     .combination = s->backends[i].combination,
                                     .name = s->backends[i].name,
                                     .standing = standing_of(s, i),
                                     .is_inlined = ab_backend_is_inlined(&s->backends[i])};
        clear(row);
        if (row->standing != AB_VIEW_FAILED)
            fill(s, memory, out, row);
        out->n_ranked += row->standing == AB_VIEW_RANKED;
        out->has_drain = out->has_drain || isfinite(row->after_free_bytes);
        out->has_purge = out->has_purge || isfinite(row->after_purge_bytes);
        out->has_growth = out->has_growth || isfinite(row->growth_bytes);
    }
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t base = ab_session_base_of(s, i);
        ranking_compare(s, base != UINT32_MAX ? &out->rows[base] : NULL, &out->rows[i]);
    }
}

/* fmin and fmax pass over NaN. */
static void widen(struct ab_view_span *ends, double value, const struct ab_view_span *range)
{
    ends->low = fmin(ends->low, fmin(value, range->low));
    ends->high = fmax(ends->high, fmax(value, range->high));
}

/* Rows are by time. */
static void place(struct ab_view_ranking *out)
{
    double least = INFINITY;
    out->run_ends = out->peak_ends = (struct ab_view_span){INFINITY, 0};
    for (uint32_t i = 0; i < out->n_ranked; i++) {
        struct ab_view_rank *row = &out->rows[i];
        row->is_placed = isfinite(row->run_ns.median) && row->run_ns.median > 0 &&
                         isfinite(row->peak_bytes);
        if (!row->is_placed)
            continue;
        row->is_front = row->peak_bytes < least;
        least = fmin(least, row->peak_bytes);
        widen(&out->run_ends, row->run_ns.median, &row->run_range);
        widen(&out->peak_ends, row->peak_bytes, &row->peak_range);
    }
}

/* `memory` is that of the same session. */
static void view_ranking_make(const struct ab_session *s, const struct ab_view_memory *memory,
                              struct ab_view_ranking *out)
{
    *out = (struct ab_view_ranking){
        .rows = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof *out->rows),
        .n_rows = s->n_backends,
        .base = ab_session_base(s),
        .drain = last_drain(s)};
    fill_all(s, memory, out);
    qsort(out->rows, out->n_rows, sizeof *out->rows, by_rank);
    place(out);
}

static void view_ranking_fini(struct ab_view_ranking *r)
{
    free(r->rows);
    *r = (struct ab_view_ranking){0};
}

const struct ab_view_rank *ab_view_ranking_find(const struct ab_view_ranking *r, uint32_t backend)
{
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].backend == backend)
            return &r->rows[i];
    return NULL;
}

/* ", and takes 8 % more memory", "… but 2.10x the memory", "at about the same memory" */
static void add_memory(struct writer *w, uint32_t a, uint32_t b)
{
    char times[AB_CELL_BYTES];
    double ratio = view_peak_ratio(w->s, row_of(w, a), row_of(w, b)).ratio;
    if (!isfinite(ratio) || !(ratio > 0))
        return;
    if (ratio >= 2)
        ab_text_addf(&w->text, ", but takes %sx the memory", ab_format_ratio(times, ratio));
    else if (ratio > 1 + memory_worth_saying)
        ab_text_addf(&w->text, ", but takes %.0f %% more memory", 100 * (ratio - 1));
    else if (ratio < 1 - memory_worth_saying)
        ab_text_addf(&w->text, " and takes %.0f %% less memory", 100 * (1 - ratio));
    else
        ab_text_add(&w->text, ", at about the same memory");
}

/* ---- who ---- */

/* On a heap in another state than its base's it is no answer to who is faster. */
static bool is_littered_alike(const struct writer *w, uint32_t backend)
{
    uint32_t base = ab_session_base_of(w->s, backend);
    if (base == UINT32_MAX)
        return true;
    const struct ab_litter_request *a = &w->s->backends[backend].litter;
    const struct ab_litter_request *b = &w->s->backends[base].litter;
    return a->occupancy == b->occupancy && a->multiple == b->multiple;
}

static bool takes_part(const struct writer *w, const struct ab_view_rank *row)
{
    return row->standing == AB_VIEW_RANKED && row->combination == w->combination &&
           !row->is_inlined && isfinite(row->run_ns.median) && is_littered_alike(w, row->backend);
}

/* The fastest that takes part; UINT32_MAX = none. */
static uint32_t find_fastest(const struct writer *w, bool must_free, uint32_t except)
{
    for (uint32_t i = 0; i < w->ranking->n_rows; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        if (takes_part(w, row) && row->backend != except && !(must_free && row->never_frees))
            return row->backend;
    }
    return UINT32_MAX;
}

static uint32_t count_participants(const struct writer *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->ranking->n_rows; i++)
        n += takes_part(w, &w->ranking->rows[i]);
    return n;
}

/* ---- the verdict ---- */

/* "(17.3 ms vs. 30.6 ms)" */
static void add_times(struct writer *w, uint32_t a, uint32_t b)
{
    ab_text_addf(&w->text, " (%s vs. %s)", AB_TIME(time_of(w, a)), AB_TIME(time_of(w, b)));
}

static void add_no_clear(struct writer *w, uint32_t a, uint32_t b)
{
    ab_text_addf(&w->text, "No clear difference between %s and %s", NAME(a), NAME(b));
    if (count_participants(w) > 2 && b == find_fastest(w, false, a))
        ab_text_add(&w->text, ", the fastest two");
    add_times(w, a, b);
    end_sentence(w);
}

static enum ab_view_verdict verdict_of(const struct writer *w, const struct ab_effect *speed)
{
    if (ab_view_warnings_find(w->warnings, "little-work") != NULL)
        return AB_VIEW_TOO_LITTLE;
    if (ab_effect_is_clear(speed))
        return AB_VIEW_FASTER;
    if (isnan(speed->low))
        return AB_VIEW_TOO_FEW;
    return w->warnings->is_noisy && speed->high > speed->low * wide_interval ? AB_VIEW_TOO_NOISY
                                                                             : AB_VIEW_NO_CLEAR;
}

static void say_too_little(struct writer *w)
{
    const struct ab_view_warning *x = ab_view_warnings_find(w->warnings, "little-work");
    ab_text_addf(&w->text, "No verdict, %s", x->text);
    end_sentence(w);
    ab_text_addf(&w->text, "What helps: %s", x->remedy);
    end_sentence(w);
}

static void say_verdict(struct writer *w, uint32_t first, uint32_t versus)
{
    switch (w->out->verdict) {
    case AB_VIEW_FASTER:
        ab_text_addf(&w->text, "%s is ", NAME(first));
        add_speed(w, &w->out->speed);
        ab_text_addf(&w->text, " than %s", NAME(versus));
        add_memory(w, first, versus);
        end_sentence(w);
        break;
    case AB_VIEW_TOO_LITTLE:
        say_too_little(w);
        break;
    case AB_VIEW_TOO_NOISY:
        ab_text_add(&w->text, "No verdict: this machine is too busy");
        end_sentence(w);
        break;
    case AB_VIEW_TOO_FEW:
        ab_text_addf(
            &w->text,
            "No verdict: %u round%s cannot distinguish a difference from noise, at least %u are "
            "needed",
            w->out->speed.n_new, w->out->speed.n_new == 1 ? "" : "s", AB_EFFECT_MIN_ROUNDS);
        end_sentence(w);
        if (w->s->n_combinations > 0) /* of one among several it would say little */
            break;
        ab_text_addf(&w->text, "So far %s is ahead of %s", NAME(first), NAME(versus));
        add_times(w, first, versus);
        end_sentence(w);
        break;
    default:
        add_no_clear(w, first, versus);
    }
}

/* The p99.9 of `a` that is worst compared with that of `b`, if any is clearly worse. */
static void add_tail(struct writer *w, uint32_t a, uint32_t b)
{
    struct ab_effect worst = {.ratio = tail_worth_saying};
    const char *phase = NULL;
    unsigned op = 0;
    for (uint32_t p = 0; p < w->s->n_phases; p++)
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
            if (!ab_session_has_op(w->s, w->s->phases[p], k))
                continue;
            struct ab_effect ratio = ab_session_p999_ratio(w->s, a, b, w->s->phases[p], k);
            if (ratio.low > 1 && ratio.ratio >= worst.ratio) {
                worst = ratio;
                phase = w->s->phases[p];
                op = k;
            }
        }
    char text[AB_CELL_BYTES];
    if (phase == NULL)
        return;
    ab_text_addf(&w->text, "%s's p99.9 of %s in %s is %s higher than that of %s", NAME(a),
                 ab_result_op_name(op), AB_SHOWN(600, phase),
                 ab_format_effect(text, worst.ratio, worst.low, worst.high), NAME(b));
    end_sentence(w);
}

/* The winner gives nothing back: who is the fastest that does? */
static void add_fastest_that_frees(struct writer *w, uint32_t first, uint32_t base)
{
    uint32_t best = find_fastest(w, true, UINT32_MAX);
    ab_text_addf(&w->text, "%s never frees", NAME(first));
    if (best != UINT32_MAX && find_fastest(w, true, best) == UINT32_MAX) {
        ab_text_addf(&w->text, "; only %s does", NAME(best));
    } else if (best != UINT32_MAX) {
        struct ab_effect speed = ab_session_speed(w->s, best, base, NULL);
        ab_text_addf(&w->text, "; the fastest that does is %s", NAME(best));
        if (best != base && ab_effect_is_clear(&speed)) {
            ab_text_add(&w->text, ", ");
            add_speed(w, &speed);
            ab_text_addf(&w->text, " than %s", NAME(base));
            add_memory(w, best, base);
        }
    }
    end_sentence(w);
}

/* The least memory, where neither of the two that the verdict names has it. Peaks of several machines
 * are not compared. */
static void add_leanest(struct writer *w)
{
    const struct ab_view_rank *least = NULL, *first = row_of(w, w->out->winner);
    for (uint32_t i = 0; i < w->ranking->n_rows && w->s->n_hosts <= 1; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        if (takes_part(w, row) && isfinite(row->peak_bytes) && row->peak_bytes > 0 &&
            (least == NULL || row->peak_bytes < least->peak_bytes))
            least = row;
    }
    if (least == NULL || least->backend == w->out->winner || least->backend == w->out->versus ||
        !(least->peak_bytes < first->peak_bytes * (1 - memory_worth_saying)))
        return;
    ab_text_addf(&w->text, "Least memory: %s (%s; %s %s)", NAME(least->backend),
                 AB_BYTES(least->peak_bytes), NAME(w->out->winner), AB_BYTES(first->peak_bytes));
    end_sentence(w);
}

/* The fastest, and what it is set against. Returns its base, or the second where it is that itself. */
static uint32_t decide(struct writer *w)
{
    uint32_t first = find_fastest(w, false, UINT32_MAX), second = find_fastest(w, false, first);
    uint32_t base = ab_session_base_of(w->s, first);
    if (base == UINT32_MAX || base == first || !takes_part(w, row_of(w, base)))
        base = second;
    struct ab_effect lead = ab_session_speed(w->s, first, second, NULL);
    struct ab_effect speed = ab_session_speed(w->s, first, base, NULL);
    uint32_t versus = ab_effect_is_clear(&speed) ? base : second;
    w->out->winner = first;
    w->out->versus = versus;
    w->out->speed = versus == base ? speed : lead;
    w->out->verdict = verdict_of(w, &w->out->speed);
    return base;
}

static void compare(struct writer *w)
{
    uint32_t base = decide(w);
    uint32_t first = w->out->winner, versus = w->out->versus;
    uint32_t second = find_fastest(w, false, first);
    say_verdict(w, first, versus);
    if (w->out->verdict == AB_VIEW_FASTER && versus != second) {
        struct ab_effect lead = ab_session_speed(w->s, first, second, NULL);
        if (!ab_effect_is_clear(&lead))
            add_no_clear(w, first, second);
    }
    if (w->out->verdict == AB_VIEW_TOO_LITTLE)
        return;
    if (row_of(w, first)->never_frees)
        add_fastest_that_frees(w, first, base);
    else if (w->out->verdict == AB_VIEW_FASTER)
        add_tail(w, first, versus);
    add_leanest(w);
}

/* A sentence for each combination of values; what is a matter of the whole session ends the list. */
static void compare_combinations(struct writer *w)
{
    enum { SAID_MOST = 6 };
    uint32_t n_said = 0, n = w->s->n_combinations, winner = UINT32_MAX;
    bool is_one = true;
    for (uint32_t k = 0; k < n && n_said < SAID_MOST; k++) {
        w->combination = k;
        if (count_participants(w) < 2)
            continue;
        decide(w);
        enum ab_view_verdict verdict = w->out->verdict;
        if (verdict == AB_VIEW_FASTER || verdict == AB_VIEW_NO_CLEAR)
            ab_text_addf(&w->text, "%s: ", w->s->combinations[k].values);
        say_verdict(w, w->out->winner, w->out->versus);
        n_said++;
        is_one = is_one && verdict == AB_VIEW_FASTER &&
                 (winner == UINT32_MAX ||
                  ab_session_row(w->s, winner, w->out->winner) == w->out->winner);
        winner = w->out->winner;
        if (verdict != AB_VIEW_FASTER && verdict != AB_VIEW_NO_CLEAR)
            return;
    }
    if (n_said == SAID_MOST && n > SAID_MOST) {
        ab_text_addf(&w->text, "%u more combinations of values: see the tables", n - SAID_MOST);
        end_sentence(w);
    }
    w->out->verdict = n_said == 0 ? AB_VIEW_NOTHING : is_one ? AB_VIEW_FASTER : AB_VIEW_NO_CLEAR;
    w->out->speed = ab_effect_paired(NULL, NULL, 0); /* there is no one that rounds would settle */
}

static void say_alone(struct writer *w, uint32_t only)
{
    const struct ab_view_rank *row = row_of(w, only);
    w->out->winner = only;
    w->out->verdict = AB_VIEW_ALONE;
    ab_text_addf(&w->text, "%s takes %s for the whole run", NAME(only),
                 AB_TIME(row->run_ns.median));
    if (isfinite(row->peak_bytes))
        ab_text_addf(&w->text, " and %s at the peak", AB_BYTES(row->peak_bytes));
    if (row->never_frees)
        ab_text_add(&w->text, "; it never frees");
    end_sentence(w);
}

/* ---- what else counts ---- */

static void add_left_out(struct writer *w)
{
    for (size_t i = 0; i < w->warnings->n; i++) {
        const struct ab_view_warning *x = &w->warnings->items[i];
        if (x->severity != AB_VIEW_FAILURE || x->backend == UINT32_MAX)
            continue;
        ab_text_addf(&w->text, "%s%s (%s)", w->text.n > 0 ? ", " : "Left out: ", NAME(x->backend),
                     ab_backend_status_name(w->s->backends[x->backend].status));
    }
    end_sentence(w);
}

static void add_unverified(struct writer *w)
{
    const struct ab_view_warning *x = ab_view_warnings_find(w->warnings, "unverified");
    const char *names = x != NULL ? strstr(x->text, ": ") : NULL;
    if (names != NULL)
        ab_text_addf(&w->text, "Not verified%s", names);
    end_sentence(w);
}

static void add_incomplete(struct writer *w)
{
    const struct ab_view_warning *x = ab_view_warnings_find(w->warnings, "incomplete");
    if (x != NULL)
        ab_text_addf(&w->text, "I%s", x->text + 1);
    end_sentence(w);
}

static void view_headline_make(const struct ab_session *s, const struct ab_view_ranking *ranking,
                               const struct ab_view_warnings *warnings, struct ab_view_texts *texts,
                               struct ab_view_headline *out)
{
    struct writer w = {s, ranking, warnings, texts, out, {0}, 0};
    *out = (struct ab_view_headline){.verdict = AB_VIEW_NOTHING,
                                     .winner = UINT32_MAX,
                                     .versus = UINT32_MAX,
                                     .speed = ab_effect_paired(NULL, NULL, 0)};
    uint32_t n = count_participants(&w);
    if (s->n_combinations > 1 && ranking->n_ranked > 0) {
        compare_combinations(&w);
    } else if (n == 0 && ab_view_program_fails(s)) {
        ab_text_add(&w.text, "The program itself fails, in the same way under every allocator: it "
                             "has to succeed alone first");
        end_sentence(&w);
    } else if (n == 0) {
        ab_text_add(&w.text, "No back end has comparable results");
        end_sentence(&w);
    } else if (n == 1) {
        say_alone(&w, find_fastest(&w, false, UINT32_MAX));
    } else {
        compare(&w);
    }
    add_left_out(&w);
    add_unverified(&w);
    add_incomplete(&w);
}

/* From the verdict to what would settle it; what helps against noise is with its warning. */

static void add(struct ab_view_steps *out, const char *command, const char *why)
{
    for (unsigned i = 0; i < out->n; i++)
        if (strcmp(out->items[i].command, command) == 0)
            return;
    if (out->n < AB_VIEW_STEPS_MAX && command[0] != 0)
        out->items[out->n++] = (struct ab_view_step){command, why};
}

/* What the effect says about how many rounds would do. */
static void add_rounds(const struct ab_session *s, const struct ab_view_headline *headline,
                       struct ab_view_texts *texts, struct ab_view_steps *out)
{
    uint32_t n = ab_effect_rounds_needed(&headline->speed, NAN);
    bool is_over = n > 10 * (s->n_rounds > 10 ? s->n_rounds : 10);
    if (headline->verdict == AB_VIEW_TOO_FEW)
        add(out, ab_session_is_exec(s) ? "--rounds 20" : "--rounds 10",
            "there is no interval below 6");
    else if (n == 0 || is_over)
        return;
    else
        add(out, ab_view_texts_addf(texts, "--rounds %u", n),
            "as many would settle whether they differ");
}

/* ---- what won, for other programs ---- */

/* Has it nothing that a shell, systemd or Docker take for something else, so that it can be copied
 * anywhere? A result may come from anyone. */
static bool is_plain(const char *text, size_t n, const char *also)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && strchr("._-+/=", text[i]) == NULL &&
            strchr(also, text[i]) == NULL)
            return false;
    return true;
}

static bool is_preloadable(const struct ab_backend_info *b)
{
    return b->boundary != NULL && b->n_heaps == 0 && strstr(b->name, ":prefix=") == NULL &&
           strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_MALLOC]) == 0;
}

/* Of "name{A=b;C=d}" with the path of its library "A=b C=d LD_PRELOAD=path"; "" where there is
 * nothing to set, or not in plain characters. */
static const char *environment_of(const struct ab_backend_info *b, struct ab_view_texts *texts)
{
    char set[sizeof b->name] = "";
    const char *brace = strchr(b->name, '{'), *path = b->path;
    size_t n_name = strcspn(b->name, "{"), n = brace != NULL ? strcspn(brace + 1, "}") : 0;
    bool is_own = n_name == strlen("glibc") && strncmp(b->name, "glibc", n_name) == 0;
    if (n > 0 && !is_plain(brace + 1, n, ";:,"))
        return "";
    for (size_t i = 0; i < n; i++)
        set[i] = brace[1 + i] == ';' ? ' ' : brace[1 + i];
    if (is_own)
        return n > 0 ? ab_view_texts_addf(texts, "%s", set) : "";
    if (path[0] != '/' || !is_plain(path, strlen(path), "@,"))
        return "";
    return ab_view_texts_addf(texts, "%s%sLD_PRELOAD=%s", set, n > 0 ? " " : "", path);
}

/* The fastest that can be preloaded: a program has to call the functions of others itself. */
static void add_winner(const struct ab_session *s, const struct ab_view_headline *headline,
                       const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                       struct ab_view_steps *out)
{
    const char *own = ab_session_setting(s, "own_malloc"); /* the program brings it along */
    for (uint32_t i = 0; i < ranking->n_rows; i++) {
        const struct ab_view_rank *rank = &ranking->rows[i];
        const struct ab_backend_info *b = &s->backends[rank->backend];
        if (rank->standing != AB_VIEW_RANKED || !is_preloadable(b) || b->litter.occupancy > 0)
            continue;
        if (own != NULL && strcmp(own, b->name) == 0)
            return; /* it has it already */
        if (rank->backend == headline->winner || (rank->vs.is_clear && !rank->vs.is_less))
            add(out, environment_of(b, texts),
                ab_view_texts_addf(texts, "runs a program with %s", AB_SHOWN(128, b->name)));
        return;
    }
}

static void view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                            const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                            struct ab_view_steps *out)
{
    *out = (struct ab_view_steps){0};
    if (!s->is_complete) /* to go on comes first, and says so itself */
        return;
    if (headline->verdict == AB_VIEW_TOO_NOISY || headline->verdict == AB_VIEW_NO_CLEAR ||
        headline->verdict == AB_VIEW_TOO_FEW)
        add_rounds(s, headline, texts, out);
    if (headline->verdict == AB_VIEW_FASTER)
        add_winner(s, headline, ranking, texts, out);
}

/* The matrix of ns per op, and the row of the harness. */

static struct ab_view_time phases_time_of(const struct ab_session *s, uint32_t backend,
                                          const char *phase)
{
    uint32_t base = ab_session_base_of(s, backend);
    struct ab_view_time t = {.ns_per_op = ab_session_ns_per_op(s, backend, phase),
                             .speed = ab_effect_paired(NULL, NULL, 0)};
    if (base != UINT32_MAX && base != backend && ab_backend_is_comparable(&s->backends[backend]))
        t.speed = ab_session_speed(s, backend, base, phase);
    t.vs = ab_view_factor_of(&t.speed);
    t.is_unclear = isfinite(t.speed.ratio) && !t.vs.is_clear;
    t.range_ns = no_span;
    return t;
}

static double harness_ns(const struct ab_session *s, uint32_t backend, const char *phase, double *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (ab_null_is_of(&s->nulls[i], &s->backends[backend]) &&
            strcmp(s->nulls[i].phase, phase) == 0 && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    return ab_median(x, n);
}

static void add_harness(const struct ab_session *s, uint32_t backend, double *x,
                        struct ab_view_phases *out)
{
    struct ab_view_harness *h = &out->harness[out->n_harness];
    bool is_known = false;
    *h = (struct ab_view_harness){.backend = backend,
                                  .boundary = s->backends[backend].boundary,
                                  .ns_per_op = ab_alloc_zeroed(s->n_phases + 1u, sizeof(double))};
    ab_harness_name(s, backend, h->name);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        h->ns_per_op[p] = harness_ns(s, backend, s->phases[p], x);
        is_known = is_known || isfinite(h->ns_per_op[p]);
    }
    if (is_known)
        out->n_harness++;
    else
        free(h->ns_per_op);
}

/* In the order of the boundaries. */
static void add_harnesses(const struct ab_session *s, double *x, struct ab_view_phases *out)
{
    for (uint32_t b = 0; b < s->n_backends; b++)
        out->harness_of[b] = ab_session_harness(s, b);
    for (unsigned i = 0; i < AB_BOUNDARY_COUNT; i++)
        for (uint32_t b = 0; b < s->n_backends; b++)
            if (ab_harness_is_used(s, b) &&
                strcmp(s->backends[b].boundary, ab_boundary_names[i]) == 0)
                add_harness(s, b, x, out);
}

/* A wild interval is cut, so that not all bars are short. */
static void phases_add_ranges(const struct ab_session *s, uint32_t phase,
                              struct ab_view_phases *out)
{
    double *most = &out->phases[phase].most_ns;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_view_time *t = &out->times[(size_t)b * s->n_phases + phase];
        double ns = t->ns_per_op.median;
        uint32_t base = ab_session_base_of(s, b);
        if (base != UINT32_MAX && base != b)
            t->range_ns = time_range(ab_view_phases_at(out, base, phase)->ns_per_op.median,
                                     &t->speed);
        if (!ab_view_shows(s, b) || !isfinite(ns))
            continue;
        out->phases[phase].n_shown++;
        *most = fmax(*most, isfinite(t->range_ns.high) ? fmin(t->range_ns.high, 3 * ns) : ns);
        *most = fmax(*most, ns);
    }
}

static void phases_fill(const struct ab_session *s, double *x, struct ab_view_phases *out)
{
    for (uint32_t p = 0; p < s->n_phases; p++) {
        out->phases[p] = (struct ab_view_phase){
            s->phases[p], ab_session_phase_ops(s, AB_EVERY_COMBINATION, s->phases[p]), 0};
        for (uint32_t b = 0; b < s->n_backends; b++)
            out->times[(size_t)b * s->n_phases + p] = phases_time_of(s, b, s->phases[p]);
        phases_add_ranges(s, p, out);
    }
    add_harnesses(s, x, out);
}

static void view_phases_make(const struct ab_session *s, struct ab_view_phases *out)
{
    size_t most = s->n_nulls > s->n_results ? s->n_nulls : s->n_results;
    double *x = ab_alloc_zeroed(most + 1, sizeof *x);
    *out = (struct ab_view_phases){.n_phases = s->n_phases, .n_backends = s->n_backends};
    out->phases = ab_alloc_zeroed((size_t)s->n_phases + 1, sizeof *out->phases);
    out->times = ab_alloc_zeroed((size_t)s->n_phases * s->n_backends + 1, sizeof *out->times);
    out->harness = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness);
    out->harness_of = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness_of);
    phases_fill(s, x, out);
    free(x);
}

static void view_phases_fini(struct ab_view_phases *p)
{
    for (unsigned i = 0; i < p->n_harness; i++)
        free(p->harness[i].ns_per_op);
    free(p->harness);
    free(p->harness_of);
    free(p->phases);
    free(p->times);
    *p = (struct ab_view_phases){0};
}

const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase)
{
    return &p->times[(size_t)backend * p->n_phases + phase];
}

double ab_view_phases_harness(const struct ab_view_phases *p, uint32_t backend, uint32_t phase)
{
    for (unsigned i = 0; i < p->n_harness; i++)
        if (p->harness[i].backend == p->harness_of[backend])
            return p->harness[i].ns_per_op[phase];
    return NAN;
}

/* Values of params: which rows are one back end. */

static void view_by_value_make(const struct ab_session *s, struct ab_view_by_value *out)
{
    *out = (struct ab_view_by_value){.n_values = s->n_combinations};
    out->rows = ab_alloc_zeroed((size_t)s->n_backends * s->n_combinations + 1, sizeof out->rows[0]);
    out->x = ab_alloc_zeroed(s->n_combinations + 1u, sizeof out->x[0]);
    for (uint32_t i = 0; i < s->n_backends && s->n_combinations > 0; i++) {
        if (s->backends[i].combination != 0)
            continue;
        uint32_t *row = &out->rows[(size_t)out->n_names++ * out->n_values];
        for (uint32_t k = 0; k < out->n_values; k++)
            row[k] = UINT32_MAX;
        for (uint32_t b = 0; b < s->n_backends; b++)
            if (s->backends[b].combination < out->n_values && ab_session_row(s, i, b) == b)
                row[s->backends[b].combination] = b;
    }
    bool is_number = true;
    for (uint32_t k = 0; k < out->n_values; k++) {
        const char *values = s->combinations[k].values, *value = strchr(values, '=');
        out->is_single = strchr(values, ' ') == NULL;
        char *end = NULL;
        out->x[k] = value != NULL ? strtod(value + 1, &end) : NAN;
        is_number = is_number && end != NULL && end != value + 1 && *end == 0;
    }
    out->is_number = out->is_single && is_number;
}

static void view_by_value_fini(struct ab_view_by_value *b)
{
    free(b->rows);
    free(b->x);
    *b = (struct ab_view_by_value){0};
}

double ab_view_by_value_at(const struct ab_view *v, uint32_t name, uint32_t value,
                           struct ab_by_value_of of)
{
    uint32_t row = v->by_value.rows[(size_t)name * v->by_value.n_values + value];
    if (row == UINT32_MAX || !ab_session_has_numbers(v->session, row))
        return NAN;
    if (of.what == AB_BY_VALUE_PHASE)
        return ab_view_phases_at(&v->phases, row, of.phase)->ns_per_op.median;
    const struct ab_view_rank *rank = ab_view_ranking_find(&v->ranking, row);
    if (rank == NULL)
        return NAN;
    return of.what == AB_BY_VALUE_RUN ? rank->run_ns.median : rank->peak_bytes;
}

static void make(const struct ab_session *s, struct ab_view *v)
{
    ab_view_memory_make(s, &v->memory);
    view_ranking_make(s, &v->memory, &v->ranking);
    view_phases_make(s, &v->phases);
    ab_view_slowest_make(s, &v->slowest);
    ab_view_slow_iterations_make(s, &v->slow_iterations);
    ab_view_latency_make(s, &v->slowest, &v->latency);
    view_by_value_make(s, &v->by_value);
    ab_view_warnings_make(s, &v->texts, &v->warnings);
    for (uint32_t p = 0; p < v->phases.n_phases; p++)
        v->n_ops += v->phases.phases[p].n_ops;
    v->title = title_of(s, v->n_ops, &v->texts);
    view_headline_make(s, &v->ranking, &v->warnings, &v->texts, &v->headline);
    view_steps_make(s, &v->headline, &v->ranking, &v->texts, &v->next);
    ab_view_pictures_make(v, &v->pictures);
}

void ab_view_make(const struct ab_session *session, struct ab_view *out)
{
    struct ab_format_guard guard;
    *out = (struct ab_view){.session = session};
    ab_format_begin(&guard);
    make(session, out);
    ab_format_end(&guard);
}

void ab_view_fini(struct ab_view *v)
{
    view_ranking_fini(&v->ranking);
    view_phases_fini(&v->phases);
    ab_view_latency_fini(&v->latency);
    ab_view_memory_fini(&v->memory);
    view_by_value_fini(&v->by_value);
    ab_view_slowest_fini(&v->slowest);
    ab_view_slowest_fini(&v->slow_iterations);
    ab_view_warnings_fini(&v->warnings);
    ab_view_pictures_fini(&v->pictures);
    ab_view_texts_fini(&v->texts);
    *v = (struct ab_view){0};
}
