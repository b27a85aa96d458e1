/* SPDX-License-Identifier: MIT
 *
 * Shows progress. On a terminal: one line, redrawn between runs and never during one, with results
 * so far on the line below. Passes over a file have a line too. In a log, one line per finished
 * round.
 */
#ifndef AB_CLI_PROGRESS_H
#define AB_CLI_PROGRESS_H

#include "core/file_progress.h"
#include "result/result.h"
#include "runner/run_session.h"

#include <stdbool.h>

/* Functions that make the texts shown during a session: the line on a terminal, the line below it,
 * and the line of a finished round in a log. They print nothing. The texts are printable and not
 * wider than `width`. Call them between ab_format_begin() and ab_format_end(). */

enum { AB_PROGRESS_BYTES = 1024 };

struct ab_progress_view {
    const char *stage;          /* "replay", shown before its rounds; NULL = none */
    uint32_t round, n_rounds;   /* from 1; round 0 = pre-flight; n_rounds 0 = unknown */
    bool is_about;              /* True if n_rounds is an estimate */
    const char *backend, *what; /* "mimalloc", "latency"; what "" = none */
    double share;               /* share of the work that is done; NaN = unknown */
    double left_s;              /* remaining seconds; NaN = unknown */
};

/* Makes "round 7 of 10 mimalloc, latency 68 % 8 s left". If it is too wide, drops in this order:
 * the bar, the end of the name, the time, the rest of the line. */
const char *ab_progress_text_line(char buf[AB_PROGRESS_BYTES], const struct ab_progress_view *v,
                                  unsigned width, bool utf8);

/* Makes "so far: mimalloc 1.78x  tcmalloc 1.69x  glibc 1": whole-run speed against the base,
 * fastest first, as many as fit. Makes "" if there is nothing to compare, or fewer than two fit. */
const char *ab_progress_text_so_far(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                    unsigned width, bool utf8);

/* Makes "[ 3/10] 12 s, 28 s left  mine 10.3 ns  base 10.1 ns", with a stage "replay [ 3/10] …". The
 * times are per op of the whole run, or of a program, in the session's last round. */
const char *ab_progress_text_round(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                   const struct ab_progress_view *v, double spent_s,
                                   unsigned width);

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
