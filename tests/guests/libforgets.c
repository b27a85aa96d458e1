/* SPDX-License-Identifier: MIT
 *
 * The 5000th free throws away the page of blocks that live on: what no allocator may do, and what
 * whoever follows pages takes for granted that none does.
 */
#define TOY_OWN_FREE
#include "toy.h"

void free(void *p)
{
    static unsigned n_frees;
    toy_free(p);
    if (++n_frees == 5000) /* beyond what the C library touched */
        madvise((char *)(((uintptr_t)toy_end - TOY_RESERVED + 4095) & ~(uintptr_t)4095) + 65536,
                4096, MADV_DONTNEED);
}
