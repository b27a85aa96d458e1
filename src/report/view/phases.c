/* SPDX-License-Identifier: MIT
 *
 * The matrix of ns per op, and the row of the harness.
 */
#include "report/view/phases.h"

#include "core/median.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t known(uint64_t n)
{
    return n != UINT64_MAX ? n : 0;
}

uint64_t ab_view_phase_ops(const struct ab_session *s, const char *phase)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        uint64_t n = known(r->n_ops) + known(r->n_unsupported);
        if (r->op == AB_OP_ALL && strcmp(r->phase, phase) == 0 && n > most)
            most = n;
    }
    return most;
}

static struct ab_view_time time_of(const struct ab_session *s, uint32_t backend, const char *phase,
                                   uint32_t base)
{
    struct ab_view_time t = {.ns_per_op = ab_session_ns_per_op(s, backend, phase),
                             .speed = ab_effect_paired(NULL, NULL, 0)};
    if (base != UINT32_MAX && base != backend && ab_backend_is_comparable(&s->backends[backend]))
        t.speed = ab_session_speed(s, backend, base, phase);
    t.vs = ab_view_factor_of(&t.speed);
    return t;
}

static double harness_ns(const struct ab_session *s, const char *boundary, const char *phase,
                         double *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (strcmp(s->nulls[i].boundary, boundary) == 0 && strcmp(s->nulls[i].phase, phase) == 0 &&
            isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    return ab_median(x, n);
}

static bool is_used(const struct ab_session *s, const char *boundary)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (ab_session_has_numbers(s, i) && s->backends[i].boundary != NULL &&
            strcmp(s->backends[i].boundary, boundary) == 0)
            return true;
    return false;
}

static bool add_harness(const struct ab_session *s, const char *boundary, double *x,
                        struct ab_view_phases *out)
{
    struct ab_view_harness *h = &out->harness[out->n_harness];
    bool is_known = false;
    if (!is_used(s, boundary))
        return true;
    *h = (struct ab_view_harness){boundary, calloc(s->n_phases + 1u, sizeof(double))};
    for (uint32_t p = 0; p < s->n_phases && h->ns_per_op != NULL; p++) {
        h->ns_per_op[p] = harness_ns(s, boundary, s->phases[p], x);
        is_known = is_known || isfinite(h->ns_per_op[p]);
    }
    if (h->ns_per_op == NULL)
        return false;
    if (is_known)
        out->n_harness++;
    else
        free(h->ns_per_op);
    return true;
}

static bool fill(const struct ab_session *s, uint32_t base, double *x, struct ab_view_phases *out)
{
    for (uint32_t p = 0; p < s->n_phases; p++) {
        out->phases[p] = (struct ab_view_phase){s->phases[p], ab_view_phase_ops(s, s->phases[p])};
        for (uint32_t b = 0; b < s->n_backends; b++)
            out->times[(size_t)b * s->n_phases + p] = time_of(s, b, s->phases[p], base);
    }
    for (unsigned i = 0; i < AB_BOUNDARY_COUNT; i++)
        if (!add_harness(s, ab_boundary_names[i], x, out))
            return false;
    return true;
}

bool ab_view_phases_make(const struct ab_session *s, uint32_t base, struct ab_view_phases *out)
{
    size_t most = s->n_nulls > s->n_results ? s->n_nulls : s->n_results;
    double *x = calloc(most + 1, sizeof *x);
    *out = (struct ab_view_phases){.n_phases = s->n_phases, .n_backends = s->n_backends};
    out->phases = calloc((size_t)s->n_phases + 1, sizeof *out->phases);
    out->times = calloc((size_t)s->n_phases * s->n_backends + 1, sizeof *out->times);
    bool is_ok = x != NULL && out->phases != NULL && out->times != NULL && fill(s, base, x, out);
    free(x);
    if (!is_ok)
        ab_view_phases_fini(out);
    return is_ok;
}

void ab_view_phases_fini(struct ab_view_phases *p)
{
    for (unsigned i = 0; i < p->n_harness; i++)
        free(p->harness[i].ns_per_op);
    free(p->phases);
    free(p->times);
    *p = (struct ab_view_phases){0};
}

const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase)
{
    return &p->times[(size_t)backend * p->n_phases + phase];
}

double ab_view_phases_harness(const struct ab_view_phases *p, const char *boundary, uint32_t phase)
{
    for (unsigned i = 0; i < p->n_harness && boundary != NULL; i++)
        if (strcmp(p->harness[i].boundary, boundary) == 0)
            return p->harness[i].ns_per_op[phase];
    return NAN;
}
