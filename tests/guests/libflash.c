/* SPDX-License-Identifier: MIT
 *
 * Takes memory within a call alone: an allocation of 777 bytes maps 50 MB, writes to them and unmaps
 * them, before it returns.
 */
#include <stddef.h>

static void flash(size_t size);
#define TOY_ON_MALLOC(size) flash(size)
#include "toy.h"

enum { BYTES = 50 * 1000 * 1000 };

static void flash(size_t size)
{
    if (size != 777)
        return;
    char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    memset(p, 1, BYTES);
    munmap(p, BYTES);
}
