/* SPDX-License-Identifier: MIT */
/* usage: glibc_thread LANES MILLISECONDS — see configs/classics/glibc-thread.yaml. */
#include "faithful.h"

enum { SLOTS = 1024, N_SIZES = 8000, N_PLACES = 4096 };

static unsigned sizes[N_SIZES], places[N_PLACES];
static char *slots[MAX_LANES][SLOTS];
static atomic_bool is_over;
static atomic_ullong n_ops;

/* Density falls with the square of the size: 1/size is uniform. */
static void draw_all(void)
{
    struct random r = seeded(88);
    for (unsigned i = 0; i < N_SIZES; i++)
        sizes[i] = (unsigned)(1 / (1 / 4.0 - unit(&r) * (1 / 4.0 - 1 / 32769.0)));
    for (unsigned i = 0; i < N_PLACES; i++)
        places[i] = below(&r, SLOTS);
}

static void *work(void *argument)
{
    char **own = slots[(uintptr_t)argument];
    unsigned long long ops = 0;
    for (unsigned i = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        unsigned bytes = sizes[i % N_SIZES];
        char **slot = own + places[i % N_PLACES];
        ops += *slot != NULL ? 2 : 1;
        free(*slot);
        *slot = need(malloc(bytes));
        memset(*slot, (int)i, bytes);
        keep(*slot);
    }
    atomic_fetch_add(&n_ops, ops);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    unsigned long ms = argument(argc, argv, 2);
    if (lanes < 1 || lanes > MAX_LANES)
        return 2;
    pthread_t threads[MAX_LANES];
    struct timespec nap = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    draw_all();
    memset(slots, 1, sizeof slots);
    memset(slots, 0, sizeof slots);
    begin();
    start_clock();
    for (unsigned i = 0; i < lanes; i++)
        threads[i] = start_thread(work, (void *)(uintptr_t)i);
    nanosleep(&nap, NULL);
    is_over = true;
    stop_clock();
    for (unsigned i = 0; i < lanes; i++)
        pthread_join(threads[i], NULL);
    return report(n_ops);
}
