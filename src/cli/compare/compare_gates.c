/* SPDX-License-Identifier: MIT
 *
 * Says to the parser of gates what phases, ops and back ends a stored result has.
 */
#include "cli/compare/compare_gates.h"

#include "core/text.h"
#include "stats/metric/metric_iterations.h"

#include <math.h>
#include <stdlib.h>

struct names {
    struct ab_gate_phase *phases;
    const char **backends;
};

static bool list_names(const struct ab_session *s, struct names *n)
{
    n->phases = calloc(s->n_phases + 1u, sizeof n->phases[0]);
    n->backends = calloc(s->n_backends + 1u, sizeof n->backends[0]);
    if (n->phases == NULL || n->backends == NULL)
        return false;
    for (uint32_t i = 0; i < s->n_phases; i++) {
        n->phases[i].name = s->phases[i];
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            n->phases[i].kinds |= ab_session_has_op(s, s->phases[i], k) ? 1u << k : 0;
        const struct ab_iterations *each = ab_session_iterations(s, s->phases[i]);
        n->phases[i].iteration = each != NULL ? each->name : NULL;
        n->phases[i].has_budget = each != NULL && isfinite(each->budget_ns);
    }
    for (uint32_t i = 0; i < s->n_backends; i++)
        n->backends[i] = s->backends[i].name;
    return true;
}

static enum ab_status read_one(const char *text, const struct ab_gate_scope *scope,
                               struct ab_compare_gates *g, struct ab_err *err)
{
    struct ab_gate_error error;
    char shown[300];
    size_t n = 0;
    if (!ab_gate_parse_each(text, scope, g->gates + g->n, &n, &error))
        return ab_fail(err, AB_USAGE, "--gate '%s': %s",
                       ab_text_printable(shown, sizeof shown, text), error.text);
    for (size_t i = 0; i < n; i++)
        g->gates[g->n + i].place = "--gate";
    g->n += n;
    return AB_OK;
}

enum ab_status ab_compare_gates_read(const struct ab_options *o, const struct ab_session *now,
                                     struct ab_compare_gates *out, struct ab_err *err)
{
    struct names names = {0};
    size_t each = now->n_phases > 0 ? now->n_phases : 1; /* gates of one text, at most */
    struct ab_compare_gates g = {.gates = calloc(o->n_gates * each + 1, sizeof g.gates[0])};
    enum ab_status status = g.gates != NULL && list_names(now, &names)
                                ? AB_OK
                                : ab_fail(err, AB_SYSTEM, "out of memory");
    struct ab_gate_scope scope = {.phases = names.phases,
                                  .n_phases = now->n_phases,
                                  .backends = names.backends,
                                  .n_backends = now->n_backends};
    for (size_t i = 0; i < o->n_gates && status == AB_OK; i++)
        status = read_one(o->gates[i], &scope, &g, err);
    free(names.phases);
    free(names.backends);
    if (status == AB_OK)
        *out = g;
    else
        free(g.gates);
    return status;
}

void ab_compare_gates_fini(struct ab_compare_gates *g)
{
    free(g->gates);
    *g = (struct ab_compare_gates){0};
}
