/* SPDX-License-Identifier: MIT
 *
 * Memory from the system. All of the allocators ask for it here and nowhere else: to port
 * them to another system, write another pages.c. Addresses and sizes are whole pages, but for
 * `bytes` of ab_pages_discard. From any thread.
 *
 * Functions that return an int return 0 or an errno; those that return an address return NULL and
 * set errno.
 */
#ifndef AB_ALLOCATORS_PAGES_H
#define AB_ALLOCATORS_PAGES_H

#include "language.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A huge page of x86-64, and of aarch64 with pages of 4 KiB. */
#define AB_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* The system is asked once. */
AB_COMMON_API size_t ab_page_size(void);

/* Addresses without access, at a multiple of align (a power of two; below a page counts as one). */
AB_COMMON_API void *ab_pages_reserve(size_t bytes, size_t align);
/* The same with access: zero, and no memory is used before it is touched. */
AB_COMMON_API void *ab_pages_map(size_t bytes, size_t align);
/* The same where the address `lead` bytes into it, whole pages, is the multiple of align. */
AB_COMMON_API void *ab_pages_map_after(size_t lead, size_t bytes, size_t align);
/* Access to reserved addresses. What is committed already stays as it is. */
AB_COMMON_API int ab_pages_commit(void *p, size_t bytes);
/* Contents and access are gone, the addresses stay. On failure there may still be access. */
AB_COMMON_API int ab_pages_decommit(void *p, size_t bytes);
/* Contents are gone, access stays: the memory is zero when it is touched next. The last page may be
 * a part of one. */
AB_COMMON_API int ab_pages_discard(void *p, size_t bytes);
/* The addresses are gone too: exactly what was reserved or mapped. */
AB_COMMON_API void ab_pages_release(void *p, size_t bytes);
/* What was mapped becomes larger or smaller and may move, without a copy of its bytes. NULL leaves
 * it as it was; so does a system that has no such call, and under ThreadSanitizer: callers copy
 * then. */
AB_COMMON_API void *ab_pages_remap(void *p, size_t old_bytes, size_t new_bytes);

/* Asks for huge pages from now on. */
AB_COMMON_API int ab_pages_want_huge(void *p, size_t bytes);
/* With is_huge the same for a mapping just made. Returns p; NULL, with the mapping gone, where p is
 * NULL or the system has no huge pages. */
AB_COMMON_API void *ab_pages_huge_if(bool is_huge, void *p, size_t bytes);
/* Memory for all of these pages now, instead of a fault for each. They are committed. */
AB_COMMON_API int ab_pages_populate(void *p, size_t bytes);

/* align is a power of two; n + align must not overflow. */
static inline size_t ab_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Slots a multiple of 256 bytes apart begin in a quarter of all cache lines, or fewer, and push
 * each other out: replacing 100,000 of them at random took 14 ns and takes 5. A sixteenth more, at
 * most a line, spreads them. Returns what a slot is to take where nobody asked for a distance. */
static inline size_t ab_spread_slots(size_t bytes, size_t align)
{
    size_t more = bytes / 16 < 64 ? bytes / 16 : 64;
    return bytes % 256 == 0 && align <= 64 ? ab_round_up(bytes + more, align) : bytes;
}

#ifdef __cplusplus
}
#endif

#endif
