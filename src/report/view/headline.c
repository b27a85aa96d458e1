/* SPDX-License-Identifier: MIT
 *
 * Speed is the time of the whole run, all phases together, never a mean of phases or of timed calls.
 * What it costs is said with it: memory, memory that is never given back, and the tail.
 */
#include "report/view/headline.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/view/warnings_backends.h"

#include <math.h>
#include <string.h>

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
    struct ab_text text; /* the sentence that is written */
};

/* ---- words ---- */

static const char *name_of(const struct writer *w, uint32_t backend, char buf[NAME_BYTES])
{
    return ab_text_printable(buf, NAME_BYTES, w->s->backends[backend].name);
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

/* ", and takes 8 % more memory", "… but 2.10x the memory", "at about the same memory" */
static void add_memory(struct writer *w, uint32_t a, uint32_t b)
{
    char times[AB_CELL_BYTES];
    double ratio = ab_view_peak_ratio(w->s, row_of(w, a), row_of(w, b)).ratio;
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

static bool takes_part(const struct ab_view_rank *row)
{
    return row->standing == AB_VIEW_RANKED && !row->is_inlined && isfinite(row->run_ns.median);
}

/* The fastest that takes part; UINT32_MAX = none. */
static uint32_t find_fastest(const struct writer *w, bool must_free, uint32_t except)
{
    for (uint32_t i = 0; i < w->ranking->n_rows; i++) {
        const struct ab_view_rank *row = &w->ranking->rows[i];
        if (takes_part(row) && row->backend != except && !(must_free && row->never_frees))
            return row->backend;
    }
    return UINT32_MAX;
}

static uint32_t count_participants(const struct writer *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->ranking->n_rows; i++)
        n += takes_part(&w->ranking->rows[i]);
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
        if (takes_part(row) && isfinite(row->peak_bytes) && row->peak_bytes > 0 &&
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

static void compare(struct writer *w)
{
    uint32_t first = find_fastest(w, false, UINT32_MAX), second = find_fastest(w, false, first);
    uint32_t base = w->ranking->base;
    if (base == UINT32_MAX || base == first || !takes_part(row_of(w, base)))
        base = second;
    struct ab_effect lead = ab_session_speed(w->s, first, second, NULL);
    struct ab_effect speed = ab_session_speed(w->s, first, base, NULL);
    uint32_t versus = ab_effect_is_clear(&speed) ? base : second;
    w->out->winner = first;
    w->out->versus = versus;
    w->out->speed = versus == base ? speed : lead;
    w->out->verdict = verdict_of(w, &w->out->speed);
    say_verdict(w, first, versus);
    if (w->out->verdict == AB_VIEW_FASTER && versus != second && !ab_effect_is_clear(&lead))
        add_no_clear(w, first, second);
    if (w->out->verdict == AB_VIEW_TOO_LITTLE)
        return;
    if (row_of(w, first)->never_frees)
        add_fastest_that_frees(w, first, base);
    else if (w->out->verdict == AB_VIEW_FASTER)
        add_tail(w, first, versus);
    add_leanest(w);
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

void ab_view_headline_make(const struct ab_session *s, const struct ab_view_ranking *ranking,
                           const struct ab_view_warnings *warnings, struct ab_view_texts *texts,
                           struct ab_view_headline *out)
{
    struct writer w = {s, ranking, warnings, texts, out, {0}};
    *out = (struct ab_view_headline){.verdict = AB_VIEW_NOTHING,
                                     .winner = UINT32_MAX,
                                     .versus = UINT32_MAX,
                                     .speed = ab_effect_paired(NULL, NULL, 0)};
    uint32_t n = count_participants(&w);
    if (n == 0 && ab_view_program_fails(s)) {
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
