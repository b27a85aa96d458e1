/* SPDX-License-Identifier: MIT
 *
 * Threads in a circle that hand blocks on: each allocates, fills a ring to the next thread, and
 * frees what comes out of the ring of the one before. Every fourth block is resized by the
 * receiver and handed on once more. All frees but those are of another thread's blocks.
 *   usage: prog_pingpong [THREADS [BLOCKS]]     (default: 2 threads, 20000 blocks each; 2 to 4)
 * Exits with 1 when a block does not hold what its maker wrote. No stdio: it allocates.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 4, RING = 256 };

struct message {
    unsigned char *block;
    uint32_t size;
    uint32_t hops; /* how often it was handed on */
};

struct ring { /* one writer, one reader */
    _Alignas(64) _Atomic uint32_t n_put;
    _Alignas(64) _Atomic uint32_t n_taken;
    struct message messages[RING];
};

static struct ring rings[THREADS_MAX]; /* rings[i]: from thread i to the next */
static _Atomic uint32_t n_ended;       /* blocks freed by all */
static _Atomic int is_wrong;
static uint32_t n_threads = 2, n_blocks = 20000;

static int put(struct ring *r, struct message m)
{
    uint32_t n = atomic_load_explicit(&r->n_put, memory_order_relaxed);
    if (n - atomic_load_explicit(&r->n_taken, memory_order_acquire) == RING)
        return 0;
    r->messages[n % RING] = m;
    atomic_store_explicit(&r->n_put, n + 1, memory_order_release);
    return 1;
}

static int take(struct ring *r, struct message *out)
{
    uint32_t n = atomic_load_explicit(&r->n_taken, memory_order_relaxed);
    if (atomic_load_explicit(&r->n_put, memory_order_acquire) == n)
        return 0;
    *out = r->messages[n % RING];
    atomic_store_explicit(&r->n_taken, n + 1, memory_order_release);
    return 1;
}

static struct message make(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    uint32_t size = 16 + (*seed >> 20) % ((*seed >> 16 & 15) == 0 ? 4000 : 240);
    struct message m = {malloc(size), size, 0};
    if (m.block == NULL)
        abort();
    memset(m.block, (int)(size & 0xff), size);
    return m;
}

static void end(struct message m)
{
    if (m.block[0] != (m.size & 0xff) || m.block[m.size - 1] != (m.size & 0xff))
        atomic_store(&is_wrong, 1);
    free(m.block);
    atomic_fetch_add(&n_ended, 1);
}

/* A block of a size divisible by 4 grows and goes on, once. */
static int hand_on(struct ring *to, struct message m)
{
    if (m.hops > 0 || m.size % 4 != 0)
        return 0;
    m.block = realloc(m.block, m.size + 64);
    if (m.block == NULL)
        abort();
    m.hops++;
    if (!put(to, m))
        end(m);
    return 1;
}

static void *turn(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument, seed = me + 1, n_made = 0;
    struct ring *to = &rings[me], *from = &rings[(me + n_threads - 1) % n_threads];
    struct message held = {0}, got;
    while (atomic_load(&n_ended) < n_threads * n_blocks) {
        int is_idle = 1;
        if (held.block == NULL && n_made < n_blocks) {
            held = make(&seed);
            n_made++;
        }
        if (held.block != NULL && put(to, held)) {
            held.block = NULL;
            is_idle = 0;
        }
        if (take(from, &got)) {
            if (!hand_on(to, got))
                end(got);
            is_idle = 0;
        }
        if (is_idle)
            sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (argc > 1)
        n_threads = (uint32_t)atoi(argv[1]);
    if (argc > 2)
        n_blocks = (uint32_t)atoi(argv[2]);
    if (n_threads < 2 || n_threads > THREADS_MAX)
        return 2;
    for (uintptr_t i = 1; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, turn, (void *)i) != 0)
            return 3;
    turn(NULL);
    for (uint32_t i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return is_wrong;
}
