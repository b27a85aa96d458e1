/* SPDX-License-Identifier: MIT
 *
 * Fills the table of the events that callgrind counted, in calls to the allocator and outside of
 * them.
 */
#include "answer/program_view.h"
#include "answer/topics.h"
#include "base/bits.h"
#include "core/text.h"
#include "result/session.h"

#include <math.h>
#include <stdio.h>

enum { EVENTS = 4 };

/* Fields of each pair of columns: `in` plus `more_in`, and `out` plus `more_out`; NULL = no second
 * field. */
static const struct {
    const char *in, *out, *more_in, *more_out;
} events[EVENTS] = {
    {"instr_inside", "instr_outside", NULL, NULL},
    {"refs_inside", "refs_outside", NULL, NULL},
    {"d1_misses_inside", "d1_misses_outside", "i1_misses_inside", "i1_misses_outside"},
    {"ll_misses_inside", "ll_misses_outside", NULL, NULL}};

/* Returns the field `name` of the one round that was counted; NaN = not known. */
static double counted(const struct ab_session *s, uint32_t backend, const char *name)
{
    const struct ab_field *field = ab_field_find(name);
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const struct ab_result *r = ab_session_find(s, backend, AB_PROGRAM_PHASE, AB_OP_ALL,
                                                    s->rounds[i].index);
        double value = r != NULL && ab_field_exists(field, r) ? ab_field_f64(field, r)
                                                              : (double)NAN;
        if (isfinite(value))
            return value;
    }
    return NAN;
}

static double sum_of(const struct ab_session *s, uint32_t backend, const char *name,
                     const char *more)
{
    return counted(s, backend, name) + (more != NULL ? counted(s, backend, more) : 0);
}

static const char *why_uncounted(const struct ab_session *s, uint32_t backend)
{
    return s->counting.reason[0] != 0 ? s->counting.reason : s->backends[backend].uncounted;
}

static void put_note(const struct ab_view *v, struct ab_grid *g)
{
    const struct ab_session *s = v->session;
    struct ab_text t = {0};
    ab_text_add(&t, "counted in one run under callgrind, inside and outside of calls to the "
                    "allocator; L1 and LL: misses of the simulated first-level and last-level "
                    "caches");
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        uint32_t b = v->ranking.rows[i].backend;
        char why[600];
        if (ab_session_has_numbers(s, b) && why_uncounted(s, b)[0] != 0)
            ab_text_addf(&t, "\n%s: %s", ab_backend_label(&s->backends[b]),
                         ab_text_printable(why, sizeof why, why_uncounted(s, b)));
    }
    g->note = ab_view_texts_addf(&g->texts, "%s", t.s);
    ab_text_fini(&t);
}

/* Fills the table of instructions, data references and misses of simulated caches, inside and
 * outside of the allocator. */
bool ab_program_instr_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_ranking *r = &v->ranking;
    if (!ab_session_is_exec(v->session) || !v->session->counting.is_asked)
        return false;
    *g = (struct ab_grid){.session = v->session,
                          .rows_are = "allocator",
                          .columns = {{"instr in", 0, "#instructions in calls"},
                                      {"outside", 0, "#outside"},
                                      {"refs in", 2, "#data references in calls"},
                                      {"outside", 2, "#outside"},
                                      {"L1 in", 0, "#L1 misses in calls"},
                                      {"outside", 0, "#outside"},
                                      {"LL in", 0, "#LL misses in calls"},
                                      {"outside", 0, "#outside"}},
                          .n_columns = 2 * EVENTS};
    ab_grid_heading(g, "under callgrind", "");
    for (uint32_t i = 0; i < r->n_rows; i++) {
        uint32_t b = r->rows[i].backend;
        if (r->rows[i].standing == AB_VIEW_FAILED)
            continue;
        ab_grid_add_backend(g, b);
        for (unsigned e = 0; e < EVENTS; e++) {
            ab_grid_put(g, 2 * e, AB_GRID_AMOUNT,
                        sum_of(v->session, b, events[e].in, events[e].more_in), NULL);
            ab_grid_put(g, 2 * e + 1, AB_GRID_AMOUNT,
                        sum_of(v->session, b, events[e].out, events[e].more_out), NULL);
        }
    }
    put_note(v, g);
    return true;
}
