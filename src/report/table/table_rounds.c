/* SPDX-License-Identifier: MIT
 *
 * Sentences about rounds.
 */
#include "report/table/table_rounds.h"

#include "report/table/table.h"
#include "result/passes.h"
#include "stats/stopping.h"

#include <math.h>

static const enum ab_pass passes[] = {
#define ITEM(pass) pass,
    AB_ROUND_PASSES(ITEM)
#undef ITEM
};
enum { N_PASSES = sizeof passes / sizeof passes[0] };

/* The passes that ran in n rounds, "tail and memory"; how many there are. */
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

/* Those of the passes that ran in some rounds, each number once. */
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

static void add_unrun(const struct ab_session *s, struct ab_text *out)
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
    add_unrun(s, out);
}

/* How wide the widest interval is, where there is one. */
static void add_width(const struct ab_session *s, struct ab_text *out)
{
    double width = ab_session_precision(s);
    if (s->stopping.precision > 0 && isfinite(width))
        ab_text_addf(out,
                     "; the widest interval of a whole run is within %.2g %%, the goal was "
                     "%.2g %%",
                     fmax(0.1, 100 * width), 100 * s->stopping.precision);
}

void ab_rounds_note_end(const struct ab_session *s, struct ab_text *out)
{
    const struct ab_stopping *rule = &s->stopping;
    switch (rule->ended) {
    case AB_ENDED_PRECISION:
        ab_text_addf(out,
                     "stopped after %u rounds: the intervals of all whole runs are within "
                     "%.2g %%",
                     s->n_rounds, 100 * rule->precision);
        break;
    case AB_ENDED_TIME:
        ab_text_addf(out,
                     "stopped after %u rounds: no other one would have fitted into the "
                     "--time-budget of %.3g s",
                     s->n_rounds, rule->time_budget_s);
        add_width(s, out);
        break;
    case AB_ENDED_ROUNDS:
        if (s->n_rounds < rule->n_rounds_most)
            ab_text_addf(out, "stopped after %u rounds: there is no ratio that more would narrow",
                         s->n_rounds);
        else
            ab_text_addf(out, "stopped after %u rounds, the most that were allowed", s->n_rounds);
        add_width(s, out);
        break;
    default:
        break;
    }
}

void ab_rounds_print(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_text unrun = {0};
    add_unrun(s, &unrun);
    if (unrun.n > 0)
        ab_table_prose(to, style, AB_FAINT, unrun.s);
    ab_text_fini(&unrun);
}
