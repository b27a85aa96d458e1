/* SPDX-License-Identifier: MIT
 *
 * Lays out the parts of a progress line in the columns of a terminal.
 */
#include "answer/progress_text.h"

#include "answer/sparkline.h"
#include "base/units.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEAST = 8, BAR_LEAST = 10, BAR_MOST = 24, PART_BYTES = 320 };

/* A line to which whole parts are added. */
struct line {
    char *buf;
    size_t n;
    unsigned width, most; /* width: columns used; most: columns available */
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
            AB_BACKEND_ABSENT) /* not installed, or left out of the rounds that confirm a verdict */
            continue;
        say_backend(part, sizeof part, s, i, round);
        if (i + 1 < s->n_backends)
            l.most = width - 4; /* room for " ..." at the end */
        if (add(&l, part))
            continue;
        l.most = width;
        add(&l, " ...");
        break;
    }
    return buf;
}
