/* SPDX-License-Identifier: MIT */
/* usage: larson LANES MILLISECONDS BLOCKS ROUNDS — see configs/classics/larson.yaml. */
#include "faithful.h"

enum { MAX_BLOCKS = 10000 };

static char *blocks[MAX_LANES * MAX_BLOCKS];
static unsigned n_blocks, n_rounds;
static atomic_bool is_over;
static atomic_uint n_running;
static atomic_ullong n_ops, n_lives;

static char *new_block(struct random *r)
{
    char *p = need(malloc(between(r, 8, 999)));
    p[0] = 'a';
    p[1] = 'b';
    keep(p);
    return p;
}

static void replace(char **place, struct random *r)
{
    free(*place);
    *place = new_block(r);
}

/* One life of a lane; its blocks go to a successor, and nobody joins it. */
static void *live(void *argument)
{
    unsigned lane = (unsigned)(uintptr_t)argument, most = n_blocks * n_rounds, i = 0;
    struct random r = seeded(atomic_fetch_add(&n_lives, 1) + 4141);
    char **own = blocks + (size_t)lane * n_blocks;
    for (; i < most && !atomic_load_explicit(&is_over, memory_order_relaxed); i++)
        replace(own + below(&r, n_blocks), &r);
    atomic_fetch_add(&n_ops, 2 * (unsigned long long)i);
    if (atomic_load(&is_over))
        atomic_fetch_sub(&n_running, 1);
    else
        start_thread(live, argument);
    return NULL;
}

/* The main thread builds all lanes' blocks as one array, so that neighbours in memory are of several. */
static void build(unsigned n)
{
    struct random r = seeded(4141);
    for (unsigned i = 0; i < n; i++)
        blocks[i] = new_block(&r);
    for (unsigned i = n - 1; i > 0; i--) {
        unsigned j = below(&r, i + 1);
        char *swapped = blocks[i];
        blocks[i] = blocks[j];
        blocks[j] = swapped;
    }
    for (unsigned i = 0; i < 4 * n; i++)
        replace(blocks + below(&r, n), &r);
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    unsigned long ms = argument(argc, argv, 2);
    n_blocks = (unsigned)argument(argc, argv, 3);
    n_rounds = (unsigned)argument(argc, argv, 4);
    if (lanes < 1 || lanes > MAX_LANES || n_blocks < 1 || n_blocks > MAX_BLOCKS)
        return 2;
    memset(blocks, 1, lanes * n_blocks * sizeof blocks[0]);
    begin();
    build(lanes * n_blocks);
    struct timespec nap = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    start_clock();
    atomic_store(&n_running, lanes);
    for (unsigned i = 0; i < lanes; i++)
        start_thread(live, (void *)(uintptr_t)i);
    nanosleep(&nap, NULL);
    atomic_store(&is_over, true);
    stop_clock();
    while (atomic_load(&n_running) > 0)
        sched_yield();
    return report(n_ops);
}
