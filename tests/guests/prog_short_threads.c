/* SPDX-License-Identifier: MIT
 *
 * Rounds of four short-lived threads beside one that lives: each short one allocates blocks of 16 to
 * 2,000 bytes, frees half of them and leaves the others to the thread that lives, which frees most of
 * them once the round is over. Arguments: rounds (400), blocks of each short-lived thread (2000).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 4, KEPT_OF = 50 };

struct part {
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
        size_t size = 16 + draw(&p->seed) % 1985;
        p->blocks[i] = malloc(size);
        if (p->blocks[i] == NULL)
            abort();
        memset(p->blocks[i], 1, size);
    }
    for (size_t i = 0; i < p->n; i += 2) {
        free(p->blocks[i]);
        p->blocks[i] = NULL;
    }
    return NULL;
}

static void free_round(struct part *parts, unsigned round)
{
    for (size_t s = 0; s < SHORT; s++)
        for (size_t i = 0; i < parts[s].n; i++)
            if ((i + round) % KEPT_OF != 1)
                free(parts[s].blocks[i]);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 400;
    size_t n = argc > 2 ? (size_t)atoi(argv[2]) : 2000;
    struct part parts[SHORT];
    pthread_t threads[SHORT];
    for (size_t s = 0; s < SHORT; s++)
        parts[s] = (struct part){(unsigned)s + 1, n, malloc(n * sizeof(char *))};
    for (unsigned r = 0; r < rounds; r++) {
        for (size_t s = 0; s < SHORT; s++)
            if (pthread_create(&threads[s], NULL, short_life, &parts[s]) != 0)
                return 1;
        for (size_t s = 0; s < SHORT; s++)
            pthread_join(threads[s], NULL);
        free_round(parts, r);
    }
    for (size_t s = 0; s < SHORT; s++)
        free(parts[s].blocks);
    return 0;
}
