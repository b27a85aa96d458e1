/* SPDX-License-Identifier: MIT
 *
 * What can be done with a session as a whole: freeing it, and finding the null of a back end.
 */
#include "result/session.h"

#include "core/median.h"
#include "core/memory.h"

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

void ab_session_fini(struct ab_session *s)
{
#define FREE_HISTOGRAMS(list) \
    for (uint32_t i = 0; i < s->n_##list; i++) \
        free(s->list[i].hdr);
    FREE_HISTOGRAMS(results)
    FREE_HISTOGRAMS(size_classes)
    FREE_HISTOGRAMS(heap_parts)
    FREE_HISTOGRAMS(dists)
    FREE_HISTOGRAMS(iterations)
    for (uint32_t i = 0; i < s->n_timelines; i++)
        free(s->timelines[i].points);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        free((void *)s->rounds[i].order);
#define FREE_LIST(list) \
    free(s->list); \
    s->list = NULL; \
    s->n_##list = 0;
    AB_SESSION_LISTS(FREE_LIST)
    FREE_LIST(rounds)
    FREE_LIST(hosts)
    FREE_LIST(parts)
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
