/* SPDX-License-Identifier: MIT
 *
 * Finds scopes in up to three passes. The first pass finds out whether there are scopes, of which
 * size, and where they end. With several threads, a second pass tries the busiest thread and, if
 * that thread has no scopes, other threads. If there are too many ends to be kept, a last pass
 * finds them. Marks are read in the first pass.
 */
#include "trace_tools/scopes.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/units_show.h"
#include "trace_tools/scope_search.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Thresholds of is_one_better(), which decides between the scopes of the busiest thread and those
 * of all threads. Purity is the part of the blocks that are freed by the end of their scope. The
 * thread's scopes are taken if their purity is higher by at least BETTER. They are also taken if
 * there are MORE times as many and their purity is not lower by BETTER, because independent threads
 * sometimes end scopes together. If the thread makes at least NEARLY_ALL of the allocations, its
 * scopes are taken if at most LESS times as many blocks outlive them. */
static const double BETTER = 0.05, MORE = 1.5, NEARLY_ALL = 0.9, LESS = 0.5;

#define SCOPES_OF_ALL UINT32_MAX /* argument of search_threads: no thread is excluded */

struct counts { /* allocations by thread */
    uint64_t *allocs;
    size_t n, cap;
};

static void count(struct counts *c, const struct ab_walk_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        AB_GROW_ZEROED(c->allocs, c->cap, e->thread);
        c->n = e->thread >= c->n ? e->thread + (size_t)1 : c->n;
        c->allocs[e->thread] += ab_event_gives_block(e);
    }
}

static enum ab_status walk(const struct ab_walk *file, ab_walk_visitor *visit, void *user,
                           struct ab_err *err)
{
    const struct ab_walk walk = {
        .path = file->path, .is_partial = file->is_partial, .visit = visit, .user = user};
    return ab_trace_walk(&walk, NULL, err);
}

/* Returns the scopes of a thread from its list of ends. */
static struct ab_scopes scopes_of(const struct ab_thread_scopes *t)
{
    return (struct ab_scopes){.ends = t->ends,
                              .n = t->n,
                              .from = AB_SCOPES_FOUND,
                              .is_of_thread = true,
                              .thread = t->thread};
}

struct state {
    struct ab_mark_table marks;
    const struct ab_walk *file;
    enum ab_scopes_wish wish;
    struct counts counts;
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

enum { NAMES_TRIED = 8 }; /* most names that are tried, those with the most marks */

/* a name of marks, with the scopes that end at them; `stats` counts the blocks that die in their
 * own scope */
struct name {
    uint32_t name;
    size_t cap;
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
};

struct names {
    struct name names[NAMES_TRIED];
    size_t n;
};

static void take_mark(struct name *o, uint64_t call)
{
    if (call == 0 || (o->scopes.n > 0 && o->scopes.ends[o->scopes.n - 1] == call))
        return;
    AB_GROW(o->scopes.ends, o->cap, o->scopes.n);
    o->scopes.ends[o->scopes.n++] = call;
}

/* Picks at most NAMES_TRIED names, those with the most marks, and sorts them by number of marks,
 * descending. */
static void pick_names(struct names *s, const struct ab_mark_table *t)
{
    size_t *counts = ab_alloc_zeroed(t->n_names + 1, sizeof counts[0]);
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
}

static void gather(struct names *s, const struct ab_mark_table *t)
{
    pick_names(s, t);
    for (size_t k = 0; k < s->n; k++) {
        s->names[k].stats.scopes = &s->names[k].scopes;
        for (size_t i = 0; i < t->n; i++)
            if (t->marks[i].name == s->names[k].name)
                take_mark(&s->names[k], t->marks[i].call);
    }
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

static void hand_over(struct names *s, const struct ab_mark_table *t, struct ab_scopes *out)
{
    struct name *chosen = choose_name(s);
    size_t cap = 0;
    *out = (struct ab_scopes){0};
    if (chosen == NULL)
        return;
    *out = chosen->scopes;
    chosen->scopes = (struct ab_scopes){0};
    out->from = AB_SCOPES_MARKS;
    AB_COPY(out->mark, t->names[chosen->name]);
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->names[k].scopes.n; i++) {
            AB_GROW(out->more, cap, out->n_more);
            out->more[out->n_more++] = s->names[k].scopes.ends[i];
        }
}

/* Chooses the name whose scopes contain most blocks; among names within 5 % of it, the one with
 * most scopes. Marks of all threads count. Needs one pass over the file. Sets *out to
 * AB_SCOPES_NONE if no mark comes after the first call. */
static enum ab_status find_by_marks(const struct ab_walk *file, const struct ab_mark_table *table,
                                    struct ab_scopes *out, struct ab_err *err)
{
    struct names s = {.n = 0};
    gather(&s, table);
    enum ab_status status = walk(file, visit_names, &s, err);
    if (status == AB_OK)
        hand_over(&s, table, out);
    for (size_t i = 0; i < s.n; i++) {
        free(s.names[i].scopes.ends);
        ab_scope_stats_fini(&s.names[i].stats);
    }
    return status;
}

/* ---- scopes of several threads ---- */

struct candidates {
    struct ab_scope_search *searches[AB_SCOPES_OF_THREADS_MAX];
    uint32_t threads[AB_SCOPES_OF_THREADS_MAX];
    size_t n;
};

/* Chooses the threads that allocate most, except `first`. Destroys the counts. */
static void choose_threads(struct counts *c, uint32_t first, struct candidates *out)
{
    uint64_t least = first < c->n ? c->allocs[first] / AB_SCOPES_OF_THREADS_PART : 0;
    while (out->n < AB_SCOPES_OF_THREADS_MAX) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < c->n; i++)
            if (i != first && (best == first || c->allocs[i] > c->allocs[best]))
                best = i;
        if (c->n == 0 || best == first || c->allocs[best] <= least)
            return;
        if (first >= c->n && out->n == 0)
            least = c->allocs[best] / AB_SCOPES_OF_THREADS_PART;
        c->allocs[best] = 0;
        out->searches[out->n] = ab_scope_search_open(best);
        out->threads[out->n++] = best;
    }
}

static enum ab_status visit_all(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    const struct candidates *c = user;
    for (size_t i = 0; i < c->n; i++)
        AB_TRY(ab_scope_search_visit(c->searches[i], batch, err));
    return AB_OK;
}

static enum ab_status find_ends(const struct ab_walk *file, const struct ab_scope_choice *choice,
                                struct ab_thread_scopes *out, struct ab_err *err)
{
    struct ab_scope_search *search = ab_scope_search_open(out->thread);
    ab_scope_search_emit(search, choice, out);
    enum ab_status status = walk(file, ab_scope_search_visit, search, err);
    ab_scope_search_close(search);
    return status;
}

/* Searches scopes of the threads other than `first` (SCOPES_OF_ALL = of all threads). One pass
 * searches the busiest threads together. Then one pass per thread finds the ends, because keeping
 * the ends of all in the first pass would need much memory. */
static enum ab_status search_threads(const struct ab_walk *file, struct counts *counts,
                                     uint32_t first, struct ab_scopes_of_threads *out,
                                     struct ab_err *err)
{
    struct candidates c = {.n = 0};
    enum ab_status status = AB_OK;
    choose_threads(counts, first, &c);
    /* scopes of a single thread are those of all threads */
    bool is_asked = c.n > (first == SCOPES_OF_ALL);
    if (is_asked)
        status = walk(file, visit_all, &c, err);
    for (size_t i = 0; i < c.n; i++) {
        struct ab_scope_choice choice;
        bool has_scopes = is_asked && status == AB_OK &&
                          ab_scope_search_choose(c.searches[i], AB_SCOPES_BEST, &choice);
        ab_scope_search_close(c.searches[i]);
        if (has_scopes) {
            out->items[out->n].thread = c.threads[i];
            status = find_ends(file, &choice, &out->items[out->n++], err);
        }
    }
    return status;
}

void ab_scopes_of_threads_fini(struct ab_scopes_of_threads *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i].ends);
    *s = (struct ab_scopes_of_threads){0};
}

/* ---- searching ---- */

struct attempt { /* a search in the blocks of one thread, or of all threads */
    uint64_t thread;
    struct ab_scope_choice choice;
    bool has_scopes, has_ends;
    struct ab_thread_scopes ends, more;
};

static enum ab_status visit(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct state *s = user;
    count(&s->counts, batch);
    return ab_scope_search_visit(s->search, batch, err);
}

/* Makes a pass over the trace that chooses the horizon, or (is_final) one that finds the ends for
 * that choice. */
static enum ab_status search(struct state *s, struct attempt *t, bool is_final, struct ab_err *err)
{
    struct ab_walk walk = {.path = s->file->path,
                           .is_partial = s->file->is_partial,
                           .visit = visit,
                           .user = s,
                           .progress = s->file->progress,
                           .progress_user = s->file->progress_user};
    s->search = ab_scope_search_open(t->thread);
    if (t->thread == AB_SCOPE_ALL_THREADS && !is_final)
        walk.marks = &s->marks;
    if (is_final)
        ab_scope_search_emit(s->search, &t->choice, &t->ends);
    else if (t->thread != AB_SCOPE_ALL_THREADS)
        ab_scope_search_number(s->search);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    if (status == AB_OK && !is_final) {
        t->has_scopes = ab_scope_search_choose(s->search, s->wish, &t->choice);
        t->has_ends = t->has_scopes &&
                      ab_scope_search_hand_over(s->search, &t->choice, &t->ends, &t->more);
    }
    ab_scope_search_close(s->search);
    return status;
}

static uint32_t busiest_thread(const struct counts *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->n; i++)
        best = c->allocs[i] > c->allocs[best] ? i : best;
    return best;
}

/* Returns the share of one thread in the allocations of all threads. */
static double share_of(const struct counts *c, uint64_t thread)
{
    uint64_t all = 0;
    for (size_t i = 0; i < c->n; i++)
        all += c->allocs[i];
    return all > 0 && thread < c->n ? (double)c->allocs[thread] / (double)all : 0;
}

static bool is_one_better(const struct state *s, const struct attempt *one,
                          const struct attempt *all)
{
    if (!one->has_scopes || !all->has_scopes)
        return one->has_scopes;
    double better = one->choice.purity - all->choice.purity;
    bool has_less_left = 1 - one->choice.purity <= LESS * (1 - all->choice.purity);
    return better > BETTER || (better > -BETTER && one->choice.count > MORE * all->choice.count) ||
           (better > 0 && has_less_left && share_of(&s->counts, one->thread) >= NEARLY_ALL);
}

/* Searches the threads other than the busiest, which may only serve them. Takes the scopes of the
 * first one that has any. */
static enum ab_status find_of_others(struct state *s, uint32_t busiest, struct ab_err *err)
{
    struct ab_scopes_of_threads others = {.n = 0};
    enum ab_status status = search_threads(s->file, &s->counts, busiest, &others, err);
    if (status == AB_OK && others.n > 0) {
        s->found = scopes_of(&others.items[0]);
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
        AB_TRY(find_by_marks(s->file, &s->marks, &s->found, err));
    if (s->found.from == AB_SCOPES_MARKS)
        return AB_OK;
    if (s->counts.n > 1) {
        one->thread = busiest_thread(&s->counts);
        AB_TRY(search(s, one, false, err));
    }
    bool is_one = is_one_better(s, one, all);
    struct attempt *better = is_one ? one : all;
    if (!better->has_scopes)
        return s->counts.n > 2 ? find_of_others(s, (uint32_t)one->thread, err) : AB_OK;
    if (!better->has_ends)
        AB_TRY(search(s, better, true, err));
    s->found = (struct ab_scopes){.ends = better->ends.ends,
                                  .n = better->ends.n,
                                  .more = better->more.ends,
                                  .n_more = better->more.n,
                                  .from = AB_SCOPES_FOUND,
                                  .is_of_thread = is_one,
                                  .thread = is_one ? (uint32_t)one->thread : 0,
                                  .nested = better->choice.nested,
                                  .outer = better->choice.outer};
    better->ends.ends = better->more.ends = NULL;
    return AB_OK;
}

enum ab_status ab_scopes_find(const struct ab_walk *file, enum ab_scopes_wish wish,
                              struct ab_scopes *out, struct ab_err *err)
{
    struct state s = {.file = file, .wish = wish};
    struct stat st;
    if (strcmp(file->path, "-") == 0 || (stat(file->path, &st) == 0 && S_ISFIFO(st.st_mode)))
        return ab_fail(err, AB_USAGE,
                       "scopes are searched in several passes: give a file, not standard input "
                       "or a pipe");
    struct attempt all = {.thread = AB_SCOPE_ALL_THREADS}, one = {0};
    enum ab_status status = find(&s, &all, &one, err);
    free(all.ends.ends);
    free(all.more.ends);
    free(one.ends.ends);
    free(one.more.ends);
    free(s.counts.allocs);
    ab_mark_table_fini(&s.marks);
    if (status == AB_OK)
        *out = s.found;
    else
        ab_scopes_fini(&s.found);
    return status;
}

/* ---- statistics: each live block is stored with the scope in which it was made ---- */

void ab_scope_stats_fini(struct ab_scope_stats *s)
{
    free(s->born);
    s->born = NULL;
    s->cap_slots = 0;
}

static void end_scopes(struct ab_scope_stats *s, uint64_t call)
{
    for (; s->at < s->scopes->n && s->scopes->ends[s->at] <= call; s->at++) {
        s->most_gone = s->gone_bytes > s->most_gone ? s->gone_bytes : s->most_gone;
        s->live_bytes = s->gone_bytes = 0;
    }
}

static void set_live(struct ab_scope_stats *s, uint64_t bytes)
{
    s->live_bytes = bytes;
    s->most_live = bytes > s->most_live ? bytes : s->most_live;
}

/* Updates the sums for a call on a block that was made in the current scope. */
static void change(struct ab_scope_stats *s, const struct ab_event *e,
                   const struct ab_live_block *block)
{
    if (e->kind == AB_EVENT_FREE || e->released) {
        s->gone++;
        s->gone_bytes += block->size;
        s->live_bytes -= block->size;
    } else if (!e->failed) {
        set_live(s, s->live_bytes - block->size + e->size);
    }
}

static void take(struct ab_scope_stats *s, const struct ab_event *e,
                 const struct ab_live_block *block)
{
    bool is_inside = s->at < s->scopes->n;
    if (ab_event_gives_block(e)) {
        bool is_seen = !s->scopes->is_of_thread || s->scopes->thread == e->thread;
        s->allocs += is_seen;
        s->born[e->slot] = is_seen && is_inside ? s->at + 1 : 0;
        if (is_seen && is_inside)
            set_live(s, s->live_bytes + e->size);
    } else if ((e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE) &&
               s->born[e->slot] == s->at + 1) {
        change(s, e, block);
    }
}

enum ab_status ab_scope_stats_visit(void *user, const struct ab_walk_batch *batch,
                                    struct ab_err *err)
{
    struct ab_scope_stats *s = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        AB_GROW_ZEROED(s->born, s->cap_slots, batch->events[i].slot);
        end_scopes(s, batch->first + i);
        take(s, &batch->events[i], &batch->blocks[i]);
    }
    if (batch->where == AB_WALK_END)
        end_scopes(s, UINT64_MAX);
    return AB_OK;
}

double ab_scopes_median_calls(const struct ab_scopes *scopes)
{
    double *calls = ab_alloc(scopes->n * sizeof calls[0]);
    for (size_t i = 0; i < scopes->n; i++)
        calls[i] = (double)(scopes->ends[i] - (i > 0 ? scopes->ends[i - 1] : 0));
    double median = ab_median(calls, scopes->n);
    free(calls);
    return median;
}

/* ---- deciding whether scopes are global or each thread's own ----
 *
 * Compares the numbers of both kinds of scopes, and counts blocks that outlive the ends of one kind
 * but not those of the other. */

/* more than one such block in CROSSING_LEAST scopes is not an accident */
enum { CROSSING_LEAST = 64 };

struct birth { /* scopes in which the block in a slot was born */
    uint64_t of_all, of_own;
    /* index in the list of threads of the block's thread + 1; 0 = that thread has no scopes */
    uint32_t place;
};

struct crossing {
    const struct ab_scopes *all;
    const struct ab_scopes_of_threads *threads;
    struct birth *births;
    size_t cap;
    uint64_t of_all, of_own[AB_SCOPES_OF_THREADS_MAX]; /* current scopes */
    uint64_t n_all,
        n_own; /* blocks that outlive a global scope but none of their thread; and the reverse */
};

static uint64_t go_on(uint64_t scope, const uint64_t *ends, size_t n, uint64_t call)
{
    while (scope < n && ends[scope] <= call)
        scope++;
    return scope;
}

static uint64_t own_scope(struct crossing *c, uint32_t place, uint64_t call)
{
    const struct ab_thread_scopes *t = &c->threads->items[place - 1];
    c->of_own[place - 1] = go_on(c->of_own[place - 1], t->ends, t->n, call);
    return c->of_own[place - 1];
}

static void note_end(struct crossing *c, struct birth *b, uint64_t call)
{
    if (b->place != 0) {
        bool outlives_all = c->of_all != b->of_all;
        bool outlives_own = own_scope(c, b->place, call) != b->of_own;
        c->n_all += outlives_all && !outlives_own;
        c->n_own += outlives_own && !outlives_all;
    }
    *b = (struct birth){0};
}

static uint32_t place_of(const struct ab_scopes_of_threads *threads, uint32_t thread)
{
    for (uint32_t i = 0; i < threads->n; i++)
        if (threads->items[i].thread == thread)
            return i + 1;
    return 0;
}

static enum ab_status count_crossing(void *user, const struct ab_walk_batch *batch,
                                     struct ab_err *err)
{
    struct crossing *c = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++) {
        const struct ab_event *e = &batch->events[i];
        uint64_t call = batch->first + i;
        AB_GROW_ZEROED(c->births, c->cap, e->slot);
        struct birth *b = &c->births[e->slot];
        c->of_all = go_on(c->of_all, c->all->ends, c->all->n, call);
        if (e->kind == AB_EVENT_FREE || e->released)
            note_end(c, b, call);
        else if (e->kind != AB_EVENT_RESIZE && ab_event_gives_block(e)) {
            *b = (struct birth){.of_all = c->of_all, .place = place_of(c->threads, e->thread)};
            b->of_own = b->place != 0 ? own_scope(c, b->place, call) : 0;
        }
    }
    return AB_OK;
}

/* Decides whether the scopes are really those of separate threads. Cooperating threads cannot have
 * MORE times as many global scopes as any one of them has. */
static enum ab_status are_of_threads(const struct ab_walk *file, const struct ab_scopes *scopes,
                                     const struct ab_scopes_of_threads *threads, bool *out,
                                     struct ab_err *err)
{
    struct crossing c = {.all = scopes, .threads = threads};
    size_t n = 0, most = 0;
    for (size_t i = 0; i < threads->n; i++) {
        n += threads->items[i].n;
        most = threads->items[i].n > most ? threads->items[i].n : most;
    }
    *out = threads->n > 1 && (double)scopes->n > MORE * (double)most && n + n / 16 >= scopes->n;
    if (threads->n < 2 || *out)
        return AB_OK;
    enum ab_status status = walk(file, count_crossing, &c, err);
    *out = c.n_all * CROSSING_LEAST > scopes->n && c.n_all > 2 * c.n_own;
    free(c.births);
    return status;
}

static void take_first(struct ab_scopes *scopes, struct ab_scopes_of_threads *threads)
{
    ab_scopes_fini(scopes);
    *scopes = scopes_of(&threads->items[0]);
    for (size_t i = 1; i < threads->n; i++)
        threads->items[i - 1] = threads->items[i];
    threads->n--;
}

static enum ab_status visit_counts(void *user, const struct ab_walk_batch *batch,
                                   struct ab_err *err)
{
    (void)err;
    count(user, batch);
    return AB_OK;
}

enum ab_status ab_scopes_part_threads(const struct ab_walk *file, struct ab_scopes *scopes,
                                      struct ab_scopes_of_threads *out, struct ab_err *err)
{
    struct counts counts = {0};
    bool is_of_threads = true;
    if (scopes->from != AB_SCOPES_FOUND)
        return AB_OK;
    enum ab_status status = walk(file, visit_counts, &counts, err);
    if (status == AB_OK)
        status = search_threads(file, &counts,
                                scopes->is_of_thread ? scopes->thread : SCOPES_OF_ALL, out, err);
    free(counts.allocs);
    if (status != AB_OK || scopes->is_of_thread)
        return status;
    AB_TRY(are_of_threads(file, scopes, out, &is_of_threads, err));
    if (is_of_threads)
        take_first(scopes, out);
    else
        ab_scopes_of_threads_fini(out);
    return AB_OK;
}

/* ---- question to the user ---- */

static bool is_another_size(const struct ab_scope_kind *k, size_t n)
{
    return k->count > 0 && (k->count > 1.5 * (double)n || 1.5 * k->count < (double)n);
}

static void offer(struct ab_text *line, const char *which, const struct ab_scope_kind *k, size_t n)
{
    if (is_another_size(k, n))
        ab_text_addf(line, " --scope %s: %.0f scopes of %.0f allocations each.", which, k->count,
                     k->typical);
}

bool ab_scopes_ask(struct ab_text *line, const struct ab_scopes *s, double median_calls,
                   uint64_t time_us)
{
    bool has_several = is_another_size(&s->nested, s->n) || is_another_size(&s->outer, s->n);
    if (s->from != AB_SCOPES_FOUND)
        return false;
    ab_text_addf(line, "Found %zu scopes of about %.0f calls", s->n, median_calls);
    if (time_us > 0 && s->n > 0)
        ab_text_addf(line, " and %s", AB_TIME((double)time_us * 1e3 / (double)s->n));
    ab_text_add(line, ".");
    offer(line, "nested", &s->nested, s->n);
    offer(line, "outer", &s->outer, s->n);
    ab_text_addf(line, " If %s your frames, mark them with allocbench_mark(\"frame\") to be sure.",
                 has_several ? "one of these is" : "these are");
    return has_several;
}

/* ---- spans ----
 *
 * Keeps the live blocks sorted by age. The youngest block that survives an end determines how far
 * back the span of that end reaches. If the youngest survivor of an end is younger than that of a
 * later end, the earlier end is inside the span of the later end. */

/* entries by slot + 1. Entry 0 is the head of the list: its `older` is the youngest block, its
 * `younger` the oldest */
struct block {
    uint64_t after;  /* number of the call after the block's allocation; 0 = no block */
    uint64_t allocs; /* number of allocations before that call */
    uint32_t older, younger;
};

struct passed { /* an end; `after` and `allocs` are those of its youngest survivor */
    uint64_t end, after, allocs;
};

struct spanning {
    const struct ab_scopes *scopes;
    struct ab_scope_spans *out;
    uint64_t *ends; /* all ends, ascending */
    size_t n_ends, at;
    struct block *blocks;
    size_t cap_blocks;
    struct passed
        *passed; /* stack: the youngest survivor of each is younger than that of the one before */
    size_t n_passed, cap_passed;
    uint64_t allocs;
    /* thread whose scopes are used; if scopes are of all threads, the only thread of the trace */
    uint32_t thread;
    bool has_thread, has_others;
};

void ab_scope_spans_fini(struct ab_scope_spans *s)
{
    free(s->items);
    *s = (struct ab_scope_spans){0};
}

static void leave(struct spanning *s, uint32_t i)
{
    struct block *b = &s->blocks[i];
    if (b->after == 0)
        return;
    s->blocks[b->older].younger = b->younger;
    s->blocks[b->younger].older = b->older;
    b->after = 0;
}

static void join(struct spanning *s, uint32_t i, uint64_t call)
{
    uint32_t youngest = s->blocks[0].older;
    s->blocks[i] = (struct block){call + 1, s->allocs, youngest, 0};
    s->blocks[youngest].younger = s->blocks[0].older = i;
}

static void end_span(struct spanning *s, uint64_t end)
{
    const struct block *survivor = &s->blocks[s->blocks[0].older];
    struct passed begin = {.end = survivor->after, .allocs = survivor->allocs};
    while (s->n_passed > 0 && s->passed[s->n_passed - 1].after > survivor->after)
        s->n_passed--;
    if (s->n_passed > 0 && s->passed[s->n_passed - 1].after == survivor->after)
        begin = s->passed[--s->n_passed];
    AB_GROW(s->passed, s->cap_passed, s->n_passed);
    AB_GROW(s->out->items, s->out->cap, s->out->n);
    s->passed[s->n_passed++] = (struct passed){end, survivor->after, s->allocs};
    if (s->allocs - begin.allocs >= AB_SCOPE_ALLOCS_LEAST)
        s->out->items[s->out->n++] = (struct ab_scope_span){begin.end, end};
}

static void take_call(struct spanning *s, const struct ab_event *e, uint64_t call)
{
    uint32_t i = e->slot + 1;
    AB_GROW_ZEROED(s->blocks, s->cap_blocks, i);
    for (; s->at < s->n_ends && s->ends[s->at] <= call; s->at++)
        end_span(s, s->ends[s->at]);
    if (!s->has_thread)
        s->thread = e->thread;
    s->has_thread = true;
    s->has_others = s->has_others || e->thread != s->thread;
    if (e->kind == AB_EVENT_FREE || e->released) {
        leave(s, i);
    } else if (e->thread == s->thread && (e->kind == AB_EVENT_RESIZE || ab_event_gives_block(e))) {
        s->allocs += e->kind != AB_EVENT_RESIZE;
        leave(s, i); /* a resize may move the block */
        join(s, i, call);
    }
}

static enum ab_status visit_calls(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct spanning *s = user;
    (void)err;
    for (size_t i = 0; i < batch->n; i++)
        take_call(s, &batch->events[i], batch->first + i);
    for (; batch->where == AB_WALK_END && s->at < s->n_ends; s->at++)
        end_span(s, s->ends[s->at]);
    return AB_OK;
}

static int by_call(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return AB_COMPARE(*x, *y);
}

static int by_begin(const void *a, const void *b)
{
    const struct ab_scope_span *x = a, *y = b;
    return x->begin != y->begin ? AB_COMPARE(x->begin, y->begin) : AB_COMPARE(y->end, x->end);
}

static void sort_ends(struct spanning *s)
{
    const struct ab_scopes *from = s->scopes;
    size_t n = from->n + from->n_more;
    s->ends = ab_alloc((n + 1) * sizeof s->ends[0]);
    AB_GROW_ZEROED(s->blocks, s->cap_blocks, 0);
    memcpy(s->ends, from->ends, from->n * sizeof s->ends[0]);
    if (from->n_more > 0)
        memcpy(s->ends + from->n, from->more, from->n_more * sizeof s->ends[0]);
    qsort(s->ends, n, sizeof s->ends[0], by_call);
    for (size_t i = 0; i < n; i++)
        if (s->n_ends == 0 || s->ends[i] != s->ends[s->n_ends - 1])
            s->ends[s->n_ends++] = s->ends[i];
}

enum ab_status ab_scope_spans_find(const struct ab_walk *file, const struct ab_scopes *scopes,
                                   struct ab_scope_spans *out, struct ab_err *err)
{
    struct spanning s = {
        .scopes = scopes, .out = out, .has_thread = scopes->is_of_thread, .thread = scopes->thread};
    if (scopes->n == 0)
        return AB_OK;
    sort_ends(&s);
    enum ab_status status = walk(file, visit_calls, &s, err);
    if (s.has_others && !scopes->is_of_thread)
        out->n = 0;
    if (out->n > 0)
        qsort(out->items, out->n, sizeof out->items[0], by_begin);
    free(s.ends);
    free(s.blocks);
    free(s.passed);
    return status;
}
