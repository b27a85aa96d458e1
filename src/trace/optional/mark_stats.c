/* SPDX-License-Identifier: MIT
 *
 * One pass to count, then one for each name that sorts what lies between.
 */
#include "trace/optional/mark_stats.h"

#include "base/bits.h"
#include "core/median.h"

#include <math.h>
#include <stdlib.h>

static struct ab_mark_spread spread_of(double *x, size_t n)
{
    struct ab_mark_spread s = {NAN, NAN, NAN};
    if (n == 0)
        return s;
    s.median = ab_median(x, n); /* sorts */
    s.min = x[0];
    s.max = x[n - 1];
    return s;
}

/* The marks of each name, one name after the other, in order. */
struct groups {
    const struct ab_trace_mark **marks;
    size_t *ends; /* by name */
    double *between;
};

static void fill_groups(const struct ab_mark_table *t, struct groups *g)
{
    size_t place = 0;
    for (size_t i = 0; i < t->n; i++)
        g->ends[t->marks[i].name]++;
    for (size_t k = 0; k < t->n_names; k++) {
        size_t n = g->ends[k];
        g->ends[k] = place; /* moves on to the end while they are put in */
        place += n;
    }
    for (size_t i = 0; i < t->n; i++)
        g->marks[g->ends[t->marks[i].name]++] = &t->marks[i];
}

static struct ab_mark_stats stats_of(const struct groups *g, size_t name, bool has_time)
{
    size_t begin = name == 0 ? 0 : g->ends[name - 1], n = g->ends[name] - begin;
    const struct ab_trace_mark **m = g->marks + begin;
    struct ab_mark_stats s = {.name = (uint32_t)name, .n = n};
    if (n > 0) {
        s.first = m[0]->call;
        s.last = m[n - 1]->call;
    }
    for (size_t i = 1; i < n; i++)
        g->between[i - 1] = (double)(m[i]->call - m[i - 1]->call);
    s.calls = spread_of(g->between, n > 0 ? n - 1 : 0);
    for (size_t i = 1; i < n && has_time; i++)
        g->between[i - 1] = (double)(m[i]->time_us - m[i - 1]->time_us);
    s.us = spread_of(g->between, n > 0 && has_time ? n - 1 : 0);
    return s;
}

static int by_count(const void *a, const void *b)
{
    const struct ab_mark_stats *x = a, *y = b;
    return x->n != y->n ? AB_COMPARE(y->n, x->n) : AB_COMPARE(x->name, y->name);
}

bool ab_mark_stats(const struct ab_mark_table *t, struct ab_mark_stats *stats)
{
    bool has_time = t->n > 0 && t->marks[t->n - 1].time_us > 0;
    struct groups g = {.marks = malloc((t->n + 1) * sizeof g.marks[0]),
                       .ends = calloc(t->n_names + 1, sizeof g.ends[0]),
                       .between = malloc((t->n + 1) * sizeof g.between[0])};
    bool is_made = g.marks != NULL && g.ends != NULL && g.between != NULL;
    if (is_made) {
        fill_groups(t, &g);
        for (size_t k = 0; k < t->n_names; k++)
            stats[k] = stats_of(&g, k, has_time);
        qsort(stats, t->n_names, sizeof stats[0], by_count);
    }
    free(g.marks);
    free(g.ends);
    free(g.between);
    return is_made;
}
