/* SPDX-License-Identifier: MIT
 *
 * A program whose buffer grows from 60 to 100 MB by one realloc, and is written whole before and
 * after it, beside 2 MB of small blocks. A realloc that copies holds 160 MB for a moment.
 * usage: prog_growing_buffer [how often it does all of this] */
#include <stdlib.h>
#include <string.h>

enum { FIRST = 60000000, THEN = 100000000, SMALL = 2000, SMALL_SIZE = 1000 };

static char *small[SMALL];

static void grow_once(void)
{
    char *buffer = malloc(FIRST);
    memset(buffer, 1, FIRST);
    for (int i = 0; i < SMALL; i++) {
        small[i] = malloc(SMALL_SIZE);
        memset(small[i], 2, SMALL_SIZE);
    }
    buffer = realloc(buffer, THEN);
    memset(buffer + FIRST, 3, THEN - FIRST);
    for (int i = 0; i < SMALL; i++)
        free(small[i]);
    free(buffer);
}

int main(int argc, char **argv)
{
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--)
        grow_once();
    return 0;
}
