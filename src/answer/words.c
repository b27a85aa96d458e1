/* SPDX-License-Identifier: MIT
 *
 * Writes changes in per cent, factors, names of harnesses, and terms of `explain`.
 */
#include "answer/words.h"

#include "explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* per cent; larger changes, which only hostile results have, are shown as this, so that they fit
 * into a cell */
static const double most = 1e12;

/* Writes one decimal below 100 %, else none; never "-0.0". */
static const char *format_percent(char *buf, size_t cap, double ratio, bool has_sign)
{
    double percent = fmin(100 * (ratio - 1), most);
    if (fabs(percent) < 0.05)
        percent = 0;
    if (!has_sign)
        percent = fabs(percent);
    snprintf(buf, cap, has_sign ? "%+.*f" : "%.*f", fabs(percent) < 99.95 ? 1 : 0, percent);
    return buf;
}

const char *ab_view_change(char *buf, size_t cap, double ratio)
{
    char percent[32];
    if (isfinite(ratio))
        snprintf(buf, cap, "%s %%", format_percent(percent, sizeof percent, ratio, true));
    else
        snprintf(buf, cap, "-");
    return buf;
}

const char *ab_view_change_interval(char *buf, size_t cap, const struct ab_effect *e)
{
    char low[32], high[32];
    if (e->method == AB_EFFECT_EXACT && e->low == e->high)
        snprintf(buf, cap, "exact");
    else if (isnan(e->low) || isnan(e->high))
        snprintf(buf, cap, "%s", "");
    else
        snprintf(buf, cap, "[%s, %s]", format_percent(low, sizeof low, e->low, true),
                 format_percent(high, sizeof high, e->high, true));
    return buf;
}

const char *ab_view_change_words(char *buf, size_t cap, double ratio)
{
    char percent[32];
    if (fabs(100 * (ratio - 1)) < 0.05)
        snprintf(buf, cap, "as much");
    else
        snprintf(buf, cap, "%s %% %s", format_percent(percent, sizeof percent, ratio, false),
                 ratio > 1 ? "more" : "less");
    return buf;
}

/* ---- factors ----
 * Inverts ratios below 1, and says in which direction they point. */

struct ab_view_factor ab_view_factor_of(const struct ab_effect *ratio)
{
    struct ab_view_factor f = {.times = ratio->ratio, .low = ratio->low, .high = ratio->high};
    f.is_clear = ab_effect_is_clear(ratio);
    if (!(ratio->ratio < 1))
        return f;
    f.is_less = true;
    f.times = 1 / ratio->ratio;
    f.low = 1 / ratio->high;
    f.high = 1 / ratio->low;
    return f;
}

const char *ab_view_factor_words(char *buf, size_t cap, const struct ab_view_factor *factor,
                                 const char *more, const char *less)
{
    char times[AB_CELL_BYTES];
    if (isfinite(factor->times))
        snprintf(buf, cap, "%s%sx %s", factor->is_clear ? "" : "~",
                 ab_format_ratio(times, factor->times), factor->is_less ? less : more);
    else
        snprintf(buf, cap, "-");
    return buf;
}

const char *ab_view_factor_text(char buf[AB_CELL_BYTES], const struct ab_view_factor *factor,
                                const char *more, const char *less)
{
    char text[AB_CELL_BYTES];
    ab_format_effect(text, factor->times, factor->low, factor->high);
    size_t n = strcspn(text, " ");
    if (isfinite(factor->times))
        snprintf(buf, AB_CELL_BYTES, "%s%.*s %s%.40s", factor->is_clear ? "" : "~", (int)n, text,
                 factor->is_less ? less : more, text + n);
    else
        snprintf(buf, AB_CELL_BYTES, "-");
    return buf;
}

/* ---- names of harnesses ---- */

static bool has(const struct ab_session *s, uint32_t backend, uint32_t harness)
{
    return ab_session_has_numbers(s, backend) && s->backends[backend].boundary != NULL &&
           ab_session_harness(s, backend) == harness;
}

bool ab_harness_is_used(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = backend; i < s->n_backends; i++)
        if (has(s, i, backend))
            return true;
    return false;
}

/* True if every back end at the boundary of `backend` has the same harness. */
static bool is_alone(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (i != backend && s->backends[i].combination == s->backends[backend].combination &&
            ab_harness_is_used(s, i) &&
            strcmp(s->backends[i].boundary, s->backends[backend].boundary) == 0)
            return false;
    return true;
}

void ab_harness_name(const struct ab_session *s, uint32_t backend, char buf[AB_HARNESS_NAME_BYTES])
{
    static const char more[] = ", ..."; /* three ASCII dots, for every locale and HTML */
    _Static_assert(AB_BACKEND_NAME_BYTES + sizeof more <= AB_HARNESS_NAME_BYTES, "the first");
    size_t n = 0, cap = AB_HARNESS_NAME_BYTES - sizeof more;
    bool is_boundary = is_alone(s, backend);
    snprintf(buf, AB_HARNESS_NAME_BYTES, "%s", is_boundary ? s->backends[backend].boundary : "");
    for (uint32_t i = backend; i < s->n_backends && !is_boundary; i++) {
        const char *name = AB_OWN_LABEL(&s->backends[i]);
        if (!has(s, i, backend))
            continue;
        if (n > 0 && n + strlen(name) + 2 > cap) {
            memcpy(buf + n, more, sizeof more);
            return;
        }
        n += (size_t)snprintf(buf + n, AB_HARNESS_NAME_BYTES - n, "%s%s", n > 0 ? ", " : "", name);
    }
}

/* ---- terms of `allocbench explain` ---- */

bool ab_view_term_add(struct ab_text *to, const char *word)
{
    struct ab_explanation e;
    if (!ab_explain_find(word, &e))
        return false;
    ab_text_addf(to, "%s", e.what);
    if (e.formula[0] != 0)
        ab_text_addf(to, " Formula: %s.", e.formula);
    return true;
}

/* Returns the length of the first sentence of a text, which ends at the first full stop before a
 * blank. */
static int first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    return (int)(end != NULL ? (size_t)(end - text) + 1 : strlen(text));
}

void ab_view_terms_legend(struct ab_text *to, const char *const *words)
{
    for (; *words != NULL; words++) {
        struct ab_explanation e;
        if (ab_explain_find(*words, &e))
            ab_text_addf(to, "%s%s: %.*s", to->n > 0 ? " " : "", *words, first_sentence(e.what),
                         e.what);
    }
}
