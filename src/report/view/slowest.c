/* SPDX-License-Identifier: MIT
 *
 * Joins the lists of slowest calls, and of slowest iterations, over the rounds.
 */
#include "report/view/slowest.h"

#include "core/grow.h"
#include "core/median.h"
#include "core/memory.h"
#include "result/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One entry of one round. */
struct sighting {
    uint32_t backend, phase;
    unsigned op;
    uint32_t position, iteration, round;
    uint64_t size;
    double ns;
};

static int by_place(const void *a, const void *b)
{
    const struct sighting *x = a, *y = b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->iteration != y->iteration)
        return x->iteration < y->iteration ? -1 : 1;
    return (x->round > y->round) - (x->round < y->round);
}

static bool is_same_place(const struct sighting *x, const struct sighting *y)
{
    return x->backend == y->backend && x->phase == y->phase && x->op == y->op &&
           x->position == y->position && x->iteration == y->iteration;
}

static int by_weight(const void *a, const void *b)
{
    const struct ab_view_slow_call *x = a, *y = b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->repeats != y->repeats)
        return x->repeats ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->iteration > y->iteration) - (x->iteration < y->iteration);
}

static uint32_t phase_of(const struct ab_session *s, const char *name)
{
    uint32_t p = 0;
    while (p < s->n_phases && strcmp(s->phases[p], name) != 0)
        p++;
    return p;
}

static size_t collect(const struct ab_session *s, struct sighting *list)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        uint32_t phase = phase_of(s, r->phase);
        if (r->op == AB_OP_ALL || phase == s->n_phases || !ab_session_has_numbers(s, r->backend))
            continue;
        for (uint32_t k = 0; k < r->n_worst; k++) {
            const struct ab_worst_op *op = &r->worst[k];
            if (isfinite(op->ns) && op->position != UINT32_MAX)
                list[n++] = (struct sighting){.backend = r->backend,
                                              .phase = phase,
                                              .op = r->op,
                                              .position = op->position,
                                              .iteration = op->iteration,
                                              .round = r->round,
                                              .size = op->size,
                                              .ns = op->ns};
        }
    }
    return n;
}

static size_t collect_iterations(const struct ab_session *s, struct sighting *list)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        uint32_t phase = phase_of(s, x->phase);
        if (phase == s->n_phases || !ab_session_has_numbers(s, x->backend))
            continue;
        for (uint32_t k = 0; k < x->n_worst; k++)
            list[n++] = (struct sighting){.backend = x->backend,
                                          .phase = phase,
                                          .op = x->worst[k].lane,
                                          .iteration = x->worst[k].iteration,
                                          .round = x->round,
                                          .size = AB_SIZE_UNKNOWN,
                                          .ns = (double)x->worst[k].ns};
    }
    return n;
}

/* The sightings [0, n) of one place; a round may have two, of the latency and of the tail pass: the
 * slower one counts. `n_rounds` of iterations, of which many are among the slowest of a round by
 * chance; 0 = calls. */
static struct ab_view_slow_call join(const struct sighting *list, size_t n, uint32_t n_rounds,
                                     double *x)
{
    struct ab_view_slow_call call = {.backend = list->backend,
                                     .phase = list->phase,
                                     .op = list->op,
                                     .position = list->position,
                                     .iteration = list->iteration,
                                     .size = AB_SIZE_UNKNOWN};
    for (size_t i = 0; i < n; i++) {
        if (list[i].size != AB_SIZE_UNKNOWN)
            call.size = list[i].size;
        call.max_ns = fmax(call.max_ns, list[i].ns);
        if (i > 0 && list[i].round == list[i - 1].round)
            x[call.n_seen - 1] = fmax(x[call.n_seen - 1], list[i].ns);
        else
            x[call.n_seen++] = list[i].ns;
    }
    size_t n_x = call.n_seen;
    while (n_x < n_rounds)
        x[n_x++] = 0;
    call.ns = ab_median(x, n_x);
    call.repeats = n_rounds > 0 ? 2 * call.n_seen > n_rounds : call.n_seen >= 2;
    return call;
}

static void join_all(const struct sighting *list, size_t n, uint32_t n_rounds, double *x,
                     struct ab_view_slowest *out)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_place(&list[i], &list[end]); end++) {
        }
        AB_GROW(out->calls, out->cap_calls, out->n_calls);
        out->calls[out->n_calls++] = join(list + i, end - i, n_rounds, x);
    }
}

static void make(const struct ab_session *s, bool of_iterations, struct ab_view_slowest *out)
{
    size_t most = of_iterations ? (size_t)s->n_iterations * AB_ITERATIONS_WORST_MAX
                                : (size_t)s->n_results * AB_WORST_MAX;
    *out = (struct ab_view_slowest){.n_rounds = ab_pass_round_count(s, AB_PASS_TAIL)};
    struct sighting *list = ab_alloc((most + 1) * sizeof *list);
    double *x = ab_alloc((most + out->n_rounds + 1) * sizeof *x);
    size_t n = of_iterations ? collect_iterations(s, list) : collect(s, list);
    qsort(list, n, sizeof *list, by_place);
    join_all(list, n, of_iterations ? out->n_rounds : 0, x, out);
    if (out->n_calls > 0)
        qsort(out->calls, out->n_calls, sizeof *out->calls, by_weight);
    free(list);
    free(x);
}

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out)
{
    make(s, false, out);
}

void ab_view_slow_iterations_make(const struct ab_session *s, struct ab_view_slowest *out)
{
    make(s, true, out);
}

void ab_view_slowest_fini(struct ab_view_slowest *x)
{
    free(x->calls);
    *x = (struct ab_view_slowest){0};
}
