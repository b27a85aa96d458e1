/* SPDX-License-Identifier: MIT
 *
 * Shows progress. On a terminal, there is one line, redrawn between runs and never during one, with
 * results so far on the line below. Reading a file has such a line too. In a log, there is one line
 * per finished round.
 */
#ifndef AB_CLI_PROGRESS_H
#define AB_CLI_PROGRESS_H

#include "answer/progress_text.h"
#include "app/say.h"
#include "core/file_progress.h"

#include <stdbool.h>

struct ab_progress_line {
    bool is_on;
    bool is_log; /* True to print lines in a log instead of redrawing one line */
    bool is_two; /* True if the line below shows results so far */
    /* name of the part of the command, such as "replay"; "" = none */
    char stage[64];
    double rounds_after; /* duration of later parts of the command, in rounds */
    bool has_rule;       /* True if a rule ends the rounds */
    uint32_t n_expected; /* expected rounds with a rule; 0 = unknown */
    /* time when the command or part began, and when the line was last drawn */
    uint64_t started_ns, drawn_ns;
    uint64_t rounds_ns;   /* time when the first round began; 0 = not yet */
    uint32_t done, total; /* finished and planned runs, as the runner counts them */
    uint32_t first, n_rounds;
    char so_far[AB_PROGRESS_BYTES];
};

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet);
/* Shows the run that begins next. */
void ab_progress_show(struct ab_progress_line *line, const struct ab_progress *p);
/* Shows that a round of the session is finished. */
void ab_progress_round(struct ab_progress_line *line, const struct ab_session *session);
/* Shows a long step as "WHAT: 12.3 M UNIT, 4.5 M/s, 67 %"; total 0 = unknown. */
void ab_progress_show_counted(struct ab_progress_line *line, const char *what, const char *unit,
                              uint64_t done, uint64_t total);
/* Shows any line, cut to the width of the terminal. */
void ab_progress_show_text(struct ab_progress_line *line, const char *text);
void ab_progress_end(struct ab_progress_line *line);

struct ab_progress_files { /* progress lines of reading files one after the other */
    struct ab_progress_line line;
    const char *path;
    bool is_quiet; /* set by the caller */
};
/* Returns callbacks that draw the progress of reading files. `files` must live as long as the
 * callbacks are used. */
struct ab_file_progress ab_progress_of_files(struct ab_progress_files *files);

#endif
