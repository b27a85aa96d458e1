/* SPDX-License-Identifier: MIT
 *
 * Writes the first sentence of every answer about one session, and the command to type next.
 * docs/measuring.md has the rule: the sentence answers the question of its command, names metric
 * and moment, and never mentions a number that the user's own load fixes. ranking.c has the words
 * for each question. suite_view.c writes the sentence about several workloads, verdicts.c the one
 * about two results.
 */
#include "answer/headline.h"
#include "core/alloc.h"
#include "core/median.h"
#include "result/numbers.h"

#include "answer/program_view.h"
#include "answer/ranking.h"
#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/check.h"
#include "stats/over_time.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ---- */

/* tail_worth_saying: a p99.9 is mentioned if it is clearly worse by at least this factor.
 * memory_worth_saying: peaks of memory are mentioned if they differ by more than this share.
 * wide_interval: if the ends of an interval differ by more than this factor on a noisy machine,
 * noise is the reason for no verdict. */
static const double tail_worth_saying = 1.25, memory_worth_saying = 0.05, wide_interval = 1.1;

enum { NAME_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };

struct writer {
    const struct ab_session *s;
    const struct ab_view_ranking *ranking;
    const struct ab_view_warnings *warnings;
    struct ab_view_texts *texts;
    struct ab_view_headline *out;
    struct ab_text text;  /* the sentence being written */
    uint32_t combination; /* the combination of values whose back ends the sentence is about */
};

/* ---- words ---- */

static const char *name_of(const struct writer *w, uint32_t backend, char buf[NAME_BYTES])
{
    return ab_text_printable(buf, NAME_BYTES, AB_OWN_LABEL(&w->s->backends[backend]));
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

static const struct ab_view_subject *subject(const struct writer *w)
{
    return &w->ranking->subject;
}

/* Writes the number that ranks `backend`: "17.3 ms", "8.90 k". */
static const char *figure_of(const struct writer *w, uint32_t backend, char buf[AB_CELL_BYTES])
{
    return ab_format_value(buf, row_of(w, backend)->figure.median,
                           ab_metric_unit(&subject(w)->metric));
}
#define FIGURE(w, backend) figure_of(w, backend, (char[AB_CELL_BYTES]){0})

/* Adds "1.78x [1.69, 1.80] faster"; for a metric that the user named "1.24x [1.20, 1.29] lower". */
static void add_speed(struct writer *w, const struct ab_effect *speed)
{
    char times[AB_CELL_BYTES];
    struct ab_view_factor f = ab_view_factor_of(speed);
    ab_text_addf(&w->text, "%s %s", ab_format_effect(times, f.times, f.low, f.high),
                 ab_view_subject_word(subject(w), f.is_less));
}

/* Adds "jemalloc is 1.78x [1.69, 1.80] faster than glibc over the whole run" or "jemalloc's p99_us
 * is 1.24x [1.20, 1.29] lower than that of glibc". */
static void add_lead(struct writer *w, uint32_t a, const struct ab_effect *lead, uint32_t b)
{
    bool is_named = subject(w)->is_named;
    ab_text_addf(&w->text, "%s%s%s is ", NAME(a), is_named ? "'s " : "",
                 is_named ? subject(w)->noun : "");
    add_speed(w, lead);
    ab_text_addf(&w->text, " than %s%s%s", is_named ? "that of " : "", NAME(b),
                 is_named ? "" : subject(w)->over);
}

/* Adds "; jemalloc itself takes another 2.40 MiB" for each library that took more than a tenth of
 * the peak difference just named. That difference does not include what libraries took before the
 * first block. */
static void add_libraries(struct writer *w, uint32_t a, uint32_t b)
{
    double named = fabs(row_of(w, a)->peak_bytes - row_of(w, b)->peak_bytes);
    const uint32_t both[] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        double bytes = w->s->backends[both[i]].library_bytes;
        if (bytes > 0 && bytes > named / 10)
            ab_text_addf(&w->text, "; %s itself takes another %s", NAME(both[i]), AB_BYTES(bytes));
    }
}

/* Adds ", but takes 8 % more memory at the peak". Adds nothing for a server, because
 * say_server_memory() reports more important moments. */
static void add_memory(struct writer *w, uint32_t a, uint32_t b)
{
    char times[AB_CELL_BYTES];
    double ratio = ab_view_peak_ratio(w->s, row_of(w, a), row_of(w, b)).ratio;
    if (!isfinite(ratio) || !(ratio > 0) || ab_session_is_server(w->s))
        return;
    if (ratio >= 2)
        ab_text_addf(&w->text, ", but takes %sx the memory at the peak",
                     ab_format_ratio(times, ratio));
    else if (ratio > 1 + memory_worth_saying)
        ab_text_addf(&w->text, ", but takes %.0f %% more memory at the peak", 100 * (ratio - 1));
    else if (ratio < 1 - memory_worth_saying)
        ab_text_addf(&w->text, " and takes %.0f %% less memory at the peak", 100 * (1 - ratio));
    else
        ab_text_add(&w->text, ", at about the same peak memory");
    add_libraries(w, a, b);
}

/* ---- who takes part ---- */

/* True if the back end ran on a heap in the same state as its base. Otherwise comparing the two
 * cannot tell which allocator is faster. */
static bool is_aged_alike(const struct writer *w, uint32_t backend)
{
    uint32_t base = ab_session_base_of(w->s, backend);
    if (base == UINT32_MAX)
        return true;
    const struct ab_aging_request *a = &w->s->backends[backend].aging;
    const struct ab_aging_request *b = &w->s->backends[base].aging;
    return a->occupancy == b->occupancy && a->multiple == b->multiple;
}

static bool takes_part(const struct writer *w, const struct ab_view_rank *row)
{
    return row->standing == AB_VIEW_RANKED && row->combination == w->combination &&
           row->twin == row->backend && !row->is_inlined && isfinite(row->figure.median) &&
           is_aged_alike(w, row->backend);
}

/* Returns the fastest back end that takes part, except `except`; UINT32_MAX = none. With
 * `must_free`, skips back ends that never free. */
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

/* Adds "(17.3 ms vs. 30.6 ms)". */
static void add_figures(struct writer *w, uint32_t a, uint32_t b)
{
    ab_text_addf(&w->text, " (%s vs. %s)", FIGURE(w, a), FIGURE(w, b));
}

static void add_no_clear(struct writer *w, uint32_t a, uint32_t b)
{
    ab_text_addf(&w->text, "No clear difference in %s between %s and %s", subject(w)->noun, NAME(a),
                 NAME(b));
    if (count_participants(w) > 2 && b == find_fastest(w, false, a))
        ab_text_addf(&w->text, ", the %s two", subject(w)->is_named ? "best" : "fastest");
    add_figures(w, a, b);
    const struct ab_checked *back = row_of(w, b)->taken_back;
    if (back != NULL)
        ab_text_addf(&w->text, ": %u more rounds did not confirm that %s is %s", back->n_confirm,
                     NAME(b), ab_view_subject_word(subject(w), true));
    end_sentence(w);
}

static enum ab_view_verdict verdict_of(const struct writer *w, const struct ab_effect *speed)
{
    if (row_of(w, w->out->versus)->taken_back != NULL)
        return AB_VIEW_NO_CLEAR;
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
        add_lead(w, first, &w->out->speed, versus);
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
            "No verdict: %u round%s cannot distinguish a difference from noise; at least %u are "
            "needed",
            w->out->speed.n_new, w->out->speed.n_new == 1 ? "" : "s", AB_EFFECT_MIN_ROUNDS);
        end_sentence(w);
        if (w->s->n_combinations > 0) /* a lead in one of several combinations says little */
            break;
        ab_text_addf(&w->text, "So far %s is ahead of %s in %s", NAME(first), NAME(versus),
                     subject(w)->noun);
        add_figures(w, first, versus);
        end_sentence(w);
        break;
    default:
        add_no_clear(w, first, versus);
    }
}

/* Reports the worst p99.9 of `a` compared with that of `b`, if any is clearly worse. */
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

/* Says that the winner never frees, and which back end that does free is the fastest. */
static void add_fastest_that_frees(struct writer *w, uint32_t first, uint32_t base)
{
    uint32_t best = find_fastest(w, true, UINT32_MAX);
    ab_text_addf(&w->text, "%s never frees", NAME(first));
    if (best != UINT32_MAX && find_fastest(w, true, best) == UINT32_MAX) {
        ab_text_addf(&w->text, "; only %s does", NAME(best));
    } else if (best != UINT32_MAX) {
        struct ab_effect speed = ab_session_lead(w->s, best, base);
        ab_text_addf(&w->text, "; the fastest one that frees is %s", NAME(best));
        if (best != base && ab_effect_is_clear(&speed)) {
            ab_text_add(&w->text, ", ");
            add_speed(w, &speed);
            ab_text_addf(&w->text, " than %s", NAME(base));
            add_memory(w, best, base);
        }
    }
    end_sentence(w);
}

/* Names the back end with the least peak memory, if it is neither of the two in the verdict. Peaks
 * of several machines are not compared. */
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
    ab_text_addf(&w->text, "Least memory at the peak: %s (%s; %s %s)", NAME(least->backend),
                 AB_BYTES(least->peak_bytes), NAME(w->out->winner), AB_BYTES(first->peak_bytes));
    end_sentence(w);
}

/* Sets winner, opponent and verdict. Returns the base of the winner; the second fastest if the
 * winner is the base itself, or the base takes no part. */
static uint32_t decide(struct writer *w)
{
    uint32_t first = find_fastest(w, false, UINT32_MAX), second = find_fastest(w, false, first);
    uint32_t base = ab_session_base_of(w->s, first);
    if (base == UINT32_MAX || base == first || !takes_part(w, row_of(w, base)))
        base = second;
    struct ab_effect lead = ab_session_lead(w->s, first, second);
    struct ab_effect speed = ab_session_lead(w->s, first, base);
    uint32_t versus = ab_effect_is_clear(&speed) ? base : second;
    w->out->winner = first;
    w->out->versus = versus;
    w->out->speed = versus == base ? speed : lead;
    w->out->verdict = verdict_of(w, &w->out->speed);
    if (row_of(w, versus)->taken_back != NULL)
        /* so that no more rounds are suggested: they have been run already */
        w->out->speed = ab_effect_paired(NULL, NULL, 0);
    return base;
}

static void compare(struct writer *w)
{
    uint32_t base = decide(w);
    uint32_t first = w->out->winner, versus = w->out->versus;
    uint32_t second = find_fastest(w, false, first);
    say_verdict(w, first, versus);
    if (w->out->verdict == AB_VIEW_FASTER && versus != second) {
        struct ab_effect lead = ab_session_lead(w->s, first, second);
        if (!ab_effect_is_clear(&lead))
            add_no_clear(w, first, second);
    }
    if (w->out->verdict == AB_VIEW_TOO_LITTLE)
        return;
    if (row_of(w, first)->never_frees)
        add_fastest_that_frees(w, first, base);
    else if (w->out->verdict == AB_VIEW_FASTER)
        add_tail(w, first, versus);
    if (!ab_session_is_server(w->s))
        add_leanest(w);
}

/* Writes a sentence for each combination of values. A verdict about the whole session, such as too
 * few rounds, ends the list. */
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
        ab_text_addf(&w->text, "The tables show %u more combinations of values", n - SAID_MOST);
        end_sentence(w);
    }
    w->out->verdict = n_said == 0 ? AB_VIEW_NOTHING : is_one ? AB_VIEW_FASTER : AB_VIEW_NO_CLEAR;
    /* so that no more rounds are suggested: they would not settle several verdicts at once */
    w->out->speed = ab_effect_paired(NULL, NULL, 0);
}

static void say_alone(struct writer *w, uint32_t only)
{
    const struct ab_view_rank *row = row_of(w, only);
    w->out->winner = only;
    w->out->verdict = AB_VIEW_ALONE;
    if (subject(w)->is_named)
        ab_text_addf(&w->text, "%s of %s is %s", subject(w)->noun, NAME(only), FIGURE(w, only));
    else
        ab_text_addf(&w->text, "%s takes %s%s", NAME(only), FIGURE(w, only), subject(w)->alone);
    if (isfinite(row->peak_bytes) && !ab_session_is_server(w->s))
        ab_text_addf(&w->text, " and %s%s at the peak", AB_BYTES(row->peak_bytes),
                     ab_session_is_exec(w->s) ? " of memory" : "");
    if (row->never_frees)
        ab_text_add(&w->text, "; it never frees");
    end_sentence(w);
}

/* ---- memory while idle ---- */

/* Adds "48.8 MiB: 38.5 MiB are free pages, which a trim returns, and 10.3 MiB are pages that
 * contain live blocks (7.20 MiB live)". */
static void add_idle(struct writer *w, const struct ab_idle *x)
{
    ab_text_addf(&w->text, "%s", AB_BYTES(x->end_bytes));
    if (isfinite(x->end_retained_bytes))
        ab_text_addf(&w->text,
                     ": %s are free pages, which a trim returns, and %s are pages that contain "
                     "live blocks (%s live)",
                     AB_BYTES(x->end_retained_bytes),
                     AB_BYTES(fmax(0, x->end_bytes - x->end_retained_bytes)),
                     AB_BYTES(x->live_bytes));
}

/* Says what stays resident in the longest pause of the work, under the base and under the back end
 * with the least. */
static void say_idle(struct writer *w)
{
    struct ab_idle x, of_base = {.end_bytes = NAN}, of_least = {.end_bytes = NAN};
    uint32_t base = w->ranking->base, least = UINT32_MAX;
    if (ab_session_is_exec(w->s) || w->s->n_combinations > 1)
        return;
    for (uint32_t i = 0; i < w->ranking->n_rows; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        if (row->standing != AB_VIEW_RANKED || !ab_idle_longest(w->s, row->backend, &x) ||
            !isfinite(x.end_bytes))
            continue;
        if (row->backend == base || base == UINT32_MAX) {
            of_base = x;
            base = row->backend;
        }
        if (least == UINT32_MAX || x.end_bytes < of_least.end_bytes) {
            of_least = x;
            least = row->backend;
        }
    }
    if (least == UINT32_MAX)
        return;
    if (isfinite(of_base.end_bytes)) {
        ab_text_addf(&w->text, "At the end of the longest idle stretch %s holds ", NAME(base));
        add_idle(w, &of_base);
        end_sentence(w);
        if (!(of_least.end_bytes < of_base.end_bytes * (1 - memory_worth_saying)))
            return;
    }
    ab_text_addf(&w->text, "%s keeps the least memory there, ", NAME(least));
    add_idle(w, &of_least);
    end_sentence(w);
}

/* ---- memory of a server ---- */

static double moment_of(const struct writer *w, uint32_t backend, const struct ab_field *field)
{
    struct ab_program_value value;
    ab_program_value_of(w->s, backend, UINT32_MAX, field, &value);
    return value.median;
}

/* Returns the back end with the least or the most of `field`; UINT32_MAX = no back end has the
 * field. */
static uint32_t find_extreme(const struct writer *w, const struct ab_field *field, bool is_most)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < w->ranking->n_rows; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        double x = moment_of(w, row->backend, field);
        if (takes_part(w, row) && isfinite(x) &&
            (found == UINT32_MAX || (x < moment_of(w, found, field)) != is_most))
            found = row->backend;
    }
    return found;
}

/* Writes "Least memory after the rest: jemalloc (11.4 MiB; glibc 43.6 MiB)". Compares with the
 * base, or with the largest if the base has the least. */
static void say_moment(struct writer *w, const char *field_name, const char *when)
{
    const struct ab_field *field = ab_field_find(field_name);
    uint32_t least = find_extreme(w, field, false), most = find_extreme(w, field, true);
    if (least == UINT32_MAX)
        return;
    double low = moment_of(w, least, field), high = moment_of(w, most, field);
    uint32_t base = ab_session_base_of(w->s, least);
    if (base != UINT32_MAX && base != least && takes_part(w, row_of(w, base)) &&
        moment_of(w, base, field) > low * (1 + memory_worth_saying))
        most = base;
    if (least == most || !(low > 0))
        ab_text_addf(&w->text, "Memory %s: %s %s", when, NAME(least), AB_BYTES(low));
    else if (!(high > low * (1 + memory_worth_saying)))
        ab_text_addf(&w->text, "Memory %s is about the same under all (%s to %s)", when,
                     AB_BYTES(low), AB_BYTES(high));
    else
        ab_text_addf(&w->text, "Least memory %s: %s (%s; %s %s)", when, NAME(least), AB_BYTES(low),
                     NAME(most), AB_BYTES(moment_of(w, most, field)));
    end_sentence(w);
}

/* Reports the memory of a server at two moments, because servers are also chosen by what they keep.
 * The peak shows neither. */
static void say_server_memory(struct writer *w)
{
    if (!ab_session_is_server(w->s))
        return;
    say_moment(w, "resident_loaded_bytes", "at the end of the load");
    say_moment(w, "resident_rested_bytes", "after the rest");
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

/* Reports failures of `verify` first, because they matter more than any number. */
static void say_failed_verify(struct writer *w)
{
    for (size_t i = 0; i < w->warnings->n; i++)
        if (strcmp(w->warnings->items[i].id, "verify-failed") == 0)
            ab_text_addf(&w->text, "%s%s", w->text.n > 0 ? ", " : "", w->warnings->items[i].text);
    end_sentence(w);
}

/* Writes "old and new are the same build: a difference between them is noise". */
static void say_same_builds(struct writer *w)
{
    for (uint32_t i = 0; i < w->ranking->n_rows; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        if (row->standing != AB_VIEW_RANKED || row->twin == row->backend)
            continue;
        ab_text_addf(&w->text, "%s and %s are the same build: a difference between them is noise",
                     NAME(row->twin), NAME(row->backend));
        end_sentence(w);
    }
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

/* ---- the calls' share of the program ---- */

/* Returns the time of all calls of one round without the harness; NaN = not known. Not known with
 * several lanes, because they wait for each other, so that the time of their ops is not CPU
 * time. */
static double calls_ns(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    double sum = s->facts.lanes == 1 && s->n_phases > 0 ? 0 : NAN;
    for (uint32_t i = 0; i < s->n_phases; i++) {
        const struct ab_result *r = ab_session_find(s, backend, s->phases[i], AB_OP_ALL, round);
        const struct ab_null_cost *null = ab_session_null(s, backend, s->phases[i], round);
        sum += r != NULL && null != NULL ? (r->ns_per_op - null->ns_per_op) * (double)r->n_ops
                                         : NAN;
    }
    return sum;
}

/* Says which share of the program's CPU time the calls take, because a faster replay alone does not
 * tell how much faster the program gets. */
static void say_share(struct writer *w)
{
    const struct ab_session *s = w->s;
    uint32_t base = ab_session_base(s), n = 0;
    double *x = ab_alloc((s->n_rounds + 1) * sizeof x[0]);
    for (uint32_t i = 0; s->program_cpu_ns > 0 && base != UINT32_MAX && i < s->n_rounds; i++) {
        x[n] = calls_ns(s, base, s->rounds[i].index);
        n += isfinite(x[n]) != 0;
    }
    double ns = n > 0 ? ab_median(x, n) : NAN, whole = (double)s->program_cpu_ns;
    free(x);
    if (!(ns > 0) || ns > whole)
        return;
    char a[32], b[32];
    ab_text_addf(&w->text,
                 "The replayed calls take %s of %s of the program's CPU time (%.2g %%; estimated "
                 "from %s)",
                 ab_units_time(a, sizeof a, ns), ab_units_time(b, sizeof b, whole),
                 100 * ns / whole, NAME(base));
    end_sentence(w);
}

static void say_unasked(struct writer *w)
{
    const struct ab_session *s = w->s;
    if (s->anonymous_bytes == 0 || s->unasked_bytes < UINT64_C(8) << 20 ||
        s->unasked_bytes < s->anonymous_bytes / 10)
        return;
    ab_text_addf(&w->text, "%s of %s of the program's %s did not come from malloc: %s",
                 AB_BYTES((double)s->unasked_bytes), AB_BYTES((double)s->anonymous_bytes),
                 ab_session_is_exec(s) ? "anonymous memory" : "memory",
                 ab_session_is_exec(s) ? "allocators change only the rest"
                                       : "the replay does not contain it");
    end_sentence(w);
}

static bool is_mostly_waiting(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (ab_is_mostly_waiting(s->results[i].subtracted_percent))
            return true;
    return false;
}

/* True if every back end is checked+NAME and has passed. Back ends that are not installed do not
 * count unless the user named them. */
static bool are_all_checked(const struct ab_session *s)
{
    bool is_any = false;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->status == AB_BACKEND_ABSENT && !b->was_named)
            continue;
        if (b->status != AB_BACKEND_DECORATED || strncmp(b->name, "checked+", 8) != 0)
            return false;
        is_any = true;
    }
    return is_any;
}

void ab_view_headline_make(const struct ab_session *s, const struct ab_view_ranking *ranking,
                           const struct ab_view_warnings *warnings, struct ab_view_texts *texts,
                           struct ab_view_headline *out)
{
    struct writer w = {s, ranking, warnings, texts, out, {0}, 0};
    *out = (struct ab_view_headline){.verdict = AB_VIEW_NOTHING,
                                     .winner = UINT32_MAX,
                                     .versus = UINT32_MAX,
                                     .speed = ab_effect_paired(NULL, NULL, 0)};
    uint32_t n = count_participants(&w);
    say_failed_verify(&w);
    if (n == 1)
        say_same_builds(&w);
    if (s->n_combinations > 1 && ranking->n_ranked > 0) {
        compare_combinations(&w);
    } else if (n == 0 && ab_view_program_fails(s)) {
        ab_text_add(&w.text, "The program itself fails, in the same way under every allocator: "
                             "first make it succeed without allocbench");
        end_sentence(&w);
    } else if (n == 0 && are_all_checked(s)) {
        ab_text_add(&w.text, "All calls were correct: each was checked, and nothing was timed");
        end_sentence(&w);
    } else if (n == 0) {
        ab_text_add(&w.text, is_mostly_waiting(s)
                                 ? "No time is known, because the threads wait for each other "
                                   "most of the time"
                                 : "No back end has comparable results");
        end_sentence(&w);
    } else if (n == 1) {
        say_alone(&w, find_fastest(&w, false, UINT32_MAX));
    } else {
        compare(&w);
    }
    say_idle(&w);
    say_server_memory(&w);
    if (n != 1)
        say_same_builds(&w);
    say_share(&w);
    say_unasked(&w);
    if (!ab_view_program_fails(s) && !are_all_checked(s))
        add_left_out(&w);
    add_unverified(&w);
    add_incomplete(&w);
}

/* ---- the next command: settles the question, or else puts the winner to use ---- */

static void add(struct ab_view_steps *out, const char *command, const char *why)
{
    for (unsigned i = 0; i < out->n; i++)
        if (strcmp(out->items[i].command, command) == 0)
            return;
    if (out->n < AB_VIEW_STEPS_MAX && command[0] != 0)
        out->items[out->n++] = (struct ab_view_step){command, why};
}

/* Suggests as many rounds as the effect needs to become clear. */
static void add_rounds(const struct ab_session *s, const struct ab_view_headline *headline,
                       struct ab_view_texts *texts, struct ab_view_steps *out)
{
    uint32_t n = ab_effect_rounds_needed(&headline->speed, NAN);
    bool is_over = n > 10 * (s->n_rounds > 10 ? s->n_rounds : 10);
    if (headline->verdict == AB_VIEW_TOO_FEW)
        add(out, ab_session_is_exec(s) ? "--rounds 20" : "--rounds 10",
            "intervals need at least 6 rounds");
    else if (n == 0 || is_over)
        return;
    else
        add(out, ab_view_texts_addf(texts, "--rounds %u", n), "should settle it");
}

/* ---- using the winner in other programs ---- */

/* True if the text has no character that a shell, systemd or Docker treats specially, so that it
 * can be copied anywhere. Results may come from strangers. */
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
    char name[AB_BACKEND_FULL_BYTES];
    return b->boundary != NULL && b->n_heaps == 0 &&
           strstr(ab_backend_spelling(b, name), ":prefix=") == NULL &&
           strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_MALLOC]) == 0;
}

/* Converts "name{A=b;C=d}" and the path of its library into "A=b C=d LD_PRELOAD=path". Returns ""
 * if there is nothing to set, or if it has special characters. */
static const char *environment_of(const struct ab_backend_info *b, struct ab_view_texts *texts)
{
    char set[AB_BACKEND_FULL_BYTES] = "", name[AB_BACKEND_FULL_BYTES];
    const char *brace = strchr(ab_backend_spelling(b, name), '{'), *path = b->path;
    size_t n_name = strcspn(name, "{"), n = brace != NULL ? strcspn(brace + 1, "}") : 0;
    bool is_own = n_name == strlen("glibc") && strncmp(name, "glibc", n_name) == 0;
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

/* Returns the argument of -b that selects the back end: "jemalloc{MALLOC_CONF=narenas:1}", or the
 * path of a library that has no name of its own; "" if it has special characters. The caller quotes
 * settings, because a shell interprets ; and braces. */
static const char *selection_of(const struct ab_backend_info *b, struct ab_view_texts *texts)
{
    char name[AB_BACKEND_FULL_BYTES];
    const char *settings = ab_backend_settings(ab_backend_spelling(b, name));
    bool is_file = b->package[0] == 0 && b->path[0] == '/' && strncmp(name, "glibc", 5) != 0;
    size_t n_name = strcspn(name, ":{");
    const char *own = is_file ? b->path : name;
    size_t n_own = is_file ? strlen(b->path) : n_name;
    if (!is_plain(own, n_own, "@") || !is_plain(settings, strlen(settings), "{};:,"))
        return "";
    return ab_view_texts_addf(texts, "%.*s%s", (int)n_own, own, name + n_name);
}

/* Suggests `exec`, because a replay has only the calls and not the program around them. Includes
 * the base if exec can run it. */
static void add_exec(const struct ab_session *s, const struct ab_view_rank *best, uint32_t base,
                     struct ab_view_texts *texts, struct ab_view_steps *out)
{
    const char *program = ab_session_setting(s, "program");
    const char *name = selection_of(&s->backends[best->backend], texts), *other = "glibc";
    if (base != UINT32_MAX && base != best->backend && is_preloadable(&s->backends[base]))
        other = selection_of(&s->backends[base], texts);
    if (program == NULL || program[0] == 0 || !is_plain(program, strlen(program), "") ||
        name[0] == 0 || other[0] == 0)
        return;
    bool is_quoted = strpbrk(name, "{;") != NULL || strpbrk(other, "{;") != NULL;
    const char *quote = is_quoted ? "'" : "";
    add(out,
        ab_view_texts_addf(texts, "allocbench exec -b %s%s,%s%s -- %s ...", quote, name, other,
                           quote, program),
        "measures the whole program; a replay contains only its calls");
}

/* Suggests to start a program with the library. If the library is untested or known to be wrong,
 * suggests `verify` instead. */
static void add_start(const struct ab_backend_info *b, struct ab_view_texts *texts,
                      struct ab_view_steps *out)
{
    if (!ab_view_is_unverified(b) && b->n_verify_failed == 0)
        add(out, environment_of(b, texts),
            ab_view_texts_addf(texts, "runs a program with %s",
                               AB_SHOWN(128, ab_backend_label(b))));
    else if (b->path[0] == '/' && is_plain(b->path, strlen(b->path), "@,"))
        add(out, ab_view_texts_addf(texts, "allocbench verify %s", b->path),
            "tests the library before programs use it");
}

/* Suggests the fastest back end that can be preloaded. Other back ends need a program that calls
 * their functions itself. */
static void add_winner(const struct ab_session *s, const struct ab_view_headline *headline,
                       const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                       struct ab_view_steps *out)
{
    const char *own = ab_session_setting(s, "own_malloc"); /* the allocator that the program brings
                                                              along */
    for (uint32_t i = 0; i < ranking->n_rows; i++) {
        const struct ab_view_rank *rank = &ranking->rows[i];
        const struct ab_backend_info *b = &s->backends[rank->backend];
        if (rank->standing != AB_VIEW_RANKED || !is_preloadable(b) || b->aging.occupancy > 0)
            continue;
        if (own != NULL && strcmp(own, b->name) == 0)
            return; /* the program already uses it */
        if (rank->backend != headline->winner && (!rank->vs.is_clear || rank->vs.is_less))
            return;
        if (ab_session_setting(s, "program") != NULL && !ab_session_is_exec(s))
            add_exec(s, rank, ab_session_base_of(s, rank->backend), texts, out);
        else
            add_start(b, texts, out);
        return;
    }
}

void ab_view_steps_make(const struct ab_session *s, const struct ab_view_headline *headline,
                        const struct ab_view_ranking *ranking, struct ab_view_texts *texts,
                        struct ab_view_steps *out)
{
    *out = (struct ab_view_steps){0};
    if (!s->is_complete) /* resuming comes first, and the warning about it says so */
        return;
    if (headline->verdict == AB_VIEW_TOO_NOISY || headline->verdict == AB_VIEW_NO_CLEAR ||
        headline->verdict == AB_VIEW_TOO_FEW)
        add_rounds(s, headline, texts, out);
    /* with several programs, the winner is a program */
    if (headline->verdict == AB_VIEW_FASTER && s->n_programs == 0)
        add_winner(s, headline, ranking, texts, out);
}
