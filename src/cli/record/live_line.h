/* SPDX-License-Identifier: MIT
 *
 * One line on a terminal while a command is recorded: for how long, how many calls, how fast, how
 * large the spool is, how much is converted. Redrawn once a second.
 */
#ifndef AB_CLI_RECORD_LIVE_LINE_H
#define AB_CLI_RECORD_LIVE_LINE_H

#include "cli/progress.h"
#include "record/relay.h"

struct ab_live_line { /* {0}: nothing is drawn */
    struct ab_progress_line line;
    uint64_t begin_ns, next_ns; /* of the recording; when it is drawn again */
    uint64_t looked_ns;         /* when there were n_calls */
    uint64_t n_calls;
};

/* Draws nothing where standard error is no terminal; nor where standard output is the same one,
 * since what the command writes would be between, unless that is asked for. */
void ab_live_line_begin(struct ab_live_line *l, bool is_quiet, bool is_asked_for);
/* How long until it is drawn again; UINT64_MAX = it is not drawn. */
uint64_t ab_live_line_rest_ns(const struct ab_live_line *l);
/* Draws it, if it is time. n_converted: events that are already; 0 = none are before the end. */
void ab_live_line_show(struct ab_live_line *l, const struct ab_relay *relay, uint64_t n_converted);
void ab_live_line_end(struct ab_live_line *l);

#endif
