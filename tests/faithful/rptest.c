/* SPDX-License-Identifier: MIT */
/* usage: rptest LANES LOOPS — see configs/classics/rptest.yaml. */
#include "faithful.h"

enum { PLACES = 1000, ROUNDS = 2 };

struct parcel { /* 32 bytes */
    struct parcel *next;
    void **blocks;
    unsigned long n, sender;
};

static unsigned n_lanes;
static unsigned long n_loops;
static _Atomic(struct parcel *) inbox[MAX_LANES];
static atomic_ullong n_ops;
static pthread_barrier_t all_sent;

struct lane {
    struct random r;
    void *places[PLACES];
    unsigned free_at, put_at, counter;
    unsigned long long ops;
};

/* 8 + 15992·U·|V+W−1|: small sizes are the most frequent. */
static size_t pick_size(struct random *r)
{
    double spread = unit(r) + unit(r) - 1;
    return 8 + (size_t)(15992 * unit(r) * (spread < 0 ? -spread : spread));
}

/* Alignment goes 0, 8, 16 by turns; from 4 KiB on, and without one, it is calloc. All is written. */
static void *new_block(struct lane *l)
{
    size_t bytes = pick_size(&l->r), align = 8 * (l->counter++ % 3);
    void *p = NULL;
    l->ops++;
    if (align == 0 || bytes >= 4096)
        return need(calloc(1, bytes));
    if (posix_memalign(&p, align, bytes) != 0)
        p = NULL;
    return memset(need(p), (int)bytes, bytes);
}

static void drop(struct lane *l, void **place)
{
    if (*place == NULL)
        return;
    free(*place);
    *place = NULL;
    l->ops++;
}

static void open_inbox(struct lane *l, unsigned own)
{
    struct parcel *next, *p = atomic_exchange(&inbox[own], NULL);
    for (; p != NULL; p = next) {
        next = p->next;
        for (unsigned long i = 0; i < p->n; i++)
            drop(l, &p->blocks[i]);
        free(p->blocks);
        free(p);
        l->ops += 2;
    }
}

static void send(struct lane *l, unsigned own, unsigned n)
{
    struct parcel *p = need(malloc(sizeof *p));
    _Atomic(struct parcel *) *to = &inbox[(own + 1) % n_lanes];
    *p = (struct parcel){.blocks = need(malloc(n * sizeof(void *))), .n = n, .sender = own};
    l->ops += 2;
    for (unsigned i = 0; i < n; i++)
        p->blocks[i] = new_block(l);
    p->next = atomic_load(to);
    while (!atomic_compare_exchange_weak(to, &p->next, p))
        continue;
}

static void loop(struct lane *l, unsigned own, bool sends)
{
    for (unsigned i = between(&l->r, 24, 79); i > 0; i--) {
        drop(l, &l->places[l->free_at]);
        l->free_at = (l->free_at + 11) % PLACES;
    }
    open_inbox(l, own);
    unsigned n = between(&l->r, 30, 99);
    for (unsigned i = 0; i < n; i++) {
        drop(l, &l->places[l->put_at]);
        l->places[l->put_at] = new_block(l);
        l->put_at = (l->put_at + 7) % PLACES;
    }
    if (sends)
        send(l, own, n);
}

static void *work(void *argument)
{
    unsigned own = (unsigned)(uintptr_t)argument;
    struct lane l = {.r = seeded(own)};
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned long i = 0; i < n_loops; i++)
            loop(&l, own, i % 2 == 0);
        for (unsigned i = 0; i < PLACES; i++)
            drop(&l, &l.places[i]);
        pthread_barrier_wait(&all_sent);
        open_inbox(&l, own);
        pthread_barrier_wait(&all_sent);
    }
    atomic_fetch_add(&n_ops, l.ops);
    return NULL;
}

int main(int argc, char **argv)
{
    n_lanes = (unsigned)argument(argc, argv, 1);
    n_loops = argument(argc, argv, 2);
    if (n_lanes < 1 || n_lanes > MAX_LANES)
        return 2;
    pthread_barrier_init(&all_sent, NULL, n_lanes);
    begin();
    start_clock();
    for (unsigned round = 0; round < ROUNDS; round++)
        run_lanes(0, n_lanes, work);
    stop_clock();
    return report(n_ops);
}
