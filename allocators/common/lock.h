/* SPDX-License-Identifier: MIT
 *
 * How an allocator that several threads share keeps its lock off the calls to the system: such a
 * call takes microseconds, and while it runs the others may go on.
 */
#ifndef AB_ALLOCATORS_LOCK_H
#define AB_ALLOCATORS_LOCK_H

#include <pthread.h>
#include <stddef.h>

/* Around a call to the system; the mutex that the caller holds, or NULL. Whatever the lock guards
 * may have changed in between. */
static inline void ab_lock_let_go(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_unlock(mutex);
}

static inline void ab_lock_take_back(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_lock(mutex);
}

#endif
