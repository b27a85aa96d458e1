/* SPDX-License-Identifier: MIT
 *
 * Maps the one block of the nulls, with its pages already there where the system can do that.
 */
#include "allocators/null/null_region.h"

#include "allocators/common/pages.h"

#include <errno.h>
#include <stdint.h>

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
    if (total > SIZE_MAX - ab_page_size())
        return ENOMEM;
    total = ab_round_up(total, ab_page_size());
    char *p = ab_pages_map(total, 0);
    if (p == NULL)
        return errno;
    if (total <= PREFAULT_MAX)
        ab_pages_populate(p, total);
    uintptr_t first = (uintptr_t)p + AB_NULL_HEADER_BYTES;
    *out = (struct ab_null_region){p, total, (char *)((first + align - 1) & ~(align - 1))};
    return 0;
}
