/* SPDX-License-Identifier: MIT
 *
 * Memory that malloc is not asked for. `heap`: 48 MiB from mmap, 2 from malloc. `variables`: 48 MiB of
 * variables, stacks of 4 MiB, 16 MiB of malloc in small blocks of which most are freed again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MB = 1 << 20, BLOCKS = 400000 };
static char zeroed[24 * MB], given[24 * MB] = {1};
static char *blocks[BLOCKS];

static void *run(void *user)
{
    char deep[4 * MB];
    memset(deep, 1, sizeof deep);
    __asm__ volatile("" : : "r"(deep) : "memory");
    return user;
}

static void use_variables(void)
{
    pthread_t threads[4];
    memset(zeroed, 1, sizeof zeroed);
    memset(given, 1, sizeof given);
    __asm__ volatile("" : : "r"(zeroed), "r"(given) : "memory");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    run(NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(24)) != NULL)
            blocks[i][0] = 1;
    for (int i = 0; i < BLOCKS; i++)
        if (i % 100 != 0)
            free(blocks[i]);
}

int main(int n, char **words)
{
    if (n > 1 && strcmp(words[1], "variables") == 0) {
        use_variables();
        return 0;
    }
    char *heap = mmap(NULL, 48 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *block = malloc(2 * MB);
    if (heap == MAP_FAILED || block == NULL)
        return 1;
    memset(heap, 1, 48 * MB);
    memset(block, 1, 2 * MB);
    __asm__ volatile("" : : "r"(heap), "r"(block) : "memory");
    return 0;
}
