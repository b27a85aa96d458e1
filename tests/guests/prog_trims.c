/* SPDX-License-Identifier: MIT
 *
 * Frees 32 MiB of small blocks of which every 4096th stays to the end, so that no end of the heap is free, and
 * goes on with little. With an argument it calls malloc_trim in between, which gives the free pages back.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 32768, BYTES = 1000, STAYS = 4096, ROUNDS = 40000 };

int main(int argc, char **argv)
{
    static char *blocks[BLOCKS];
    (void)argv;
    for (int i = 0; i < BLOCKS; i++)
        if ((blocks[i] = malloc(BYTES)) != NULL)
            memset(blocks[i], 1, BYTES);
    for (int i = 0; i < BLOCKS; i++)
        if (i % STAYS != STAYS - 1)
            free(blocks[i]);
    if (argc > 1)
        malloc_trim(1 << 16);
    for (int i = 0; i < ROUNDS; i++) {
        void *volatile p = malloc(100);
        free(p);
    }
    return 0;
}
