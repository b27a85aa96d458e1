/* SPDX-License-Identifier: MIT
 *
 * Allocates from a function of its own, to be loaded and unloaded; libsite_one.c is its twin. */
#include <stdlib.h>

void *site_of_library(size_t size);

static __attribute__((noinline)) void *allocate_in_two(size_t size)
{
    void *volatile p = malloc(size);
    return p;
}

void *site_of_library(size_t size)
{
    void *volatile p = allocate_in_two(size);
    return p;
}
