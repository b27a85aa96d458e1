/* SPDX-License-Identifier: MIT
 *
 * Maps the one block of the nulls, with its pages already there where the system can do that.
 */
#include "allocators/null/null_region.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

/* Touches of the null shall cost what touching costs, not the page faults of memory that is new:
 * those are a price of allocators. Larger regions fault as they are touched. */
#define PREFAULT_MAX ((size_t)256 << 20)

int ab_null_region_map(size_t bytes, size_t align, struct ab_null_region *out)
{
    size_t total;
    if (align < AB_NULL_HEADER_BYTES)
        align = AB_NULL_HEADER_BYTES;
    if (__builtin_add_overflow(bytes, align, &total) ||
        __builtin_add_overflow(total, (size_t)AB_NULL_HEADER_BYTES, &total))
        return ENOMEM;
    char *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return errno;
    if (total <= PREFAULT_MAX)
        madvise(p, total, MADV_POPULATE_WRITE); /* since Linux 5.14; without it they fault */
    uintptr_t first = (uintptr_t)p + AB_NULL_HEADER_BYTES;
    *out = (struct ab_null_region){p, total, (char *)((first + align - 1) & ~(align - 1))};
    return 0;
}
