/* SPDX-License-Identifier: MIT
 *
 * Hands out one block twice: every 1000th malloc returns the block of the call before.
 */
#define TOY_OWN_MALLOC
#define TOY_OWN_FREE
#include "toy.h"

static void *last;

void *malloc(size_t size)
{
    if (++n_mallocs % 1000 == 0 && last != NULL && toy_head(last)->size >= size) {
        void *again = last;
        last = NULL;
        return again;
    }
    return last = toy_alloc(0, size);
}

/* Freed twice, the block would tie the free list into a knot: this guest's vice is another. */
void free(void *p)
{
    (void)p;
}
