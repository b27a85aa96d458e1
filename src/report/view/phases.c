/* SPDX-License-Identifier: MIT
 *
 * The matrix of ns per op, and the row of the harness.
 */
#include "report/view/phases.h"

#include "core/median.h"
#include "core/memory.h"

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

static void fill(const struct ab_session *s, uint32_t base, double *x, struct ab_view_phases *out)
{
    for (uint32_t p = 0; p < s->n_phases; p++) {
        out->phases[p] = (struct ab_view_phase){s->phases[p], ab_view_phase_ops(s, s->phases[p])};
        for (uint32_t b = 0; b < s->n_backends; b++)
            out->times[(size_t)b * s->n_phases + p] = time_of(s, b, s->phases[p], base);
    }
    add_harnesses(s, x, out);
}

void ab_view_phases_make(const struct ab_session *s, uint32_t base, struct ab_view_phases *out)
{
    size_t most = s->n_nulls > s->n_results ? s->n_nulls : s->n_results;
    double *x = ab_alloc_zeroed(most + 1, sizeof *x);
    *out = (struct ab_view_phases){.n_phases = s->n_phases, .n_backends = s->n_backends};
    out->phases = ab_alloc_zeroed((size_t)s->n_phases + 1, sizeof *out->phases);
    out->times = ab_alloc_zeroed((size_t)s->n_phases * s->n_backends + 1, sizeof *out->times);
    out->harness = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness);
    out->harness_of = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness_of);
    fill(s, base, x, out);
    free(x);
}

void ab_view_phases_fini(struct ab_view_phases *p)
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
