/* SPDX-License-Identifier: MIT
 *
 * Puts the view together, in the order in which its parts need each other.
 */
#include "report/view/view.h"

#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "result/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static uint32_t count_shown(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].status != AB_BACKEND_ABSENT;
    return n;
}

/* What it printed is a setting of the result where it was the same under all. */
static const char *title_of_program(const struct ab_session *s, struct ab_view_texts *t)
{
    char output[80] = "";
    const char *bytes = ab_session_setting(s, "output_bytes");
    if (bytes != NULL && s->n_results > 0) /* else there is none to be identical */
        snprintf(output, sizeof output, ", identical output (%.24s bytes)", AB_SHOWN(64, bytes));
    return ab_view_texts_addf(t, "%s: the program under %u allocator%s%s; %u round%s",
                              AB_SHOWN(2000, s->name), count_shown(s), plural(count_shown(s)),
                              output, s->n_rounds, plural(s->n_rounds));
}

static const char *title_of(const struct ab_session *s, uint64_t n_ops, struct ab_view_texts *t)
{
    char count[AB_CELL_BYTES];
    if (ab_session_is_exec(s))
        return title_of_program(s, t);
    char merged[48] = "";
    if (s->n_parts > 0)
        snprintf(merged, sizeof merged, ", merged from %u results", s->n_parts);
    else if (s->shard.count > 0)
        snprintf(merged, sizeof merged, ", shard %u of %u", s->shard.index, s->shard.count);
    char live[64] = "";
    if (s->facts.live_peak_bytes != UINT64_MAX)
        snprintf(live, sizeof live, ", up to %s live", AB_BYTES(s->facts.live_peak_bytes));
    return ab_view_texts_addf(t,
                              "%s: %s operations, %u phase%s, %u thread%s%s; "
                              "%u round%s%s",
                              AB_SHOWN(2000, s->name), ab_format_count(count, (double)n_ops),
                              s->n_phases, plural(s->n_phases), s->facts.lanes,
                              plural(s->facts.lanes), live, s->n_rounds, plural(s->n_rounds),
                              merged);
}

static void make(const struct ab_session *s, struct ab_view *v)
{
    ab_view_memory_make(s, &v->memory);
    ab_view_ranking_make(s, &v->memory, &v->ranking);
    ab_view_phases_make(s, v->ranking.base, &v->phases);
    ab_view_slowest_make(s, &v->slowest);
    ab_view_slow_iterations_make(s, &v->slow_iterations);
    ab_view_latency_make(s, &v->slowest, &v->latency);
    ab_view_warnings_make(s, &v->texts, &v->warnings);
    for (uint32_t p = 0; p < v->phases.n_phases; p++)
        v->n_ops += v->phases.phases[p].n_ops;
    v->title = title_of(s, v->n_ops, &v->texts);
    ab_view_headline_make(s, &v->ranking, &v->warnings, &v->texts, &v->headline);
    ab_view_steps_make(s, &v->headline, &v->ranking, &v->texts, &v->next);
}

void ab_view_make(const struct ab_session *session, struct ab_view *out)
{
    struct ab_format_guard guard;
    *out = (struct ab_view){.session = session};
    ab_format_begin(&guard);
    make(session, out);
    ab_format_end(&guard);
}

void ab_view_fini(struct ab_view *v)
{
    ab_view_ranking_fini(&v->ranking);
    ab_view_phases_fini(&v->phases);
    ab_view_latency_fini(&v->latency);
    ab_view_memory_fini(&v->memory);
    ab_view_slowest_fini(&v->slowest);
    ab_view_slowest_fini(&v->slow_iterations);
    ab_view_warnings_fini(&v->warnings);
    ab_view_texts_fini(&v->texts);
    *v = (struct ab_view){0};
}
