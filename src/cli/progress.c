/* SPDX-License-Identifier: MIT
 *
 * Draws the lines of progress on standard error, and estimates the remaining time.
 */
#include "cli/progress.h"

#include "answer/sparkline.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "result/shown.h"
#include "stats/metric.h"

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

/* Estimates the seconds left for these rounds and later parts; NaN = unknown. */
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
    unsigned width = ab_terminal_width(STDERR_FILENO) - 1; /* the last column may wrap */
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

/* Shows that a round is finished: the results so far on a terminal, a line in a log. */
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

/* Shows the count only after a while, because most files are finished by then. */
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

/* ---- passes over files ---- */

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

/* Limits of the layout of progress lines. */

enum { NAME_LEAST = 8, BAR_LEAST = 10, BAR_MOST = 24, PART_BYTES = 320 };

/* A line to which whole parts are added. */
struct line {
    char *buf;
    size_t n;
    unsigned width, most; /* columns used; columns available */
};

static bool fits(const struct line *l, const char *part)
{
    return l->width + ab_format_width(part) <= l->most && l->n + strlen(part) < AB_PROGRESS_BYTES;
}

static bool add(struct line *l, const char *part)
{
    if (!fits(l, part))
        return false;
    strcpy(l->buf + l->n, part);
    l->n += strlen(part);
    l->width += ab_format_width(part);
    return true;
}

/* Writes "8 s left" or "3 min left" after `before`. */
static void say_left(char *buf, size_t cap, const char *before, double left_s)
{
    buf[0] = 0;
    if (!isfinite(left_s) || left_s < 0)
        return;
    if (left_s < 120)
        snprintf(buf, cap, "%s%.0f s left", before, ceil(left_s));
    else
        snprintf(buf, cap, "%s%.0f min left", before, ceil(left_s / 60));
}

static void say_round(char *buf, size_t cap, const struct ab_progress_view *v)
{
    size_t n = v->stage != NULL ? (size_t)snprintf(buf, cap, "%.60s: ", v->stage) : 0;
    if (v->round == 0)
        buf[n] = 0;
    else if (v->n_rounds == 0)
        snprintf(buf + n, cap - n, "round %u  ", v->round);
    else
        snprintf(buf + n, cap - n, "round %u of %s%u  ", v->round, v->is_about ? "about " : "",
                 v->n_rounds);
}

/* Adds a bar filled to `share`, at most `room` or BAR_MOST columns wide, drawn in eighths of a
 * column. */
static void add_bar(struct line *l, double share, unsigned room)
{
    char bar[4 * BAR_MOST + 8], padded[4 * BAR_MOST + 16];
    unsigned width = room < BAR_MOST ? room : BAR_MOST;
    ab_sparkline_bar(bar, floor(fmin(share, 1) * width * 8) / 8, true);
    snprintf(padded, sizeof padded, "  %s%*s", bar, (int)(width - ab_format_width(bar)), "");
    add(l, padded);
}

const char *ab_progress_text_line(char buf[AB_PROGRESS_BYTES], const struct ab_progress_view *v,
                                  unsigned width, bool utf8)
{
    char round[64], what[PART_BYTES], name[PART_BYTES], share[32] = "", left[64];
    struct line l = {.buf = buf, .most = width};
    buf[0] = 0;
    say_round(round, sizeof round, v);
    snprintf(what, sizeof what, "%s%.60s", v->what[0] != 0 ? ", " : "", v->what);
    if (isfinite(v->share))
        snprintf(share, sizeof share, "  %.0f %%", 100 * v->share);
    say_left(left, sizeof left, "  ", v->left_s);
    unsigned fixed = ab_format_width(round) + ab_format_width(what) + (unsigned)strlen(share);
    if (fixed + strlen(left) + NAME_LEAST > width)
        left[0] = 0;
    fixed += (unsigned)strlen(left);
    unsigned room = width > fixed + NAME_LEAST ? width - fixed : NAME_LEAST;
    ab_format_label(name, sizeof name, v->backend, room, utf8);
    fixed += ab_format_width(name);
    add(&l, round);
    add(&l, name);
    add(&l, what);
    if (utf8 && isfinite(v->share) && width >= fixed + BAR_LEAST + 2)
        add_bar(&l, v->share, width - fixed - 2);
    add(&l, share);
    add(&l, left);
    return buf;
}

struct ranked {
    const char *name;
    double speed;
    bool is_base, is_clear;
};

static int by_speed(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->speed, y = ((const struct ranked *)b)->speed;
    return (x < y) - (x > y);
}

static uint32_t rank(const struct ab_session *s, struct ranked *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t base = ab_session_base_of(s, i);
        if (base == UINT32_MAX || !ab_backend_is_comparable(&s->backends[i]))
            continue;
        struct ab_effect e = ab_session_lead(s, i, base);
        if (i == base || e.ratio > 0)
            out[n++] = (struct ranked){ab_backend_label(&s->backends[i]), i == base ? 1 : e.ratio,
                                       i == base, i == base || ab_effect_is_clear(&e)};
    }
    qsort(out, n, sizeof out[0], by_speed);
    return n;
}

const char *ab_progress_text_so_far(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                    unsigned width, bool utf8)
{
    struct ranked *all = ab_alloc_zeroed(s->n_backends + 1, sizeof all[0]);
    struct line l = {.buf = buf, .most = width};
    char name[PART_BYTES], part[PART_BYTES + 48];
    uint32_t n = rank(s, all), n_shown = 0;
    buf[0] = 0;
    add(&l, "so far: ");
    for (uint32_t i = 0; i < n; i++) {
        ab_format_name(name, sizeof name, all[i].name, 24, utf8);
        if (all[i].is_base)
            snprintf(part, sizeof part, " %s 1 ", name);
        else
            snprintf(part, sizeof part, " %s %s%.2fx ", name, all[i].is_clear ? "" : "~",
                     all[i].speed);
        if (!add(&l, part))
            break;
        n_shown++;
    }
    if (n_shown < 2)
        buf[0] = 0;
    else if (buf[l.n - 1] == ' ')
        buf[l.n - 1] = 0;
    free(all);
    return buf;
}

/* Returns the time per op in ns of the whole run, in one round. */
static double time_of_op(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    double n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend == backend && r->round == round && r->op == AB_OP_ALL)
            n += (double)r->n_ops;
    }
    return n > 0 ? ab_session_time_of_round(s, backend, NULL, round) / n : (double)NAN;
}

static void say_backend(char *buf, size_t cap, const struct ab_session *s, uint32_t backend,
                        uint32_t round)
{
    const struct ab_backend_info *b = &s->backends[backend];
    char name[PART_BYTES], cell[32];
    double ns = time_of_op(s, backend, round);
    ab_format_name(name, sizeof name, ab_backend_label(b), 24, false);
    if (!ab_backend_status_has_numbers(b->status))
        snprintf(buf, cap, "  %s %s", name, ab_backend_status_name(b->status));
    else
        snprintf(buf, cap, "  %s %s", name,
                 isfinite(ns) ? ab_units_time(cell, sizeof cell, ns) : "-");
}

const char *ab_progress_text_round(char buf[AB_PROGRESS_BYTES], const struct ab_session *s,
                                   const struct ab_progress_view *v, double spent_s, unsigned width)
{
    struct line l = {.buf = buf, .most = width};
    char part[PART_BYTES + 64], left[64];
    uint32_t round = s->n_rounds > 0 ? s->rounds[s->n_rounds - 1].index : 0;
    buf[0] = 0;
    say_left(left, sizeof left, ", ", v->left_s);
    if (v->stage != NULL) {
        snprintf(part, sizeof part, "%.60s ", v->stage);
        add(&l, part);
    }
    if (v->n_rounds > 0)
        snprintf(part, sizeof part, "[%2u/%s%u] %.0f s%s", v->round, v->is_about ? "~" : "",
                 v->n_rounds, spent_s, left);
    else
        snprintf(part, sizeof part, "[%2u] %.0f s%s", v->round, spent_s, left);
    add(&l, part);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        if (s->backends[i].status ==
            AB_BACKEND_ABSENT) /* also left out while a verdict is confirmed */
            continue;
        say_backend(part, sizeof part, s, i, round);
        if (i + 1 < s->n_backends)
            l.most = width - 4; /* room for the mark at the end */
        if (add(&l, part))
            continue;
        l.most = width;
        add(&l, " ...");
        break;
    }
    return buf;
}
