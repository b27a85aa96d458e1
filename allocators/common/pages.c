/* SPDX-License-Identifier: MIT
 *
 * All system calls of the allocators for memory on Linux. On other systems they would be:
 *
 *   here          Windows                                     macOS
 *   page_size     GetSystemInfo: dwPageSize; addresses        getpagesize
 *                 begin at dwAllocationGranularity
 *   reserve       VirtualAlloc2 (MEM_RESERVE, PAGE_NOACCESS,  mmap (PROT_NONE, MAP_ANON |
 *                 MEM_ADDRESS_REQUIREMENTS for the alignment) MAP_NORESERVE)
 *   map           VirtualAlloc2 (MEM_RESERVE | MEM_COMMIT,    mmap (PROT_READ | PROT_WRITE)
 *                 PAGE_READWRITE)
 *   commit        VirtualAlloc (MEM_COMMIT, PAGE_READWRITE)   mprotect
 *   decommit      VirtualFree (MEM_DECOMMIT)                  madvise (MADV_FREE), mprotect
 *   discard       VirtualFree (MEM_DECOMMIT), VirtualAlloc    mmap (MAP_FIXED) over it: pages after
 *                 (MEM_COMMIT); DiscardVirtualMemory leaves   MADV_FREE may still have what they
 *                 the contents open                           had
 *   release       VirtualFree (MEM_RELEASE): a reservation    munmap
 *                 only as a whole, so `reserve` cannot trim
 *   remap         none: NULL, and a block that grows is       none: the same (mach_vm_remap copies
 *                 copied into another mapping                 the map)
 *   want_huge     VirtualAlloc (MEM_LARGE_PAGES): when it is  mmap (VM_FLAGS_SUPERPAGE_SIZE_2MB),
 *                 reserved, with a privilege                  x86-64 only
 *   populate      PrefetchVirtualMemory, or touch each page   madvise (MADV_WILLNEED), or touch
 *
 * On Windows a mapping counts against the commit limit when it is made, not when it is touched.
 * Handle arenas and lock-free pools need a capacity there.
 *
 * The allocators use these other features of the system and the compiler. macOS has all of them:
 *
 *   feature                        used in                         on Windows
 *   pthread_mutex_lock, _trylock,  lock.h, shard.h, shards*.c,     SRWLOCK; or winpthreads, of
 *   _unlock                        *_shared.[ch]                   MinGW-w64, which has all these
 *   pthread_once, pthread_key_…,   arena_scratch.c,                InitOnceExecuteOnce, FlsAlloc
 *   pthread_getspecific,           shards_thread.c, shards.c       (its callback runs at the end of
 *   pthread_setspecific,                                           a thread), GetCurrentThreadId
 *   pthread_self, pthread_equal
 *   sched_yield                    shards.c                        SwitchToThread
 *   __thread                       arena_scratch.[ch], checked.c   clang and gcc have it
 *   syscall: a line, and abort     checked.c, where a check fails  WriteFile, TerminateProcess
 *   process_vm_readv               checked.c, of the checked       VirtualQuery
 *                                  build
 *   weak symbols                   pages.c: of sanitizers;         leave them out
 *                                  checked.c: dladdr
 *   errno, EBUSY … EOWNERDEAD      what is returned                all of them are there
 *   attributes, __builtin_…,       everywhere                      clang and gcc; not MSVC
 *   __atomic_…
 *
 * They also use memcpy and similar functions of the C library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif

#include "pages.h"

#ifndef __linux__
#error "these allocators are for Linux: write a pages.c for this system, as the table above says"
#endif

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not declared if a system header was included before this file in strict C. */
#ifndef MADV_DONTNEED
#include <asm/mman.h>
extern int madvise(void *, size_t, int);
#endif
#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
extern void *mremap(void *, size_t, size_t, int, ...);
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older headers do not name it */
#endif

/* Functions of LeakSanitizer; NULL if the program does not use it. They are weak symbols,
 * because no macro is defined for -fsanitize=leak, and a program may add it only when it links. */
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) void __lsan_register_root_region(const void *p, size_t bytes);
__attribute__((weak)) void __lsan_unregister_root_region(const void *p, size_t bytes);
/* A function of ThreadSanitizer, to find out whether the program uses it. It does not notice that
 * mremap moves pages. It would report a race between old accesses and the next owner of the
 * addresses. */
__attribute__((weak)) void __tsan_init(void);
#ifdef __cplusplus
}
#endif

/* Registers the pages with LeakSanitizer as a root region, because they may contain the only
 * pointers to live blocks. */
static void begin_root(const void *p, size_t bytes)
{
    if (__lsan_register_root_region != NULL)
        __lsan_register_root_region(p, bytes);
}

/* Undoes begin_root, which must have been called with the same bytes. */
static void end_root(const void *p, size_t bytes)
{
    if (__lsan_unregister_root_region != NULL)
        __lsan_unregister_root_region(p, bytes);
}

AB_COMMON_API size_t ab_page_size(void)
{
    static size_t page_bytes; /* atomic; several threads may compute it, with the same result */
    size_t bytes = __atomic_load_n(&page_bytes, __ATOMIC_RELAXED);
    if (bytes == 0) {
        bytes = (size_t)sysconf(_SC_PAGESIZE);
        __atomic_store_n(&page_bytes, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

/* Maps pages so that p + lead is a multiple of `align`. Maps more than needed and unmaps both ends,
 * because the system aligns to pages only. */
static void *map_pages(size_t bytes, size_t align, size_t lead, int protection)
{
    size_t page = ab_page_size(), extra = align > page ? align - page : 0;
    if (bytes == 0 || bytes > PTRDIFF_MAX || extra > PTRDIFF_MAX - bytes) {
        errno = ENOMEM;
        return NULL;
    }
    void *all = mmap(NULL, bytes + extra, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *p = (char *)all;
    size_t head = extra > 0 ? -((uintptr_t)p + lead) & (align - 1) : 0, tail = extra - head;
    if (head > 0)
        munmap(p, head);
    if (tail > 0)
        munmap(p + head + bytes, tail);
    begin_root(p + head, bytes);
    return p + head;
}

AB_COMMON_API void *ab_pages_reserve(size_t bytes, size_t align)
{
    return map_pages(bytes, align, 0, PROT_NONE);
}

AB_COMMON_API void *ab_pages_map(size_t bytes, size_t align)
{
    return map_pages(bytes, align, 0, PROT_READ | PROT_WRITE);
}

AB_COMMON_API void *ab_pages_map_after(size_t lead, size_t bytes, size_t align)
{
    return map_pages(bytes, align, lead, PROT_READ | PROT_WRITE);
}

AB_COMMON_API int ab_pages_commit(void *p, size_t bytes)
{
    return mprotect(p, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

AB_COMMON_API int ab_pages_decommit(void *p, size_t bytes)
{
    bool is_gone = madvise(p, bytes, MADV_DONTNEED) == 0 && mprotect(p, bytes, PROT_NONE) == 0;
    return is_gone ? 0 : errno;
}

AB_COMMON_API int ab_pages_discard(void *p, size_t bytes)
{
    return madvise(p, bytes, MADV_DONTNEED) == 0 ? 0 : errno;
}

AB_COMMON_API void ab_pages_release(void *p, size_t bytes)
{
    end_root(p, bytes);
    munmap(p, bytes);
}

AB_COMMON_API void *ab_pages_remap(void *p, size_t old_bytes, size_t new_bytes)
{
    if (__tsan_init != NULL) {
        errno = ENOTSUP;
        return NULL;
    }
    end_root(p, old_bytes);
    void *moved = mremap(p, old_bytes, new_bytes, MREMAP_MAYMOVE);
    bool is_moved = moved != MAP_FAILED;
    begin_root(is_moved ? moved : p, is_moved ? new_bytes : old_bytes);
    return is_moved ? moved : NULL;
}

AB_COMMON_API int ab_pages_want_huge(void *p, size_t bytes)
{
    return madvise(p, bytes, MADV_HUGEPAGE) == 0 ? 0 : errno;
}

AB_COMMON_API void *ab_pages_huge_if(bool is_huge, void *p, size_t bytes)
{
    int error = is_huge && p != NULL ? ab_pages_want_huge(p, bytes) : 0;
    if (error == 0)
        return p;
    ab_pages_release(p, bytes);
    errno = error;
    return NULL;
}

/* Populates pages. Touches each page on older kernels, which do not know the call. */
AB_COMMON_API int ab_pages_populate(void *p, size_t bytes)
{
    if (madvise(p, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return errno;
    for (size_t i = 0; i < bytes; i += ab_page_size())
        *(volatile char *)((char *)p + i) = 0;
    return 0;
}
