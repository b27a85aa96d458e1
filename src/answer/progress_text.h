/* SPDX-License-Identifier: MIT
 *
 * Makes the texts shown during a session: the line on a terminal, the line below it, and the line
 * of a finished round in a log. The texts are printable and not wider than `width`. Call the
 * functions between ab_format_begin() and ab_format_end().
 */
#ifndef AB_ANSWER_PROGRESS_TEXT_H
#define AB_ANSWER_PROGRESS_TEXT_H

#include "result/result.h"

#include <stdbool.h>
#include <stdint.h>

enum { AB_PROGRESS_BYTES = 1024 };

struct ab_progress_view {
    const char *stage;          /* "replay", shown before its rounds; NULL = none */
    uint32_t round, n_rounds;   /* round: number from 1 on, 0 = pre-flight; n_rounds: 0 = unknown */
    bool is_about;              /* True if n_rounds is an estimate */
    const char *backend, *what; /* backend: "mimalloc"; what: "latency", "" = none */
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

#endif
