/* SPDX-License-Identifier: MIT
 *
 * The null allocator for calls of malloc: functions like malloc's that do nothing, to measure the
 * harness overhead. All requests get the same block, so it is not an allocator.
 */
#ifndef AB_ALLOCATORS_NULL_NULL_H
#define AB_ALLOCATORS_NULL_NULL_H

#include <stddef.h>
#include <stdint.h>

/* Maps the block that all requests get. Call it before all other functions. largest_bytes is the
 * size of the largest request to come. Returns 0 or an errno. */
int null_malloc_init(uint64_t largest_bytes);

void *null_malloc(size_t size);
void null_free(void *block);
void *null_calloc(size_t n, size_t size); /* does not zero the block */
void *null_realloc(void *block, size_t size);
/* the block is aligned to 4096, whatever `align` is */
void *null_aligned_alloc(size_t align, size_t size);
size_t null_malloc_usable_size(void *block);

#endif
