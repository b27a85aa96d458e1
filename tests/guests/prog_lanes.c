/* SPDX-License-Identifier: MIT
 *
 * Threads that do nothing but allocate: prog_lanes pairs|share|exchange THREADS OPS [null]. `pairs`:
 * each frees its block before it makes the next one. `share`: each has 32 blocks of its own and
 * replaces them in turn. `exchange`: half of them allocate, the other half free, by batches through
 * a short queue (one thread does both). Says what an op took: the wall time of all threads together
 * in ns, by the mallocs and frees that they made. With `null` a function that gives the same block
 * each time takes the place of malloc: what the program takes besides.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIVE = 32, BATCH = 128, QUEUE = 4, THREADS_MAX = 64 };

struct batch {
    char *blocks[BATCH];
};

struct queue { /* from one thread to one other */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch batches[QUEUE];
    unsigned n_sent, n_received;
};

static long n_ops; /* of each thread */
static pthread_barrier_t start;
static struct queue queues[THREADS_MAX / 2];

static void *null_malloc(size_t n)
{
    static _Thread_local char block[512];
    return n <= sizeof block ? block : NULL;
}

static void null_free(void *p)
{
    (void)p;
}

static void *(*volatile take)(size_t) = malloc;
static void (*volatile give)(void *) = free;

static char *make(unsigned i)
{
    char *p = take(16 + (i & 15) * 32u);
    if (p == NULL)
        abort();
    *p = 1;
    return p;
}

static void share(void)
{
    char *live[LIVE] = {NULL};
    unsigned n = (unsigned)(n_ops / 2);
    for (unsigned i = 0; i < n; i++) {
        give(live[i % LIVE]);
        live[i % LIVE] = make(i);
    }
    for (unsigned i = 0; i < LIVE; i++)
        give(live[i]);
}

static void pairs(void)
{
    unsigned n = (unsigned)(n_ops / 2);
    for (unsigned i = 0; i < n; i++)
        give(make(i));
}

static void send(struct queue *q, const struct batch *batch)
{
    pthread_mutex_lock(&q->lock);
    while (q->n_sent - q->n_received == QUEUE)
        pthread_cond_wait(&q->changed, &q->lock);
    q->batches[q->n_sent++ % QUEUE] = *batch;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void receive(struct queue *q, struct batch *batch)
{
    pthread_mutex_lock(&q->lock);
    while (q->n_sent == q->n_received)
        pthread_cond_wait(&q->changed, &q->lock);
    *batch = q->batches[q->n_received++ % QUEUE];
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void fill(struct batch *batch)
{
    for (unsigned i = 0; i < BATCH; i++)
        batch->blocks[i] = make(i);
}

static void drain(const struct batch *batch)
{
    for (unsigned i = 0; i < BATCH; i++)
        give(batch->blocks[i]);
}

/* Of the numbers 2q and 2q + 1 the first sends through queue q and the second receives. */
static void exchange(long number, long n_threads)
{
    struct batch batch;
    for (long i = 0; i < n_ops / BATCH; i++) {
        if (n_threads == 1 || number % 2 == 0)
            fill(&batch);
        if (n_threads > 1 && number % 2 == 0)
            send(&queues[number / 2], &batch);
        if (n_threads > 1 && number % 2 == 1)
            receive(&queues[number / 2], &batch);
        if (n_threads == 1 || number % 2 == 1)
            drain(&batch);
    }
}

static long n_threads;
static int is_exchange, is_pairs;

static void *work(void *number)
{
    pthread_barrier_wait(&start);
    if (is_exchange)
        exchange((long)number, n_threads);
    else if (is_pairs)
        pairs();
    else
        share();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    struct timespec begin, end;
    if (argc < 4 || argc > 5 || (n_threads = atol(argv[2])) < 1 || n_threads > THREADS_MAX ||
        (n_ops = atol(argv[3])) < 1)
        return 2;
    is_exchange = strcmp(argv[1], "exchange") == 0;
    is_pairs = strcmp(argv[1], "pairs") == 0;
    if (argc == 5) {
        take = null_malloc;
        give = null_free;
    }
    if (is_exchange && n_threads == 1)
        n_ops /= 2; /* it makes both halves of an op pair */
    for (unsigned i = 0; i < THREADS_MAX / 2; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].changed, NULL);
    }
    pthread_barrier_init(&start, NULL, (unsigned)n_threads + 1);
    for (long i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_barrier_wait(&start);
    for (long i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    double all = (double)n_ops * (double)n_threads * (is_exchange && n_threads == 1 ? 2 : 1);
    printf("%.3f\n", ns / all);
    return 0;
}
