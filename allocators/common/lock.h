/* SPDX-License-Identifier: MIT
 *
 * A lock around the calls of an allocator for one thread, where it is shared at all. And how an
 * allocator that several threads share keeps its lock off the calls to the system: such a call
 * takes microseconds, and while it runs the others may go on.
 */
#ifndef AB_ALLOCATORS_LOCK_H
#define AB_ALLOCATORS_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct ab_lock {
    bool is_shared; /* false: one thread only, nothing is locked */
    pthread_mutex_t mutex;
};

/* Held up to the end of the block around it. */
#define AB_LOCK_GUARD(lock) \
    __attribute__((cleanup(ab_lock_end), unused)) struct ab_lock *ab_lock_held = ab_lock_begin(lock)

static inline void ab_lock_init(struct ab_lock *lock, bool is_shared)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    lock->is_shared = is_shared;
    lock->mutex = mutex;
}

static inline struct ab_lock *ab_lock_begin(struct ab_lock *lock)
{
    if (__builtin_expect(lock->is_shared, 0))
        pthread_mutex_lock(&lock->mutex);
    return lock;
}

static inline void ab_lock_end(struct ab_lock **held)
{
    if (__builtin_expect((*held)->is_shared, 0))
        pthread_mutex_unlock(&(*held)->mutex);
}

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
