/* SPDX-License-Identifier: MIT
 *
 * The spool file is mapped once, with room to grow; before an event is stored its part of the file
 * has been reserved on disk, so that neither a full disk (SIGBUS) nor a file size limit (SIGXFSZ)
 * can hit the program: recording ends instead, and says why in the header. No descriptor is kept:
 * there is nothing that a program closing all of its files could close, the file is opened by name
 * for every 4 MiB. System calls go through syscall(): open() and its kin are cancellation points.
 */
#include "record/preload_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WINDOW_SHIFT_MAX = 38, WINDOW_SHIFT_MIN = 26 };
#define SEGMENT ((uint64_t)AB_SPOOL_SEGMENT_BYTES)

/* Where the kernel put argc, argv and the environment: getenv works only after libc has started,
 * and the first calls come before. Set by ld.so. */
extern void *__libc_stack_end;

struct ab_log_gate *ab_log_gate;

static struct {
    char *base; /* of the mapped file */
    uint64_t window_bytes;
    _Atomic uint64_t reserved_bytes; /* of the file, on disk */
    dev_t device;
    ino_t inode;
    char path[PATH_MAX];
} spool;

static __thread uint32_t thread_number __attribute__((tls_model("initial-exec")));

static struct ab_spool_header *header(void)
{
    return (struct ab_spool_header *)(void *)spool.base;
}

static const char *find_environment(const char *name)
{
    char **at = (char **)__libc_stack_end;
    if (at == NULL)
        return NULL;
    size_t n = strlen(name);
    at += 1 + (size_t)(uintptr_t)at[0] + 1; /* argc, argv, NULL */
    for (; *at != NULL; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

static int open_file(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* dir + "/" + name [+ number] into spool.path; false when it does not fit. */
static bool set_path(const char *dir, const char *name, uint32_t number, bool has_number)
{
    char digits[10];
    size_t n_dir = strlen(dir), n_name = strlen(name), n_digits = 0;
    if (n_dir + n_name + sizeof digits + 2 > sizeof spool.path)
        return false;
    memcpy(spool.path, dir, n_dir);
    spool.path[n_dir] = '/';
    memcpy(spool.path + n_dir + 1, name, n_name);
    char *at = spool.path + n_dir + 1 + n_name;
    do
        digits[n_digits++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (has_number && n_digits > 0)
        *at++ = digits[--n_digits];
    *at = 0;
    return true;
}

static struct ab_spool_control *map_control(const char *dir)
{
    if (!set_path(dir, AB_SPOOL_CONTROL_NAME, 0, false))
        return NULL;
    int fd = open_file(spool.path, 0);
    if (fd < 0)
        return NULL;
    void *map = mmap(NULL, sizeof(struct ab_spool_control), PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    syscall(SYS_close, fd);
    return map == MAP_FAILED ? NULL : map;
}

/* Reserves [reserved, to) of the file. 0 or an errno. */
static int reserve(int fd, uint64_t to)
{
    struct rlimit limit;
    uint64_t from = atomic_load(&spool.reserved_bytes);
    if (from >= to)
        return 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < to)
        return EFBIG; /* asking would raise SIGXFSZ */
    if (syscall(SYS_fallocate, fd, 0, from, to - from) != 0)
        return errno;
    while (from < to && !atomic_compare_exchange_weak(&spool.reserved_bytes, &from, to)) {
    }
    return 0;
}

static bool map_window(int fd)
{
    for (unsigned shift = WINDOW_SHIFT_MAX; shift >= WINDOW_SHIFT_MIN; shift -= 2) {
        spool.window_bytes = (uint64_t)1 << shift;
        void *map = mmap(NULL, spool.window_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (map == MAP_FAILED)
            continue; /* a limit on address space: a smaller window then */
        madvise(map, spool.window_bytes, MADV_DONTDUMP);
        madvise(map, spool.window_bytes, MADV_DONTFORK);
        spool.base = map;
        return true;
    }
    return false;
}

static void set_program(struct ab_spool_header *h)
{
    const char *path = (const char *)getauxval(AT_EXECFN);
    if (path == NULL)
        return;
    const char *slash = strrchr(path, '/');
    strncpy(h->program, slash != NULL ? slash + 1 : path, AB_SPOOL_PROGRAM_MAX);
}

/* Creates and maps the file at spool.path. 0 or an errno. */
static int begin_image(void)
{
    struct stat st;
    int fd = open_file(spool.path, O_CREAT | O_EXCL);
    if (fd < 0)
        return errno;
    int wrong = reserve(fd, SEGMENT);
    if (wrong == 0 && (fstat(fd, &st) != 0 || !map_window(fd)))
        wrong = errno;
    syscall(SYS_close, fd);
    if (wrong != 0)
        return wrong;
    spool.device = st.st_dev;
    spool.inode = st.st_ino;
    struct ab_spool_header *h = header();
    set_program(h);
    h->version = AB_SPOOL_VERSION;
    h->magic = AB_SPOOL_MAGIC;
    return 0;
}

static int open_gate(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct ab_log_gate *gate = mmap(NULL, page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gate == MAP_FAILED)
        return errno;
    if (madvise(gate, page, MADV_WIPEONFORK) != 0)
        return errno; /* Linux before 4.14: a forked child could not be told apart */
    gate->is_open = 1;
    ab_log_gate = gate;
    return 0;
}

void ab_log_start(void)
{
    int saved = errno, wrong = EEXIST;
    const char *dir = find_environment(AB_SPOOL_ENV);
    struct ab_spool_control *control = dir != NULL ? map_control(dir) : NULL;
    if (control == NULL)
        goto out;
    if (control->magic == AB_SPOOL_MAGIC && control->version == AB_SPOOL_VERSION &&
        control->pid == (uint32_t)syscall(SYS_getpid)) {
        while (wrong == EEXIST) {
            uint32_t n = __atomic_fetch_add(&control->n_images, 1, __ATOMIC_RELAXED);
            if (n >= AB_SPOOL_IMAGES_MAX || !set_path(dir, "image.", n, true))
                wrong = EMFILE;
            else
                wrong = begin_image();
        }
        if (wrong == 0)
            wrong = open_gate();
        if (wrong != 0)
            control->stop_errno = (uint32_t)wrong;
    }
    munmap(control, sizeof *control);
out:
    errno = saved;
}

static void stop(int why)
{
    ab_log_gate->is_open = 0;
    header()->stop_errno = (uint32_t)why;
}

/* Reserves the file up to the end of the segment that `end` lies in. 0 or an errno. */
static int extend(uint64_t end)
{
    struct stat st;
    if (end > spool.window_bytes)
        return EFBIG;
    int fd = open_file(spool.path, 0);
    if (fd < 0)
        return errno;
    int wrong = fstat(fd, &st) != 0 ? errno : 0;
    if (wrong == 0 && (st.st_dev != spool.device || st.st_ino != spool.inode))
        wrong = ESTALE;
    if (wrong == 0)
        wrong = reserve(fd, (end + SEGMENT - 1) / SEGMENT * SEGMENT);
    syscall(SYS_close, fd);
    /* What is written is the kernel's to keep: do not count it as the program's memory. A thread
     * that still writes there only takes a fault. */
    uint64_t done = end / SEGMENT * SEGMENT;
    if (done >= 3 * SEGMENT)
        madvise(spool.base + done - 3 * SEGMENT, 2 * SEGMENT, MADV_DONTNEED);
    return wrong;
}

/* Out of line: once in 4 MiB. True when the place may be written. */
__attribute__((noinline, cold)) static bool make_room(uint64_t end)
{
    int saved = errno, wrong = extend(end);
    if (wrong != 0)
        stop(wrong);
    errno = saved;
    return wrong == 0;
}

static uint32_t this_thread(void)
{
    if (thread_number == 0)
        thread_number = __atomic_add_fetch(&header()->n_threads, 1, __ATOMIC_RELAXED);
    return thread_number - 1;
}

void ab_log_append(enum ab_spool_kind kind, unsigned align_log2, uintptr_t address, size_t size)
{
    uint64_t i = __atomic_fetch_add(&header()->n_taken, 1, __ATOMIC_RELAXED);
    uint64_t at = AB_SPOOL_HEADER_BYTES + i * sizeof(struct ab_spool_event);
    uint64_t end = at + sizeof(struct ab_spool_event);
    if (__builtin_expect(end > atomic_load_explicit(&spool.reserved_bytes, memory_order_relaxed),
                         0) &&
        !make_room(end))
        return;
    struct ab_spool_event *e = (struct ab_spool_event *)(void *)(spool.base + at);
    e->address = address;
    e->size = size;
    __atomic_store_n(&e->what,
                     (uint64_t)kind | (uint64_t)align_log2 << 8 | (uint64_t)this_thread() << 32,
                     __ATOMIC_RELEASE);
}
