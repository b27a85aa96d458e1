/* SPDX-License-Identifier: MIT
 *
 * What can be done with a session as a whole: rounding its numbers to what files tell, freeing it,
 * and finding the null of a back end.
 */
#include "result/session.h"

#include "core/median.h"
#include "core/memory.h"
#include "result/result_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double ab_number_settle(double x)
{
    char digits[32];
    if (!isfinite(x) || (fabs(x) < 0x1p53 && x == nearbyint(x)))
        return x;
    snprintf(digits, sizeof digits, "%.12g", x);
    return strtod(digits, NULL);
}

static void settle(double *x)
{
    *x = ab_number_settle(*x);
}

static void settle_member(void *record, size_t offset)
{
    settle((double *)((char *)record + offset));
}

static void settle_result(struct ab_result *r)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].type == AB_FIELD_F64)
            settle_member(r, ab_fields[i].offset);
    for (uint32_t i = 0; i < r->n_worst; i++)
        settle(&r->worst[i].ns);
}

static void settle_memory(struct ab_memory *m)
{
    for (size_t i = 0; i < ab_memory_field_count; i++)
        settle_member(m, ab_memory_fields[i].offset);
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        settle(&m->drained_bytes[i]);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++) {
#define SETTLE(member) settle(&m->heaps[h].member);
        AB_HEAP_MEMORY_FIELDS(SETTLE)
#undef SETTLE
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
            settle(&m->heaps[h].drained_bytes[i]);
    }
}

static void settle_timeline(struct ab_timeline *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        settle(&t->points[i].requested_bytes);
        settle(&t->points[i].usable_bytes);
        settle(&t->points[i].footprint_bytes);
        settle(&t->points[i].external_bytes);
    }
}

void ab_session_settle(struct ab_session *s)
{
    settle(&s->host.load_1min);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        settle(&s->hosts[i].load_1min);
    settle(&s->timer.ns_per_tick);
    settle(&s->timer.quantum_ns);
    settle(&s->timer.floor_ns);
    settle(&s->stopping.time_budget_s);
    settle(&s->stopping.precision);
    settle(&s->stopping.spent_s);
#define SETTLE(name) settle(&s->noise.name);
    AB_NOISE_FIELDS(SETTLE)
#undef SETTLE
    for (uint32_t i = 0; i < s->n_results; i++)
        settle_result(&s->results[i]);
    for (uint32_t i = 0; i < s->n_nulls; i++) {
        settle(&s->nulls[i].ns_per_op);
        settle(&s->nulls[i].wall_ns_per_op);
        settle(&s->nulls[i].latency_pass_ns_per_op);
        settle(&s->nulls[i].floor_ns);
        settle(&s->nulls[i].instr_per_op);
    }
    for (uint32_t i = 0; i < s->n_windows; i++) {
        settle(&s->windows[i].p50);
        settle(&s->windows[i].p99);
        settle(&s->windows[i].max);
    }
    for (uint32_t i = 0; i < s->n_heap_parts; i++)
        settle(&s->heap_parts[i].time_ns);
    for (uint32_t i = 0; i < s->n_iterations; i++)
        settle(&s->iterations[i].call_ns);
    for (uint32_t i = 0; i < s->n_memory; i++)
        settle_memory(&s->memory[i]);
    for (uint32_t i = 0; i < s->n_timelines; i++)
        settle_timeline(&s->timelines[i]);
    for (uint32_t i = 0; i < s->n_gates; i++) {
        settle(&s->gates[i].value);
        settle(&s->gates[i].bound);
    }
}

static double floor_on(const struct ab_session *s, const struct ab_host *host)
{
    double *x = ab_alloc_zeroed((size_t)s->n_nulls + 1, sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (!isnan(s->nulls[i].floor_ns) && ab_session_round_host(s, s->nulls[i].round) == host)
            x[n++] = s->nulls[i].floor_ns;
    double floor = ab_median(x, n);
    free(x);
    return floor;
}

const char *ab_session_setting(const struct ab_session *session, const char *name)
{
    size_t n = strlen(name);
    for (const char *const *p = session->settings; p != NULL && *p != NULL; p++)
        if (strncmp(*p, name, n) == 0 && (*p)[n] == '=')
            return *p + n + 1;
    return NULL;
}

double ab_session_floor(const struct ab_session *session)
{
    double most = NAN;
    for (uint32_t i = 0; i < ab_session_host_count(session); i++)
        most = fmax(most,
                    floor_on(session, session->n_hosts > 1 ? &session->hosts[i] : &session->host));
    return most; /* fmax passes over NaN */
}

void ab_session_fini(struct ab_session *session)
{
    for (uint32_t i = 0; i < session->n_results; i++)
        free(session->results[i].hdr);
    for (uint32_t i = 0; i < session->n_size_classes; i++)
        free(session->size_classes[i].hdr);
    for (uint32_t i = 0; i < session->n_heap_parts; i++)
        free(session->heap_parts[i].hdr);
    for (uint32_t i = 0; i < session->n_timelines; i++)
        free(session->timelines[i].points);
    for (uint32_t i = 0; i < session->n_dists; i++)
        free(session->dists[i].hdr);
    for (uint32_t i = 0; i < session->n_iterations; i++)
        free(session->iterations[i].hdr);
    for (uint32_t i = 0; i < session->n_rounds; i++)
        free((void *)session->rounds[i].order);
    free(session->size_classes);
    free(session->heap_parts);
    free(session->windows);
    free(session->memory);
    free(session->timelines);
    free(session->dists);
    free(session->iterations);
    free(session->results);
    free(session->nulls);
    free(session->rounds);
    free(session->hosts);
    free(session->parts);
    session->results = NULL;
    session->nulls = NULL;
    session->rounds = NULL;
    session->size_classes = NULL;
    session->heap_parts = NULL;
    session->windows = NULL;
    session->memory = NULL;
    session->timelines = NULL;
    session->hosts = NULL;
    session->parts = NULL;
    session->n_hosts = session->n_parts = 0;
    session->dists = NULL;
    session->iterations = NULL;
    session->n_results = session->n_nulls = session->n_rounds = 0;
    session->n_size_classes = session->n_windows = session->n_memory = session->n_timelines = 0;
    session->n_dists = session->n_heap_parts = session->n_iterations = 0;
}

bool ab_session_phase_is_repeated(const struct ab_session *s, uint32_t phase)
{
    for (uint32_t i = 0; i < phase; i++)
        if (strcmp(s->phases[i], s->phases[phase]) == 0)
            return true;
    return false;
}

/* ---- harness ---- */

static bool is_same(const char *boundary_a, const char *placement_a, const char *boundary_b,
                    const char *placement_b)
{
    return boundary_a != NULL && boundary_b != NULL && strcmp(boundary_a, boundary_b) == 0 &&
           (placement_a[0] == 0 || placement_b[0] == 0 || strcmp(placement_a, placement_b) == 0);
}

uint32_t ab_session_harness(const struct ab_session *s, uint32_t backend)
{
    const struct ab_backend_info *b = &s->backends[backend];
    uint32_t i = 0;
    while (i < backend && !is_same(s->backends[i].boundary, s->backends[i].rules.placement,
                                   b->boundary, b->rules.placement))
        i++;
    return i;
}

bool ab_null_is_of(const struct ab_null_cost *null, const struct ab_backend_info *b)
{
    return is_same(null->boundary, null->placement, b->boundary, b->rules.placement);
}

bool ab_null_is_like(const struct ab_null_cost *a, const struct ab_null_cost *b)
{
    return is_same(a->boundary, a->placement, b->boundary, b->placement);
}

struct ab_null_cost *ab_session_null(const struct ab_session *s, uint32_t backend,
                                     const char *phase, uint32_t round)
{
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (s->nulls[i].round == round && strcmp(s->nulls[i].phase, phase) == 0 &&
            ab_null_is_of(&s->nulls[i], &s->backends[backend]))
            return &s->nulls[i];
    return NULL;
}
