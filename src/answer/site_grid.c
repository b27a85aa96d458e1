/* SPDX-License-Identifier: MIT
 *
 * Fills the table of the call sites of a real program that call the allocator, with their calls and
 * time, over all rounds.
 */
#include "answer/topics.h"
#include "core/alloc.h"
#include "result/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATOR, CALLS, A_CALL, INSIDE, SHARE, COLUMNS };
enum { SHOWN = 10 };

struct place { /* A call site under one back end. The numbers are sums over the rounds. */
    const struct ab_call_site *site;
    double calls;
    double inside_ns, timed_calls; /* sums over the rounds whose time is known */
};

struct places {
    struct place *items;
    size_t n, cap;
    double inside_ns; /* sum of all call sites */
    uint32_t rounds, timed_rounds;
};

/* Sorts by call site. Entries of the same call site keep the order of the records. */
static int by_place(const void *a, const void *b)
{
    const struct ab_call_site *x = ((const struct place *)a)->site;
    const struct ab_call_site *y = ((const struct place *)b)->site;
    int order = strcmp(x->function, y->function);
    if (order == 0)
        order = strcmp(x->file, y->file);
    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    return order != 0 ? order : (x > y) - (x < y);
}

static bool is_same(const struct ab_call_site *a, const struct ab_call_site *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

static int by_time(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->inside_ns != y->inside_ns)
        return x->inside_ns < y->inside_ns ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Adds up the rounds of each call site, and sorts the call sites by time. */
static void merge_rounds(struct places *all)
{
    size_t n = 0;
    qsort(all->items, all->n, sizeof all->items[0], by_place);
    for (size_t i = 0; i < all->n; i++) {
        const struct place *p = &all->items[i];
        if (i == 0 || !is_same(all->items[n - 1].site, p->site)) {
            all->items[n++] = *p;
            continue;
        }
        all->items[n - 1].calls += p->calls;
        all->items[n - 1].timed_calls += p->timed_calls;
        all->items[n - 1].inside_ns += p->inside_ns;
    }
    all->n = n;
    qsort(all->items, all->n, sizeof all->items[0], by_time);
}

static void collect(const struct ab_session *s, uint32_t backend, struct places *out)
{
    uint32_t last = UINT32_MAX, last_timed = UINT32_MAX;
    *out = (struct places){.n = 0};
    for (uint32_t i = 0; i < s->n_call_sites; i++) {
        const struct ab_call_site *site = &s->call_sites[i];
        if (site->backend != backend)
            continue;
        AB_GROW(out->items, out->cap, out->n);
        out->items[out->n] = (struct place){.site = site, .calls = site->all_calls};
        out->rounds += site->round != last;
        last = site->round;
        if (isfinite(site->inside_ns)) {
            out->items[out->n].timed_calls = site->all_calls;
            out->items[out->n].inside_ns = site->inside_ns;
            out->inside_ns += site->inside_ns;
            out->timed_rounds += last != last_timed;
            last_timed = last;
        }
        out->n++;
    }
    if (out->n > 0)
        merge_rounds(out);
}

/* Returns ns, or NaN if it is a difference of times that is not above 0, because the calls took
 * less than the clock can measure. */
static double above_zero(double ns)
{
    return ns > 0 ? ns : (double)NAN;
}

/* Adds a row named "parse (json.c:120)". */
static void add_row(struct ab_grid *g, uint32_t backend, const struct place *p,
                    const struct places *all)
{
    char name[320];
    const struct ab_call_site *site = p->site;
    const char *slash = strrchr(site->file, '/');
    int n = snprintf(name, sizeof name, "%s", site->function);
    if (site->line > 0 && n > 0 && (size_t)n < sizeof name)
        snprintf(name + n, sizeof name - (size_t)n, " (%s:%u)",
                 slash != NULL ? slash + 1 : site->file, site->line);
    ab_grid_add(g, name, "");
    ab_grid_say(g, ALLOCATOR, "%s", ab_backend_label(&g->session->backends[backend]));
    ab_grid_put(g, CALLS, AB_GRID_AMOUNT, p->calls / all->rounds, NULL);
    ab_grid_put(g, A_CALL, AB_GRID_TIME, above_zero(p->inside_ns) / p->timed_calls, NULL);
    ab_grid_put(g, INSIDE, AB_GRID_TIME, above_zero(p->inside_ns) / all->timed_rounds, NULL);
    ab_grid_put(g, SHARE, AB_GRID_SHARE, above_zero(p->inside_ns) / above_zero(all->inside_ns),
                NULL);
}

bool ab_call_sites_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    size_t n_left = 0;
    *g = (struct ab_grid){.session = v->session,
                          .rows_are = "called from",
                          .columns = {[ALLOCATOR] = {.in_html = "allocator"},
                                      [CALLS] = {"calls", 0, "#calls"},
                                      [A_CALL] = {"a call", 0, "#a call"},
                                      [INSIDE] = {"in malloc", 0, "#in malloc"},
                                      [SHARE] = {"of all", 0, "#of all"}},
                          .n_columns = COLUMNS,
                          .is_list = true,
                          .title = "calls by call site, means of the rounds"};
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        struct places all;
        if (v->ranking.rows[i].standing == AB_VIEW_FAILED)
            continue;
        collect(v->session, v->ranking.rows[i].backend, &all);
        if (all.n > 0)
            ab_grid_heading(g, ab_backend_label(&v->session->backends[v->ranking.rows[i].backend]),
                            "");
        for (size_t k = 0; k < all.n && k < SHOWN; k++)
            add_row(g, v->ranking.rows[i].backend, &all.items[k], &all);
        n_left += all.n > SHOWN ? all.n - SHOWN : 0;
        free(all.items);
    }
    if (n_left > 0)
        g->note = ab_view_texts_addf(&g->texts, "(not shown: %zu places with less time in malloc)",
                                     n_left);
    return g->n_rows > 0;
}
