/* SPDX-License-Identifier: MIT
 *
 * An independent witness: counts the malloc family's calls by kind and passes them on. Chained
 * behind the recorder it must see what the recorder saw. The counts lie in a file that is mapped
 * shared, so that no way to die loses them, and is named COUNT_FILE.PROGRAM, so that the tool that
 * starts a program (and has this in its own environment) does not count into the same: u64 each of
 * alloc, alloc_zeroed, alloc_aligned, resize, free.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALLOC, ZEROED, ALIGNED, RESIZE, FREE, KINDS };

static uint64_t own[KINDS], *counts = own;
static char early[65536];
static size_t early_used;
static int is_looking;
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_memalign)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_valloc)(size_t);
static void *(*next_pvalloc)(size_t);

static void open_counts(void)
{
    const char *prefix = getenv("COUNT_FILE");
    char path[4096];
    if (prefix == NULL || strlen(prefix) + strlen(program_invocation_short_name) > 4000)
        return;
    strcpy(path, prefix);
    strcat(path, ".");
    strcat(path, program_invocation_short_name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof own) != 0)
        return;
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        counts = p;
}

static void look(void)
{
    if (next_pvalloc != NULL || is_looking)
        return;
    is_looking = 1;
    open_counts();
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next_memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&next_valloc = dlsym(RTLD_NEXT, "valloc");
    *(void **)&next_pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    is_looking = 0;
}

static void count(int kind)
{
    look();
    __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED);
}

static void *early_alloc(size_t size)
{
    void *p = early + early_used;
    early_used += (size + 15) & ~(size_t)15;
    return p;
}

void *malloc(size_t size)
{
    if (is_looking)
        return early_alloc(size);
    count(ALLOC);
    return next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (is_looking)
        return early_alloc(n * size);
    count(ZEROED);
    return next_calloc(n, size);
}

void free(void *p)
{
    if (p == NULL || ((char *)p >= early && (char *)p < early + sizeof early))
        return;
    count(FREE);
    next_free(p);
}

void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    count(RESIZE);
    return next_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

void *memalign(size_t align, size_t size)
{
    count(ALIGNED);
    return next_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    count(ALIGNED);
    return next_aligned_alloc(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    count(ALIGNED);
    return next_posix_memalign(out, align, size);
}

void *valloc(size_t size)
{
    count(ALIGNED);
    return next_valloc(size);
}

void *pvalloc(size_t size)
{
    count(ALIGNED);
    return next_pvalloc(size);
}

size_t malloc_usable_size(void *p)
{
    size_t (*next)(void *);
    *(void **)&next = dlsym(RTLD_NEXT, "malloc_usable_size");
    return next(p);
}
