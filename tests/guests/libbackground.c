/* SPDX-License-Identifier: MIT
 *
 * A malloc that has a thread of its own, always busy: CPU time that no lane spent.
 */
#include <pthread.h>

#include "toy.h"

static void *burn(void *unused)
{
    volatile uint64_t n = 0;
    (void)unused;
    for (;;)
        n++;
    return NULL;
}

static __attribute__((constructor)) void start(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, burn, NULL);
}
