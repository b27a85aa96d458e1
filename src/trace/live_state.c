/* SPDX-License-Identifier: MIT
 *
 * Checks events against the live blocks, gives slots, and keeps the totals.
 */
#include "trace/live_state.h"

#include "core/alloc.h"
#include "tape/op.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

/* number of events between a prefetch and its use: early enough for memory, late enough for the
 * cache */
enum { PREFETCH = 12 };

/* Inlines a function into its caller, because it runs for every call of the trace. */
#define EACH_CALL static inline __attribute__((always_inline))

void ab_account_init(struct ab_account *a)
{
    *a = (struct ab_account){
        .live_blocks_max = AB_SLOT_MAX, .live_bytes_max = INT64_MAX, .info.whole = AB_WHOLE_NONE};
}

void ab_account_fini(struct ab_account *a)
{
    ab_live_map_fini(&a->live);
    free(a->free_slots);
    free(a->ended);
    *a = (struct ab_account){0};
}

/* Checks a new size. A process cannot have blocks larger than INT64_MAX, and the sums of sizes must
 * not overflow. */
const char *ab_account_check_known(const struct ab_account *a, uint64_t old_size, uint64_t new_size,
                                   bool is_new)
{
    uint64_t others = a->info.live_end_bytes - old_size;
    if (new_size > INT64_MAX || others > INT64_MAX - new_size ||
        a->info.total_bytes > INT64_MAX - new_size)
        return "sizes whose sum is over 2^63 - 1";
    if (others + new_size > a->live_bytes_max)
        return "more live bytes than allowed";
    if (!is_new || a->info.live_end_blocks < a->live_blocks_max)
        return NULL;
    return a->live_blocks_max == AB_SLOT_MAX ? "more live blocks than a tape can hold (2^28)"
                                             : "more live blocks than allowed";
}

EACH_CALL const char *take_alloc(struct ab_account *a, struct ab_event *e)
{
    e->block = AB_NO_BLOCK;
    if (e->released)
        return "an allocation that released a block";
    if (e->failed)
        return NULL;
    const char *wrong = ab_account_give_known(a, e->size, &e->block);
    if (wrong != NULL)
        return wrong;
    e->slot = a->n_free_slots > 0 ? a->free_slots[--a->n_free_slots] : (uint32_t)a->info.slots++;
    return ab_live_map_add(&a->live, e->block, e->size, e->slot)
               ? NULL
               : "more allocations than have numbers of their own (2^36)";
}

EACH_CALL void end_block(struct ab_account *a, struct ab_live *live, struct ab_event *e)
{
    uint64_t size = live->size;
    e->slot = live->slot;
    AB_GROW(a->free_slots, a->cap_free_slots, a->n_free_slots);
    a->free_slots[a->n_free_slots++] = e->slot;
    ab_live_map_remove(&a->live, live);
    ab_account_drop_known(a, size);
}

EACH_CALL const char *take_known(struct ab_account *a, struct ab_event *e)
{
    struct ab_live *live = ab_live_map_find(&a->live, e->block);
    if (live == NULL)
        return e->kind == AB_EVENT_FREE ? "a free of a block that is not live"
                                        : "a resize of a block that is not live";
    if (e->kind == AB_EVENT_FREE && (e->failed || e->released))
        return "a free with flags";
    if (e->released && (e->failed || e->size != 0))
        return "a resize that released its block without size 0";
    if (e->kind == AB_EVENT_FREE || e->released) {
        end_block(a, live, e);
        return NULL;
    }
    e->slot = live->slot;
    if (e->failed)
        return NULL;
    const char *wrong = ab_account_resize_known(a, live->size, e->size);
    if (wrong == NULL)
        live->size = e->size;
    return wrong;
}

static const char *take_thread_end(struct ab_account *a, struct ab_event *e)
{
    e->block = AB_NO_BLOCK;
    if (e->thread == a->info.threads)
        return "the end of a thread without calls";
    if (e->failed || e->released)
        return "the end of a thread with flags";
    if (a->ended == NULL)
        a->ended = ab_alloc_zeroed(AB_TRACE_THREADS_MAX / 8, 1);
    a->ended[e->thread / 8] |= (uint8_t)(1u << e->thread % 8);
    a->info.thread_ends++;
    return NULL;
}

EACH_CALL const char *check_thread(const struct ab_account *a, uint32_t thread)
{
    if (thread > a->info.threads || thread >= AB_TRACE_THREADS_MAX)
        return thread > a->info.threads ? "a thread number past the next new one"
                                        : "more threads than a trace can have (2^20)";
    if (a->ended != NULL && (a->ended[thread / 8] >> thread % 8 & 1) != 0)
        return "an event of a thread that has ended";
    return NULL;
}

static const char *check_time(struct ab_account *a, uint64_t time_us)
{
    bool is_first = a->info.events + a->info.thread_ends == 0;
    if (is_first ? time_us != 0 : time_us < a->info.time_us || time_us > INT64_MAX)
        return "a time before that of the event before";
    a->info.time_us = time_us;
    return NULL;
}

EACH_CALL void count_call(struct ab_account *a, const struct ab_event *e)
{
    ab_account_count(a, e->kind, e->thread);
    a->info.failed += e->failed;
}

EACH_CALL const char *take_call(struct ab_account *a, struct ab_event *e)
{
    if (e->kind == AB_EVENT_ALLOC_ALIGNED && (e->align == 0 || (e->align & (e->align - 1)) != 0))
        return "an alignment that is not a power of two";
    const char *wrong = e->kind == AB_EVENT_FREE || e->kind == AB_EVENT_RESIZE ? take_known(a, e)
                                                                               : take_alloc(a, e);
    if (wrong == NULL)
        count_call(a, e);
    return wrong;
}

EACH_CALL const char *take(struct ab_account *a, struct ab_event *e)
{
    if (e->kind > AB_EVENT_THREAD_END)
        return "an event of unknown kind";
    const char *wrong = check_thread(a, e->thread);
    if (wrong == NULL && a->info.has_time)
        wrong = check_time(a, e->time_us);
    if (wrong != NULL)
        return wrong;
    return e->kind == AB_EVENT_THREAD_END ? take_thread_end(a, e) : take_call(a, e);
}

const char *ab_account_take(struct ab_account *a, struct ab_event *e)
{
    return take(a, e);
}

size_t ab_account_take_all(struct ab_account *a, const struct ab_event *events, size_t n,
                           struct ab_event *out, const char **wrong)
{
    *wrong = NULL;
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH < n)
            ab_live_map_prefetch(&a->live, events[i + PREFETCH].block);
        struct ab_event e = events[i];
        if (AB_UNLIKELY((*wrong = take(a, &e)) != NULL))
            return i;
        out[i] = e;
    }
    return n;
}

const char *ab_account_take_known(struct ab_account *a, struct ab_event *e, uint64_t old_size)
{
    const char *wrong = AB_UNLIKELY(a->info.has_time) ? check_time(a, e->time_us) : NULL;
    if (AB_UNLIKELY(wrong != NULL))
        return wrong;
    if (e->kind == AB_EVENT_THREAD_END)
        return take_thread_end(a, e);
    if (e->kind == AB_EVENT_FREE || e->released)
        ab_account_drop_known(a, old_size);
    else if (e->kind == AB_EVENT_RESIZE)
        wrong = e->failed ? NULL : ab_account_resize_known(a, old_size, e->size);
    else if (!e->failed)
        wrong = ab_account_give_known(a, e->size, &e->block);
    if (wrong == NULL)
        count_call(a, e);
    return wrong;
}

void ab_account_end_known(struct ab_account *a)
{
    if (a->live.young.places == NULL)
        /* the caller needs one slot for each block live at the peak */
        a->info.slots = a->info.live_peak_blocks;
}

/* ---- map of live blocks by allocation number ---- */

enum { LEAST_PLACES = 1024, LINE = 64 };

void ab_live_map_fini(struct ab_live_map *m)
{
    free(m->young.places);
    free(m->old.places);
    *m = (struct ab_live_map){0};
}

static struct ab_live_table make_table(size_t n_places)
{
    size_t bytes = n_places * sizeof(struct ab_live);
    struct ab_live *places = aligned_alloc(LINE, bytes);
    if (places == NULL)
        ab_memory_end(bytes);
    memset(places, 0, bytes);
    return (struct ab_live_table){.places = places, .mask = n_places - 1};
}

void ab_live_map_grow(struct ab_live_map *m)
{
    const struct ab_live_table was = m->young;
    m->young = make_table(was.places == NULL ? LEAST_PLACES : (was.mask + 1) * 2);
    m->young.n = was.n;
    for (size_t i = 0; was.places != NULL && i <= was.mask; i++)
        /* blocks cannot collide here: they did not in a table of half the size */
        if (was.places[i].number != 0)
            m->young.places[(was.places[i].number - 1) & m->young.mask] = was.places[i];
    free(was.places);
}

static void put_old(struct ab_live_table *old, const struct ab_live *live)
{
    size_t i = ab_live_home(old, live->number - 1);
    while (old->places[i].number != 0)
        i = (i + 1) & old->mask;
    old->places[i] = *live;
    old->n++;
}

static void resize_old(struct ab_live_map *m, size_t n_places)
{
    const struct ab_live_table was = m->old;
    m->old = make_table(n_places);
    for (size_t i = 0; was.places != NULL && i <= was.mask; i++)
        if (was.places[i].number != 0)
            put_old(&m->old, &was.places[i]);
    free(was.places);
}

void ab_live_map_age(struct ab_live_map *m, struct ab_live *young)
{
    if (m->old.n * 2 >= m->old.mask)
        resize_old(m, m->old.places == NULL ? LEAST_PLACES : (m->old.mask + 1) * 2);
    put_old(&m->old, young);
}

struct ab_live *ab_live_map_find_old(const struct ab_live_map *m, uint64_t number)
{
    const struct ab_live_table *old = &m->old;
    if (old->places == NULL)
        return NULL;
    for (size_t i = ab_live_home(old, number); old->places[i].number != 0; i = (i + 1) & old->mask)
        if (old->places[i].number == number + 1)
            return &old->places[i];
    return NULL;
}

void ab_live_map_remove_old(struct ab_live_map *m, struct ab_live *found)
{
    struct ab_live_table *old = &m->old;
    size_t hole = (size_t)(found - old->places);
    for (size_t i = (hole + 1) & old->mask; old->places[i].number != 0; i = (i + 1) & old->mask) {
        size_t distance = (i - ab_live_home(old, old->places[i].number - 1)) & old->mask;
        if (distance >= ((i - hole) & old->mask)) {
            old->places[hole] = old->places[i];
            hole = i;
        }
    }
    old->places[hole].number = 0;
    old->n--;
    if (old->mask + 1 > LEAST_PLACES && old->n * 16 < old->mask)
        resize_old(m, (old->mask + 1) / 4);
}
