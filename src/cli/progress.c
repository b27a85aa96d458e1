/* SPDX-License-Identifier: MIT
 *
 * Draws the lines of progress on standard error, and estimates the remaining time.
 */
#include "cli/progress.h"

#include "app/rounds.h"
#include "base/clock.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "core/units_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_NS = 100000000, LOG_WIDTH = 80 };

void ab_progress_begin(struct ab_progress_line *line, bool is_quiet)
{
    const char *term = getenv("TERM");
    bool is_on = !is_quiet && isatty(STDERR_FILENO) && !(term != NULL && strcmp(term, "dumb") == 0);
    *line = (struct ab_progress_line){
        .is_on = is_on, .is_log = !is_on && !is_quiet, .started_ns = ab_clock_now_ns()};
}

static double since(uint64_t ns)
{
    return (double)(ab_clock_now_ns() - ns) * 1e-9;
}

/* Returns the finished share of the expected runs; NaN = unknown. */
static double share_of(const struct ab_progress_line *line)
{
    double total = line->total, n_new = (double)line->n_rounds - line->first;
    if (line->rounds_ns == 0 || (line->has_rule && line->n_expected == 0) || !(total > 0))
        return NAN;
    if (line->has_rule)
        total *= n_new > 0 ? ((double)line->n_expected - line->first) / n_new : 1;
    return fmin(1, line->done / total);
}

/* Estimates the time left for the remaining rounds and for later parts of the command, in s; NaN =
 * unknown. */
static double left_of(const struct ab_progress_line *line, double share)
{
    double whole_s = since(line->rounds_ns) / share;
    uint32_t n = line->has_rule ? line->n_expected : line->n_rounds;
    if (!(share > 0))
        return NAN;
    return whole_s * (1 - share) + (n > 0 ? line->rounds_after * whole_s / n : 0);
}

static struct ab_progress_view view_of(const struct ab_progress_line *line, uint32_t round)
{
    double share = share_of(line);
    return (struct ab_progress_view){
        .stage = line->stage[0] != 0 ? line->stage : NULL,
        .round = round,
        .n_rounds = line->has_rule ? line->n_expected : line->n_rounds,
        .is_about = line->has_rule,
        .backend = "",
        .what = "",
        .share = share,
        .left_s = left_of(line, share),
    };
}

static void draw(struct ab_progress_line *line, const struct ab_progress_view *view)
{
    char text[AB_PROGRESS_BYTES];
    /* the last column stays free, because some terminals wrap there */
    unsigned width = ab_terminal_width(STDERR_FILENO) - 1;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    bool has_two = line->so_far[0] != 0 && ab_format_width(line->so_far) <= width;
    fprintf(stderr, "\r\033[K%s", ab_progress_text_line(text, view, width, ab_terminal_has_utf8()));
    if (has_two || line->is_two)
        fprintf(stderr, "\n\033[K%s\033[A", has_two ? line->so_far : "");
    line->is_two = has_two;
    ab_format_end(&guard);
    fflush(stderr);
}

void ab_progress_show(struct ab_progress_line *line, const struct ab_progress *p)
{
    uint64_t now = ab_clock_now_ns();
    if (p->n_rounds > 0 && line->rounds_ns == 0) {
        line->rounds_ns = now;
        line->first = p->round;
    }
    line->n_rounds = p->n_rounds;
    line->done = p->done;
    line->total = p->total;
    if (!line->is_on || now - line->drawn_ns < REDRAW_NS)
        return;
    line->drawn_ns = now;
    struct ab_progress_view view = view_of(line, p->n_rounds > 0 ? p->round + 1 : 0);
    view.backend = p->backend;
    view.what = ab_pass_names[p->pass];
    draw(line, &view);
}

/* Shows that a round is finished: the results so far on a terminal, or a line in a log. */
void ab_progress_round(struct ab_progress_line *line, const struct ab_session *session)
{
    char text[AB_PROGRESS_BYTES];
    struct ab_format_guard guard;
    if (!line->is_on && !line->is_log)
        return;
    ab_format_begin(&guard);
    if (line->is_on) {
        ab_progress_text_so_far(line->so_far, session, ab_terminal_width(STDERR_FILENO) - 1,
                                ab_terminal_has_utf8());
    } else {
        struct ab_progress_view view = view_of(line, session->n_rounds);
        if (session->n_rounds >= session->n_rounds_planned && !(line->rounds_after > 0))
            view.left_s = NAN;
        fprintf(stderr, "%s\n",
                ab_progress_text_round(text, session, &view, since(line->started_ns), LOG_WIDTH));
    }
    ab_format_end(&guard);
}

void ab_progress_show_text(struct ab_progress_line *line, const char *text)
{
    char cut[AB_PROGRESS_BYTES];
    struct ab_format_guard guard;
    if (!line->is_on)
        return;
    line->drawn_ns = ab_clock_now_ns();
    ab_format_begin(&guard);
    fprintf(stderr, "\r\033[K%s",
            ab_format_label(cut, sizeof cut, text, ab_terminal_width(STDERR_FILENO) - 1,
                            ab_terminal_has_utf8()));
    ab_format_end(&guard);
    fflush(stderr);
}

/* Shows nothing in the first moments, because most files are finished by then. */
void ab_progress_show_counted(struct ab_progress_line *line, const char *what, const char *unit,
                              uint64_t done, uint64_t total)
{
    uint64_t now = ab_clock_now_ns(), spent = now - line->started_ns;
    char count[32], rate[32], shown[128], text[AB_PROGRESS_BYTES];
    if (!line->is_on || spent < 4 * REDRAW_NS || now - line->drawn_ns < 2 * REDRAW_NS)
        return;
    int n = snprintf(text, sizeof text, "%.60s: %s %s, %s/s",
                     ab_text_printable(shown, sizeof shown, what),
                     ab_units_count(count, sizeof count, (double)done), unit,
                     ab_units_count(rate, sizeof rate, (double)done * 1e9 / (double)spent));
    if (total > 0)
        snprintf(text + n, sizeof text - (size_t)n, ", %.0f %%",
                 100.0 * (double)done / (double)total);
    ab_progress_show_text(line, text);
}

void ab_progress_end(struct ab_progress_line *line)
{
    if (line->is_on && line->drawn_ns != 0)
        fputs(line->is_two ? "\r\033[K\n\033[K\033[A" : "\r\033[K", stderr);
    line->is_on = line->is_two = false;
}

/* ---- progress of reading files ---- */

static void begin_file(void *user, const char *path)
{
    struct ab_progress_files *f = user;
    f->path = path;
    ab_progress_begin(&f->line, f->is_quiet);
}

static void count_events(void *user, uint64_t done, uint64_t total)
{
    struct ab_progress_files *f = user;
    ab_progress_show_counted(&f->line, f->path, "events", done, total);
}

static void end_file(void *user)
{
    struct ab_progress_files *f = user;
    ab_progress_end(&f->line);
}

struct ab_file_progress ab_progress_of_files(struct ab_progress_files *files)
{
    return (struct ab_file_progress){
        .user = files, .begin = begin_file, .count = count_events, .end = end_file};
}
