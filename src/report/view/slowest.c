/* SPDX-License-Identifier: MIT
 *
 * Joins the lists of slowest calls over the rounds.
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
    uint32_t position, round;
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
    return (x->round > y->round) - (x->round < y->round);
}

static bool is_same_place(const struct sighting *x, const struct sighting *y)
{
    return x->backend == y->backend && x->phase == y->phase && x->op == y->op &&
           x->position == y->position;
}

static int by_weight(const void *a, const void *b)
{
    const struct ab_view_slow_call *x = a, *y = b;
    bool of_x = ab_view_slow_call_repeats(x), of_y = ab_view_slow_call_repeats(y);
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (of_x != of_y)
        return of_x ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

bool ab_view_slow_call_repeats(const struct ab_view_slow_call *call)
{
    return call->n_seen >= 2;
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
                list[n++] = (struct sighting){r->backend, phase,    r->op, op->position,
                                              r->round,   op->size, op->ns};
        }
    }
    return n;
}

/* The sightings [0, n) of one place; a round may have two, of the latency and of the tail pass: the
 * slower one counts. */
static struct ab_view_slow_call join(const struct sighting *list, size_t n, double *x)
{
    struct ab_view_slow_call call = {.backend = list->backend,
                                     .phase = list->phase,
                                     .op = list->op,
                                     .position = list->position,
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
    call.ns = ab_median(x, call.n_seen);
    return call;
}

static void join_all(const struct sighting *list, size_t n, double *x, struct ab_view_slowest *out)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_place(&list[i], &list[end]); end++) {
        }
        AB_GROW(out->calls, out->cap_calls, out->n_calls);
        out->calls[out->n_calls++] = join(list + i, end - i, x);
    }
}

void ab_view_slowest_make(const struct ab_session *s, struct ab_view_slowest *out)
{
    size_t most = (size_t)s->n_results * AB_WORST_MAX + 1;
    struct sighting *list = ab_alloc(most * sizeof *list);
    double *x = ab_alloc(most * sizeof *x);
    *out = (struct ab_view_slowest){.n_rounds = ab_pass_round_count(s, AB_PASS_TAIL)};
    size_t n = collect(s, list);
    qsort(list, n, sizeof *list, by_place);
    join_all(list, n, x, out);
    if (out->n_calls > 0)
        qsort(out->calls, out->n_calls, sizeof *out->calls, by_weight);
    free(list);
    free(x);
}

void ab_view_slowest_fini(struct ab_view_slowest *x)
{
    free(x->calls);
    *x = (struct ab_view_slowest){0};
}
