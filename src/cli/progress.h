/* SPDX-License-Identifier: MIT
 *
 * One line on a terminal, redrawn between runs and never during one, and below it what the rounds
 * say so far; and one for passes over a file. Where lines cannot be redrawn, as in a log, a line
 * for each round that is done.
 */
#ifndef AB_CLI_PROGRESS_H
#define AB_CLI_PROGRESS_H

#include "cli/progress_text.h"
#include "runner/session/session.h"

#include <stdbool.h>

struct ab_progress_line {
    bool is_on;
    bool is_log;                   /* not redrawn */
    bool is_two;                   /* there is something on the line below */
    char stage[64];                /* what the rounds are a part of, "replay"; "" = nothing */
    double rounds_after;           /* what comes after them takes as long as so many more */
    bool has_rule;                 /* the number of rounds is not fixed … */
    uint32_t n_expected;           /* … but expected to be this; 0 = not known */
    uint64_t started_ns, drawn_ns; /* the command, or this part of it */
    uint64_t rounds_ns;            /* when the first round began; 0 = none has */
    uint32_t done, total;          /* runs, as the runner counts them */
    uint32_t first, n_rounds;
    char so_far[AB_PROGRESS_BYTES];
};

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet);
/* Says what runs next. */
void ab_progress_show(struct ab_progress_line *line, const struct ab_progress *p);
/* A round of the session is done. */
void ab_progress_round(struct ab_progress_line *line, const struct ab_session *session);
/* "WHAT: 12.3 M UNIT, 4.5 M/s, 67 %", of something long; total 0 = not known. */
void ab_progress_show_counted(struct ab_progress_line *line, const char *what, const char *unit,
                              uint64_t done, uint64_t total);
/* Shows how far a pass over the events of a file is. */
void ab_progress_show_events(struct ab_progress_line *line, const char *path, uint64_t done,
                             uint64_t total);
/* Any one line, cut to the width of the terminal. */
void ab_progress_show_text(struct ab_progress_line *line, const char *text);
void ab_progress_end(struct ab_progress_line *line);

#endif
