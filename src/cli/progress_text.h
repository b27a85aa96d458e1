/* SPDX-License-Identifier: MIT
 *
 * Makes the texts that are shown while a session runs: the line on a terminal and the one below it,
 * and the line of a finished round in a log. Nothing is printed here. All of it is printable, and
 * no wider than asked for. Call them between ab_format_begin and ab_format_end.
 */
#ifndef AB_CLI_PROGRESS_TEXT_H
#define AB_CLI_PROGRESS_TEXT_H

#include "result/result.h"

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

#endif
