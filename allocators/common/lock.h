/* SPDX-License-Identifier: MIT
 *
 * A lock around the calls of an allocator that is written for one thread. It also shows how an
 * allocator for several threads keeps its lock off system calls: such a call takes microseconds,
 * and other threads can continue meanwhile.
 */
#ifndef AB_ALLOCATORS_LOCK_H
#define AB_ALLOCATORS_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct ab_lock {
    bool is_shared; /* False: only one thread uses the heap, and nothing is locked. */
    pthread_mutex_t mutex;
};

/* Holds the lock up to the end of the enclosing block. */
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

/* Release and retake the lock around a system call. `mutex` is the one that the caller holds, or
 * NULL. The data that it protects may have changed in between. */
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
