/* SPDX-License-Identifier: MIT
 *
 * Collects gates and claims from the workload and the command line, with the names that they may
 * use. Reports every mistake at its position before anything is measured.
 */
#include "app/gate_set.h"

#include "allocators/builtin.h"
#include "app/say.h"
#include "backend/presets.h"
#include "core/alloc.h"
#include "core/text.h"
#include "result/passes.h"
#include "workload/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scope_arrays {
    struct ab_gate_scope scope;
    struct ab_gate_phase *phases;
    const char **known;
};

static void make_scope(const struct ab_gate_source *from, struct scope_arrays *a)
{
    size_t n_backends = 0, n_known = 0;
    const char *const *of_workload = from->workload != NULL
                                         ? ab_workload_backends(from->workload, &n_backends)
                                         : NULL;
    a->phases = ab_alloc_zeroed(from->n_phases + 1u, sizeof a->phases[0]);
    a->known = ab_alloc_zeroed(n_backends + ab_preset_count() + ab_builtin_count() + 1,
                               sizeof a->known[0]);
    for (uint32_t i = 0; i < from->n_phases; i++) {
        const struct ab_phase *phase = &from->phases[i];
        if (!phase->is_measured)
            continue;
        struct ab_gate_phase *p = &a->phases[a->scope.n_phases++];
        p->name = phase->name;
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            p->kinds |= phase->n_ops[k] > 0 ? 1u << k : 0;
        p->iteration = phase->iteration[0] != 0 ? phase->iteration : NULL;
        p->has_budget = phase->budget_ns != 0;
    }
    for (size_t i = 0; i < n_backends; i++)
        a->known[n_known++] = of_workload[i];
    for (size_t i = 0; i < ab_preset_count(); i++)
        a->known[n_known++] = ab_preset_at(i)->name;
    for (size_t i = 0; i < ab_builtin_count(); i++)
        a->known[n_known++] = ab_builtin_at(i)->name;
    a->scope.is_exec = from->is_exec;
    a->scope.named = from->named;
    a->scope.n_named = from->n_named;
    a->scope.phases = a->phases;
    a->scope.backends = from->backends;
    a->scope.n_backends = from->n_backends;
    a->scope.known = a->known;
    a->scope.n_known = n_known;
}

/* Returns the position of a gate or claim in the workload, such as "configs/web.yaml:31:5",
 * malloc'ed. */
static char *place_of(const struct ab_workload *w, const struct ab_remark *remark)
{
    struct ab_place at = ab_node_place(&remark->node, 0, 1);
    struct ab_text t = {0};
    ab_text_addf(&t, "%s:%u:%u", ab_workload_source(w).file, at.line, at.col);
    return t.s;
}

static void complain(struct ab_diag *diag, const struct ab_remark *remark,
                     const struct ab_gate_error *error)
{
    ab_diag_add(diag, ab_node_place(&remark->node, error->offset, error->n), "%s", error->text);
}

/* Adds the gates of one text; a text with a '*' makes several. */
static bool add_gates(struct ab_gate_set *set, const char *text, const char *place,
                      const struct ab_gate_scope *scope, struct ab_gate_error *error)
{
    size_t n = 0;
    if (!ab_gate_parse_each(text, scope, set->gates + set->n_gates, &n, error))
        return false;
    for (; n > 0; n--)
        set->gates[set->n_gates++].place = place;
    return true;
}

static void read_remarks(struct ab_gate_set *set, const struct ab_gate_scope *scope,
                         struct ab_diag *diag)
{
    const struct ab_remarks *gates = ab_workload_gates(set->workload);
    const struct ab_remarks *claims = ab_workload_claims(set->workload);
    struct ab_gate_error error;
    for (size_t i = 0; i < gates->n; i++) {
        const struct ab_remark *remark = &gates->items[i];
        size_t first = set->n_gates;
        set->places[i] = place_of(set->workload, remark);
        if (!add_gates(set, remark->node.text, set->places[i], scope, &error))
            complain(diag, remark, &error);
        for (size_t k = first; k < set->n_gates; k++) {
            set->gates[k].is_warning = remark->is_warning;
            set->remarks[k] = i;
        }
    }
    set->n_of_workload = set->n_gates;
    for (size_t i = 0; i < claims->n; i++) {
        const struct ab_remark *remark = &claims->items[i];
        struct ab_gate *claim = &set->claims[set->n_claims];
        if (!ab_gate_parse(remark->node.text, true, scope, claim, &error)) {
            complain(diag, remark, &error);
            continue;
        }
        claim->says = remark->says;
        claim->source = remark->source;
        claim->place = set->places[gates->n + i] = place_of(set->workload, remark);
        set->n_claims++;
    }
}

/* Reports the errors found and fails with AB_CONFIG if there are any. */
static enum ab_status tell(const struct ab_talk *talk, struct ab_diag *diag, struct ab_err *err)
{
    if (diag->n_errors == 0)
        return AB_OK;
    char *messages = ab_diag_render(diag);
    ab_complain(talk, messages);
    free(messages);
    return ab_fail(err, AB_CONFIG, "%s", "");
}

static enum ab_status fail_option(const char *text, const char *why, struct ab_err *err)
{
    char shown[300];
    return ab_fail(err, AB_USAGE, "--gate '%s': %s", ab_text_printable(shown, sizeof shown, text),
                   why);
}

static enum ab_status read_options(struct ab_gate_set *set, const char *const *gates,
                                   size_t n_gates, const struct ab_gate_scope *scope,
                                   struct ab_err *err)
{
    struct ab_gate_error error;
    for (size_t i = 0; i < n_gates; i++)
        if (!add_gates(set, gates[i], "--gate", scope, &error))
            return fail_option(gates[i], error.text, err);
    return AB_OK;
}

enum ab_status ab_gate_set_read(const struct ab_gate_source *source, struct ab_gate_set *out,
                                struct ab_err *err)
{
    const struct ab_workload *w = source->workload;
    size_t n_gates = w != NULL ? ab_workload_gates(w)->n : 0;
    size_t n_claims = w != NULL ? ab_workload_claims(w)->n : 0;
    /* a text with a '*' makes at most this many gates */
    size_t each = source->n_phases > 0 ? source->n_phases : 1;
    struct scope_arrays arrays = {.phases = NULL};
    struct ab_gate_set set = {.workload = w, .talk = source->talk};
    enum ab_status status = AB_OK;
    make_scope(source, &arrays);
    set.gates = ab_alloc_zeroed((n_gates + source->n_gates) * each + 1, sizeof set.gates[0]);
    set.remarks = ab_alloc_zeroed(n_gates * each + 1, sizeof set.remarks[0]);
    set.claims = ab_alloc_zeroed(n_claims + 1, sizeof set.claims[0]);
    set.places = ab_alloc_zeroed(n_gates + n_claims + 1, sizeof set.places[0]);
    if (w != NULL) {
        struct ab_diag diag = {.source = ab_workload_source(w)};
        read_remarks(&set, &arrays.scope, &diag);
        status = tell(source->talk, &diag, err);
        ab_diag_fini(&diag);
    }
    if (status == AB_OK)
        status = read_options(&set, source->gates, source->n_gates, &arrays.scope, err);
    *out = set;
    if (status != AB_OK)
        ab_gate_set_fini(out);
    free(arrays.phases);
    free(arrays.known);
    return status;
}

void ab_gate_set_inspect(const void *user, const struct ab_workload *w, struct ab_diag *diag)
{
    (void)user;
    struct ab_gate_phase *phases = ab_alloc_zeroed(w->n_phases + 1u, sizeof phases[0]);
    struct ab_gate *gates = ab_alloc_zeroed(w->n_phases + 1u, sizeof gates[0]);
    struct ab_gate_scope scope = {.phases = phases, .is_partial = true};
    const struct ab_remarks *lists[] = {&w->gates, &w->claims};
    struct ab_gate_error error;
    bool has_names = w->n_phases > 0;
    for (size_t i = 0; i < w->n_phases; i++) {
        const struct ab_phase_def *phase = &w->phases[i];
        has_names = has_names && phase->name[0] != 0;
        if (phase->is_measured)
            phases[scope.n_phases++] = (struct ab_gate_phase){
                .name = phase->name,
                .kinds = (1u << AB_OP_KIND_COUNT) - 1,
                .iteration = phase->each[0] != 0 ? phase->each : NULL,
                .has_budget = phase->budget_ns != 0};
    }
    for (size_t l = 0; has_names && l < 2; l++)
        for (size_t i = 0; i < lists[l]->n; i++) {
            const struct ab_remark *remark = &lists[l]->items[i];
            size_t n;
            bool ok = l == 0 ? ab_gate_parse_each(remark->node.text, &scope, gates, &n, &error)
                             : ab_gate_parse(remark->node.text, true, &scope, gates, &error);
            if (!ok)
                complain(diag, remark, &error);
        }
    free(phases);
    free(gates);
}

enum ab_status ab_gate_set_of_result(const char *const *gates, size_t n_gates,
                                     const struct ab_session *s, struct ab_gate_set *out,
                                     struct ab_err *err)
{
    struct ab_gate_phase *phases = ab_alloc_zeroed(s->n_phases + 1u, sizeof phases[0]);
    const char **backends = ab_alloc_zeroed(s->n_backends + 1u, sizeof backends[0]);
    char(*names)[AB_BACKEND_NAME_BYTES] = ab_alloc_zeroed(s->n_backends + 1u, sizeof names[0]);
    struct ab_gate_scope scope = {.phases = phases,
                                  .n_phases = s->n_phases,
                                  .backends = backends,
                                  .n_backends = s->n_backends};
    for (uint32_t i = 0; i < s->n_phases; i++) {
        const struct ab_iterations *each = ab_session_iterations(s, s->phases[i]);
        phases[i].name = s->phases[i];
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            phases[i].kinds |= ab_session_has_op(s, s->phases[i], k) ? 1u << k : 0;
        phases[i].iteration = each != NULL ? each->name : NULL;
        phases[i].has_budget = each != NULL && isfinite(each->budget_ns);
    }
    for (uint32_t i = 0; i < s->n_backends; i++)
        backends[i] = ab_backend_own_name(&s->backends[i], names[i]);
    size_t most = n_gates * (s->n_phases > 0 ? s->n_phases : 1) + 1;
    *out = (struct ab_gate_set){.gates = ab_alloc_zeroed(most, sizeof out->gates[0])};
    enum ab_status status = read_options(out, gates, n_gates, &scope, err);
    if (status != AB_OK)
        ab_gate_set_fini(out);
    free(phases);
    free(backends);
    free(names);
    return status;
}

void ab_gate_set_fini(struct ab_gate_set *set)
{
    size_t n_gates = set->workload != NULL ? ab_workload_gates(set->workload)->n : 0;
    size_t n_claims = set->workload != NULL ? ab_workload_claims(set->workload)->n : 0;
    for (size_t i = 0; set->places != NULL && i < n_gates + n_claims; i++)
        free(set->places[i]);
    free(set->places);
    free(set->remarks);
    free(set->gates);
    free(set->claims);
    *set = (struct ab_gate_set){0};
}

static double least_reading(const struct ab_clock *clock)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 2000; i++) {
        uint64_t begun = ab_tick_begin(), ticks = ab_tick_end() - begun;
        least = ticks < least ? ticks : least;
    }
    return (double)least * clock->ns_per_tick;
}

/* Sets `why` to the reason why a gate cannot be judged; "" = the gate can be judged. */
typedef void refusal(const struct ab_gate *gate, const void *user, char *why, size_t cap);

/* Reports all gates that cannot be judged, each at its position. */
static enum ab_status refuse(const struct ab_gate_set *set, refusal *reason, const void *user,
                             struct ab_err *err)
{
    struct ab_diag diag = {0};
    enum ab_status status = AB_OK;
    char why[300];
    if (set->workload != NULL)
        diag.source = ab_workload_source(set->workload);
    for (size_t i = 0; i < set->n_gates && status == AB_OK; i++) {
        const struct ab_gate *gate = &set->gates[i];
        why[0] = 0;
        reason(gate, user, why, sizeof why);
        if (why[0] == 0)
            continue;
        if (i >= set->n_of_workload) {
            status = fail_option(gate->text, why, err);
            continue;
        }
        const struct ab_remark *remark = &ab_workload_gates(set->workload)->items[set->remarks[i]];
        ab_diag_add(&diag, ab_node_place(&remark->node, 0, strlen(gate->text)), "%s", why);
    }
    if (diag.n_errors > 0)
        status = tell(set->talk, &diag, err);
    ab_diag_fini(&diag);
    return status;
}

static void refuse_below(const struct ab_gate *gate, const void *floor_ns, char *why, size_t cap)
{
    ab_gate_is_below(gate, *(const double *)floor_ns, why, cap);
}

enum ab_status ab_gate_set_check_floor(const struct ab_gate_set *set, const struct ab_clock *clock,
                                       struct ab_err *err)
{
    double floor_ns = set->n_gates > 0 ? least_reading(clock) : 0;
    return refuse(set, refuse_below, &floor_ns, err);
}

static void refuse_unmeasured(const struct ab_gate *gate, const void *plan, char *why, size_t cap)
{
    enum ab_pass pass = ab_metric_pass(&gate->metric);
    if (!ab_pass_is_planned(plan, pass))
        snprintf(why, cap, "%s comes from the %s pass, which --passes leaves out",
                 ab_metric_name(&gate->metric), ab_pass_names[pass]);
}

enum ab_status ab_gate_set_check_passes(const struct ab_gate_set *set,
                                        const struct ab_pass_plan *plan, struct ab_err *err)
{
    return refuse(set, refuse_unmeasured, plan, err);
}
