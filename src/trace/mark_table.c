/* SPDX-License-Identifier: MIT
 *
 * The table of marks. Names are searched linearly from the last to the first, because there are
 * only a few.
 */
#include "trace/mark_table.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "core/alloc.h"
#include "core/median.h"
#include "trace/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ab_mark_table_fini(struct ab_mark_table *t)
{
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    free(t->names);
    free(t->marks);
    *t = (struct ab_mark_table){0};
}

void ab_mark_append_name(struct ab_mark_table *t, const char *name, size_t n)
{
    AB_GROW(t->names, t->cap_names, t->n_names);
    t->names[t->n_names++] = ab_strndup(name, n);
}

uint32_t ab_mark_know_name(struct ab_mark_table *t, const char *name)
{
    const char *wanted = name[0] != 0 ? name : "mark";
    size_t n = strnlen(wanted, AB_MARK_NAME_MAX);
    for (size_t i = t->n_names; i > 0; i--)
        if (strncmp(t->names[i - 1], wanted, n) == 0 && t->names[i - 1][n] == 0)
            return (uint32_t)(i - 1);
    if (t->n_names < AB_MARK_NAMES_MAX - 1)
        ab_mark_append_name(t, wanted, n);
    else if (t->n_names < AB_MARK_NAMES_MAX)
        ab_mark_append_name(t, AB_MARK_FURTHER, strlen(AB_MARK_FURTHER));
    return (uint32_t)(t->n_names - 1);
}

void ab_mark_add(struct ab_mark_table *t, struct ab_trace_mark mark)
{
    if (t->n == (t->most != 0 ? t->most : AB_MARKS_MAX)) {
        t->n_lost++;
        return;
    }
    AB_GROW(t->marks, t->cap, t->n);
    if (t->n > 0) {
        const struct ab_trace_mark *last = &t->marks[t->n - 1];
        mark.call = mark.call > last->call ? mark.call : last->call;
        if (!t->is_of_requests && mark.time_us < last->time_us)
            mark.time_us = last->time_us;
    }
    t->marks[t->n++] = mark;
}

void ab_mark_table_cut(struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads)
{
    while (t->n > 0 && t->marks[t->n - 1].call > n_calls)
        t->n--;
    for (size_t i = 0; i < t->n; i++)
        if (t->marks[i].thread >= n_threads)
            t->marks[i].thread = AB_MARK_NO_THREAD;
}

const char *ab_mark_table_check(const struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads)
{
    if (t->n > 0 && t->marks[t->n - 1].call > n_calls)
        return t->is_of_requests ? "a request beyond the last call" : "a mark beyond the last call";
    for (size_t i = 0; i < t->n; i++)
        if (t->marks[i].thread >= n_threads && t->marks[i].thread != AB_MARK_NO_THREAD)
            return t->is_of_requests ? "a request of a thread that the trace does not have"
                                     : "a mark of a thread that the trace does not have";
    return NULL;
}

/* ---- chunks ----
 *
 * Calls and times are stored as differences from the mark before, even across chunks; arguments of
 * requests are stored as they are. */

enum { /* limits per chunk; such a chunk has at most 2,048 × 257 + 65,536 × 28 bytes */
       NAMES_MOST = 2048,
       MARKS_MOST = 65536,
};

/* ---- writing ---- */

_Static_assert(NAMES_MOST *(AB_MARK_NAME_MAX + 2) + MARKS_MOST * 28 + 2 * AB_VARINT_MAX <=
                   AB_TRACE_RAW_MAX,
               "the marks of a chunk fit");

static uint8_t *put_names(const struct ab_mark_table *t, size_t *n_done, uint8_t *at)
{
    size_t n = t->n_names - *n_done;
    n = n < NAMES_MOST ? n : NAMES_MOST;
    at = ab_put_varint(at, n);
    for (size_t end = *n_done + n; *n_done < end; ++*n_done) {
        size_t bytes = strlen(t->names[*n_done]);
        at = ab_put_varint(at, bytes);
        memcpy(at, t->names[*n_done], bytes);
        at += bytes;
    }
    return at;
}

/* Counts the next marks that can be stored now, because their names are stored already. */
static size_t count_marks(const struct ab_mark_table *t, const struct ab_marks_done *done)
{
    size_t n = 0;
    while (n < MARKS_MOST && done->n + n < t->n && t->marks[done->n + n].name < done->n_names)
        n++;
    return n;
}

static uint8_t *put_marks(const struct ab_mark_table *t, struct ab_marks_done *done, uint8_t *at)
{
    size_t n = count_marks(t, done);
    struct ab_trace_mark before = {0};
    if (done->n > 0)
        before = t->marks[done->n - 1];
    at = ab_put_varint(at, n);
    for (size_t end = done->n + n; done->n < end; done->n++) {
        const struct ab_trace_mark *m = &t->marks[done->n];
        at = ab_put_varint(at, m->call - before.call);
        at = ab_put_varint(at, m->name);
        at = ab_put_varint(at, (uint32_t)(m->thread + 1)); /* AB_MARK_NO_THREAD becomes 0 */
        at = ab_put_varint(at, t->is_of_requests ? m->argument : m->time_us - before.time_us);
        before = *m;
    }
    return at;
}

size_t ab_mark_encode(const struct ab_mark_table *t, struct ab_marks_done *done, uint8_t *raw)
{
    if (done->n_names == t->n_names && done->n == t->n)
        return 0;
    uint8_t *at = put_names(t, &done->n_names, raw);
    return (size_t)(put_marks(t, done, at) - raw);
}

/* ---- reading ---- */

static const char *malformed(const struct ab_mark_table *t)
{
    return t->is_of_requests ? "malformed requests" : "malformed marks";
}

static const char *too_many(const struct ab_mark_table *t)
{
    return t->is_of_requests ? "more requests than a trace can have"
                             : "more marks than a trace can have";
}

/* True if the name can be one of a function, so that it can be printed as it is. */
static bool is_symbol(const uint8_t *name, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!((name[i] | 32) >= 'a' && (name[i] | 32) <= 'z') &&
            !(name[i] >= '0' && name[i] <= '9') && name[i] != '_' && name[i] != ':')
            return false;
    return true;
}

static const char *take_name(struct ab_mark_table *t, struct ab_cursor *c)
{
    uint64_t n = ab_read_varint(c);
    if (c->has_failed || n == 0 || n > AB_MARK_NAME_MAX || (uint64_t)(c->end - c->at) < n ||
        memchr(c->at, 0, n) != NULL || (t->is_of_requests && !is_symbol(c->at, n)))
        return malformed(t);
    if (t->n_names == AB_MARK_NAMES_MAX)
        return too_many(t);
    const char *name = (const char *)c->at;
    c->at += n;
    ab_mark_append_name(t, name, n);
    return NULL;
}

static const char *take_mark(struct ab_mark_table *t, uint64_t n_calls, struct ab_cursor *c)
{
    struct ab_trace_mark before = {0};
    if (t->n > 0)
        before = t->marks[t->n - 1];
    uint64_t calls = ab_read_varint(c), name = ab_read_varint(c), thread = ab_read_varint(c),
             us = ab_read_varint(c);
    if (c->has_failed || thread > AB_TRACE_THREADS_MAX || calls > INT64_MAX - before.call ||
        (!t->is_of_requests && us > INT64_MAX - before.time_us))
        return malformed(t);
    if (name >= t->n_names)
        return t->is_of_requests ? "a request whose function is not named"
                                 : "a mark whose name is not defined";
    if (before.call + calls < n_calls)
        return t->is_of_requests ? "a request of a call that comes before its chunk"
                                 : "a mark of a call that comes before its chunk";
    if (t->n == AB_MARKS_MAX)
        return too_many(t);
    struct ab_trace_mark mark = {before.call + calls,
                                 (uint32_t)name,
                                 (uint32_t)thread - 1,
                                 {t->is_of_requests ? us : before.time_us + us}};
    ab_mark_add(t, mark);
    return NULL;
}

const char *ab_mark_decode(struct ab_mark_table *t, uint64_t n_calls, const uint8_t *raw,
                           size_t bytes)
{
    struct ab_cursor c = {raw, raw + bytes, false};
    const char *wrong = NULL;
    for (uint64_t n = ab_read_varint(&c); n > 0 && wrong == NULL; n--)
        wrong = take_name(t, &c);
    if (wrong != NULL)
        return wrong;
    for (uint64_t n = ab_read_varint(&c); n > 0 && wrong == NULL; n--)
        wrong = take_mark(t, n_calls, &c);
    if (wrong != NULL)
        return wrong;
    return c.has_failed || c.at != c.end ? malformed(t) : NULL;
}

/* ---- statistics: marks are grouped by name, then distances are sorted for each name ---- */

static struct ab_mark_spread spread_of(double *x, size_t n)
{
    struct ab_mark_spread s = {NAN, NAN, NAN};
    if (n == 0)
        return s;
    s.median = ab_median(x, n); /* sorts x */
    s.min = x[0];
    s.max = x[n - 1];
    return s;
}

/* Marks grouped by name, in order within each group. */
struct groups {
    const struct ab_trace_mark **marks;
    size_t *ends; /* end of the group in `marks`, by name */
    double *between;
};

static void fill_groups(const struct ab_mark_table *t, struct groups *g)
{
    size_t place = 0;
    for (size_t i = 0; i < t->n; i++)
        g->ends[t->marks[i].name]++;
    for (size_t k = 0; k < t->n_names; k++) {
        size_t n = g->ends[k];
        g->ends[k] = place; /* becomes the end while the group is filled */
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

void ab_mark_stats(const struct ab_mark_table *t, struct ab_mark_stats *stats)
{
    bool has_time = !t->is_of_requests && t->n > 0 && t->marks[t->n - 1].time_us > 0;
    struct groups g = {.marks = ab_alloc((t->n + 1) * sizeof g.marks[0]),
                       .ends = ab_alloc_zeroed(t->n_names + 1, sizeof g.ends[0]),
                       .between = ab_alloc((t->n + 1) * sizeof g.between[0])};
    fill_groups(t, &g);
    for (size_t k = 0; k < t->n_names; k++)
        stats[k] = stats_of(&g, k, has_time);
    qsort(stats, t->n_names, sizeof stats[0], by_count);
    free(g.marks);
    free(g.ends);
    free(g.between);
}
