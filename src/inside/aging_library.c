/* SPDX-License-Identifier: MIT
 *
 * liballocbench-litter.so, which `exec --aged` preloads ahead of the allocator. Before main and the
 * constructors of the program, the first process makes the aged heap with the next library's malloc
 * and free. This library defines no malloc function, and does nothing after its constructor.
 */
#include "inside/aging_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* malloc and free of the next library, so that an interposer ahead of this library counts none of
 * these calls */
struct next {
    void *(*malloc)(size_t);
    void (*free)(void *);
};

/* Allocates a block and writes to it, as a program would. */
static uintptr_t take(void *user, size_t size)
{
    void *p = ((struct next *)user)->malloc(size);
    return p != NULL ? (uintptr_t)memset(p, 0x5a, size) : 0;
}

static void drop(void *user, uintptr_t ref, size_t size)
{
    (void)size;
    ((struct next *)user)->free((void *)ref);
}

static struct ab_aging_file *map_file(void)
{
    const char *path = getenv(AB_AGING_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    void *p = mmap(NULL, sizeof(struct ab_aging_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return p != MAP_FAILED ? p : NULL;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t time_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* Resets the kernel's peak of resident memory, because making the aged heap may have needed more
 * memory than the heap then has. */
static void forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, "5", 1);
    (void)ignored;
    close(fd);
}

static void note_cost(struct ab_aging_file *f, const struct rusage *before, uint64_t begun_ns)
{
    struct rusage after;
    getrusage(RUSAGE_SELF, &after);
    f->user_ns = time_ns(after.ru_utime) - time_ns(before->ru_utime);
    f->system_ns = time_ns(after.ru_stime) - time_ns(before->ru_stime);
    f->faults_minor = (uint64_t)(after.ru_minflt - before->ru_minflt);
    f->faults_major = (uint64_t)(after.ru_majflt - before->ru_majflt);
    f->wall_ns = now_ns() - begun_ns;
}

/* Creates the aged heap. Unmaps the table of blocks afterwards, because nobody frees these
 * blocks. */
static void age_heap(struct ab_aging_file *f, struct next *next)
{
    const struct ab_aging_plan plan = {
        f->request, f->sizes, f->n_sizes < AB_AGING_SIZES_MOST ? f->n_sizes : AB_AGING_SIZES_MOST,
        f->live_peak_bytes};
    const struct ab_aging_calls calls = {next, take, drop};
    f->foreseen = ab_aging_foresee(&plan);
    size_t bytes = (f->foreseen.made_blocks + 1) * sizeof(struct ab_aging_block);
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (table == MAP_FAILED)
        return;
    f->count = ab_aging_make(&plan, &calls, table);
    munmap(table, bytes);
    forget_peak();
    f->is_done = 1;
}

static __attribute__((constructor)) void begin(void)
{
    uint64_t begun_ns = now_ns();
    struct rusage before;
    struct next next;
    int saved = errno;
    getrusage(RUSAGE_SELF, &before);
    struct ab_aging_file *f = map_file();
    *(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next.free = dlsym(RTLD_NEXT, "free");
    if (f != NULL && next.malloc != NULL && next.free != NULL &&
        __atomic_exchange_n(&f->is_claimed, 1, __ATOMIC_ACQ_REL) == 0) {
        age_heap(f, &next);
        note_cost(f, &before, begun_ns);
    }
    if (f != NULL)
        munmap(f, sizeof *f);
    errno = saved;
}
