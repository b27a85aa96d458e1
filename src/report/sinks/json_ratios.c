/* SPDX-License-Identifier: MIT
 *
 * Ratios of what the tables show, in the direction of the metric: of times, below 1 is faster (the
 * tables show the reciprocal, a speed). Written from the rounds and not read back: whoever reads
 * the rounds computes the same.
 */
#include "report/sinks/json_ratios.h"

#include "stats/aggregate.h"

struct pair {
    const struct ab_session *s;
    uint32_t backend, base;
};

static json_t *ratio(struct ab_json *w, const struct pair *p, const char *phase, const char *metric,
                     const struct ab_effect *e)
{
    json_t *o = json_object();
    ab_json_put(w, o, "backend", ab_json_string(p->s->backends[p->backend].name));
    ab_json_put(w, o, "base", ab_json_string(p->s->backends[p->base].name));
    ab_json_put(w, o, "phase", ab_json_string(phase));
    ab_json_put(w, o, "metric", ab_json_string(metric));
    ab_json_put(w, o, "ratio", ab_json_real(e->ratio));
    ab_json_put(w, o, "low", ab_json_real(e->low));
    ab_json_put(w, o, "high", ab_json_real(e->high));
    ab_json_put(w, o, "method", ab_json_string(ab_effect_method_name(e->method)));
    ab_json_put(w, o, "rounds", ab_json_integer(e->n_new));
    return o;
}

static void add_pair(struct ab_json *w, const struct pair *p, json_t *list)
{
    struct ab_effect time = ab_session_speed(p->s, p->base, p->backend, NULL);
    struct ab_effect rss = ab_session_rss_ratio(p->s, p->backend, p->base);
    ab_json_append(w, list, ratio(w, p, NULL, "time", &time));
    ab_json_append(w, list, ratio(w, p, NULL, "rss_peak_bytes", &rss));
    for (uint32_t i = 0; i < p->s->n_phases; i++) {
        time = ab_session_speed(p->s, p->base, p->backend, p->s->phases[i]);
        ab_json_append(w, list, ratio(w, p, p->s->phases[i], "ns_per_op", &time));
    }
}

json_t *ab_json_ratios(struct ab_json *w, const struct ab_session *session)
{
    json_t *list = json_array();
    struct pair p = {session, 0, ab_session_base(session)};
    for (; p.base < session->n_backends && p.backend < session->n_backends; p.backend++)
        if (p.backend != p.base && ab_backend_is_comparable(&session->backends[p.backend]))
            add_pair(w, &p, list);
    return list;
}
