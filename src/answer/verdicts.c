/* SPDX-License-Identifier: MIT
 *
 * Writes the sentences of a comparison.
 */
#include "answer/verdicts.h"

#include "answer/warnings.h"
#include "answer/words.h"
#include "base/bits.h"
#include "core/text.h"
#include "result/shown.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SINGLE_MOST = 3 }; /* if there are more verdicts of one kind, they share a sentence */

/* the most severe first */
static const enum ab_verdict order[] = {AB_VERDICT_NOT_EVALUATED, AB_VERDICT_FAIL,
                                        AB_VERDICT_INCONCLUSIVE,  AB_VERDICT_IMPROVED,
                                        AB_VERDICT_PASS,          AB_VERDICT_MOVED};

static void add_sentence(struct ab_view_verdicts *out, const char *text)
{
    if (out->n_sentences < AB_VIEW_VERDICTS_MAX)
        out->sentences[out->n_sentences++] = text;
}

/* Writes " (limit +5 %)"; "" if there is no limit. */
static const char *limit_of(const struct ab_checked *cell, char buf[48])
{
    buf[0] = 0;
    if (!isnan(cell->bound))
        snprintf(buf, 48, " (limit %+.3g %%)", 100 * cell->bound);
    return buf;
}

/* Returns a remark that the reader needs to judge the verdict; "" = none. */
static const char *remark_on(const struct ab_checked *cell, bool was_busy,
                             struct ab_view_texts *texts)
{
    char reason[4 * sizeof cell->reason];
    if (cell->is_drift) {
        ab_text_printable(reason, sizeof reason, cell->reason);
        return ab_view_texts_addf(texts, "; %s", reason);
    }
    return was_busy && (cell->verdict == AB_VERDICT_FAIL || cell->verdict == AB_VERDICT_IMPROVED)
               ? "; the machine was busy"
               : "";
}

static void say_cell(const struct ab_checked *cell, bool was_busy, struct ab_view_texts *texts,
                     struct ab_view_verdicts *out)
{
    char words[64], interval[80], limit[48], name[2][1200], reason[4 * sizeof cell->reason];
    const struct ab_effect *effect = ab_check_judged_effect(cell);
    bool is_relative = effect != &cell->effect;
    bool is_one = !is_relative && strcmp(cell->backend, cell->base_backend) == 0;
    ab_text_printable(name[0], sizeof name[0], cell->backend);
    ab_text_printable(name[1], sizeof name[1], is_relative ? cell->controls : cell->base_backend);
    if (cell->verdict == AB_VERDICT_NOT_EVALUATED) {
        ab_text_printable(reason, sizeof reason, cell->reason);
        add_sentence(out, ab_view_texts_addf(texts, "%s cannot be compared: %s.", name[0],
                                             reason[0] != 0 ? reason : "it failed"));
        return;
    }
    ab_view_change_interval(interval, sizeof interval, effect);
    add_sentence(out,
                 ab_view_texts_addf(texts, "%s takes %s time%s%s%s%s: %s%s%s.", name[0],
                                    ab_view_change_words(words, sizeof words, effect->ratio),
                                    interval[0] != 0 ? " " : "", interval,
                                    is_relative ? " relative to "
                                    : is_one    ? ""
                                                : " than ",
                                    is_one ? "" : name[1], ab_comparison_verdicts[cell->verdict],
                                    limit_of(cell, limit), remark_on(cell, was_busy, texts)));
}

/* Writes the sentences of one kind of verdict, one for each cell or a single one for all. */
static void say_kind(const struct ab_comparison *c, enum ab_verdict verdict, bool was_busy,
                     struct ab_view_texts *texts, struct ab_view_verdicts *out)
{
    uint32_t n = ab_comparison_count(c, verdict);
    char limit[48] = "";
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_checked *cell = &c->cells[i];
        if (!ab_check_is_judged(cell) || cell->verdict != verdict)
            continue;
        limit_of(cell, limit);
        if (n <= SINGLE_MOST)
            say_cell(cell, was_busy, texts, out);
    }
    if (n > SINGLE_MOST)
        add_sentence(out, ab_view_texts_addf(texts, "%u back ends: %s%s.", n,
                                             ab_comparison_verdicts[verdict], limit));
}

static const char *count(const struct ab_comparison *c, struct ab_view_texts *texts)
{
    struct ab_text t = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(order); i++) {
        uint32_t n = ab_comparison_count(c, order[i]);
        if (n > 0)
            ab_text_addf(&t, "%s%u %s", t.n > 0 ? ", " : "", n, ab_comparison_verdicts[order[i]]);
    }
    const char *text = ab_view_texts_addf(texts, "%s%s", t.s != NULL ? t.s : "no verdict",
                                          c->is_joint ? ", judged jointly" : "");
    ab_text_fini(&t);
    return text;
}

/* ---- noise ---- */

/* Returns half the range of the rounds, as a share of the median, of the back end that varies most;
 * NaN = not known. */
static double most_varied(const struct ab_comparison *c, const struct ab_session *s)
{
    double most = NAN;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_checked *cell = &c->cells[i];
        const char *name = s == c->now ? cell->backend : cell->base_backend;
        for (uint32_t b = 0; b < s->n_backends && ab_check_is_judged(cell); b++) {
            struct ab_round_range time = ab_session_run_time(s, b);
            if (strcmp(s->backends[b].name, name) == 0)
                most = fmax(most, ab_round_range_half(&time)); /* fmax ignores NaN */
        }
    }
    return most;
}

static bool is_busy(const struct ab_session *s, struct ab_view_texts *texts)
{
    struct ab_view_warnings w;
    if (s->n_results == 0) /* a stored comparison has only the name of its base */
        return false;
    ab_view_warnings_make(s, texts, &w);
    bool is_noisy = w.is_noisy;
    ab_view_warnings_fini(&w);
    return is_noisy;
}

static const char *describe_noise(const struct ab_comparison *c, const bool busy[2],
                                  struct ab_view_texts *texts)
{
    bool is_one = c->base == c->now;
    double base = most_varied(c, c->base), now = most_varied(c, c->now);
    struct ab_text t = {0};
    if (isfinite(base) && isfinite(now) && !is_one)
        ab_text_addf(&t,
                     "whole runs vary by +-%.1f %% (base) and +-%.1f %% (new) from round to round",
                     100 * base, 100 * now);
    else if (isfinite(now))
        ab_text_addf(&t, "whole runs vary by +-%.1f %% from round to round", 100 * now);
    if (!c->is_advisory && !is_one)
        ab_text_addf(&t, "%ssame machine", t.n > 0 ? "; " : "");
    if (busy[0] || busy[1])
        ab_text_addf(&t, "%sthe machine was busy%s", t.n > 0 ? "; " : "",
                     is_one               ? ""
                     : busy[0] && busy[1] ? " (base and new)"
                     : busy[0]            ? " (base)"
                                          : " (new)");
    const char *text = t.s != NULL ? ab_view_texts_addf(texts, "%s", t.s) : "";
    ab_text_fini(&t);
    return text;
}

void ab_view_verdicts_make(const struct ab_comparison *c, struct ab_view_texts *texts,
                           struct ab_view_verdicts *out)
{
    bool busy[2] = {c->base != c->now && is_busy(c->base, texts), is_busy(c->now, texts)};
    *out = (struct ab_view_verdicts){0};
    for (size_t i = 0; i < AB_ARRAY_LEN(order); i++)
        say_kind(c, order[i], busy[0] || busy[1], texts, out);
    out->counts = count(c, texts);
    out->noise = describe_noise(c, busy, texts);
}
