/* SPDX-License-Identifier: MIT
 *
 * The table of topics (topics.def), and the walk over it that every renderer makes: a renderer
 * names one of its places and draws the grids that it gets.
 *
 * A walk goes in turns: each turn is about one phase, or about one phase of one back end. Topics of
 * the whole session have a single turn.
 */
#ifndef AB_ANSWER_TOPICS_H
#define AB_ANSWER_TOPICS_H

#include "answer/answer.h"
#include "answer/grid.h"
#include "answer/topic_words.h"
#include "result/session.h"

#include <stdbool.h>
#include <stdint.h>

enum ab_surface { AB_TERMINAL, AB_PAGE, AB_MARKDOWN, AB_SURFACE_COUNT };

/* Places of each surface, in the order in which they are drawn. */
enum ab_terminal_place {
    AB_TERMINAL_NONE,
    AB_TERMINAL_BY_VALUE, /* params with lists of values; shown instead of the rest of the answer */
    AB_TERMINAL_RANKING,
    AB_TERMINAL_PROGRAM, /* a real program */
    AB_TERMINAL_INSIDE,
    AB_TERMINAL_ANSWER, /* other work: phases, calls, memory */
    AB_TERMINAL_IDLE,
    AB_TERMINAL_GROWTH,
    AB_TERMINAL_PREDICTION,
    AB_TERMINAL_COUNTS, /* the first place below the answer */
    AB_TERMINAL_ITERATIONS,
    AB_TERMINAL_HEAPS,
    AB_TERMINAL_WALKS,
    AB_TERMINAL_LATENCY, /* the first place that needs -v */
    AB_TERMINAL_DEPTH,
    AB_TERMINAL_MEMORY,
    AB_TERMINAL_PINS,
    AB_TERMINAL_COUNT
};
/* places of the report: a page or, if pictures stand between its tables, a part of a page */
enum ab_page_place {
    AB_PAGE_NONE,
    AB_PAGE_SUMMARY,
    AB_PAGE_BY_VALUE,
    AB_PAGE_PROGRAM,
    AB_PAGE_INSIDE,
    AB_PAGE_PREDICTION,
    AB_PAGE_ITERATIONS,
    AB_PAGE_HEAPS,
    AB_PAGE_SIZES,
    AB_PAGE_SLOWEST,
    AB_PAGE_PEAK,
    AB_PAGE_PINS,
    AB_PAGE_GROWTH,
    AB_PAGE_IDLE,
    AB_PAGE_WALKS,
    AB_PAGE_ENVIRONMENT
};
enum ab_markdown_place {
    AB_MARKDOWN_NONE,
    AB_MARKDOWN_RANKING,
    AB_MARKDOWN_ANSWER, /* without titles */
    AB_MARKDOWN_IDLE,
    AB_MARKDOWN_PINS,
    AB_MARKDOWN_CONDITIONS, /* folded away, like AB_MARKDOWN_MORE */
    AB_MARKDOWN_MORE
};

/* The grid that a topic is asked for. */
struct ab_topic_at {
    const struct ab_view *view;
    enum ab_surface surface;
    unsigned asked;    /* words of -v; 0 = only the answer. Only for terminals */
    bool is_verbose;   /* True if the terminal shows every number of a real program */
    bool utf8;         /* True if the terminal shows more than ASCII */
    const char *phase; /* NULL = the topic is not made per phase */
    uint32_t phase_index;
    uint32_t backend; /* UINT32_MAX = the topic is not made per back end */
    uint32_t number;  /* number of the topic's grid within the turn, from 0 on */
};

enum ab_topic_per { AB_PER_SESSION, AB_PER_PHASE, AB_PER_ROW_PHASE };

struct ab_topic {
    const char *id;
    bool (*make)(const struct ab_topic_at *at, struct ab_grid *g);
    uint32_t (*count)(const struct ab_session *s); /* returns the number of grids of one turn */
    enum ab_topic_per per;
    unsigned asked; /* bits of the words of -v that show the topic; 0 = always shown */
    unsigned places[AB_SURFACE_COUNT];
    const char *title, *remark;
};
extern const struct ab_topic ab_topics[];
extern const size_t ab_n_topics;

/* A walk over the grids of a place. Initialize `at` with view, surface and, for terminals, the
 * members after it; set place, and phase if only one is wanted. */
struct ab_topic_walk {
    struct ab_topic_at at;
    unsigned place;
    const char *phase; /* only this phase; NULL = all */
    bool is_new_turn;  /* True if the last grid is the first of its turn */
    /* private */
    bool is_turn_begun;
    size_t first, end, topic; /* topics that take turns together: [first, end) */
    uint32_t turn, number;
    uint32_t n_grids; /* number of grids of the topic in this turn; 0 = not counted yet */
};
/* Creates the next grid that has something to show; NULL = there is none, also in further calls.
 * The caller ends the grid with ab_grid_fini(). */
const struct ab_topic *ab_topics_next(struct ab_topic_walk *walk, struct ab_grid *g);

enum { AB_MEMORY_HALVES = 2 }; /* two tables, so that each fits a terminal of 80 columns */
enum { AB_SIZES_FEW = 20 };    /* sizes with fewer calls are not shown on pages */
/* Pages show at most this many phases beside each other; other phases are folded, merged or left to
 * other forms. */
enum { AB_PAGE_PHASES = 8 };

#define AB_TOPIC(id, function, ...) bool function(const struct ab_topic_at *at, struct ab_grid *g);
#include "answer/topics.def"
#undef AB_TOPIC

#endif
