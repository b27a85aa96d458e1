/* SPDX-License-Identifier: MIT */
/* usage: threadtest LANES ITERATIONS OBJECTS BYTES — see configs/classics/threadtest.yaml. */
#include "faithful.h"

static unsigned long n_iterations, n_own, bytes;
static uint64_t **tables;

static void *work(void *argument)
{
    uint64_t **own = tables + (uintptr_t)argument * n_own;
    for (unsigned long i = 0; i < n_iterations; i++) {
        for (unsigned long k = 0; k < n_own; k++) {
            own[k] = need(malloc(bytes));
            own[k][0] = k;
        }
        for (unsigned long k = 0; k < n_own; k++)
            free(own[k]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    n_iterations = argument(argc, argv, 2);
    unsigned long objects = argument(argc, argv, 3);
    bytes = argument(argc, argv, 4);
    if (lanes < 1 || lanes > MAX_LANES || bytes < 8)
        return 2;
    n_own = objects / lanes;
    tables = mmap(NULL, (n_own * lanes + 1) * sizeof *tables, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (tables == MAP_FAILED)
        return 1;
    begin();
    start_clock();
    run_lanes(0, lanes, work);
    stop_clock();
    return report(2 * n_iterations * n_own * lanes);
}
