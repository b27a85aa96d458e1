/* SPDX-License-Identifier: MIT */
/* usage: xmalloc PAIRS MILLISECONDS BYTES — see configs/classics/xmalloc.yaml. */
#include "faithful.h"

enum { BATCH = 4096, MOST_WAITING = 100 };

struct batch { /* 32,776 bytes, from the allocator that is measured, as in the original */
    struct batch *next;
    void *blocks[BATCH];
};

static struct batch *waiting;
static unsigned n_waiting, bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER, has_some = PTHREAD_COND_INITIALIZER;
static atomic_bool is_over;
static atomic_ullong n_ops;

static void push(struct batch *b)
{
    pthread_mutex_lock(&lock);
    while (n_waiting >= MOST_WAITING && !is_over)
        pthread_cond_wait(&has_room, &lock);
    b->next = waiting;
    waiting = b;
    n_waiting++;
    pthread_cond_signal(&has_some);
    pthread_mutex_unlock(&lock);
}

static struct batch *pop(void)
{
    pthread_mutex_lock(&lock);
    while (n_waiting == 0 && !is_over)
        pthread_cond_wait(&has_some, &lock);
    struct batch *b = waiting;
    if (b != NULL) {
        waiting = b->next;
        n_waiting--;
        pthread_cond_signal(&has_room);
    }
    pthread_mutex_unlock(&lock);
    return b;
}

static void *produce(void)
{
    unsigned written = bytes < 128 ? bytes : 128;
    while (!is_over) {
        struct batch *b = need(malloc(sizeof *b));
        for (unsigned i = 0; i < BATCH; i++) {
            b->blocks[i] = need(malloc(bytes));
            memset(b->blocks[i], (int)i, written);
        }
        push(b);
        atomic_fetch_add(&n_ops, BATCH + 1);
    }
    return NULL;
}

static void *consume(void)
{
    for (struct batch *b = pop(); b != NULL && !is_over; b = pop()) {
        for (unsigned i = 0; i < BATCH; i++)
            free(b->blocks[i]);
        free(b);
        atomic_fetch_add(&n_ops, BATCH + 1);
    }
    return NULL;
}

static void *work(void *argument)
{
    return (uintptr_t)argument % 2 == 0 ? produce() : consume();
}

int main(int argc, char **argv)
{
    unsigned pairs = (unsigned)argument(argc, argv, 1);
    unsigned long ms = argument(argc, argv, 2);
    bytes = (unsigned)argument(argc, argv, 3);
    if (pairs < 1 || pairs > MAX_LANES / 2)
        return 2;
    pthread_t threads[MAX_LANES];
    struct timespec nap = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    begin();
    start_clock();
    for (unsigned i = 0; i < 2 * pairs; i++)
        threads[i] = start_thread(work, (void *)(uintptr_t)i);
    nanosleep(&nap, NULL);
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_broadcast(&has_room);
    pthread_cond_broadcast(&has_some);
    pthread_mutex_unlock(&lock);
    stop_clock();
    unsigned long long done = n_ops;
    for (unsigned i = 0; i < 2 * pairs; i++)
        pthread_join(threads[i], NULL);
    return report(done);
}
