/* SPDX-License-Identifier: MIT
 *
 * A small, correct malloc for one thread, so that each hostile guest shows only its own vice:
 * powers of two from 16 bytes, a free list each, carved out of one reservation and never given
 * back. Included once by each guest, it defines all eight functions. A guest sets, before that:
 *   TOY_ON_MALLOC(size)  a statement at the head of malloc, n_mallocs already counting this call
 *   TOY_ROUND(size)      what a request is rounded to before the size class is chosen
 *   TOY_OWN_MALLOC, TOY_OWN_CALLOC, TOY_OWN_FREE, TOY_OWN_REALLOC
 *                        that it defines the function itself, on toy_alloc and its kin
 */
#ifndef AB_TESTS_GUESTS_TOY_H
#define AB_TESTS_GUESTS_TOY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef TOY_ON_MALLOC
#define TOY_ON_MALLOC(size) (void)(size)
#endif
#ifndef TOY_ROUND
#define TOY_ROUND(size) (size)
#endif

#define TOY_RESERVED ((size_t)1 << 34) /* more is not to be had in valgrind */
enum { TOY_HEADER = 16, TOY_CLASSES = 37 };

struct toy_head {           /* in the 16 bytes before each block */
    size_t size;            /* what was asked for, rounded */
    uint32_t class, offset; /* offset of the block in its cell: alignment */
};

static char *toy_next, *toy_end;
static void *toy_free_cells[TOY_CLASSES];
static uint64_t n_mallocs __attribute__((unused));

static struct toy_head *toy_head(const void *p)
{
    return (struct toy_head *)((uintptr_t)p - TOY_HEADER);
}

static char *toy_carve(size_t bytes)
{
    if (toy_next == NULL) {
        void *p = mmap(NULL, TOY_RESERVED, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        toy_next = p;
        toy_end = toy_next + TOY_RESERVED;
    }
    if (bytes > (size_t)(toy_end - toy_next))
        return NULL;
    toy_next += bytes;
    return toy_next - bytes;
}

static void *toy_alloc(size_t align, size_t size)
{
    uint32_t class = 5; /* cells of 32 bytes hold a header and 16 bytes */
    align = align < TOY_HEADER ? TOY_HEADER : align;
    size = TOY_ROUND(size);
    if (size > TOY_RESERVED / 4 || align > TOY_RESERVED / 4)
        goto none;
    size_t need = size + TOY_HEADER + (align > TOY_HEADER ? align : 0);
    while (((size_t)1 << class) < need)
        class ++;
    char *cell = toy_free_cells[class];
    if (cell != NULL)
        memcpy(&toy_free_cells[class], cell, sizeof(void *));
    else if ((cell = toy_carve((size_t)1 << class)) == NULL)
        goto none;
    uintptr_t at = ((uintptr_t)cell + TOY_HEADER + align - 1) & -align;
    *toy_head((void *)at) = (struct toy_head){size, class, (uint32_t)(at - (uintptr_t)cell)};
    return (void *)at;
none:
    errno = ENOMEM;
    return NULL;
}

static void toy_free(void *p)
{
    if (p == NULL)
        return;
    struct toy_head head = *toy_head(p);
    void *cell = (char *)p - head.offset;
    memcpy(cell, &toy_free_cells[head.class], sizeof(void *));
    toy_free_cells[head.class] = cell;
}

size_t malloc_usable_size(void *p)
{
    return p == NULL ? 0 : toy_head(p)->size;
}

#ifndef TOY_OWN_MALLOC
void *malloc(size_t size)
{
    n_mallocs++;
    TOY_ON_MALLOC(size);
    return toy_alloc(0, size);
}
#else
void *malloc(size_t size);
#endif

#ifndef TOY_OWN_FREE
void free(void *p)
{
    toy_free(p);
}
#endif

#ifndef TOY_OWN_CALLOC
void *calloc(size_t n, size_t size)
{
    size_t bytes;
    void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : toy_alloc(0, bytes);
    return p == NULL ? NULL : memset(p, 0, bytes);
}
#endif

#ifndef TOY_OWN_REALLOC
void *realloc(void *p, size_t size)
{
    void *moved = toy_alloc(0, size);
    if (moved == NULL || p == NULL)
        return moved;
    size_t old = toy_head(p)->size;
    memcpy(moved, p, old < size ? old : size);
    toy_free(p);
    return moved;
}
#endif

void *memalign(size_t align, size_t size)
{
    return toy_alloc(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return toy_alloc(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = toy_alloc(align, size);
    if (p == NULL)
        return ENOMEM;
    *out = p;
    return 0;
}

#endif
