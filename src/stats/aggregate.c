/* SPDX-License-Identifier: MIT
 *
 * Medians, ranges and ratios over the rounds of a session, and merged histograms.
 */
#include "stats/aggregate.h"

#include "core/alloc.h"
#include "core/median.h"
#include "result/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ab_round_range no_range = {0, NAN, NAN, NAN};

double ab_round_range_half(const struct ab_round_range *s)
{
    return s->n < 2 ? NAN : (s->high - s->low) / 2 / s->median;
}

bool ab_backend_is_inlined(const struct ab_backend_info *b)
{
    return b->boundary != NULL &&
           (strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_INLINE]) == 0 ||
            strcmp(b->boundary, ab_boundary_names[AB_BOUNDARY_CURSOR]) == 0);
}

bool ab_backend_is_null(const struct ab_backend_info *b)
{
    const char *name = b->full_name[0] != 0 ? b->full_name : b->name;
    return strncmp(name, "null", 4) == 0 && strchr(":{ ", name[4]) != NULL;
}

bool ab_backend_is_comparable(const struct ab_backend_info *b)
{
    return b->status == AB_BACKEND_OK && !ab_backend_is_null(b);
}

static uint32_t base_in(const struct ab_session *s, uint32_t combination)
{
    const char *wanted = s->base != NULL ? s->base : "glibc";
    uint32_t first = UINT32_MAX;
    for (uint32_t i = s->n_backends; i-- > 0;) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->combination != combination || !ab_backend_is_comparable(b))
            continue;
        first = i;
        if (ab_backend_is_named(b, wanted))
            return i;
    }
    return s->base != NULL ? UINT32_MAX : first;
}

uint32_t ab_session_base_of(const struct ab_session *s, uint32_t backend)
{
    return base_in(s, s->backends[backend].combination);
}

uint32_t ab_session_base(const struct ab_session *s)
{
    uint32_t base = UINT32_MAX, i = 0;
    do
        base = base_in(s, i);
    while (base == UINT32_MAX && ++i < s->n_combinations);
    return base;
}

uint32_t ab_session_backend(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

const struct ab_result *ab_session_find(const struct ab_session *s, uint32_t backend,
                                        const char *phase, unsigned op, uint32_t round)
{
    if (!ab_session_has_numbers(s, backend))
        return NULL;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend == backend && r->op == op && r->round == round &&
            strcmp(r->phase, phase) == 0)
            return r;
    }
    return NULL;
}

bool ab_session_has_op(const struct ab_session *s, const char *phase, unsigned op)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == op && ab_session_has_numbers(s, s->results[i].backend) &&
            strcmp(s->results[i].phase, phase) == 0)
            return true;
    return false;
}

struct ab_merged ab_session_merge(const struct ab_session *s, uint32_t backend, const char *phase,
                                  unsigned op, struct ab_hdr *hdr)
{
    struct ab_merged m = {.max = NAN, .max_least = NAN};
    /* maximum of the rounds that did not time every op, which is only that of a sample */
    double sampled = NAN;
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend != backend || r->op != op || !ab_session_has_numbers(s, backend) ||
            strcmp(r->phase, phase) != 0)
            continue;
        ab_hdr_merge(hdr, r->hdr);
        m.max = fmax(m.max, r->max); /* fmax ignores NaN */
        m.max_least = fmax(m.max_least, r->max_least_ns);
        if (isnan(r->max) && ab_hdr_total(r->hdr) > 0)
            sampled = fmax(sampled, (double)ab_hdr_high(ab_hdr_end(r->hdr) - 1));
        m.n_rounds++;
    }
    if (isfinite(m.max))
        m.max = fmax(m.max, sampled);
    m.n = ab_hdr_total(hdr) + hdr->overflow;
    return m;
}

struct ab_round_range ab_round_range_of(double *x, uint32_t n)
{
    if (n == 0)
        return no_range;
    double median = ab_median(x, n);
    return (struct ab_round_range){n, median, x[0], x[n - 1]};
}

void ab_pairs_init(struct ab_pairs *p, uint32_t most)
{
    *p = (struct ab_pairs){.x = ab_alloc_zeroed(3 * ((size_t)most + 1), sizeof(double)),
                           .cap = most};
}

void ab_pairs_fini(struct ab_pairs *p)
{
    free(p->x);
}

void ab_pairs_add(struct ab_pairs *p, double of, double by)
{
    double ratio = by > 0 ? of / by : of > 0 ? INFINITY : 1;
    if (!isfinite(of) || !isfinite(by) || of < 0 || by < 0 || p->n == p->cap)
        return;
    p->x[p->n] = of;
    p->x[p->cap + p->n] = by;
    p->x[2 * (size_t)p->cap + p->n++] = ratio;
}

struct ab_round_range ab_pairs_ratio(const struct ab_pairs *p)
{
    if (p->n == 0)
        return no_range;
    struct ab_round_range ratio = ab_round_range_of(p->x + 2 * (size_t)p->cap, p->n);
    double of = ab_round_range_of(p->x, p->n).median,
           by = ab_round_range_of(p->x + p->cap, p->n).median;
    if (!p->is_by_round)
        ratio.median = by > 0 ? of / by : of > 0 ? INFINITY : 1;
    return ratio;
}

struct ab_effect ab_pairs_effect(const struct ab_pairs *p)
{
    struct ab_pairs copy;
    struct ab_effect effect = ab_effect_paired(p->x + p->cap, p->x, p->n);
    ab_pairs_init(&copy, p->cap);
    memcpy(copy.x, p->x, 3 * (size_t)p->cap * sizeof p->x[0]);
    copy.n = p->n;
    copy.is_by_round = p->is_by_round;
    effect = ab_effect_shown(&effect, ab_pairs_ratio(&copy).median);
    ab_pairs_fini(&copy);
    return effect;
}

static double ns_per_op(const struct ab_session *s, uint32_t backend, const char *phase,
                        uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, phase, AB_OP_ALL, round);
    return r != NULL && r->ns_per_op > 0 ? r->ns_per_op : NAN;
}

double ab_session_time_of_round(const struct ab_session *s, uint32_t backend, const char *phase,
                                uint32_t round)
{
    double sum = 0;
    if (phase != NULL)
        return ns_per_op(s, backend, phase, round);
    if (ab_session_is_exec(s)) {
        const struct ab_result *r = ab_session_find(s, backend, AB_PROGRAM_PHASE, AB_OP_ALL, round);
        return r != NULL ? r->wall_ns : NAN;
    }
    for (uint32_t i = 0; i < s->n_phases; i++) {
        const struct ab_result *r = ab_session_find(s, backend, s->phases[i], AB_OP_ALL, round);
        if (r != NULL && r->n_ops == 0 && r->n_unsupported == 0)
            continue; /* this phase has no ops; only time passes */
        sum += r != NULL && r->ns_per_op > 0 && isfinite(r->ns_per_op)
                   ? r->ns_per_op * (double)r->n_ops
                   : NAN;
    }
    return s->n_phases > 0 ? sum : NAN;
}

bool ab_session_has_peaks(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (isfinite(s->memory[i].rss_peak_bytes) && !isfinite(s->memory[i].peak_bytes))
            return false;
    return true;
}

static uint64_t known(uint64_t n)
{
    return n != UINT64_MAX ? n : 0;
}

uint64_t ab_session_phase_ops(const struct ab_session *s, uint32_t combination, const char *phase)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        uint64_t n = known(r->n_ops) + known(r->n_unsupported);
        bool is_of = combination == AB_EVERY_COMBINATION ||
                     s->backends[r->backend].combination == combination;
        if (is_of && r->op == AB_OP_ALL && strcmp(r->phase, phase) == 0 && n > most)
            most = n;
    }
    return most;
}

bool ab_session_did_reset(const struct ab_session *s, uint32_t backend)
{
    bool is_listed = false, is_timed = false;
    for (uint32_t i = 0; i < s->n_results && ab_session_has_numbers(s, backend); i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend != backend)
            continue;
        if (r->op == AB_OP_RESET && r->n > 0)
            return true;
        is_listed = is_listed || r->op == AB_OP_RESET;
        is_timed = is_timed || r->n > 0;
    }
    return is_listed && !is_timed; /* without latencies, the hook is the only evidence */
}
