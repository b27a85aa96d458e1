/* SPDX-License-Identifier: MIT
 *
 * The line on standard error that says what is running: redrawn on a terminal, one for each round
 * in a log.
 */
#include "cli/benchmark/progress.h"

#include "base/clock.h"
#include "base/units.h"
#include "core/text.h"
#include "core/units_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_NS = 100000000 };

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet)
{
    const char *term = getenv("TERM");
    bool is_on = !is_quiet && isatty(STDERR_FILENO) && !(term != NULL && strcmp(term, "dumb") == 0);
    *line = (struct ab_progress_line){
        .is_on = is_on, .is_log = !is_on && !is_quiet, .started_ns = ab_clock_now_ns()};
}

/* `n` rounds are done, those of an earlier command included. */
static void log_round(const struct ab_progress_line *line, uint32_t n)
{
    double spent = (double)(ab_clock_now_ns() - line->rounds_ns) * 1e-9;
    fprintf(stderr, "allocbench: round %u of %u done after %.1f s", n, line->n_rounds,
            (double)(ab_clock_now_ns() - line->started_ns) * 1e-9);
    if (n < line->n_rounds)
        fprintf(stderr, ", about %.0f s left",
                spent * (line->n_rounds - n) / (n - line->first) + 0.5);
    fputc('\n', stderr);
}

static void note_round(struct ab_progress_line *line, const struct ab_progress *p)
{
    if (p->n_rounds == 0)
        return;
    if (line->n_rounds == 0) {
        line->rounds_ns = ab_clock_now_ns();
        line->first = p->round;
    } else if (p->round != line->round) {
        log_round(line, p->round);
    }
    line->round = p->round;
    line->n_rounds = p->n_rounds;
}

void ab_progress_all_done(struct ab_progress_line *line)
{
    if (line->is_log && line->n_rounds > 0)
        log_round(line, line->n_rounds);
}

void ab_progress_show(void *user, const struct ab_progress *p)
{
    static const char *const passes[AB_PASS_COUNT + 1] = {[AB_PASS_VERIFY] = "pre-flight",
                                                          [AB_PASS_THROUGHPUT] = "throughput",
                                                          [AB_PASS_LATENCY] = "latency",
                                                          [AB_PASS_TAIL] = "tail",
                                                          [AB_PASS_MEMORY] = "memory",
                                                          [AB_PASS_CHECK] = "check",
                                                          [AB_PASS_INSTRUCTIONS] = "instructions",
                                                          [AB_PASS_SYSTEM_CALLS] = "system calls",
                                                          [AB_PASS_COUNT] = ""};
    struct ab_progress_line *line = user;
    uint64_t now = ab_clock_now_ns();
    if (line->is_log)
        note_round(line, p);
    if (!line->is_on || now - line->drawn_ns < REDRAW_NS)
        return;
    line->drawn_ns = now;
    fprintf(stderr, "\r\033[K");
    if (p->n_rounds > 0)
        fprintf(stderr, "round %u/%u  ", p->round + 1, p->n_rounds);
    fprintf(stderr, "%.40s  %s", p->backend, passes[p->pass]);
    if (p->done > 0 && p->total > p->done) {
        double spent = (double)(now - line->started_ns) * 1e-9;
        fprintf(stderr, "  %u %%  about %.0f s left", p->done * 100 / p->total,
                spent * (p->total - p->done) / p->done + 0.5);
    }
    fflush(stderr);
}

/* Not before it has taken a while: most files are done by then. */
void ab_progress_show_events(struct ab_progress_line *line, const char *path, uint64_t done,
                             uint64_t total)
{
    uint64_t now = ab_clock_now_ns(), spent = now - line->started_ns;
    char events[32], rate[32], shown[128];
    if (!line->is_on || spent < 4 * REDRAW_NS || now - line->drawn_ns < 2 * REDRAW_NS)
        return;
    line->drawn_ns = now;
    fprintf(stderr, "\r\033[K%.60s: %s events, %s/s", ab_text_printable(shown, sizeof shown, path),
            ab_units_count(events, sizeof events, (double)done),
            ab_units_count(rate, sizeof rate, (double)done * 1e9 / (double)spent));
    if (total > 0)
        fprintf(stderr, ", %.0f %%", 100.0 * (double)done / (double)total);
    fflush(stderr);
}

void ab_progress_end(struct ab_progress_line *line)
{
    if (line->is_on && line->drawn_ns != 0)
        fprintf(stderr, "\r\033[K");
    line->is_on = false;
}
