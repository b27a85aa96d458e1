/* SPDX-License-Identifier: MIT
 *
 * Looks at the recording from outside once a second, less often where that takes long, and only
 * while the terminal is ours: a shell may have put us into the background.
 */
#include "cli/record/live_line.h"

#include "base/clock.h"
#include "core/units_show.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
enum { LEAST_SHARE = 20 }; /* of the time goes into looking, at most: one part in so many */

static bool is_same_terminal(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           S_ISCHR(out.st_mode) && S_ISCHR(err.st_mode) && out.st_rdev == err.st_rdev;
}

static bool is_in_background(void)
{
    pid_t front = tcgetpgrp(STDERR_FILENO); /* -1: not the terminal of our session */
    return front >= 0 && front != getpgrp();
}

void ab_live_line_begin(struct ab_live_line *l, bool is_quiet, bool is_asked_for)
{
    *l = (struct ab_live_line){.begin_ns = ab_clock_now_ns()};
    ab_progress_begin(&l->line, is_quiet || (is_same_terminal() && !is_asked_for));
    l->looked_ns = l->begin_ns;
    l->next_ns = l->begin_ns + SECOND_NS;
}

uint64_t ab_live_line_rest_ns(const struct ab_live_line *l)
{
    uint64_t now = ab_clock_now_ns();
    if (!l->line.is_on)
        return UINT64_MAX;
    return now < l->next_ns ? l->next_ns - now : 0;
}

/* "recording ended, 12.4 M calls, spool 88.1 MiB": the command goes on without. */
static void draw_end(struct ab_live_line *l, const struct ab_relay_view *view)
{
    char text[AB_PROGRESS_BYTES], calls[32];
    snprintf(text, sizeof text, "recording ended, %s calls, spool %s",
             ab_units_count(calls, sizeof calls, (double)view->n_calls),
             AB_BYTES(view->spool_bytes));
    ab_progress_show_text(&l->line, text);
}

/* ", 93 % converted" */
static void add_converted(char *to, size_t cap, const struct ab_relay_view *view,
                          uint64_t n_converted)
{
    uint64_t n = n_converted < view->n_events ? n_converted : view->n_events;
    if (n > 0)
        snprintf(to, cap, ", %.0f %% converted", floor(100 * (double)n / (double)view->n_events));
}

/* "recording 1:05, 12.4 M calls, 310 k/s, spool 88.1 MiB, 93 % converted" */
static void draw(struct ab_live_line *l, const struct ab_relay_view *view, uint64_t n_converted,
                 uint64_t now)
{
    char text[AB_PROGRESS_BYTES], calls[32], rate[32];
    uint64_t s = (now - l->begin_ns) / SECOND_NS;
    uint64_t n_new = view->n_calls > l->n_calls ? view->n_calls - l->n_calls : 0;
    double per_s = (double)n_new * 1e9 / (double)(now - l->looked_ns);
    int n = snprintf(text, sizeof text, "recording ");
    if (s >= 3600)
        n += snprintf(text + n, sizeof text - (size_t)n, "%llu:%02llu:%02llu",
                      (unsigned long long)s / 3600, (unsigned long long)s / 60 % 60,
                      (unsigned long long)s % 60);
    else
        n += snprintf(text + n, sizeof text - (size_t)n, "%llu:%02llu", (unsigned long long)s / 60,
                      (unsigned long long)s % 60);
    n += snprintf(text + n, sizeof text - (size_t)n, ", %s calls, %s/s, spool %s",
                  ab_units_count(calls, sizeof calls, (double)view->n_calls),
                  ab_units_count(rate, sizeof rate, per_s), AB_BYTES(view->spool_bytes));
    add_converted(text + n, sizeof text - (size_t)n, view, n_converted);
    ab_progress_show_text(&l->line, text);
}

void ab_live_line_show(struct ab_live_line *l, const struct ab_relay *relay, uint64_t n_converted)
{
    uint64_t begin = ab_clock_now_ns();
    if (!l->line.is_on || begin < l->next_ns)
        return;
    if (!is_in_background()) {
        struct ab_relay_view view = ab_relay_look(relay);
        if (view.is_ended)
            draw_end(l, &view);
        else
            draw(l, &view, n_converted, begin);
        l->looked_ns = begin;
        l->n_calls = view.n_calls;
    }
    uint64_t spent = (ab_clock_now_ns() - begin) * LEAST_SHARE;
    l->next_ns = begin + (spent > SECOND_NS ? spent : SECOND_NS);
}

void ab_live_line_end(struct ab_live_line *l)
{
    ab_progress_end(&l->line);
}
