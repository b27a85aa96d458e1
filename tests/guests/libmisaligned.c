/* SPDX-License-Identifier: MIT
 *
 * Every 1000th block is 8 bytes off.
 */
#define TOY_OWN_MALLOC
#define TOY_OWN_FREE
#define TOY_OWN_REALLOC
#include "toy.h"

static void *shift(void *p)
{
    if (p == NULL || ++n_mallocs % 1000 != 0)
        return p;
    struct toy_head head = *toy_head(p);
    head.offset += 8;
    head.size -= 8;
    char *moved = (char *)p + 8;
    memcpy(moved - TOY_HEADER, &head, sizeof head);
    return moved;
}

void *malloc(size_t size)
{
    return shift(toy_alloc(0, size + 8));
}

void free(void *p)
{
    toy_free(p);
}

void *realloc(void *p, size_t size)
{
    void *moved = malloc(size);
    if (moved == NULL || p == NULL)
        return moved;
    size_t old = toy_head(p)->size;
    memcpy(moved, p, old < size ? old : size);
    toy_free(p);
    return moved;
}
