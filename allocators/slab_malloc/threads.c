/* SPDX-License-Identifier: MIT
 *
 * The heaps of threads. Heaps are never given back to the system. A thread takes one at its first
 * request and leaves it at its end, and the next new thread continues with it. A thread may borrow
 * a heap without an owner for a moment: after it pushed a block on the remote list of that heap, or
 * for requests that it makes after it left its own heap.
 */
#include "allocators/common/pages.h"
#include "allocators/slab_malloc/slab_malloc.h"

#include <pthread.h>

struct ab_thread_heap ab_empty_heap = {
    .direct = {[0 ... AB_N_DIRECT - 1] = &ab_empty_span},
    .current = {[0 ... AB_HEAP_CLASSES - 1] = &ab_empty_span},
    .state = AB_HEAP_DEAD,
};
AB_PRELOAD_TLS struct ab_thread_heap *ab_own_heap = &ab_empty_heap;

/* True if this thread has left its heap, because the thread is about to end. */
static AB_PRELOAD_TLS bool has_left;

pthread_mutex_t ab_threads_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects all data below */
static struct ab_thread_heap *newest;                         /* the newest of all heaps */
/* the first heap; most processes need no other */
static struct ab_thread_heap first_heap;
static char *heaps_at, *heaps_end; /* memory for further heaps: [heaps_at, heaps_end) */
static pthread_key_t key;
static bool has_key;
static size_t n_idle; /* number of heaps that a thread left; atomic */

enum { HEAPS_BYTES = 64 << 10 };

static bool take(struct ab_thread_heap *heap, enum ab_heap_state state)
{
    uint32_t idle = AB_HEAP_IDLE;
    return __atomic_compare_exchange_n(&heap->state, &idle, (uint32_t)state, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Makes the caller's heap idle. A block that is pushed at the same time is freed here or by the
 * pushing thread: once the state is idle, one of the two sees the other's change. */
static void give_up(struct ab_thread_heap *heap)
{
    do {
        ab_heap_drain(heap);
        __atomic_store_n(&heap->state, AB_HEAP_IDLE, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&heap->remote, __ATOMIC_SEQ_CST) != NULL && take(heap, AB_HEAP_BUSY));
}

/* ---- new heaps; the caller holds the lock ---- */

static struct ab_thread_heap *room_for_heap(void)
{
    if (newest == NULL)
        return &first_heap;
    if ((size_t)(heaps_end - heaps_at) < sizeof(struct ab_thread_heap)) {
        char *map = ab_pages_map(HEAPS_BYTES, 0);
        if (map == NULL)
            return NULL;
        heaps_at = map;
        heaps_end = map + HEAPS_BYTES;
    }
    heaps_at += sizeof(struct ab_thread_heap);
    return (struct ab_thread_heap *)(heaps_at - sizeof(struct ab_thread_heap));
}

static struct ab_thread_heap *new_heap(enum ab_heap_state state)
{
    struct ab_thread_heap *heap = room_for_heap();
    if (heap == NULL)
        return NULL;
    for (size_t i = 0; i < AB_N_DIRECT; i++)
        heap->direct[i] = &ab_empty_span;
    for (size_t i = 0; i < AB_HEAP_CLASSES; i++)
        heap->current[i] = &ab_empty_span;
    heap->state = state;
    heap->older = newest;
    newest = heap;
    return heap;
}

static struct ab_thread_heap *find_heap(enum ab_heap_state state)
{
    struct ab_thread_heap *heap = __atomic_load_n(&n_idle, __ATOMIC_RELAXED) > 0 ? newest : NULL;
    while (heap != NULL && !take(heap, state))
        heap = heap->older;
    return heap;
}

/* ---- begin and end of a thread ---- */

static void at_thread_end(void *heap)
{
    has_left = true;
    ab_own_heap = &ab_empty_heap;
    ab_heap_drain(heap);
    ab_heap_settle_all(heap);
    __atomic_fetch_add(&n_idle, 1, __ATOMIC_RELAXED);
    give_up(heap);
    ab_decay_tick();
}

static struct ab_thread_heap *adopt(void)
{
    ab_lock_take(&ab_threads_mutex);
    if (!has_key)
        has_key = pthread_key_create(&key, at_thread_end) == 0;
    struct ab_thread_heap *heap = find_heap(AB_HEAP_OWNED);
    if (heap != NULL)
        __atomic_fetch_sub(&n_idle, 1, __ATOMIC_RELAXED);
    else
        heap = new_heap(AB_HEAP_OWNED);
    ab_lock_release(&ab_threads_mutex);
    if (heap == NULL)
        return NULL;
    ab_own_heap = heap; /* set first, because the calls below may allocate */
    if (has_key)
        pthread_setspecific(key, heap);
    return heap;
}

static struct ab_thread_heap *borrow(void)
{
    ab_lock_take(&ab_threads_mutex);
    struct ab_thread_heap *heap = find_heap(AB_HEAP_BUSY);
    if (heap == NULL && (heap = new_heap(AB_HEAP_BUSY)) != NULL)
        __atomic_fetch_add(&n_idle, 1, __ATOMIC_RELAXED);
    ab_lock_release(&ab_threads_mutex);
    return heap;
}

struct ab_thread_heap *ab_threads_enter(void)
{
    if (AB_LIKELY(ab_own_heap != &ab_empty_heap))
        return ab_own_heap;
    return has_left ? borrow() : adopt();
}

void ab_threads_leave(struct ab_thread_heap *heap)
{
    if (__builtin_expect(heap != ab_own_heap, 0))
        give_up(heap);
}

void ab_threads_push(struct ab_thread_heap *heap, struct ab_free_block *block)
{
    struct ab_free_block *first = __atomic_load_n(&heap->remote, __ATOMIC_RELAXED);
    block->mark = ab_mark_of(block);
    do
        block->next = first;
    while (!__atomic_compare_exchange_n(&heap->remote, &first, block, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
    if (__atomic_load_n(&heap->state, __ATOMIC_SEQ_CST) == AB_HEAP_IDLE && take(heap, AB_HEAP_BUSY))
        give_up(heap);
}

void ab_threads_trim(void)
{
    if (ab_own_heap != &ab_empty_heap) {
        ab_heap_drain(ab_own_heap);
        ab_heap_settle_all(ab_own_heap);
    }
    ab_lock_take(&ab_threads_mutex);
    for (struct ab_thread_heap *heap = newest; heap != NULL; heap = heap->older)
        if (take(heap, AB_HEAP_BUSY)) {
            /* a heap that a thread borrowed may still have current slabs */
            ab_heap_settle_all(heap);
            give_up(heap);
        }
    ab_lock_release(&ab_threads_mutex);
}

/* ---- fork while other threads allocate ----
 *
 * All locks are taken before the fork, so that the data that they protect is intact in the child.
 * Handlers of other libraries may wait for a thread that waits for our locks. So our handler must
 * run last before the fork, which means that it must be registered first. The library is therefore
 * linked with `-z initfirst` and starts before all others. Handlers that still run after ours are
 * served without a lock, because this thread holds all locks. */

AB_PRELOAD_TLS bool ab_is_forking;

static void before_fork(void)
{
    ab_lock_take(&ab_threads_mutex);
    ab_lock_take(&ab_page_heap_mutex);
    ab_lock_take(&ab_large_mutex);
    ab_is_forking = true;
}

static void after_fork(void)
{
    ab_is_forking = false;
    ab_lock_release(&ab_large_mutex);
    ab_lock_release(&ab_page_heap_mutex);
    ab_lock_release(&ab_threads_mutex);
}

/* Marks the heaps of missing threads as dead, because the child has only the thread that forked. */
static void after_fork_in_child(void)
{
    n_idle = 0;
    for (struct ab_thread_heap *heap = newest; heap != NULL; heap = heap->older)
        if (heap->state == AB_HEAP_IDLE)
            n_idle++;
        else if (heap != ab_own_heap)
            heap->state = AB_HEAP_DEAD;
    after_fork();
}

void ab_fork_prepare(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
