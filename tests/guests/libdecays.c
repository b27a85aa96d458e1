/* SPDX-License-Identifier: MIT
 *
 * A malloc that gives large blocks back AFTER seconds (10) after their free by the clock: with the
 * next call that frees one, or, with DECAYS=thread, by a thread of its own that waits for it.
 * DECAYS=busy: that thread never sleeps again once it has waited.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define TOY_OWN_MALLOC
#define TOY_OWN_FREE
#include "toy.h"

enum { LARGE = 64 << 10, MOST = 4096, PAGE = 4096 };
#define SECOND UINT64_C(1000000000)

static struct {
    char *cell; /* NULL: it is in use again */
    size_t bytes;
    uint64_t due;
} freed[MOST];
static unsigned n_freed;
static uint64_t delay = 10 * SECOND;
static bool has_thread, is_busy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns when the next one is due, 0 = none. */
static uint64_t give_back(void)
{
    uint64_t at = now(), next = 0;
    for (unsigned i = 0; i < n_freed; i++) {
        if (freed[i].cell == NULL)
            continue;
        if (freed[i].due <= at) {
            uintptr_t begin = ((uintptr_t)freed[i].cell + 2 * PAGE - 1) & -(uintptr_t)PAGE;
            uintptr_t end = ((uintptr_t)freed[i].cell + freed[i].bytes) & -(uintptr_t)PAGE;
            madvise((void *)begin, end - begin, MADV_DONTNEED);
            freed[i].cell = NULL;
        } else if (next == 0 || freed[i].due < next) {
            next = freed[i].due;
        }
    }
    return next;
}

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        const uint64_t due = give_back();
        struct timespec at = {(time_t)(due / SECOND), (long)(due % SECOND)};
        if (due == 0)
            pthread_cond_wait(&changed, &lock);
        else if (pthread_cond_timedwait(&changed, &lock, &at) != 0 && is_busy)
            for (;;)
                __asm__ volatile("");
    }
    return NULL;
}

static __attribute__((constructor)) void start(void)
{
    const char *how = getenv("DECAYS"), *after = getenv("AFTER");
    pthread_t thread;
    pthread_condattr_t attr;
    is_busy = how != NULL && strcmp(how, "busy") == 0;
    has_thread = how != NULL;
    if (after != NULL)
        delay = (uint64_t)atoi(after) * SECOND;
    if (!has_thread)
        return;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_create(&thread, NULL, run, NULL);
}

void *malloc(size_t size)
{
    pthread_mutex_lock(&lock);
    void *p = toy_alloc(0, size);
    char *cell = p == NULL ? NULL : (char *)p - toy_head(p)->offset;
    for (unsigned i = 0; i < n_freed && size >= LARGE; i++)
        if (freed[i].cell == cell)
            freed[i].cell = NULL;
    pthread_mutex_unlock(&lock);
    return p;
}

void free(void *p)
{
    if (p == NULL)
        return;
    const struct toy_head head = *toy_head(p);
    pthread_mutex_lock(&lock);
    toy_free(p);
    if (head.size >= LARGE && n_freed < MOST) {
        freed[n_freed].cell = (char *)p - head.offset;
        freed[n_freed].bytes = (size_t)1 << head.class;
        freed[n_freed++].due = now() + delay;
        if (has_thread)
            pthread_cond_signal(&changed);
        else
            give_back();
    }
    pthread_mutex_unlock(&lock);
}
