/* SPDX-License-Identifier: MIT
 *
 * Memory from the system. All allocators take it from here and from nowhere else: to port them to
 * another system, write another pages.c. Addresses and sizes are whole pages, except for `bytes` of
 * ab_pages_discard. All functions may be called from any thread.
 *
 * Functions that return an int return 0 or an errno. Functions that return an address return NULL
 * and set errno on failure.
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

/* Size of a huge page on x86-64, and on aarch64 with pages of 4 KiB. */
#define AB_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Returns the page size; asks the system only once. */
AB_COMMON_API size_t ab_page_size(void);

/* Reserves addresses without access, at a multiple of align, a power of two. Alignments below a
 * page count as one page. */
AB_COMMON_API void *ab_pages_reserve(size_t bytes, size_t align);
/* Maps accessible memory. It is zero, and takes no physical memory before it is touched. */
AB_COMMON_API void *ab_pages_map(size_t bytes, size_t align);
/* Maps memory so that the address `lead` bytes into it is the multiple of align. `lead` must be
 * whole pages. */
AB_COMMON_API void *ab_pages_map_after(size_t lead, size_t bytes, size_t align);
/* Makes reserved addresses accessible. Memory that is committed already stays as it is. */
AB_COMMON_API int ab_pages_commit(void *p, size_t bytes);
/* Discards contents and access; the addresses stay reserved. On failure there may still be
 * access. */
AB_COMMON_API int ab_pages_decommit(void *p, size_t bytes);
/* Discards the contents; the memory stays accessible and is zero when it is touched next. The last
 * page may be a part of one. */
AB_COMMON_API int ab_pages_discard(void *p, size_t bytes);
/* Gives addresses and memory back. The range must be exactly one that was reserved or mapped. */
AB_COMMON_API void ab_pages_release(void *p, size_t bytes);
/* Resizes a mapping, which may move, without copying its bytes. Returns NULL and leaves it as it
 * was on failure, on systems without such a call, and under ThreadSanitizer. Callers then copy. */
AB_COMMON_API void *ab_pages_remap(void *p, size_t old_bytes, size_t new_bytes);

/* Asks for huge pages for this memory from now on. */
AB_COMMON_API int ab_pages_want_huge(void *p, size_t bytes);
/* Asks for huge pages if is_huge is set, for a mapping just made. Returns p. Returns NULL if p is
 * NULL or the system has no huge pages; the mapping is then released. */
AB_COMMON_API void *ab_pages_huge_if(bool is_huge, void *p, size_t bytes);
/* Populates committed pages now, instead of one fault for each page later. */
AB_COMMON_API int ab_pages_populate(void *p, size_t bytes);

/* Returns n rounded up to a multiple of align, a power of two. n + align must not overflow. */
static inline size_t ab_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Returns the default distance between the starts of slots. Slots whose distance is a multiple
 * of 256 bytes start in at most a quarter of all cache sets and evict each other. A sixteenth
 * more, at most 64 bytes, spreads them: replacing 100,000 slots at random takes 5 ns instead of
 * 14. */
static inline size_t ab_spread_slots(size_t bytes, size_t align)
{
    size_t more = bytes / 16 < 64 ? bytes / 16 : 64;
    return bytes % 256 == 0 && align <= 64 ? ab_round_up(bytes + more, align) : bytes;
}

#ifdef __cplusplus
}
#endif

#endif
