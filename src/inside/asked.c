/* SPDX-License-Identifier: MIT
 *
 * liballocbench-asked.so, preloaded ahead of the C library's malloc in the first, untimed run of
 * `exec`. Notes the places (64 KiB of addresses each) in which blocks have been. Calls neither
 * malloc nor stdio and takes no lock. A forked child notes in its parent's map.
 */
#include "inside/asked.h"

#include "base/next_malloc.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uint8_t *map; /* NULL = nothing is noted */
static enum { FRESH, RESOLVING, READY } stage;

static void *map_piece(int fd, size_t bytes, off_t at)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, at);
    return p != MAP_FAILED ? p : NULL;
}

static void take_map(void)
{
    const char *path = getenv(AB_ASKED_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct ab_asked_head *head = fd < 0 ? NULL : map_piece(fd, AB_ASKED_HEAD_BYTES, 0);
    uint32_t i = head == NULL ? AB_ASKED_MAPS
                              : __atomic_fetch_add(&head->n_maps, 1, __ATOMIC_RELAXED);
    if (i < AB_ASKED_MAPS) {
        map = map_piece(fd, AB_ASKED_MAP_BYTES,
                        AB_ASKED_HEAD_BYTES + (off_t)i * AB_ASKED_MAP_BYTES);
        if (map != NULL)
            __atomic_store_n(&head->pids[i], (int32_t)getpid(), __ATOMIC_RELEASE);
    }
    if (head != NULL)
        munmap(head, AB_ASKED_HEAD_BYTES);
    if (fd >= 0)
        close(fd);
}

static bool is_ready(void)
{
    if (stage == FRESH) {
        int saved = errno;
        stage = RESOLVING;
        find_real_functions();
        take_map();
        stage = READY;
        errno = saved;
    }
    return stage == READY;
}

static __attribute__((constructor)) void start_early(void)
{
    (void)is_ready();
}

static void *note(void *p, size_t size)
{
    uint64_t place = (uintptr_t)p >> AB_PLACE_LOG2, last = ((uintptr_t)p + size) >> AB_PLACE_LOG2;
    for (; p != NULL && map != NULL && place <= last && place / 8 < AB_ASKED_MAP_BYTES; place++) {
        uint8_t bit = (uint8_t)(1 << place % 8);
        if ((__atomic_load_n(&map[place / 8], __ATOMIC_RELAXED) & bit) == 0)
            __atomic_fetch_or(&map[place / 8], bit, __ATOMIC_RELAXED);
    }
    return p;
}

EXPORT void *malloc(size_t size)
{
    return is_ready() ? note(real.malloc(size), size) : early_alloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = SIZE_MAX;
    if (!is_ready())
        return early_alloc(bytes);
    return note(real.calloc(n, size), bytes);
}

EXPORT void free(void *p)
{
    if (p != NULL && !is_early(p) && is_ready())
        real.free(p);
}

/* Resizes a block. An early block, given before the real allocator was found, moves to the real
 * allocator. */
EXPORT void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    if (!is_early(p))
        return is_ready() ? note(real.realloc(p, size), size) : NULL;
    size_t old_size = early_size(p);
    void *moved = malloc(size);
    if (moved != NULL)
        memcpy(moved, p, old_size < size ? old_size : size);
    return moved;
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes))
        return realloc(p, bytes);
    errno = ENOMEM;
    return NULL;
}

EXPORT void *memalign(size_t align, size_t size)
{
    return is_ready() ? note(real.memalign(align, size), size) : NULL;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return is_ready() ? note(real.aligned_alloc(align, size), size) : NULL;
}

EXPORT void *valloc(size_t size)
{
    return is_ready() ? note(real.valloc(size), size) : NULL;
}

EXPORT void *pvalloc(size_t size)
{
    return is_ready() ? note(real.pvalloc(size), size) : NULL;
}

EXPORT int posix_memalign(void **to, size_t align, size_t size)
{
    int failed = is_ready() ? real.posix_memalign(to, align, size) : ENOMEM;
    if (failed == 0)
        note(*to, size);
    return failed;
}

EXPORT size_t malloc_usable_size(void *p)
{
    if (p != NULL && is_early(p))
        return early_size(p);
    return p != NULL && is_ready() ? real.malloc_usable_size(p) : 0;
}
