/* SPDX-License-Identifier: MIT
 *
 * prog_threads N THREADS [PEOPLE]: N rounds in each of THREADS threads that live together, over
 * blocks that they take from and hand to each other; then PEOPLE threads one after the other, each
 * with a few calls. Deterministic in its counts when run alone with one thread.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64 };
static void *places[PLACES]; /* atomic: whoever takes a block out owns it */
static long n_rounds;

static void *exchange(void *user)
{
    uint64_t x = (uintptr_t)user * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (long i = 0; i < n_rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        void **place = &places[x % PLACES];
        void *p = __atomic_exchange_n(place, NULL, __ATOMIC_ACQ_REL);
        size_t size = 1 + (x >> 20) % 600;
        if (p == NULL)
            p = malloc(size);
        else if ((x >> 8) % 4 == 0) {
            free(p);
            p = NULL;
        } else {
            p = realloc(p, size);
        }
        free(__atomic_exchange_n(place, p, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void *live_briefly(void *user)
{
    free(realloc(malloc(10), 100));
    return user;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    n_rounds = argc > 1 ? atol(argv[1]) : 1000;
    long n = argc > 2 ? atol(argv[2]) : 4, people = argc > 3 ? atol(argv[3]) : 0;
    if (n > 64)
        return 2;
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, exchange, (void *)(uintptr_t)(i + 1));
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < people; i++) {
        pthread_create(&threads[0], NULL, live_briefly, NULL);
        pthread_join(threads[0], NULL);
    }
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    return 0;
}
