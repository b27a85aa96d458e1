/* SPDX-License-Identifier: MIT
 *
 * The table of topics, expanded from topics.def, and the walk over it.
 */
#include "answer/topics.h"

#include "base/bits.h"

#include <string.h>

#define AB_TOPIC(id, function, per, number, ...) \
    static uint32_t count_##id(const struct ab_session *s) \
    { \
        (void)s; \
        return number; \
    }
#include "answer/topics.def"
#undef AB_TOPIC

enum { ALWAYS = 0, BRIEF = 1 << AB_TOPIC_WORD_COUNT };

const struct ab_topic ab_topics[] = {
#define AB_TOPIC(id, function, per, number, asked, terminal, page, markdown, title, remark) \
    {#id,          function, count_##id, \
     AB_PER_##per, asked,    {AB_TERMINAL_##terminal, AB_PAGE_##page, AB_MARKDOWN_##markdown}, \
     title,        remark},
#include "answer/topics.def"
#undef AB_TOPIC
};
const size_t ab_n_topics = AB_ARRAY_LEN(ab_topics);

/* ---- the walk ---- */

static bool stands_here(const struct ab_topic_walk *w, const struct ab_topic *t)
{
    unsigned asked = w->at.asked != 0 ? w->at.asked : BRIEF;
    return t->places[w->at.surface] == w->place &&
           (w->at.surface != AB_TERMINAL || t->asked == ALWAYS || (t->asked & asked) != 0);
}

/* Finds the next topics that are made together in each turn: those with the same `per`. Returns
 * false if there are none. */
static bool find_topics(struct ab_topic_walk *w)
{
    w->first = w->end;
    while (w->first < ab_n_topics && !stands_here(w, &ab_topics[w->first]))
        w->first++;
    for (w->end = w->first; w->end < ab_n_topics; w->end++)
        if (stands_here(w, &ab_topics[w->end]) && ab_topics[w->end].per != ab_topics[w->first].per)
            break;
    w->topic = w->first;
    w->turn = w->number = w->n_grids = 0;
    w->is_turn_begun = true;
    return w->first < ab_n_topics;
}

/* Sets the phase and the back end that the current turn is about. Returns false after the last
 * turn. */
static bool set_turn(struct ab_topic_walk *w)
{
    const struct ab_session *s = w->at.view->session;
    const enum ab_topic_per per = ab_topics[w->first].per;
    w->at.phase = NULL;
    w->at.backend = UINT32_MAX;
    if (per == AB_PER_SESSION || s->n_phases == 0)
        return per == AB_PER_SESSION && w->turn == 0;
    uint32_t row = w->turn / s->n_phases;
    if (row >= (per == AB_PER_PHASE ? 1 : s->n_backends))
        return false;
    w->at.phase_index = w->turn % s->n_phases;
    w->at.phase = s->phases[w->at.phase_index];
    if (per == AB_PER_ROW_PHASE) /* pages and summaries have the order of the ranking */
        w->at.backend = w->at.surface == AB_TERMINAL ? row : w->at.view->ranking.rows[row].backend;
    return true;
}

static bool is_wanted(const struct ab_topic_walk *w)
{
    return (w->phase == NULL || w->at.phase == NULL || strcmp(w->phase, w->at.phase) == 0) &&
           (w->at.backend == UINT32_MAX ||
            ab_session_has_numbers(w->at.view->session, w->at.backend));
}

/* Adds the title and the remark of the topic, for surfaces that show them. If programs are
 * compared, rows are called programs instead of allocators. */
static void add_words(const struct ab_topic_walk *w, const struct ab_topic *t, struct ab_grid *g)
{
    if (g->rows_are != NULL && g->session->n_programs > 0 && strcmp(g->rows_are, "allocator") == 0)
        g->rows_are = "program";
    if (g->caption == NULL && t->title != NULL && w->at.phase != NULL)
        g->caption = ab_view_texts_addf(&g->texts, "%s: %s", t->title, w->at.phase);
    else if (g->caption == NULL)
        g->caption = t->title != NULL ? t->title : g->title;
    if (t->remark != NULL)
        ab_view_texts_addf(&g->closing, "%s", t->remark);
}

/* Creates the grid that the walk is at, and moves the walk on. Returns NULL if that grid has
 * nothing to show. */
static const struct ab_topic *make(struct ab_topic_walk *w, struct ab_grid *g)
{
    const struct ab_topic *t = &ab_topics[w->topic];
    if (w->number == 0 && stands_here(w, t) && is_wanted(w))
        w->n_grids = t->count(w->at.view->session);
    if (w->number >= w->n_grids) {
        w->topic++;
        w->number = w->n_grids = 0;
        return NULL;
    }
    w->at.number = w->number++;
    *g = (struct ab_grid){0};
    if (!t->make(&w->at, g)) {
        ab_grid_fini(g);
        return NULL;
    }
    w->is_new_turn = w->is_turn_begun;
    w->is_turn_begun = false;
    if (w->at.surface != AB_TERMINAL)
        add_words(w, t, g);
    return t;
}

const struct ab_topic *ab_topics_next(struct ab_topic_walk *w, struct ab_grid *g)
{
    if (w->first == ab_n_topics || (w->end == 0 && !find_topics(w)))
        return NULL;
    do {
        while (set_turn(w)) {
            while (w->topic < w->end) {
                const struct ab_topic *t = make(w, g);
                if (t != NULL)
                    return t;
            }
            w->topic = w->first;
            w->turn++;
            w->is_turn_begun = true;
        }
    } while (find_topics(w));
    return NULL;
}
