/* SPDX-License-Identifier: MIT
 *
 * One pass says whether there are scopes, of what kind, and where they end; where those are too many
 * to be kept, a last one does. With several threads, a second pass tries the thread that allocates
 * most, and where there are none some more the others. Marks, if there are any, are read in the first.
 */
#include "trace_tools/scopes.h"

#include "core/grow.h"
#include "core/text.h"
#include "trace_tools/scope/of_threads.h"
#include "trace_tools/scope/search.h"
#include "trace_tools/scope/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One thread's scopes are taken when so much more of their blocks are gone at their ends, or when
 * there are so many times as many and it is not so much less: threads that have nothing to do with
 * each other are at the end of their scopes together now and then. Where they work on the same, the
 * scopes of all are as many and as good. They are taken as well of a thread that has nearly all
 * allocations, where half of what outlives the scopes of all, or less, outlives these. */
static const double BETTER = 0.05, MORE = 1.5, NEARLY_ALL = 0.9, LESS = 0.5;

struct state {
    struct ab_mark_table marks;
    const char *path;
    bool is_partial;
    enum ab_scopes_wish wish;
    void (*progress)(void *user, uint64_t n_events);
    void *progress_user;
    uint64_t *allocs; /* by thread */
    size_t n_threads, cap_threads;
    struct ab_scope_search *search;
    struct ab_scopes found;
};

void ab_scopes_fini(struct ab_scopes *s)
{
    free(s->ends);
    free(s->more);
    *s = (struct ab_scopes){0};
}

/* ---- by marks ---- */

enum { NAMES_TRIED = 8 }; /* those with the most marks */

struct name { /* of marks; counts how many blocks die in the scope they were made in */
    uint32_t name;
    size_t cap;
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
};

struct names {
    struct name names[NAMES_TRIED];
    size_t n;
};

static bool take_mark(struct name *o, uint64_t call)
{
    if (call == 0 || (o->scopes.n > 0 && o->scopes.ends[o->scopes.n - 1] == call))
        return true;
    AB_GROW(o->scopes.ends, o->cap, o->scopes.n);
    o->scopes.ends[o->scopes.n++] = call;
    return true;
}

/* The names with the most marks, the most first. False = out of memory. */
static bool pick_names(struct names *s, const struct ab_mark_table *t)
{
    size_t *counts = calloc(t->n_names + 1, sizeof counts[0]);
    if (counts == NULL)
        return false;
    for (size_t i = 0; i < t->n; i++)
        counts[t->marks[i].name]++;
    for (; s->n < NAMES_TRIED; s->n++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < t->n_names; i++)
            best = counts[i] > counts[best] ? i : best;
        if (counts[best] == 0)
            break;
        counts[best] = 0;
        s->names[s->n].name = best;
    }
    free(counts);
    return true;
}

static bool gather(struct names *s, const struct ab_mark_table *t)
{
    if (!pick_names(s, t))
        return false;
    for (size_t k = 0; k < s->n; k++) {
        s->names[k].stats.scopes = &s->names[k].scopes;
        for (size_t i = 0; i < t->n; i++)
            if (t->marks[i].name == s->names[k].name && !take_mark(&s->names[k], t->marks[i].call))
                return false;
    }
    return true;
}

static enum ab_status visit_names(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct names *s = user;
    for (size_t i = 0; i < s->n; i++)
        AB_TRY(ab_scope_stats_visit(&s->names[i].stats, batch, err));
    return AB_OK;
}

static struct name *choose_name(struct names *s)
{
    struct name *chosen = NULL;
    uint64_t best = 0;
    for (size_t i = 0; i < s->n; i++)
        best = s->names[i].stats.gone > best ? s->names[i].stats.gone : best;
    for (size_t i = 0; i < s->n; i++) {
        struct name *o = &s->names[i];
        if (o->scopes.n > 0 && o->stats.gone + o->stats.allocs / 20 >= best &&
            (chosen == NULL || o->scopes.n > chosen->scopes.n))
            chosen = o;
    }
    return chosen;
}

/* False = out of memory. */
static bool hand_over(struct names *s, const struct ab_mark_table *t, struct ab_scopes *out)
{
    struct name *chosen = choose_name(s);
    size_t cap = 0;
    *out = (struct ab_scopes){0};
    if (chosen == NULL)
        return true;
    *out = chosen->scopes;
    chosen->scopes = (struct ab_scopes){0};
    out->from = AB_SCOPES_MARKS;
    snprintf(out->mark, sizeof out->mark, "%s", t->names[chosen->name]);
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->names[k].scopes.n; i++) {
            AB_GROW(out->more, cap, out->n_more);
            out->more[out->n_more++] = s->names[k].scopes.ends[i];
        }
    return true;
}

/* Of the names that are tried the one whose scopes most blocks are made and freed in; within 5 % of
 * these, the one with most scopes. Marks of all threads count. One pass over the file; *out is
 * AB_SCOPES_NONE when the table has no mark after the first call. */
static enum ab_status find_by_marks(const char *trace_path, bool is_partial,
                                    const struct ab_mark_table *table, struct ab_scopes *out,
                                    struct ab_err *err)
{
    struct names s = {.n = 0};
    struct ab_walk walk = {.path = trace_path,
                           .is_partial = is_partial,
                           .end = UINT64_MAX,
                           .visit = visit_names,
                           .user = &s};
    enum ab_status status = gather(&s, table)
                                ? ab_trace_walk(&walk, NULL, err)
                                : ab_fail(err, AB_SYSTEM, "out of memory for the marks");
    if (status == AB_OK && !hand_over(&s, table, out)) {
        ab_scopes_fini(out);
        status = ab_fail(err, AB_SYSTEM, "out of memory for the marks");
    }
    for (size_t i = 0; i < s.n; i++) {
        free(s.names[i].scopes.ends);
        ab_scope_stats_fini(&s.names[i].stats);
    }
    return status;
}

/* ---- found ---- */

struct attempt { /* the blocks of one thread, or of all */
    uint64_t thread;
    struct ab_scope_choice choice;
    bool has_scopes, has_ends;
    struct ends {
        uint64_t *items;
        size_t n, cap;
    } ends, more;
};

static bool take_end(void *user, uint64_t end)
{
    struct ends *ends = user;
    AB_GROW(ends->items, ends->cap, ends->n);
    ends->items[ends->n++] = end;
    return true;
}

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        AB_GROW_ZEROED(s->allocs, s->cap_threads, e->thread);
        s->n_threads = e->thread >= s->n_threads ? e->thread + 1 : s->n_threads;
        s->allocs[e->thread] += ab_event_gives_block(e);
    }
    return ab_scope_search_visit(s->search, batch, err);
}

static enum ab_status choose(struct state *s, struct attempt *t, struct ab_err *err)
{
    t->has_scopes = ab_scope_search_choose(s->search, s->wish, &t->choice);
    if (t->has_scopes &&
        (!ab_scope_search_hand_over(s->search, &t->choice, take_end, &t->ends, &t->has_ends) ||
         !ab_scope_search_hand_over_others(s->search, &t->choice, take_end, &t->more)))
        return ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    return AB_OK;
}

/* A pass: that makes the choice, or one by it. */
static enum ab_status search(struct state *s, struct attempt *t, bool is_final, struct ab_err *err)
{
    struct ab_walk walk = {
        .path = s->path, .is_partial = s->is_partial, .end = UINT64_MAX, .visit = visit, .user = s};
    walk.progress = s->progress;
    walk.progress_user = s->progress_user;
    s->search = ab_scope_search_open(t->thread);
    if (s->search == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory for the scopes");
    if (t->thread == AB_SCOPE_ALL_THREADS && !is_final)
        walk.marks = &s->marks;
    if (is_final)
        ab_scope_search_emit(s->search, &t->choice, take_end, &t->ends);
    else if (t->thread != AB_SCOPE_ALL_THREADS)
        ab_scope_search_number(s->search);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    if (status == AB_OK && !is_final)
        status = choose(s, t, err);
    ab_scope_search_close(s->search);
    s->search = NULL;
    return status;
}

static uint32_t busiest_thread(const struct state *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->n_threads; i++)
        best = s->allocs[i] > s->allocs[best] ? i : best;
    return best;
}

/* Of all allocations, by one thread. */
static double share_of(const struct state *s, uint64_t thread)
{
    uint64_t all = 0;
    for (size_t i = 0; i < s->n_threads; i++)
        all += s->allocs[i];
    return all > 0 && thread < s->n_threads ? (double)s->allocs[thread] / (double)all : 0;
}

static bool is_one_better(const struct state *s, const struct attempt *one,
                          const struct attempt *all)
{
    if (!one->has_scopes || !all->has_scopes)
        return one->has_scopes;
    double better = one->choice.purity - all->choice.purity;
    bool has_less_left = 1 - one->choice.purity <= LESS * (1 - all->choice.purity);
    return better > BETTER || (better > -BETTER && one->choice.count > MORE * all->choice.count) ||
           (better > 0 && has_less_left && share_of(s, one->thread) >= NEARLY_ALL);
}

/* The thread that allocates most may be one that serves the others: of these, the first that has
 * scopes. */
static enum ab_status find_of_others(struct state *s, uint32_t busiest, struct ab_err *err)
{
    struct ab_scopes_of_threads others = {.n = 0};
    enum ab_status status = ab_scopes_of_threads_find(s->path, s->is_partial, busiest, &others,
                                                      err);
    if (status == AB_OK && others.n > 0) {
        s->found = (struct ab_scopes){.ends = others.items[0].ends,
                                      .n = others.items[0].n,
                                      .from = AB_SCOPES_FOUND,
                                      .is_of_thread = true,
                                      .thread = others.items[0].thread};
        others.items[0].ends = NULL;
    }
    ab_scopes_of_threads_fini(&others);
    return status;
}

static enum ab_status find(struct state *s, struct attempt *all, struct attempt *one,
                           struct ab_err *err)
{
    AB_TRY(search(s, all, false, err));
    if (s->marks.n > 0)
        AB_TRY(find_by_marks(s->path, s->is_partial, &s->marks, &s->found, err));
    if (s->found.from == AB_SCOPES_MARKS)
        return AB_OK;
    if (s->n_threads > 1) {
        one->thread = busiest_thread(s);
        AB_TRY(search(s, one, false, err));
    }
    bool is_one = is_one_better(s, one, all);
    struct attempt *better = is_one ? one : all;
    if (!better->has_scopes)
        return s->n_threads > 2 ? find_of_others(s, (uint32_t)one->thread, err) : AB_OK;
    if (!better->has_ends)
        AB_TRY(search(s, better, true, err));
    s->found = (struct ab_scopes){.ends = better->ends.items,
                                  .n = better->ends.n,
                                  .more = better->more.items,
                                  .n_more = better->more.n,
                                  .from = AB_SCOPES_FOUND,
                                  .is_of_thread = is_one,
                                  .thread = is_one ? (uint32_t)one->thread : 0,
                                  .nested = better->choice.nested,
                                  .outer = better->choice.outer};
    better->ends.items = better->more.items = NULL;
    return AB_OK;
}

enum ab_status ab_scopes_find_watched(const char *trace_path, bool is_partial,
                                      enum ab_scopes_wish wish,
                                      void (*progress)(void *user, uint64_t n_events), void *user,
                                      struct ab_scopes *out, struct ab_err *err)
{
    struct state s = {.path = trace_path,
                      .is_partial = is_partial,
                      .wish = wish,
                      .progress = progress,
                      .progress_user = user};
    struct stat st;
    if (strcmp(trace_path, "-") == 0 || (stat(trace_path, &st) == 0 && S_ISFIFO(st.st_mode)))
        return ab_fail(err, AB_USAGE,
                       "scopes are searched in several passes: give a file, not standard input "
                       "or a pipe");
    struct attempt all = {.thread = AB_SCOPE_ALL_THREADS}, one = {0};
    enum ab_status status = find(&s, &all, &one, err);
    free(all.ends.items);
    free(all.more.items);
    free(one.ends.items);
    free(one.more.items);
    free(s.allocs);
    ab_mark_table_fini(&s.marks);
    if (status == AB_OK)
        *out = s.found;
    else
        ab_scopes_fini(&s.found);
    return status;
}

enum ab_status ab_scopes_find(const char *trace_path, bool is_partial, enum ab_scopes_wish wish,
                              struct ab_scopes *out, struct ab_err *err)
{
    return ab_scopes_find_watched(trace_path, is_partial, wish, NULL, NULL, out, err);
}
