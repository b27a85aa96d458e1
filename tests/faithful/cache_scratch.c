/* SPDX-License-Identifier: MIT */
/* usage: cache_scratch LANES ITERATIONS BYTES WRITES — see configs/classics/cache-scratch.yaml. */
#include "faithful.h"

static unsigned long n_iterations, bytes, n_writes;
static char *gifts[MAX_LANES];

static void *work(void *argument)
{
    free(gifts[(uintptr_t)argument]);
    for (unsigned long i = 0; i < n_iterations; i++) {
        volatile char *block = need(malloc(bytes));
        for (unsigned long w = 0; w < n_writes; w++)
            for (unsigned long b = 0; b < bytes; b++)
                block[b] = (char)(block[b] + 1);
        free((void *)block);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    n_iterations = argument(argc, argv, 2);
    bytes = argument(argc, argv, 3);
    if (lanes < 1 || lanes > MAX_LANES)
        return 2;
    n_writes = argument(argc, argv, 4) / lanes;
    begin();
    for (unsigned i = 0; i < lanes; i++)
        gifts[i] = need(malloc(bytes));
    start_clock();
    run_lanes(0, lanes, work);
    stop_clock();
    return report(lanes * (1 + n_iterations * (2 + n_writes)));
}
