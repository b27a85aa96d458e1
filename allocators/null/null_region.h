/* SPDX-License-Identifier: MIT
 *
 * The one block that both nulls hand out again and again: writable, so that touches work, and not
 * backed by memory before it is touched.
 */
#ifndef AB_ALLOCATORS_NULL_REGION_H
#define AB_ALLOCATORS_NULL_REGION_H

#include <stddef.h>

struct ab_null_region {
    void *mapping;
    size_t mapped_bytes;
    char *block; /* aligned as asked, with at least `bytes` and room for a header before it */
};

enum { AB_NULL_HEADER_BYTES = 4096 };

/* align 0 or a power of two. 0, or an errno; *out untouched on failure. */
int ab_null_region_map(size_t bytes, size_t align, struct ab_null_region *out);

#endif
