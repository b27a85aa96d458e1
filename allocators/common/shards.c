/* SPDX-License-Identifier: MIT
 *
 * The heaps of a group: their spans of addresses, and which thread has which heap. None of these
 * functions is on a fast path.
 */
#include "shards.h"

#include "pages.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

enum { CACHE_LINES = 128 }; /* two cache lines, because the prefetcher loads pairs */
enum { SPAN_LOG2_MAX = 42 };

static uint32_t count_shards(const struct ab_shards_options *o)
{
    if (o->mode == AB_SHARDS_SHARDED)
        return o->n > 0 ? o->n : (uint32_t)AB_SHARDS_SHARDED_USUAL;
    if (o->mode != AB_SHARDS_LOCAL)
        return 1;
    if (o->n >= AB_SHARDS_MAX)
        return UINT32_MAX;
    return (o->n > 0 ? o->n : (uint32_t)AB_SHARDS_LOCAL_USUAL) + 1;
}

static unsigned log2_above(size_t bytes)
{
    return bytes <= 1 ? 0 : (unsigned)(64 - __builtin_clzll(bytes - 1));
}

/* Reserves addresses for all heaps, at a multiple of a span; halves them each time the system
 * refuses. */
static int reserve_spans(struct ab_shards *shards, size_t span_bytes)
{
    unsigned least = log2_above(ab_page_size()) + 4, log2 = log2_above(span_bytes);
    log2 = log2 < least ? least : log2 > SPAN_LOG2_MAX ? (unsigned)SPAN_LOG2_MAX : log2;
    for (; log2 >= least; log2--) {
        size_t bytes = (size_t)shards->n_shards << log2;
        if (bytes >> log2 != shards->n_shards)
            continue;
        shards->span_log2 = log2;
        shards->range = (char *)ab_pages_reserve(bytes, (size_t)1 << log2);
        if (shards->range != NULL)
            return 0;
    }
    return ENOMEM;
}

static void init_shard(struct ab_shards *shards, uint32_t index, bool is_guarded)
{
    struct ab_shard *shard = ab_shards_at(shards, index);
    bool is_single = shards->mode == AB_SHARDS_ONE ||
                     (shards->mode == AB_SHARDS_LOCAL && index > 0);
    shard->shards = shards;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    shard->mutex = mutex;
    shard->is_guarded = is_guarded;
    shard->is_plain = is_single && !is_guarded;
    if (!shard->is_plain)
        return;
    shard->own_base = shards->range != NULL ? (uintptr_t)ab_shards_span(shards, shard) : 1;
    shard->own_bytes = shards->range != NULL ? (size_t)1 << shards->span_log2 : SIZE_MAX - 1;
}

struct ab_shards *ab_shards_open(const struct ab_shards_options *o,
                                 const struct ab_shards_calls *calls, size_t span_bytes)
{
    size_t page = ab_page_size(), head = ab_round_up(sizeof(struct ab_shards), CACHE_LINES);
    size_t each = ab_round_up(calls->heap_bytes, CACHE_LINES);
    uint32_t n = count_shards(o);
    if (n > AB_SHARDS_MAX) {
        errno = EINVAL;
        return NULL;
    }
    size_t map_bytes = ab_round_up(head + n * each, page);
    struct ab_shards *shards = (struct ab_shards *)ab_pages_map(map_bytes, page);
    if (shards == NULL)
        return NULL;
    shards->mode = o->mode;
    shards->n_shards = n;
    shards->shard_bytes = each;
    shards->map_bytes = map_bytes;
    shards->heaps = (char *)shards + head;
    shards->calls = *calls;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    shards->mutex = mutex;
    int error = o->mode >= AB_SHARDS_LOCAL && span_bytes > 0 ? reserve_spans(shards, span_bytes)
                                                             : 0;
    if (error != 0) {
        ab_pages_release(shards, map_bytes);
        errno = error;
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        init_shard(shards, i, o->is_guarded);
    return shards;
}

static void release(struct ab_shards *shards)
{
    if (shards->forget_key != NULL)
        shards->forget_key(shards);
    if (shards->range != NULL)
        ab_pages_release(shards->range, (size_t)shards->n_shards << shards->span_log2);
#ifdef AB_WITH_CHECKS /* the zeroed struct makes a later use find the group closed */
    ab_pages_discard(shards, shards->map_bytes);
#else
    ab_pages_release(shards, shards->map_bytes);
#endif
}

struct ab_shard *ab_shards_begin(struct ab_shards *shards)
{
    struct ab_shard *first = ab_shards_at(shards, 0);
    int error = ab_shards_ready(first);
    if (error == 0)
        return first;
    release(shards);
    errno = error;
    return NULL;
}

void ab_shards_close(struct ab_shard *first)
{
    struct ab_shards *shards = first != NULL ? first->shards : NULL;
    for (struct ab_shard *each = first; each != NULL; each = ab_shards_next(first, each)) {
        ab_shard_lock(each);
        shards->calls.fini(each);
        ab_shard_unlock(each);
    }
    if (shards != NULL)
        release(shards);
}

struct ab_shard *ab_shards_at(const struct ab_shards *shards, uint32_t index)
{
    return (struct ab_shard *)(void *)(shards->heaps + index * shards->shard_bytes);
}

static uint32_t index_of(const struct ab_shard *shard)
{
    const struct ab_shards *shards = shard->shards;
    return (uint32_t)((size_t)((const char *)shard - shards->heaps) / shards->shard_bytes);
}

static bool is_ready(const struct ab_shard *shard)
{
    return __atomic_load_n(&shard->is_ready, __ATOMIC_ACQUIRE);
}

static uint32_t state_of(const struct ab_shard *shard)
{
    return __atomic_load_n(&shard->state, __ATOMIC_ACQUIRE);
}

struct ab_shard *ab_shards_next(const struct ab_shard *whole, const struct ab_shard *each)
{
    const struct ab_shards *shards = whole->shards;
    uint32_t n = index_of(whole) == 0 ? shards->n_shards : 0;
    for (uint32_t next = index_of(each) + 1; next < n; next++)
        if (is_ready(ab_shards_at(shards, next)) &&
            state_of(ab_shards_at(shards, next)) != AB_SHARD_DEAD)
            return ab_shards_at(shards, next);
    return NULL;
}

char *ab_shards_span(const struct ab_shards *shards, const struct ab_shard *shard)
{
    return shards->range + ((size_t)index_of(shard) << shards->span_log2);
}

struct ab_shard *ab_shards_owner(const struct ab_shards *shards, const void *block)
{
    if (shards->range == NULL)
        return ab_shards_at(shards, 0);
    size_t index = ((uintptr_t)block - (uintptr_t)shards->range) >> shards->span_log2;
    return index < shards->n_shards ? ab_shards_at(shards, (uint32_t)index) : NULL;
}

/* ---- which thread has which heap ---- */

int ab_shards_ready(struct ab_shard *shard)
{
    if (is_ready(shard))
        return 0;
    int error = shard->shards->calls.open(shard);
    if (error != 0)
        return error;
    __atomic_add_fetch(&shard->shards->n_open, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shard->is_ready, true, __ATOMIC_RELEASE);
    return 0;
}

/* Takes over an idle heap; the caller holds the group's mutex. Returns false if another thread has
 * the heap. If there is no memory, returns false and sets *error. */
static bool take_over(struct ab_shard *shard, enum ab_shard_state state, int *error)
{
    if (!ab_shard_take(shard, state))
        return false;
    shard->thread = pthread_self();
    *error = ab_shards_ready(shard);
    if (*error != 0)
        __atomic_store_n(&shard->state, (uint32_t)AB_SHARD_IDLE, __ATOMIC_RELEASE);
    return *error == 0;
}

/* Enters the heap of a number. If the number was entered before and not left, the calling thread
 * gets the same heap. While another thread puts the heap in order, waits for it. */
static struct ab_shard *enter_local(struct ab_shards *shards, uint32_t lane, int *error)
{
    struct ab_shard *shard = ab_shards_at(shards, lane + 1);
    while (!take_over(shard, AB_SHARD_ENTERED, error) && *error == 0) {
        uint32_t state = state_of(shard);
        if (state == AB_SHARD_ENTERED) {
            shard->thread = pthread_self();
            break;
        }
        *error = state == AB_SHARD_OWNED ? EBUSY : state == AB_SHARD_DEAD ? EOWNERDEAD : 0;
        if (*error == 0)
            sched_yield();
    }
    return shard;
}

struct ab_shard *ab_shards_enter(struct ab_shards *shards, uint32_t lane)
{
    struct ab_shard *shard = ab_shards_at(shards, 0);
    bool is_local = shards->mode == AB_SHARDS_LOCAL;
    int error = is_local && lane >= shards->n_shards - 1 ? EINVAL : 0;
    if (error == 0 && (is_local || shards->mode == AB_SHARDS_SHARDED)) {
        pthread_mutex_lock(&shards->mutex);
        if (is_local)
            shard = enter_local(shards, lane, &error);
        else
            error = ab_shards_ready(shard = ab_shards_at(shards, lane % shards->n_shards));
        pthread_mutex_unlock(&shards->mutex);
    }
    errno = error != 0 ? error : errno;
    return error == 0 ? shard : NULL;
}

static struct ab_shard *deal_out(struct ab_shards *shards)
{
    struct ab_shard *shard = ab_shards_at(shards, shards->n_dealt++ % shards->n_shards);
    return ab_shards_ready(shard) == 0 ? shard : ab_shards_at(shards, 0);
}

/* Returns the first idle heap, so that no more heaps are used than threads live at the same
 * time. */
static struct ab_shard *find_idle(struct ab_shards *shards)
{
    int error = 0;
    for (uint32_t i = 1; i < shards->n_shards && error == 0; i++)
        if (take_over(ab_shards_at(shards, i), AB_SHARD_OWNED, &error))
            return ab_shards_at(shards, i);
    return ab_shards_at(shards, 0);
}

struct ab_shard *ab_shards_adopt(struct ab_shards *shards)
{
    struct ab_shard *shard = ab_shards_at(shards, 0);
    if (shards->mode != AB_SHARDS_LOCAL && shards->mode != AB_SHARDS_SHARDED)
        return shard;
    pthread_mutex_lock(&shards->mutex);
    shard = shards->mode == AB_SHARDS_LOCAL ? find_idle(shards) : deal_out(shards);
    pthread_mutex_unlock(&shards->mutex);
    return shard;
}

void ab_shards_leave(struct ab_shard *shard)
{
    if (shard->is_plain)
        ab_shard_send(shard);
    if (shard->shards->mode == AB_SHARDS_LOCAL && shard != ab_shards_at(shard->shards, 0))
        ab_shard_give_up(shard);
}

#ifdef AB_WITH_CHECKS

/* Ends the process if the heap is another thread's. Any thread may use the first heap of a
 * group. */
static void demand_own(const struct ab_shard *shard, const char *name)
{
    uint32_t state = state_of(shard);
    bool has_thread = state == AB_SHARD_OWNED || state == AB_SHARD_ENTERED;
    if (shard->shards->mode == AB_SHARDS_LOCAL && index_of(shard) != 0 &&
        (!has_thread || !pthread_equal(shard->thread, pthread_self())))
        ab_guard_end(name, shard, AB_SAYS_THREAD);
}

struct ab_block_call ab_shard_call_begin(struct ab_shard *shard, const char *name,
                                         const void *place)
{
    if (shard == NULL || shard->shards == NULL)
        ab_guard_end(name, shard, AB_SAYS_CLOSED);
    demand_own(shard, name);
    bool is_alone = shard->shards->mode == AB_SHARDS_ONE;
    return ab_block_call_of(is_alone ? &shard->user : NULL, name, shard, place);
}

#endif

/* ---- functions on all heaps ---- */

static void done_with(struct ab_shard *shard)
{
    if (shard->shards->calls.settle != NULL)
        shard->shards->calls.settle(shard);
    ab_shard_unlock(shard);
}

void ab_shards_reset(struct ab_shard *whole)
{
    for (struct ab_shard *each = whole; each != NULL; each = ab_shards_next(whole, each)) {
        ab_shard_lock(each);
        ab_shard_forget(whole, each);
        each->shards->calls.reset(each);
        done_with(each);
    }
}

/* Purges the heaps of `whole`. Sends all waiting blocks first, so that each heap can take back
 * those that other threads freed. */
void ab_shards_purge(struct ab_shard *whole)
{
    const struct ab_shards_calls *calls = &whole->shards->calls;
    for (struct ab_shard *each = whole; each != NULL; each = ab_shards_next(whole, each))
        if (each->is_plain)
            ab_shard_send(each);
    for (struct ab_shard *each = whole; each != NULL; each = ab_shards_next(whole, each)) {
        ab_shard_lock(each);
        if (calls->drain != NULL)
            calls->drain(each);
        calls->purge(each);
        done_with(each);
    }
}

/* ---- fork ---- */

void ab_shards_before_fork(struct ab_shards *shards)
{
    pthread_mutex_lock(&shards->mutex);
    for (uint32_t i = 0; i < shards->n_shards; i++)
        ab_shard_lock(ab_shards_at(shards, i));
}

static bool is_of_this_thread(const struct ab_shard *shard)
{
    return (shard->state == AB_SHARD_OWNED || shard->state == AB_SHARD_ENTERED) &&
           pthread_equal(shard->thread, pthread_self());
}

void ab_shards_after_fork(struct ab_shards *shards, bool is_child)
{
    for (uint32_t i = shards->n_shards; i-- > 0;) {
        struct ab_shard *shard = ab_shards_at(shards, i);
        if (is_child && shard->state != AB_SHARD_IDLE && !is_of_this_thread(shard))
            shard->state = AB_SHARD_DEAD;
        ab_shard_unlock(shard);
    }
    pthread_mutex_unlock(&shards->mutex);
}
