/* SPDX-License-Identifier: MIT
 *
 * Iterations stand where an op stands, under the name that `each` gives them; ops come first.
 */
#include "stats/gates/gate_iteration.h"

#include "core/text.h"
#include "stats/metric/metric_iterations.h"

#include <stdio.h>
#include <string.h>

bool ab_gate_has_iteration(const struct ab_gate_phase *phase, struct ab_gate_span iteration)
{
    return phase->iteration != NULL && (ab_gate_is_word(iteration, phase->iteration) ||
                                        ab_gate_is_word(iteration, AB_GATE_ITERATION));
}

void ab_gate_add_iteration(const struct ab_gate_phase *phase, struct ab_gate_names *names)
{
    if (phase->iteration == NULL)
        return;
    ab_gate_add_name(names, phase->iteration);
    if (strcmp(phase->iteration, AB_GATE_ITERATION) != 0)
        ab_gate_add_name(names, AB_GATE_ITERATION);
}

const struct ab_gate_phase *ab_gate_phase_with(const struct ab_gate_parser *p,
                                               struct ab_gate_span iteration)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (ab_gate_has_iteration(&p->scope->phases[i], iteration))
            return &p->scope->phases[i];
    return NULL;
}

const struct ab_gate_phase *ab_gate_phase_named(const struct ab_gate_parser *p, const char *phase)
{
    for (size_t i = 0; i < p->scope->n_phases; i++)
        if (strcmp(p->scope->phases[i].name, phase) == 0)
            return &p->scope->phases[i];
    return NULL;
}

static bool fail_stat(struct ab_gate_parser *p, struct ab_gate_span stat)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++)
        ab_gate_add_name(&names, ab_iteration_fields[i].name);
    return ab_gate_fail_unknown(p, stat, "statistic of iterations", &names);
}

bool ab_gate_read_iteration(struct ab_gate_parser *p, struct ab_gate_span iteration,
                            struct ab_gate_span stat)
{
    struct ab_metric *m = &p->gate.metric;
    const struct ab_gate_phase *phase = ab_gate_phase_named(p, m->phase);
    char shown[160], word[AB_GATE_WORD_BYTES];
    p->is_absent = !ab_gate_has_iteration(phase, iteration);
    if (p->is_absent)
        phase = ab_gate_phase_with(p, iteration);
    m->each = phase->iteration;
    m->iteration = ab_iteration_field_find(stat.s, stat.n);
    if (m->iteration == NULL)
        return fail_stat(p, stat);
    if (ab_iteration_field_needs_budget(m->iteration) && !phase->has_budget)
        return ab_gate_fail(p, stat,
                            "'%s' needs a budget, and the iterations of phase '%s' have none: "
                            "each: {budget: 16.67ms}, or --budget of a replay",
                            ab_gate_shown(word, stat),
                            ab_text_printable(shown, sizeof shown, phase->name));
    return true;
}

bool ab_gate_check_count(struct ab_gate_parser *p, struct ab_gate_span compare,
                         struct ab_gate_span bound)
{
    const struct ab_gate *g = &p->gate;
    bool is_count = ab_metric_is_count(&g->metric);
    if (!p->is_claim && g->compare == AB_GATE_IS && !(is_count && g->against == AB_GATE_ABSOLUTE))
        return ab_gate_fail(p, compare,
                            "'=' is not a comparison of what is measured, only of counts such as "
                            "missed = 0; use one of <, <=, >, >=");
    if (is_count && g->against == AB_GATE_BASELINE)
        return ab_gate_fail(p, bound,
                            "'missed' grows with the rounds and has no change against a baseline: "
                            "gate missed_percent instead");
    return true;
}
