/* SPDX-License-Identifier: MIT
 *
 * The malloc of base.h for LD_PRELOAD; the environment's MUTANT=n chooses what is wrong with it.
 */
#include "base.h"

#include <stdlib.h>
#include <unistd.h>

static __thread uint32_t thread_mark; /* its address tells threads apart */
static __thread void *thread_last;
static void *owners[1 << 16]; /* mutants 31: who asked for a block, by a hash of it */
static pthread_key_t at_exit;

static unsigned hash_of(const void *p)
{
    return (unsigned)((uintptr_t)p >> 4) & 0xffff;
}

static void free_last_of_thread(void *p)
{
    if (M == 27 && p != NULL)
        base_free(p);
}

static void before_fork(void)
{
    if (M != 22)
        take_lock();
}

static void after_fork(void)
{
    if (M != 22)
        drop_lock();
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("MUTANT");
    M = text != NULL ? atoi(text) : 0;
    pthread_key_create(&at_exit, free_last_of_thread);
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void *given(void *p)
{
    thread_last = p;
    if (M == 31 && p != NULL)
        owners[hash_of(p)] = &thread_mark;
    if (M == 27)
        pthread_setspecific(at_exit, p);
    return p;
}

void *malloc(size_t size)
{
    static void *nothing;
    if (size == 0 && M == 37)
        abort();
    if (size == 0 && M == 15)
        return nothing != NULL ? nothing : (nothing = base_alloc(16, 16));
    if (M == 30 && every(n_allocs, 700)) {
        n_allocs++;
        return (void *)(((uintptr_t)__builtin_frame_address(0) - 16384) & ~(uintptr_t)63);
    }
    return given(base_alloc(size, 16));
}

void free(void *p)
{
    int kept = errno;
    if (p == NULL || M == 18 || slab_of(p) >= n_slabs)
        return;
    if (M == 31 && owners[hash_of(p)] != &thread_mark)
        return;
    if (M == 34 && ((uintptr_t)p & 1023) == 0 && base_usable(p) >= 1024 && base_usable(p) <= 32768)
        return;
    size_t slab = slab_of(p), behind = slab + run_slabs[slab];
    if (M == 44 && class_of_slab[slab] == LARGE && behind < n_slabs &&
        class_of_slab[behind] == LARGE)
        region[behind * SLAB] ^= 0x55;
    base_free(p);
    errno = M == 29 ? EINVAL : kept;
}

void *calloc(size_t n, size_t size)
{
    size_t bytes = n * size, kept;
    if (M != 6 && __builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = given(base_alloc(M == 26 ? n : bytes, 16));
    kept = bytes;
    if (M == 5 || (M == 6 && bytes / (size + !size) != n))
        return p;
    if (p != NULL && M == 39 && bytes > 4097) {
        memset(p, 0, 4096);
        memset((char *)p + 4097, 0, bytes - 4097);
    } else if (p != NULL && M == 26) {
        memset(p, 0, n);
    } else if (p != NULL) {
        memset(p, 0, kept);
    }
    return p;
}

static size_t kept_bytes(size_t old, size_t size)
{
    size_t kept = old < size ? old : size;
    if (M == 7 && kept > 0)
        return kept - 1;
    if (M == 40 && kept > 4096)
        return 4096;
    return M == 8 ? old : kept;
}

void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    size_t old = base_usable(p);
    if (size > 0 && size <= old && size >= old / 2 && M != 7)
        return p;
    void *moved = size == 0 ? NULL : base_alloc(size, 16);
    if (moved == NULL && size != 0 && M != 9)
        return NULL;
    const char *from = M == 42 && every(n_allocs, 10) && slab_of((char *)p + old) < n_slabs
                           ? (char *)p + old % 4096
                           : p;
    if (moved != NULL)
        memcpy(moved, from, kept_bytes(old, size));
    if (M != 23)
        base_free(p);
    return moved;
}

void *memalign(size_t align, size_t size)
{
    if (M == 4)
        align = 16;
    if (M == 41)
        align /= 2;
    if (M == 33 && align == 256 && size == 256)
        return base_alloc(300, 128);
    if (M == 56)
        size = (size + align - 1) & ~(align - 1);
    return base_alloc(size, align);
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

size_t malloc_usable_size(void *p)
{
    size_t bytes = p == NULL ? 0 : base_usable(p);
    if (M == 10)
        return bytes + 16;
    if (M == 11 && bytes > 64)
        return bytes / 4;
    return M == 43 && bytes > 16 ? bytes + n_frees % 2 : bytes;
}
