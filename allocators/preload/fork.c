/* SPDX-License-Identifier: MIT
 *
 * A fork while others allocate: all locks are taken before it, so that what they guard is whole in
 * the child. Handlers of other libraries may wait for a thread that waits for our locks, so ours
 * have to run last before the fork, which those do that are registered first: the library is linked
 * with `-z initfirst`, and begins before all others. Handlers that run after ours all the same are
 * served without a lock: this thread holds them all.
 */
#include "allocators/preload/preload.h"

AB_PRELOAD_TLS bool ab_is_forking;

static void before(void)
{
    ab_threads_lock();
    ab_page_heap_lock();
    ab_large_lock();
    ab_is_forking = true;
}

static void after(void)
{
    ab_is_forking = false;
    ab_large_unlock();
    ab_page_heap_unlock();
    ab_threads_unlock();
}

static void after_in_child(void)
{
    ab_threads_bury();
    after();
}

void ab_fork_prepare(void)
{
    pthread_atfork(before, after, after_in_child);
}
