/* SPDX-License-Identifier: MIT
 *
 * Shows progress. On a terminal: one line, redrawn between runs and never during one, with results
 * so far on the line below. Passes over a file have a line too. In a log, one line per finished
 * round.
 */
#ifndef AB_CLI_PROGRESS_H
#define AB_CLI_PROGRESS_H

#include "answer/progress_text.h"
#include "app/say.h"
#include "core/file_progress.h"

#include <stdbool.h>

struct ab_progress_line {
    bool is_on;
    bool is_log;                   /* True to print lines instead of redrawing one */
    bool is_two;                   /* True if the line below is in use */
    char stage[64];                /* part of the command, "replay"; "" = none */
    double rounds_after;           /* duration of later parts, in rounds */
    bool has_rule;                 /* True if a rule ends the rounds */
    uint32_t n_expected;           /* expected rounds with a rule; 0 = unknown */
    uint64_t started_ns, drawn_ns; /* start of the command or part; last redraw */
    uint64_t rounds_ns;            /* start of the first round; 0 = none yet */
    uint32_t done, total;          /* runs, as counted by the runner */
    uint32_t first, n_rounds;
    char so_far[AB_PROGRESS_BYTES];
};

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet);
/* Shows the run that comes next. */
void ab_progress_show(struct ab_progress_line *line, const struct ab_progress *p);
/* Shows that a round of the session is done. */
void ab_progress_round(struct ab_progress_line *line, const struct ab_session *session);
/* Shows "WHAT: 12.3 M UNIT, 4.5 M/s, 67 %" for a long step; total 0 = unknown. */
void ab_progress_show_counted(struct ab_progress_line *line, const char *what, const char *unit,
                              uint64_t done, uint64_t total);
/* Shows any line, cut to the width of the terminal. */
void ab_progress_show_text(struct ab_progress_line *line, const char *text);
void ab_progress_end(struct ab_progress_line *line);

struct ab_progress_files { /* the lines of passes over files, one after the other */
    struct ab_progress_line line;
    const char *path;
    bool is_quiet; /* set by the caller */
};
/* `files` must live as long as the result is used. */
struct ab_file_progress ab_progress_of_files(struct ab_progress_files *files);

#endif
