/* SPDX-License-Identifier: MIT
 *
 * Twenty threads at once, then rounds of four short-lived threads beside one that lives. Each short
 * one allocates blocks of 16 bytes to 32 KiB, frees half of them at its end, so that they lie in what
 * the allocator keeps for the thread, and leaves the others to the thread that lives, which frees most
 * of them once the round is over. The threads of a round wait for each other, so that the blocks of
 * all are there at one time however they are scheduled.
 * Arguments: rounds (100), blocks of each short-lived thread (3000), threads at once at the beginning,
 * each with a twentieth of the blocks (20).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100, SHORT = 4, KEPT_OF = 200 };

struct part {
    pthread_t thread;
    pthread_barrier_t *barrier;
    unsigned seed;
    size_t n;
    char **blocks;
};

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void *short_life(void *user)
{
    struct part *p = user;
    for (size_t i = 0; i < p->n; i++) {
        size_t most = (size_t)16 << draw(&p->seed) % 12, size = 16 + draw(&p->seed) % most;
        p->blocks[i] = malloc(size);
        if (p->blocks[i] == NULL)
            abort();
        memset(p->blocks[i], 1, size);
    }
    pthread_barrier_wait(p->barrier);
    for (size_t i = 0; i < p->n; i += 2)
        free(p->blocks[i]);
    return NULL;
}

static void run_round(struct part *parts, size_t threads, size_t n, unsigned round)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (size_t s = 0; s < threads; s++) {
        parts[s].barrier = &barrier;
        parts[s].n = n;
        if (pthread_create(&parts[s].thread, NULL, short_life, &parts[s]) != 0)
            abort();
    }
    for (size_t s = 0; s < threads; s++)
        pthread_join(parts[s].thread, NULL);
    for (size_t s = 0; s < threads; s++)
        for (size_t i = 1; i < n; i += 2)
            if ((i / 2 + round) % KEPT_OF != 0)
                free(parts[s].blocks[i]);
    pthread_barrier_destroy(&barrier);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    size_t n = argc > 2 ? (size_t)atoi(argv[2]) : 3000;
    size_t at_once = argc > 3 ? (size_t)atoi(argv[3]) : 20;
    struct part parts[MOST];
    for (size_t s = 0; s < MOST; s++)
        parts[s] = (struct part){.seed = (unsigned)s + 1, .blocks = malloc(n * sizeof(char *))};
    if (at_once > 0 && at_once <= MOST)
        run_round(parts, at_once, n / 20, 0);
    for (unsigned r = 0; r < rounds; r++)
        run_round(parts, SHORT, n, r);
    for (size_t s = 0; s < MOST; s++)
        free(parts[s].blocks);
    return 0;
}
