/* SPDX-License-Identifier: MIT
 *
 * How a back end for one thread serves several: one mutex around every hook, taken only when the
 * work has more than one lane. It lives in the glue, so that the allocators stay what they are.
 * Hot hooks test `is_shared` themselves and leave the locked form out of line; the others use the
 * guard below.
 */
#ifndef AB_ALLOCATORS_LANE_LOCK_H
#define AB_ALLOCATORS_LANE_LOCK_H

#include "allocators/params.h"

#include <pthread.h>
#include <stdbool.h>

struct ab_lane_lock {
    bool is_shared;
    pthread_mutex_t mutex;
};

enum { AB_THREADS_AUTO, AB_THREADS_MUTEX };

static const char *const ab_lane_lock_choices[] = {"auto", "mutex", NULL};

/* The entry of the table of parameters. */
#define AB_LANE_LOCK_PARAM \
    AB_CHOICE_ROW("threads", ab_lane_lock_choices, \
                  "auto = a mutex with more than one lane, mutex = always")

static inline void ab_lane_lock_init(struct ab_lane_lock *lock, uint64_t choice, uint32_t lanes)
{
    lock->is_shared = choice == AB_THREADS_MUTEX || lanes > 1;
    lock->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Holds the heap's lock up to the end of the block around it. */
#define AB_LANE_GUARD(heap) \
    __attribute__((cleanup(ab_lane_unlock), unused)) struct ab_lane_lock *held = ab_lane_lock( \
        &(heap)->lock)

static inline struct ab_lane_lock *ab_lane_lock(struct ab_lane_lock *lock)
{
    if (__builtin_expect(lock->is_shared, 0))
        pthread_mutex_lock(&lock->mutex);
    return lock;
}

static inline void ab_lane_unlock(struct ab_lane_lock **held)
{
    if (__builtin_expect((*held)->is_shared, 0))
        pthread_mutex_unlock(&(*held)->mutex);
}

#endif
