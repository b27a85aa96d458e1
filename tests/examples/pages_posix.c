/* SPDX-License-Identifier: MIT
 *
 * A port of the allocators to a system that has what POSIX says and MAP_ANONYMOUS, by the table of
 * allocators/common/pages.c: compiled in its place. No mapping moves, and a page that goes back is one
 * that is mapped anew.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif

#include "allocators/common/pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t ab_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map(void *at, size_t bytes, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0);
    void *p = mmap(at, bytes, protection, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *map_after(size_t lead, size_t bytes, size_t align, int protection)
{
    size_t extra = align > ab_page_size() ? align - ab_page_size() : 0;
    if (bytes == 0 || bytes > PTRDIFF_MAX || extra > PTRDIFF_MAX - bytes) {
        errno = ENOMEM;
        return NULL;
    }
    char *p = map(NULL, bytes + extra, protection);
    if (p == NULL)
        return NULL;
    size_t head = extra > 0 ? -((uintptr_t)p + lead) & (align - 1) : 0;
    if (head > 0)
        munmap(p, head);
    if (extra > head)
        munmap(p + head + bytes, extra - head);
    return p + head;
}

void *ab_pages_reserve(size_t bytes, size_t align)
{
    return map_after(0, bytes, align, PROT_NONE);
}

void *ab_pages_map(size_t bytes, size_t align)
{
    return map_after(0, bytes, align, PROT_READ | PROT_WRITE);
}

void *ab_pages_map_after(size_t lead, size_t bytes, size_t align)
{
    return map_after(lead, bytes, align, PROT_READ | PROT_WRITE);
}

int ab_pages_commit(void *p, size_t bytes)
{
    return mprotect(p, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

/* The last page may be a part of one. */
static size_t whole(size_t bytes)
{
    return ab_round_up(bytes, ab_page_size());
}

int ab_pages_decommit(void *p, size_t bytes)
{
    return map(p, whole(bytes), PROT_NONE) != NULL ? 0 : errno;
}

int ab_pages_discard(void *p, size_t bytes)
{
    return map(p, whole(bytes), PROT_READ | PROT_WRITE) != NULL ? 0 : errno;
}

void ab_pages_release(void *p, size_t bytes)
{
    munmap(p, bytes);
}

void *ab_pages_remap(void *p, size_t old_bytes, size_t new_bytes)
{
    (void)p, (void)old_bytes, (void)new_bytes;
    errno = ENOSYS;
    return NULL;
}

int ab_pages_want_huge(void *p, size_t bytes)
{
    (void)p, (void)bytes;
    return EINVAL;
}

void *ab_pages_huge_if(bool is_huge, void *p, size_t bytes)
{
    if (!is_huge || p == NULL)
        return p;
    ab_pages_release(p, bytes);
    errno = EINVAL;
    return NULL;
}

int ab_pages_populate(void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += ab_page_size())
        *(volatile char *)((char *)p + i) = 0;
    return 0;
}
