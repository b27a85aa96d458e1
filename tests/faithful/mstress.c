/* SPDX-License-Identifier: MIT */
/* usage: mstress LANES ALLOCATIONS ROUNDS — see configs/classics/mstress.yaml. ALLOCATIONS: of the first
 * lane in a round; the original has 5000. */
#include "faithful.h"

enum { TRANSFERS = 1000, TABLE = 100000 };

static unsigned long n_allocations;
static _Atomic(uint64_t *) transfer[TRANSFERS];
static atomic_ullong n_ops;

static bool chance(struct random *r, unsigned percent)
{
    return below(r, 100) <= percent; /* n + 1 in a hundred, as in the original */
}

static uint64_t *items(struct random *r, unsigned most, unsigned long long *ops)
{
    uint64_t n = UINT64_C(1) << below(r, most);
    if (chance(r, 1)) {
        if (chance(r, 1))
            n *= 10000;
        else if (chance(r, 10))
            n *= 1000;
        else
            n *= 100;
    }
    uint64_t *p = need(malloc(n * sizeof *p));
    for (uint64_t i = 0; i < n; i++)
        p[i] = n + i;
    (*ops)++;
    return p;
}

static void drop(uint64_t *p, unsigned long long *ops)
{
    if (p == NULL)
        return;
    if (p[0] == 0)
        _exit(1); /* its first word says how many there are */
    free(p);
    (*ops)++;
}

static void *stress(void *argument)
{
    uintptr_t lane = (uintptr_t)argument;
    struct random r = seeded((lane + 1) * 43);
    unsigned long allocs = n_allocations * (lane % 8 + 1), keeps = allocs / 2;
    uint64_t **data = NULL, **kept = need(calloc(keeps, sizeof *kept));
    unsigned long n_data = 0, n_kept = 0;
    unsigned long long ops = 4;
    while (allocs > 0 || keeps > 0) {
        if (keeps == 0 || (chance(&r, 50) && allocs > 0)) {
            allocs--;
            if (n_data % TABLE == 0)
                data = need(realloc(data, (n_data + TABLE) * sizeof *data));
            data[n_data++] = items(&r, 5, &ops);
        } else {
            keeps--;
            kept[n_kept++] = items(&r, 7, &ops);
        }
        if (chance(&r, 66) && n_data > 0) {
            unsigned i = below(&r, (unsigned)n_data);
            drop(data[i], &ops);
            data[i] = NULL;
        }
        if (chance(&r, 25) && n_data > 0) {
            unsigned i = below(&r, (unsigned)n_data);
            data[i] = atomic_exchange(&transfer[below(&r, TRANSFERS)], data[i]);
        }
    }
    for (unsigned long i = 0; i < n_kept; i++)
        drop(kept[i], &ops);
    for (unsigned long i = 0; i < n_data; i++)
        drop(data[i], &ops);
    free(kept);
    free(data);
    atomic_fetch_add(&n_ops, ops);
    return NULL;
}

static void clear(struct random *r, unsigned percent)
{
    unsigned long long ops = 0;
    for (unsigned i = 0; i < TRANSFERS; i++)
        if (chance(r, percent))
            drop(atomic_exchange(&transfer[i], NULL), &ops);
    atomic_fetch_add(&n_ops, ops);
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    n_allocations = argument(argc, argv, 2);
    unsigned long rounds = argument(argc, argv, 3);
    struct random r = seeded(43);
    if (lanes < 1 || lanes > MAX_LANES)
        return 2;
    pthread_t threads[MAX_LANES];
    begin();
    start_clock();
    for (unsigned long round = 0; round < rounds; round++) {
        for (unsigned i = 1; i < lanes; i++)
            threads[i] = start_thread(stress, (void *)(uintptr_t)i);
        stress((void *)0);
        for (unsigned i = 1; i < lanes; i++)
            pthread_join(threads[i], NULL);
        clear(&r, 50);
    }
    clear(&r, 100);
    stop_clock();
    return report(n_ops);
}
