/* SPDX-License-Identifier: MIT
 *
 * A library that allocates: deep_work(n) makes 4 n calls, of blocks of 6001 bytes, half of them
 * resizes; deep_give(size) gives a block away that its caller frees, deep_take frees one.
 */
#include <stdlib.h>

void deep_work(long n);
void *deep_give(size_t size);
void deep_take(void *p);

void deep_work(long n)
{
    for (long i = 0; i < n; i++) {
        char *volatile p = malloc(6001);
        p = realloc(p, 6100);
        p = realloc(p, 6001);
        free(p);
    }
}

void *deep_give(size_t size)
{
    return malloc(size);
}

void deep_take(void *p)
{
    free(p);
}
