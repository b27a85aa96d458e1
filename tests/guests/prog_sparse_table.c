/* SPDX-License-Identifier: MIT
 *
 * A program that writes little of what it asks for: a table of 96 MB from calloc of which every 40th
 * page is used, 60 buffers of 300 KB of which the first tenth is, and 20 MB of small blocks, which are
 * written whole. usage: prog_sparse_table [pages between two that are used] */
#include <stdlib.h>
#include <string.h>

enum {
    TABLE = 96000000,
    PAGE = 4096,
    BUFFERS = 60,
    BUFFER = 300000,
    SMALL = 20000,
    SMALL_SIZE = 1000
};

static char *buffers[BUFFERS], *small[SMALL];

static void write_small(void)
{
    for (int i = 0; i < SMALL; i++) {
        small[i] = malloc(SMALL_SIZE);
        memset(small[i], 3, SMALL_SIZE);
    }
}

static void write_buffers(void)
{
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = malloc(BUFFER);
        memset(buffers[i], 5, BUFFER / 10);
    }
}

int main(int argc, char **argv)
{
    size_t step = (argc > 1 ? strtoul(argv[1], NULL, 10) : 40) * PAGE;
    char *table = calloc(TABLE, 1);
    for (size_t at = 0; at < TABLE && step > 0; at += step)
        table[at] = 1;
    write_small();
    write_buffers();
    for (int i = 0; i < BUFFERS; i++)
        free(buffers[i]);
    for (int i = 0; i < SMALL; i++)
        free(small[i]);
    free(table);
    return 0;
}
