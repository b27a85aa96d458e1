/* SPDX-License-Identifier: MIT
 *
 * One line on a terminal, redrawn between runs and never during one, and below it what the rounds
 * say so far; and one for passes over a file. Where lines cannot be redrawn, as in a log, a line
 * for each round that is done.
 */
#ifndef AB_CLI_PROGRESS_H
#define AB_CLI_PROGRESS_H

#include "result/result.h"
#include "runner/session.h"

#include <stdbool.h>

/* Makes the texts that are shown while a session runs: the line on a terminal and the one below it,
 * and the line of a finished round in a log. Nothing is printed here. All of it is printable, and
 * no wider than asked for. Call them between ab_format_begin and ab_format_end. */

enum { AB_PROGRESS_BYTES = 1024 };

struct ab_progress_view {
    const char *stage;          /* "replay", named ahead of its rounds; NULL = nothing */
    uint32_t round, n_rounds;   /* from 1; round 0: pre-flight; n_rounds 0: not known */
    bool is_about;              /* n_rounds is an estimate */
    const char *backend, *what; /* "mimalloc", "latency"; what "" = nothing */
    double share;               /* of the work that is done; NaN = not known */
    double left_s;              /* NaN = not known */
};

/* "round 7 of 10  mimalloc, latency  68 %  8 s left". What is too wide goes in this order: a bar,
 * the end of the name, the time, the rest of the line. */
const char *ab_progress_text_line(char buf[AB_PROGRESS_BYTES], const struct ab_progress_view *v,
                                  unsigned width, bool utf8);

/* "so far: mimalloc 1.78x  tcmalloc 1.69x  glibc 1", fastest first, by whole-run time against the
 * base, as many as fit; "" where there is nothing to compare, or not two fit. */
const char *ab_progress_text_so_far(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                    unsigned width, bool utf8);

/* "[ 3/10] 12 s, 28 s left  mine 10.3 ns  base 10.1 ns", with a stage "replay [ 3/10] …": times of
 * an op of the whole run, or of a program, in the last round of the session. */
const char *ab_progress_text_round(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                   const struct ab_progress_view *v, double spent_s,
                                   unsigned width);

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
