/* SPDX-License-Identifier: MIT
 *
 * A footprint that is known to the page: every block is a mapping of its own and gone once freed.
 * Nothing else is ever written to.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct head { /* in the 32 bytes before the block */
    size_t bytes, offset, size, reserved;
};

static struct head *head(void *p)
{
    return (struct head *)((uintptr_t)p - sizeof(struct head));
}

void *memalign(size_t align, size_t size)
{
    size_t room = align > 32 ? align : 32, bytes = (size + room + 4095) & ~(size_t)4095;
    if (size > (size_t)1 << 40)
        goto none;
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        goto none;
    madvise(map, bytes, MADV_NOHUGEPAGE);
    char *p = map + room;
    *head(p) = (struct head){bytes, room, size, 0};
    return p;
none:
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return memalign(0, size);
}

void free(void *p)
{
    if (p != NULL)
        munmap((char *)p - head(p)->offset, head(p)->bytes);
}

size_t malloc_usable_size(void *p)
{
    return p == NULL ? 0 : head(p)->bytes - head(p)->offset;
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : memalign(0, bytes);
}

void *realloc(void *p, size_t size)
{
    void *moved = memalign(0, size);
    if (moved == NULL || p == NULL)
        return moved;
    memcpy(moved, p, head(p)->size < size ? head(p)->size : size);
    free(p);
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
