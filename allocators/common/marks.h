/* SPDX-License-Identifier: MIT
 *
 * Marks that inform AddressSanitizer and Valgrind of an allocator's memory, and the data that the
 * checked build stores for its blocks. The tools see one large valid mapping, so that an allocator
 * must report to them which bytes belong to a block.
 *
 * AB_MARKS is 1 if -fsanitize=address is on (gcc and clang define a macro then) or AB_WITH_VALGRIND
 * is defined. Otherwise the marks call no function and evaluate no argument. All files of a program
 * must agree on it. Headers of an installed library define AB_MARKS_OFF, because the library has no
 * marks.
 *
 *   AB_MARK_POOL_CREATE(pool)      declares a pool before its first block; `pool` is any address
 *   AB_MARK_POOL_DESTROY(pool)     all blocks of the pool are gone
 *   AB_MARK_POOL_TRIM(pool, p, n)  its blocks outside of [p, p + n) are gone; n = 0: all. The
 *                                  caller marks their memory with AB_MARK_UNUSED
 *   AB_MARK_UNUSED(p, n)           no access: reserved, free, between blocks
 *   AB_MARK_ALLOC(pool, p, n)      a live block from here: accessible, not written yet
 *   AB_MARK_EXPECT(p, is_block)    p is about to be freed: reports an error unless is_block is true
 *                                  and the block lives. Valgrind checks that in AB_MARK_FREE and
 *                                  AB_MARK_RESIZE
 *   AB_MARK_FREE(pool, p, n)       the block is dead; n may extend beyond the allocated bytes
 *   AB_MARK_RESIZE(pool, p, n)     the live block at p has n bytes now. The caller marks the
 *                                  bytes that it gained or lost
 *   AB_MARK_FRESH(p, n)            accessible, not written yet, and no block of its own
 *   AB_MARK_DEFINED(p, n)          accessible and written: zeroed memory; the allocator's own words
 *                                  in a free block before it reads them; all of a mapping before
 *                                  it goes back to the system
 *
 * AddressSanitizer works in granules of 8 bytes. So p must be a multiple of 8 in all of these, but
 * the end of a block may be anywhere. A gap of AB_MARK_GAP bytes between blocks makes sure that an
 * overflow does not hit the next block.
 */
#ifndef AB_ALLOCATORS_MARKS_H
#define AB_ALLOCATORS_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) && !defined(AB_MARKS_OFF)

#include <sanitizer/asan_interface.h>

#define AB_MARKS 1
#define AB_MARK_POOL_CREATE(pool) ((void)(pool))
#define AB_MARK_POOL_DESTROY(pool) ((void)(pool))
#define AB_MARK_POOL_TRIM(pool, p, n) ((void)(pool), (void)(p), (void)(n))
#define AB_MARK_UNUSED(p, n) __asan_poison_memory_region((p), (n))
#define AB_MARK_ALLOC(pool, p, n) ((void)(pool), __asan_unpoison_memory_region((p), (n)))
#define AB_MARK_EXPECT(p, is_block) ab_mark_expect((p), (is_block))
#define AB_MARK_FREE(pool, p, n) ((void)(pool), __asan_poison_memory_region((p), (n)))
#define AB_MARK_RESIZE(pool, p, n) ((void)(pool), (void)(p), (void)(n))
#define AB_MARK_FRESH(p, n) __asan_unpoison_memory_region((p), (n))
#define AB_MARK_DEFINED(p, n) __asan_unpoison_memory_region((p), (n))

/* Reads the first byte, which is poisoned in a dead block, so that the tool reports it. */
static inline void ab_mark_expect(const void *p, int is_block)
{
    if (!is_block)
        __asan_report_error(__builtin_return_address(0), __builtin_frame_address(0),
                            __builtin_frame_address(0), (void *)(uintptr_t)p, 1, 1);
    (void)*(const volatile char *)p;
}

#elif defined(AB_WITH_VALGRIND) && !defined(AB_MARKS_OFF)

#include <valgrind/memcheck.h>

#define AB_MARKS 1
#define AB_MARK_POOL_CREATE(pool) VALGRIND_CREATE_MEMPOOL((pool), 0, 0)
#define AB_MARK_POOL_DESTROY(pool) VALGRIND_DESTROY_MEMPOOL(pool)
#define AB_MARK_POOL_TRIM(pool, p, n) VALGRIND_MEMPOOL_TRIM((pool), (p), (n))
#define AB_MARK_UNUSED(p, n) ((void)VALGRIND_MAKE_MEM_NOACCESS((p), (n)))
#define AB_MARK_ALLOC(pool, p, n) VALGRIND_MEMPOOL_ALLOC((pool), (p), (n))
#define AB_MARK_EXPECT(p, is_block) ((void)0)
#define AB_MARK_FREE(pool, p, n) \
    do { \
        VALGRIND_MEMPOOL_FREE((pool), (p)); \
        (void)VALGRIND_MAKE_MEM_NOACCESS((p), (n)); \
    } while (0)
#define AB_MARK_RESIZE(pool, p, n) VALGRIND_MEMPOOL_CHANGE((pool), (p), (p), (n))
#define AB_MARK_FRESH(p, n) ((void)VALGRIND_MAKE_MEM_UNDEFINED((p), (n)))
#define AB_MARK_DEFINED(p, n) ((void)VALGRIND_MAKE_MEM_DEFINED((p), (n)))

#else

#define AB_MARKS 0
#define AB_MARK_POOL_CREATE(pool) ((void)0)
#define AB_MARK_POOL_DESTROY(pool) ((void)0)
#define AB_MARK_POOL_TRIM(pool, p, n) ((void)0)
#define AB_MARK_UNUSED(p, n) ((void)0)
#define AB_MARK_ALLOC(pool, p, n) ((void)0)
#define AB_MARK_EXPECT(p, is_block) ((void)0)
#define AB_MARK_FREE(pool, p, n) ((void)0)
#define AB_MARK_RESIZE(pool, p, n) ((void)0)
#define AB_MARK_FRESH(p, n) ((void)0)
#define AB_MARK_DEFINED(p, n) ((void)0)

#endif

#define AB_MARK_GAP ((size_t)(AB_MARKS * 16))

/* ---- the checked build, -DAB_WITH_CHECKS; see checked.h ---- */

/* AB_CHECKED(…): a statement or a field that exists only in the checked build. */
#ifdef AB_WITH_CHECKS
#define AB_CHECKS true
#define AB_CHECKED(...) __VA_ARGS__
#else
#define AB_CHECKS false
#define AB_CHECKED(...)
#endif

/* Always inlines such functions of headers in the checked build, so that messages give the place of
 * the program's call. */
#define AB_CHECKED_INLINE AB_CHECKED(__attribute__((always_inline)))

struct ab_block_head { /* stored just before the block */
    struct ab_block_head *below, *above;
    size_t size;
    const void *place; /* place of the call that allocated the block */
    uint32_t serial, list_id;
    /* In an arena: the block stands for the serial numbers serial … covers, its own and those of
     * younger blocks that have moved away. Otherwise: bytes before the block that belong to it. */
    uint32_t covers;
    uint32_t tail; /* length of the canary after the block, in bytes */
    uint64_t seal; /* checksum of the fields above */
    uint64_t canary;
};

/* AB_BLOCK_FRONT: bytes that a block takes before it, a power of two. AB_BLOCK_TAIL: bytes that it
 * takes at least after its end. */
#define AB_BLOCK_FRONT sizeof(struct ab_block_head)
#define AB_BLOCK_TAIL ((size_t)16)
/* Bytes before and after a block of an arena; 0 without the checked build. */
#define AB_CHECKED_FRONT (AB_CHECKS ? AB_BLOCK_FRONT : 0)
#define AB_CHECKED_GAP (AB_CHECKS ? AB_BLOCK_TAIL : 0)

enum { AB_BLOCK_DEATHS = 16 };

struct ab_block_death {
    const char *block;
    size_t size;
    const void *born, *died; /* places of the calls that allocated and that freed the block */
};

struct ab_block_list {
    const char *name; /* name of the allocator in messages; a literal */
    struct ab_block_head *top;
    uint32_t id;     /* id of the allocator, unique in the program */
    uint32_t serial; /* the last serial number given */
    uint32_t covers; /* like `covers` of a block; used while the list is empty */
    uint32_t reset;  /* save points with a smaller number are older than the last reset */
    /* True if several threads may be in calls at the same time, one of them with the lock. */
    bool is_locked;
    const void *user;  /* the thread that is in a call, or NULL; atomic */
    uint32_t n_deaths; /* deaths so far; the last few are kept for messages */
    struct ab_block_death deaths[AB_BLOCK_DEATHS];
};

#endif
