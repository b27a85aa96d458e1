/* SPDX-License-Identifier: MIT
 *
 * Functions on a whole session: freeing it, and finding the null record of a back end.
 */
#include "result/session.h"

#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "result/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double ab_number_settle(double x)
{
    char digits[32];
    if (!isfinite(x) || (fabs(x) < 0x1p53 && x == nearbyint(x)))
        return x;
    AB_FIT(digits, "%.12g", x);
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

bool ab_session_is_server(const struct ab_session *session)
{
    return ab_session_setting(session, "server") != NULL;
}

double ab_session_floor(const struct ab_session *session)
{
    double most = NAN;
    for (uint32_t i = 0; i < ab_session_host_count(session); i++)
        most = fmax(most,
                    floor_on(session, session->n_hosts > 1 ? &session->hosts[i] : &session->host));
    return most; /* fmax ignores NaN */
}

double ab_session_floor_mean(const struct ab_session *session)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_nulls; i++)
        if (!isnan(session->nulls[i].floor_mean_ns)) {
            sum += session->nulls[i].floor_mean_ns;
            n++;
        }
    return n > 0 ? sum / n : (double)NAN;
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
    FREE_LIST(combinations)
    FREE_LIST(programs)
}

void ab_session_close_lists(struct ab_session *s)
{
    s->cap_rounds = s->n_rounds;
#define CAP(list) s->cap_##list = s->n_##list;
    AB_SESSION_LISTS(CAP)
#undef CAP
}

bool ab_session_phase_is_repeated(const struct ab_session *s, uint32_t phase)
{
    for (uint32_t i = 0; i < phase; i++)
        if (strcmp(s->phases[i], s->phases[phase]) == 0)
            return true;
    return false;
}

/* ---- harness ---- */

struct harness {
    const char *boundary, *placement;
    uint32_t combination;
};

static bool is_same(struct harness a, struct harness b)
{
    return a.combination == b.combination && a.boundary != NULL && b.boundary != NULL &&
           strcmp(a.boundary, b.boundary) == 0 &&
           (a.placement[0] == 0 || b.placement[0] == 0 || strcmp(a.placement, b.placement) == 0);
}

static struct harness of_backend(const struct ab_backend_info *b)
{
    return (struct harness){b->boundary, b->rules.placement, b->combination};
}

static struct harness of_null(const struct ab_null_cost *null)
{
    return (struct harness){null->boundary, null->placement, null->combination};
}

const char *ab_session_digest(const struct ab_session *s, uint32_t backend)
{
    const char *digest = s->n_combinations > 0
                             ? s->combinations[s->backends[backend].combination].tape_sha256
                             : s->tape_sha256;
    return digest != NULL ? digest : "";
}

bool ab_session_is_same_work(const struct ab_session *a, uint32_t backend_a,
                             const struct ab_session *b, uint32_t backend_b)
{
    const char *digest = ab_session_digest(a, backend_a);
    return digest[0] != 0 && strcmp(digest, ab_session_digest(b, backend_b)) == 0;
}

uint32_t ab_session_row(const struct ab_session *s, uint32_t like, uint32_t beside)
{
    const char *name = AB_OWN_NAME(&s->backends[like]);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (s->backends[i].combination == s->backends[beside].combination &&
            ab_backend_is_named(&s->backends[i], name))
            return i;
    return UINT32_MAX;
}

uint32_t ab_session_harness(const struct ab_session *s, uint32_t backend)
{
    struct harness own = of_backend(&s->backends[backend]);
    uint32_t i = 0;
    while (i < backend && !is_same(of_backend(&s->backends[i]), own))
        i++;
    return i;
}

bool ab_null_is_of(const struct ab_null_cost *null, const struct ab_backend_info *b)
{
    return is_same(of_null(null), of_backend(b));
}

bool ab_null_is_like(const struct ab_null_cost *a, const struct ab_null_cost *b)
{
    return is_same(of_null(a), of_null(b));
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

bool ab_session_has_little_memory(const struct ab_session *session)
{
    enum { PAGE_BYTES = 4096 };
    return session->facts.live_peak_bytes > 0 && session->facts.live_peak_bytes < PAGE_BYTES;
}

const char *ab_session_own_phase(const struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_phases; i++)
        if (strcmp(s->phases[i], phase) == 0)
            return s->phases[i];
    return "";
}
