/* SPDX-License-Identifier: MIT
 *
 * A whole malloc library, small and correct: a bump pointer over one mapping, sizes kept before
 * the blocks, nothing given back.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 16 };
static const size_t pool_bytes = (size_t)1 << 36;
static char *next, *end;

void *memalign(size_t align, size_t size)
{
    if (next == NULL) {
        next = mmap(NULL, pool_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        end = next + pool_bytes;
    }
    align = align < HEADER ? HEADER : align;
    if (size > pool_bytes || align > pool_bytes)
        return NULL;
    size_t bytes = ((size + HEADER + align - 1) & -align) + align;
    if (bytes > (size_t)(end - next)) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t at = __atomic_fetch_add((uintptr_t *)&next, bytes, __ATOMIC_RELAXED);
    uintptr_t block = (at + HEADER + align - 1) & -align;
    memcpy((char *)block - sizeof size, &size, sizeof size);
    return (void *)block;
}

void *malloc(size_t size)
{
    return memalign(HEADER, size);
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : malloc(bytes);
}

size_t malloc_usable_size(void *p)
{
    size_t size;
    memcpy(&size, (char *)p - sizeof size, sizeof size);
    return size;
}

void *realloc(void *p, size_t size)
{
    size_t old = p != NULL ? malloc_usable_size(p) : 0;
    void *moved = malloc(size);
    if (moved != NULL && p != NULL)
        memcpy(moved, p, old < size ? old : size);
    return moved;
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = memalign(align, size);
    if (p == NULL)
        return ENOMEM;
    *out = p;
    return 0;
}
