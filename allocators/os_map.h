/* SPDX-License-Identifier: MIT
 *
 * Addresses from the system at any alignment. One header, so that each allocator is still copied
 * as a few files: it goes along with pool and slab. And how they keep a lock off the calls to the
 * system: such a call takes microseconds, and while it runs the others may go on.
 */
#ifndef AB_ALLOCATORS_OS_MAP_H
#define AB_ALLOCATORS_OS_MAP_H

#include "allocators/ab_debug.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t ab_os_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* align is a power of two; n + align must not overflow. */
static inline size_t ab_os_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Fresh zeroed memory, `bytes` whole pages, at a multiple of align (a power of two). What the
 * system aligns to pages only is mapped larger and trimmed at both ends. NULL and errno on
 * failure. */
static inline void *ab_os_map(size_t bytes, size_t align, int prot)
{
    size_t page = ab_os_page_bytes(), extra = align > page ? align - page : 0;
    if (bytes == 0 || bytes > PTRDIFF_MAX || extra > PTRDIFF_MAX - bytes) {
        errno = ENOMEM;
        return NULL;
    }
    char *p = mmap(NULL, bytes + extra, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t head = extra > 0 ? -(uintptr_t)p & (align - 1) : 0, tail = extra - head;
    if (head > 0)
        munmap(p, head);
    if (tail > 0)
        munmap(p + head + bytes, tail);
    return p + head;
}

/* A huge page of x86-64, and of aarch64 with pages of 4 KiB. */
#define AB_OS_HUGE_BYTES ((size_t)2 << 20)

/* Nothing of it is known to a sanitizer any more: the next mapping may be there. */
static inline void ab_os_unmap(void *p, size_t bytes)
{
    AB_MARK_DEFINED(p, bytes);
    munmap(p, bytes);
}

/* Around a call to the system; the mutex that the caller holds, or NULL. Whatever the lock guards
 * may have changed in between. */
static inline void ab_os_begin(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_unlock(mutex);
}

static inline void ab_os_end(pthread_mutex_t *mutex)
{
    if (mutex != NULL)
        pthread_mutex_lock(mutex);
}

#endif
