/* SPDX-License-Identifier: MIT
 *
 * Threads that do nothing but allocate: prog_lanes pairs|share|exchange THREADS OPS [null]. `pairs`:
 * each frees its block before it makes the next one. `share`: each has 32 blocks of its own and
 * replaces them in turn. `exchange`: half of them allocate, the other half free, by batches through
 * a short queue without a lock (one thread does both): it takes next to nothing, because what an
 * allocator takes cannot be told from what it does behind a wait for a queue. Threads are pinned to
 * the allowed CPUs in turns, as a replay with --cpus does it: the two ends of a queue are at work
 * at once, or by turns, and that is the difference between an allocator's slow and fast paths. Says
 * what an op took: the wall time of all threads together in ns, by the mallocs and frees that they
 * made. With `null` a function that gives the same block each time takes the place of malloc: what
 * the program takes besides.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LIVE = 32, BATCH = 128, QUEUE = 4, THREADS_MAX = 64, SPINS_OWN = 2000, SPINS_SHARED = 20 };

struct batch {
    char *blocks[BATCH];
};

struct counter { /* one thread advances it, one other waits for that */
    _Alignas(64) unsigned n;
    unsigned is_awaited;
};

struct queue { /* from one thread to one other; its batches are filled and emptied in place */
    struct counter sent, received;
    _Alignas(64) struct batch batches[QUEUE];
};

static long n_ops, n_threads; /* ops of each thread */
static int is_exchange, is_pairs, n_cpus;
static unsigned n_spins; /* before a thread sleeps */
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

static unsigned count_of(const struct counter *c)
{
    return __atomic_load_n(&c->n, __ATOMIC_ACQUIRE);
}

static void advance(struct counter *c)
{
    __atomic_add_fetch(&c->n, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->is_awaited, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &c->n, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void await_change(struct counter *c, unsigned old)
{
    for (unsigned i = 0; i < n_spins; i++) {
        if (count_of(c) != old)
            return;
        __builtin_ia32_pause();
    }
    __atomic_store_n(&c->is_awaited, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &c->n, FUTEX_WAIT_PRIVATE, old, NULL);
    __atomic_store_n(&c->is_awaited, 0, __ATOMIC_RELAXED);
}

static struct batch *next_empty(struct queue *q)
{
    unsigned sent = count_of(&q->sent), received;
    while (sent - (received = count_of(&q->received)) == QUEUE)
        await_change(&q->received, received);
    return &q->batches[sent % QUEUE];
}

static struct batch *next_full(struct queue *q)
{
    unsigned received = count_of(&q->received), sent;
    while ((sent = count_of(&q->sent)) == received)
        await_change(&q->sent, sent);
    return &q->batches[received % QUEUE];
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
static void exchange(long number)
{
    struct queue *q = &queues[number / 2];
    struct batch batch;
    for (long i = 0; i < n_ops / BATCH; i++) {
        if (n_threads == 1) {
            fill(&batch);
            drain(&batch);
        } else if (number % 2 == 0) {
            fill(next_empty(q));
            advance(&q->sent);
        } else {
            drain(next_full(q));
            advance(&q->received);
        }
    }
}

/* The main thread's place is the first one. */
static void pin(long number)
{
    cpu_set_t allowed, own;
    long left = (number + 1) % n_cpus;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        abort();
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && left-- == 0)
            CPU_SET(cpu, &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0)
        abort();
}

static void *work(void *number)
{
    pin((long)number);
    pthread_barrier_wait(&start);
    if (is_exchange)
        exchange((long)number);
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
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 1;
    n_cpus = CPU_COUNT(&cpus);
    n_spins = n_threads > n_cpus ? SPINS_SHARED : SPINS_OWN;
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
