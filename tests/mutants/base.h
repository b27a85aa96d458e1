/* SPDX-License-Identifier: MIT
 *
 * A correct malloc, small enough to be spoiled in one place at a time: segregated fit, cells of
 * one size side by side in slabs of 64 KiB, no headers, the free list in the free cells. Blocks of
 * more than half a slab are runs of whole slabs. Each `M == n` is one mutant; 0 is correct. What
 * each gets wrong, and which check must find it, is tests/mutants/expected.
 */
#ifndef AB_TESTS_MUTANTS_BASE_H
#define AB_TESTS_MUTANTS_BASE_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static int M;

enum { SLAB_LOG2 = 16, SLABS = 1 << 16, LARGE = 255, TAIL = 254, N_CLASSES = 21 };
#define SLAB ((size_t)1 << SLAB_LOG2)

static const uint32_t cell_bytes[N_CLASSES] = {16,   32,   48,   64,   80,   96,    112,
                                               128,  192,  256,  384,  512,  768,   1024,
                                               1536, 2048, 3072, 4096, 8192, 16384, 32768};

static char *region;
static uint8_t class_of_slab[SLABS];
static uint32_t run_slabs[SLABS];
static size_t n_slabs;
static void *free_cells[N_CLASSES];
static uint32_t free_runs; /* head slab + 1 of a list through run_next */
static uint32_t run_next[SLABS];
static char *fresh[N_CLASSES], *fresh_end[N_CLASSES];
static uint64_t n_allocs, n_frees;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool every(uint64_t n, uint64_t period)
{
    return n % period == period - 1;
}

static char *take_slabs(size_t n)
{
    if (region == NULL) {
        char *p = mmap(NULL, (SLABS + 1) * SLAB, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        region = (char *)(((uintptr_t)p + SLAB - 1) & ~(SLAB - 1));
    }
    if (n > SLABS - n_slabs)
        return NULL;
    char *at = region + n_slabs * SLAB;
    if (mprotect(at, n * SLAB, PROT_READ | PROT_WRITE) != 0 && M != 17)
        return M == 25 ? MAP_FAILED : NULL;
    n_slabs += n;
    if (M == 28 && n_slabs > 8 && n_slabs - n <= 8)
        mprotect(region + 7 * SLAB, 4096, PROT_READ);
    return at;
}

static size_t slab_of(const void *p)
{
    return (size_t)((const char *)p - region) >> SLAB_LOG2;
}

static void *alloc_run(size_t n)
{
    for (uint32_t *link = &free_runs; *link != 0; link = &run_next[*link - 1]) {
        uint32_t head = *link - 1;
        if (run_slabs[head] != n)
            continue;
        *link = run_next[head];
        return region + head * SLAB;
    }
    char *at = take_slabs(n);
    if (at == NULL || at == MAP_FAILED)
        return at;
    size_t head = slab_of(at);
    memset(class_of_slab + head, TAIL, n);
    class_of_slab[head] = LARGE;
    run_slabs[head] = (uint32_t)n;
    return at;
}

static unsigned class_for(size_t size, size_t align)
{
    unsigned c = 0;
    if (M == 1 && size > 16)
        size--;
    while (c < N_CLASSES && (cell_bytes[c] < size || cell_bytes[c] % align != 0))
        c++;
    return c;
}

static void *alloc_cell(unsigned c)
{
    if (M == 36 && every(n_allocs, 997) && c > 0)
        c--;
    if (M == 32 && n_frees > 2000)
        for (void **p = free_cells[c]; p != NULL; p = *p) /* to the tail, as some do */
            ;
    void *cell = free_cells[c];
    if (M == 19 && every(n_allocs, 16))
        sched_yield();
    if (cell != NULL) {
        memcpy(&free_cells[c], cell, sizeof cell);
        return cell;
    }
    size_t stride = M == 24 ? cell_bytes[c] / 8 * 7 / 16 * 16 : cell_bytes[c];
    stride = stride < 16 ? 16 : stride;
    if (fresh[c] == NULL || (size_t)(fresh_end[c] - fresh[c]) < stride) {
        char *at = take_slabs(1);
        if (at == NULL || at == MAP_FAILED)
            return at;
        class_of_slab[slab_of(at)] = (uint8_t)c;
        fresh[c] = at;
        fresh_end[c] = at + SLAB;
    }
    if (M == 19 && every(n_allocs, 16))
        sched_yield();
    fresh[c] += stride;
    return fresh[c] - stride;
}

static __thread void *last_unwritten; /* given last, and still live; what it held then */
static __thread uint64_t last_word;
static __thread void *twice; /* given again while it was live */

/* align ≤ SLAB, or 1 */
static void *alloc_locked(size_t size, size_t align)
{
    static void *last;
    n_allocs++;
    if (M == 55 && size > 16 && every(n_allocs, 50) && last_unwritten != NULL && twice == NULL &&
        memcmp(last_unwritten, &last_word, sizeof last_word) == 0 && size <= cell_bytes[0] * 2 &&
        align == 16)
        return twice = last_unwritten;
    if (M == 2 && every(n_allocs, 1000) && last != NULL)
        return last;
    unsigned c = class_for(size, align);
    void *p = c < N_CLASSES ? alloc_cell(c) : alloc_run((size + SLAB - 1) >> SLAB_LOG2);
    last = p;
    if (M == 55 && p != NULL && c < N_CLASSES && cell_bytes[c] >= 32)
        memcpy(&last_word, last_unwritten = p, sizeof last_word);
    return p;
}

static void take_lock(void)
{
    if (M != 19)
        pthread_mutex_lock(&lock);
}

static void drop_lock(void)
{
    if (M != 19)
        pthread_mutex_unlock(&lock);
}

static void *base_alloc(size_t size, size_t align)
{
    if (M == 16)
        size = (size + 15) & ~(size_t)15;
    if (size > PTRDIFF_MAX || align > SLAB) {
        errno = ENOMEM;
        return NULL;
    }
    size = size == 0 ? 1 : size;
    align = align < 16 ? 16 : align;
    if (M == 3 && every(n_allocs, 500))
        size += 8;
    if (M == 20 && size == 77)
        return NULL;
    take_lock();
    void *p = alloc_locked(size, align);
    drop_lock();
    if (p == NULL)
        errno = ENOMEM;
    if (M == 3 && every(n_allocs, 500) && p != NULL)
        return (char *)p + 8;
    return p;
}

static size_t base_usable(const void *p)
{
    size_t slab = slab_of(p);
    return class_of_slab[slab] == LARGE ? run_slabs[slab] * SLAB : cell_bytes[class_of_slab[slab]];
}

static void push_cell(unsigned c, void *cell)
{
    memcpy(cell, &free_cells[c], sizeof cell);
    free_cells[c] = cell;
    if (M == 32 && n_frees == 2000)
        memcpy(cell, &cell, sizeof cell);
}

static void spoil_neighbour(char *cell, size_t bytes)
{
    size_t in_slab = (uintptr_t)cell & (SLAB - 1);
    if (M == 12 && in_slab + 2 * bytes <= SLAB)
        memcpy(cell + bytes, &cell, sizeof cell);
    if (M == 13 && in_slab + 2 * bytes <= SLAB)
        cell[bytes] = 0x55;
    if (M == 14 && in_slab >= bytes)
        memset(cell - 8, 0, 8);
}

static void base_free(void *p)
{
    size_t slab = slab_of(p);
    unsigned c = class_of_slab[slab];
    take_lock();
    n_frees++;
    last_unwritten = p == last_unwritten ? NULL : last_unwritten;
    if (M == 55 && p == twice) {
        twice = NULL;
        drop_lock();
        return;
    }
    if (c == LARGE) {
        run_next[slab] = free_runs;
        free_runs = M == 21 ? 0 : (uint32_t)slab + 1;
        if (M == 38 && slab > 0)
            munmap(region + (slab - 1) * SLAB, 4096);
    } else if (c < N_CLASSES) {
        char *begin = region + slab * SLAB;
        size_t index = (size_t)((char *)p - begin) / cell_bytes[c];
        char *cell = M == 24 ? (char *)p : begin + index * cell_bytes[c];
        spoil_neighbour(cell, cell_bytes[c]);
        push_cell(c, cell);
    }
    drop_lock();
}

#endif
