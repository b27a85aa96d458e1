/* SPDX-License-Identifier: MIT
 *
 * The interposer: preloaded into the program that is recorded, in front of whatever malloc it has.
 *
 * Order: a release is stamped before the real free, an acquire after the real malloc, so that no
 * address is ever seen given out twice. A realloc is both. The program must not notice: nothing
 * here calls malloc or stdio or takes a lock, errno is kept, no descriptor stays open, and
 * signal handlers find a consistent recorder at every instruction (an event's place is reserved
 * by one instruction). What it does not do: order threads (calls of other threads than the first
 * are counted, so that `record` can refuse).
 */
#include "record/spool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} real;

/* A window on one chunk of the spool. Two are kept: a signal handler may move on to the next
 * chunk while the event it interrupted still lies in the one before. */
struct window {
    struct ab_spool_event *events;
    uint64_t chunk;
};

/* Wiped by the kernel in a forked child (MADV_WIPEONFORK): its header is NULL there, so a child
 * records nothing and never writes into its parent's spool. A vfork child shares its parent's
 * memory and records as it. */
struct recorder {
    struct ab_spool_header *header; /* NULL = not recording */
    struct window windows[2];
    char path[PATH_MAX];
};
static struct recorder *recorder;

static enum { FRESH, RESOLVING, READY } stage;

/* 0 = not asked yet. */
static __thread enum { UNKNOWN, FIRST, OTHER } thread_role
    __attribute__((tls_model("initial-exec")));

/* What dlsym itself asks for while we look for the real functions. Never given back. */
static _Alignas(16) char bootstrap[65536];
static size_t bootstrap_used;

static void *bootstrap_alloc(size_t size)
{
    size_t bytes = (size + 31) & ~(size_t)15; /* 16 bytes in front hold the size */
    if (size > sizeof bootstrap || bytes > sizeof bootstrap - bootstrap_used)
        return NULL;
    char *p = bootstrap + bootstrap_used;
    bootstrap_used += bytes;
    memcpy(p, &size, sizeof size);
    return p + 16;
}

static bool is_bootstrap(const void *p)
{
    return (const char *)p >= bootstrap && (const char *)p < bootstrap + sizeof bootstrap;
}

static size_t bootstrap_size(const void *p)
{
    size_t size;
    memcpy(&size, (const char *)p - 16, sizeof size);
    return size;
}

/* ---- the spool ---- */

static int open_spool(int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, recorder->path, flags | O_CLOEXEC | O_NOFOLLOW,
                        0600);
}

/* Makes room for bytes [0, end) of the file. 0, or the reason to stop. */
static enum ab_spool_stop reserve(int fd, off_t from, off_t bytes)
{
    struct rlimit limit;
    static const char zeroes[4096];
    /* Beyond the limit the kernel would send SIGXFSZ, which is deadly. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(from + bytes) > limit.rlim_cur)
        return AB_SPOOL_FILE_LIMIT;
    if (syscall(SYS_fallocate, fd, 0, from, bytes) == 0)
        return AB_SPOOL_RUNNING;
    for (off_t at = from; at < from + bytes; at += (off_t)sizeof zeroes)
        if (syscall(SYS_pwrite64, fd, zeroes, sizeof zeroes, at) != (long)sizeof zeroes)
            return AB_SPOOL_NO_SPACE;
    return AB_SPOOL_RUNNING;
}

static void *map_part(int fd, off_t from, size_t bytes)
{
    long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                     from);
    return p == -1 ? NULL : (void *)p;
}

static void stop(enum ab_spool_stop why)
{
    struct ab_spool_header *header = recorder->header;
    recorder->header = NULL;
    header->stop_errno = (uint32_t)errno;
    header->stop = why;
}

/* Brings a chunk into a window, with all signals blocked. NULL = recording has stopped. */
static struct window *open_window(uint64_t chunk)
{
    struct window *w = &recorder->windows[chunk % 2];
    off_t from = AB_SPOOL_DATA + (off_t)chunk * AB_SPOOL_CHUNK;
    enum ab_spool_stop why = AB_SPOOL_NO_FILE;
    int fd = open_spool(O_RDWR);
    if (fd >= 0)
        why = reserve(fd, from, AB_SPOOL_CHUNK);
    void *p = fd >= 0 && why == AB_SPOOL_RUNNING ? map_part(fd, from, AB_SPOOL_CHUNK) : NULL;
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (p == NULL) {
        stop(why != AB_SPOOL_RUNNING ? why : AB_SPOOL_NO_MEMORY);
        return NULL;
    }
    if (w->events != NULL)
        syscall(SYS_munmap, w->events, (size_t)AB_SPOOL_CHUNK);
    w->events = p;
    w->chunk = chunk;
    return w;
}

static __attribute__((noinline)) struct window *next_window(uint64_t chunk)
{
    uint64_t all = ~UINT64_C(0), old; /* a kernel signal set */
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof old);
    struct window *w = &recorder->windows[chunk % 2];
    if (recorder->header != NULL && (w->events == NULL || w->chunk != chunk))
        w = open_window(chunk);
    else if (recorder->header == NULL)
        w = NULL;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    return w;
}

/* One instruction, so that a signal handler on this thread gets a place of its own; not locked,
 * because there is only this thread. */
static inline uint64_t take_place(uint64_t *next)
{
#if defined(__x86_64__)
    uint64_t place = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(place), "+m"(*next) : : "memory", "cc");
    return place;
#else
    return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
#endif
}

static bool is_first_thread(void)
{
    if (thread_role == UNKNOWN)
        thread_role = syscall(SYS_gettid) == syscall(SYS_getpid) ? FIRST : OTHER;
    return thread_role == FIRST;
}

static void record(enum ab_spool_kind kind, const void *address, size_t size, size_t align)
{
    struct recorder *r = recorder;
    if (r == NULL || r->header == NULL)
        return;
    int saved = errno;
    if (!is_first_thread()) {
        __atomic_fetch_add(&r->header->n_other, 1, __ATOMIC_RELAXED);
        errno = saved;
        return;
    }
    uint64_t place = take_place(&r->header->n_events);
    uint64_t chunk = place / AB_SPOOL_CHUNK_EVENTS;
    struct window *w = &r->windows[chunk % 2];
    if (w->events == NULL || w->chunk != chunk)
        w = next_window(chunk);
    if (w != NULL) {
        struct ab_spool_event *e = &w->events[place % AB_SPOOL_CHUNK_EVENTS];
        e->address = (uint64_t)(uintptr_t)address;
        e->size = size;
        e->align = align;
        __atomic_store_n(&e->kind, kind, __ATOMIC_RELEASE);
    }
    errno = saved;
}

/* ---- start ---- */

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void find_real_functions(void)
{
    *(void **)&real.malloc = find("malloc");
    *(void **)&real.free = find("free");
    *(void **)&real.calloc = find("calloc");
    *(void **)&real.realloc = find("realloc");
    *(void **)&real.reallocarray = find("reallocarray");
    *(void **)&real.memalign = find("memalign");
    *(void **)&real.posix_memalign = find("posix_memalign");
    *(void **)&real.aligned_alloc = find("aligned_alloc");
    *(void **)&real.valloc = find("valloc");
    *(void **)&real.pvalloc = find("pvalloc");
}

/* Appends text or a number to a path being built; false when it is full. */
static bool append(char *path, const char *text)
{
    size_t used = strlen(path), n = strlen(text);
    if (used + n + 1 > PATH_MAX)
        return false;
    memcpy(path + used, text, n + 1);
    return true;
}

static bool append_number(char *path, unsigned n)
{
    char digits[12], *p = digits + sizeof digits;
    *--p = 0;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return append(path, p);
}

static bool is_number(const char *text, long n)
{
    long value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    return *text == 0 && value == n;
}

/* The spool of this process image: folder/N, the first N that is free (exec keeps the pid). */
static int create_spool(const char *folder)
{
    for (unsigned n = 0; n < 10000; n++) {
        recorder->path[0] = 0;
        if (!append(recorder->path, folder) || !append(recorder->path, "/") ||
            !append_number(recorder->path, n))
            return -1;
        int fd = open_spool(O_RDWR | O_CREAT | O_EXCL);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static void start_recording(void)
{
    const char *folder = secure_getenv(AB_SPOOL_ENV_FOLDER), *pid = secure_getenv(AB_SPOOL_ENV_PID);
    if (folder == NULL || pid == NULL || !is_number(pid, syscall(SYS_getpid)))
        return; /* a child of the program: not recorded */
    size_t bytes = (sizeof(struct recorder) + 4095) & ~(size_t)4095;
    long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0L);
    if (p == -1)
        return;
    if (syscall(SYS_madvise, p, bytes, MADV_WIPEONFORK) != 0)
        return; /* Linux before 4.14: a forked child would write into its parent's spool */
    recorder = (struct recorder *)p;
    int fd = create_spool(folder);
    if (fd < 0)
        return;
    struct ab_spool_header *header =
        reserve(fd, 0, AB_SPOOL_DATA) == AB_SPOOL_RUNNING ? map_part(fd, 0, AB_SPOOL_DATA) : NULL;
    syscall(SYS_close, fd);
    if (header == NULL)
        return;
    header->magic = AB_SPOOL_MAGIC;
    recorder->header = header;
}

static __attribute__((noinline)) void start(void)
{
    int saved = errno;
    stage = RESOLVING;
    find_real_functions();
    start_recording();
    stage = READY;
    errno = saved;
}

/* True once the real functions are known; false while they are being looked for. */
static inline bool is_ready(void)
{
    if (__builtin_expect(stage == READY, 1))
        return true;
    if (stage == FRESH)
        start();
    return stage == READY;
}

/* Before any thread can exist, even when nothing was allocated until then. */
static __attribute__((constructor)) void start_early(void)
{
    is_ready();
}

/* ---- the malloc family ---- */

EXPORT void *malloc(size_t size)
{
    if (!is_ready())
        return bootstrap_alloc(size);
    void *p = real.malloc(size);
    record(AB_SPOOL_ALLOC, p, size, 0);
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    bool is_too_much = __builtin_mul_overflow(n, size, &bytes);
    if (!is_ready())
        return is_too_much ? NULL : bootstrap_alloc(bytes); /* never used before: zero */
    void *p = real.calloc(n, size);
    record(AB_SPOOL_ZEROED, p, is_too_much ? SIZE_MAX : bytes, 0);
    return p;
}

EXPORT void free(void *p)
{
    if (p == NULL || is_bootstrap(p) || !is_ready())
        return;
    record(AB_SPOOL_FREE, p, 0, 0);
    real.free(p);
}

/* A block of the bootstrap moves to the real allocator when it is resized. */
static void *resize_bootstrap(void *p, size_t size)
{
    size_t old_size = bootstrap_size(p);
    void *moved = malloc(size);
    if (moved != NULL)
        memcpy(moved, p, old_size < size ? old_size : size);
    return moved;
}

EXPORT void *realloc(void *p, size_t size)
{
    if (p == NULL)
        return malloc(size);
    if (is_bootstrap(p) || !is_ready())
        return resize_bootstrap(p, size);
    record(AB_SPOOL_RESIZE_BEGIN, p, size, 0);
    void *moved = real.realloc(p, size);
    record(AB_SPOOL_RESIZE_END, moved, size, 0);
    return moved;
}

/* An array of more bytes than there are: the call fails in the real one's way and is on record. */
static void *resize_too_much(void *p, size_t n, size_t size)
{
    if (is_bootstrap(p) || !is_ready() || real.reallocarray == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    if (p != NULL)
        record(AB_SPOOL_RESIZE_BEGIN, p, SIZE_MAX, 0);
    void *moved = real.reallocarray(p, n, size);
    record(p != NULL ? AB_SPOOL_RESIZE_END : AB_SPOOL_ALLOC, moved, SIZE_MAX, 0);
    return moved;
}

/* Not forwarded: the C library's calls realloc, which is ours, and one call would be two. */
EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return resize_too_much(p, n, size);
    return realloc(p, bytes);
}

EXPORT void *memalign(size_t align, size_t size)
{
    if (!is_ready() || real.memalign == NULL)
        return NULL;
    void *p = real.memalign(align, size);
    record(AB_SPOOL_ALIGNED, p, size, align);
    return p;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    if (!is_ready() || real.aligned_alloc == NULL)
        return NULL;
    void *p = real.aligned_alloc(align, size);
    record(AB_SPOOL_ALIGNED, p, size, align);
    return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_ready() || real.posix_memalign == NULL)
        return ENOMEM;
    int error = real.posix_memalign(out, align, size);
    record(AB_SPOOL_ALIGNED, error == 0 ? *out : NULL, size, align);
    return error;
}

EXPORT void *valloc(size_t size)
{
    if (!is_ready() || real.valloc == NULL)
        return NULL;
    void *p = real.valloc(size);
    record(AB_SPOOL_ALIGNED, p, size, (size_t)sysconf(_SC_PAGESIZE));
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    if (!is_ready() || real.pvalloc == NULL)
        return NULL;
    void *p = real.pvalloc(size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    record(AB_SPOOL_ALIGNED, p, (size + page - 1) & ~(page - 1), page);
    return p;
}
