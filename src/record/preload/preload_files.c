/* SPDX-License-Identifier: MIT
 *
 * Files of the spool, as the recorded process writes them. The folder is kept open by a descriptor
 * with a high number, which exec closes. The descriptor is checked before each use, because the
 * program may have closed it and opened something else with that number. If it is gone, the path of
 * the folder is tried. If that fails too, `record` is asked, which has neither the limits nor the
 * user of the program.
 */
#include "record/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct ab_spool_control *ab_control;

static struct { /* folder of the spool; the same in a forked child */
    char path[PATH_MAX];
    int descriptor; /* -1 = none */
    dev_t device;
    ino_t inode;
} folder = {.descriptor = -1};

/* ---- names ---- */

enum { NAME_BYTES = 40 };

static char *append_number(char *to, uint32_t n)
{
    char digits[12], *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    size_t bytes = (size_t)(digits + sizeof digits - p);
    memcpy(to, p, bytes);
    return to + bytes;
}

static void name_file(char name[NAME_BYTES], struct ab_file_id id)
{
    char *end = append_number(name, id.pid);
    *end++ = '.';
    end = append_number(end, id.generation);
    if (id.slot >= 0) {
        *end++ = '.';
        end = append_number(end, (uint32_t)id.slot);
    }
    *end = 0;
}

/* ---- the folder ---- */

/* Returns a number for the descriptor that is high, but not so high that the kernel's table of
 * descriptors grows large. Returns -1 if the program may have only a few descriptors. */
static int high_number(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 16)
        return -1;
    return limit.rlim_cur > 1024 ? 1000 : (int)limit.rlim_cur - 4;
}

static int open_folder(void)
{
    return (int)syscall(SYS_openat, AT_FDCWD, folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

static void hold_folder(void)
{
    struct stat st;
    int number = high_number();
    int fd = number < 0 ? -1 : open_folder();
    if (fd < 0)
        return;
    int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number);
    syscall(SYS_close, fd);
    if (high < 0 || syscall(SYS_fstat, high, &st) != 0)
        return;
    folder.device = st.st_dev;
    folder.inode = st.st_ino;
    folder.descriptor = high;
}

static bool is_held(void)
{
    struct stat st;
    return folder.descriptor >= 0 && syscall(SYS_fstat, folder.descriptor, &st) == 0 &&
           st.st_dev == folder.device && st.st_ino == folder.inode;
}

/* Opens a file of the spool. If the folder's descriptor is gone, opens the folder first, because
 * joining the two paths needs more room than a small stack has. */
static int open_file(const char *name, int flags)
{
    flags |= O_CLOEXEC | O_NOFOLLOW;
    if (is_held()) {
        int fd = (int)syscall(SYS_openat, folder.descriptor, name, flags, 0600);
        if (fd >= 0 || errno == EEXIST)
            return fd;
    }
    int in = open_folder();
    if (in < 0)
        return -1;
    int fd = (int)syscall(SYS_openat, in, name, flags, 0600), saved = errno;
    syscall(SYS_close, in);
    errno = saved;
    return fd;
}

/* ---- memory ---- */

static void *map(int fd, uint64_t bytes)
{
    int flags = fd >= 0 ? MAP_SHARED | MAP_POPULATE : MAP_PRIVATE | MAP_ANONYMOUS;
    long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0L);
    return p == -1 ? NULL : (void *)p;
}

uint64_t ab_files_private_bytes;

void *ab_files_map_private(uint64_t bytes)
{
    __atomic_fetch_add(&ab_files_private_bytes, bytes, __ATOMIC_RELAXED);
    return map(-1, bytes);
}

void ab_files_part_with(void *p, uint64_t bytes)
{
    syscall(SYS_mmap, p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
            0L);
}

static struct ab_spool_control *map_control(int fd)
{
    int flags = fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
    long p = syscall(SYS_mmap, NULL, sizeof *ab_control, PROT_READ | PROT_WRITE, flags, fd, 0L);
    return p == -1 ? NULL : (void *)p;
}

bool ab_files_start(const char *path)
{
    if (strlen(path) >= sizeof folder.path)
        return false;
    memcpy(folder.path, path, strlen(path) + 1);
    hold_folder();
    int fd = open_file(AB_SPOOL_CONTROL, O_RDWR); /* fails in a folder that another program made */
    ab_control = map_control(fd);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return ab_control != NULL && (fd < 0 || ab_control->magic == AB_SPOOL_MAGIC);
}

/* ---- requests ---- */

enum { WAITS_MOST = 100, WAIT_NS = 50000000 }; /* five seconds, because the system may be busy */

static void wait_for_change(uint32_t *word, uint32_t value)
{
    struct timespec most = {0, WAIT_NS};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static bool is_served(void)
{
    return ab_control->server != 0 &&
           (syscall(SYS_kill, ab_control->server, 0) == 0 || errno == EPERM);
}

static struct ab_spool_request *take_place(void)
{
    for (int wait = 0; wait < WAITS_MOST && is_served(); wait++) {
        for (int i = 0; i < AB_SPOOL_REQUESTS; i++) {
            struct ab_spool_request *r = &ab_control->requests[i];
            uint32_t is_free = AB_SPOOL_FREE_PLACE;
            if (__atomic_compare_exchange_n(&r->state, &is_free, AB_SPOOL_TAKEN, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return r;
        }
        struct timespec pause = {0, 1000000};
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return NULL;
}

static bool await_answer(struct ab_spool_request *r)
{
    for (int wait = 0; wait < WAITS_MOST && is_served(); wait++) {
        uint32_t state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
        if (state == AB_SPOOL_ANSWERED)
            return true;
        wait_for_change(&r->state, state);
    }
    return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) == AB_SPOOL_ANSWERED;
}

/* Sends a request to `record`. Returns its answer, or `otherwise` if no answer comes. A request
 * without an answer keeps its entry, because the answer may still come. */
static enum ab_spool_stop ask(enum ab_spool_request_kind kind, struct ab_file_id id, uint64_t bytes,
                              enum ab_spool_stop otherwise)
{
    struct ab_spool_request *r = take_place();
    if (r == NULL)
        return otherwise;
    r->kind = kind;
    r->pid = id.pid;
    r->generation = id.generation;
    r->slot = id.slot;
    r->bytes = bytes;
    __atomic_store_n(&r->state, AB_SPOOL_ASKED, __ATOMIC_RELEASE);
    __atomic_fetch_add(&ab_control->n_asked, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &ab_control->n_asked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (!await_answer(r))
        return otherwise;
    enum ab_spool_stop answer = r->answer;
    __atomic_store_n(&r->state, AB_SPOOL_FREE_PLACE, __ATOMIC_RELEASE);
    return answer;
}

/* ---- files ---- */

/* True if a file may grow to `end` bytes. Beyond the limit the kernel would send SIGXFSZ, which
 * kills the process. */
static bool is_within_limit(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

/* Allocates the first `bytes` of a new file, so that no store to its mapping can raise SIGBUS. */
static enum ab_spool_stop reserve(int fd, uint64_t bytes)
{
    static const char zeroes[AB_SPOOL_PAGE];
    if (syscall(SYS_fallocate, fd, 0, 0L, (long)bytes) == 0)
        return AB_SPOOL_RUNNING;
    for (uint64_t at = 0; at < bytes; at += sizeof zeroes)
        if (syscall(SYS_pwrite64, fd, zeroes, sizeof zeroes, (long)at) != (long)sizeof zeroes)
            return AB_SPOOL_NO_SPACE;
    return AB_SPOOL_RUNNING;
}

static int make_here(const char *name, uint64_t bytes, enum ab_spool_stop *why)
{
    *why = AB_SPOOL_NO_FILE;
    int fd = open_file(name, O_RDWR | O_CREAT | O_EXCL);
    if (fd >= 0 && (*why = reserve(fd, bytes)) == AB_SPOOL_RUNNING)
        return fd;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return -1;
}

/* Lets `record` make a file that is larger than this process may write. */
static int make_elsewhere(const char *name, struct ab_file_id id, uint64_t bytes,
                          enum ab_spool_stop *why)
{
    int fd = open_file(name, O_PATH);
    if (fd >= 0) {
        syscall(SYS_close, fd);
        errno = EEXIST;
        return -1;
    }
    *why = ask(AB_SPOOL_MAKE, id, bytes, AB_SPOOL_FILE_LIMIT);
    errno = 0;
    return *why == AB_SPOOL_RUNNING ? open_file(name, O_RDWR) : -1;
}

/* Deducts `bytes` bytes from the limit of the spool before they are used. When the limit is
 * reached, recording ends for all processes, because ends at different times would leave gaps. */
static enum ab_spool_stop take_bytes(uint64_t bytes)
{
    uint64_t n = __atomic_add_fetch(&ab_control->n_bytes, bytes, __ATOMIC_RELAXED);
    uint32_t running = AB_SPOOL_RUNNING, why = ab_control->why_full;
    if (ab_control->most_bytes == 0 || n <= ab_control->most_bytes)
        return AB_SPOOL_RUNNING;
    __atomic_fetch_sub(&ab_control->n_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&ab_control->stop, &running, why, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
    errno = 0;
    return (enum ab_spool_stop)why;
}

static void give_back_bytes(uint64_t bytes)
{
    __atomic_fetch_sub(&ab_control->n_bytes, bytes, __ATOMIC_RELAXED);
}

void *ab_files_make(struct ab_file_id id, uint64_t bytes, enum ab_spool_stop *why)
{
    char name[NAME_BYTES];
    name_file(name, id);
    *why = take_bytes(bytes);
    if (*why != AB_SPOOL_RUNNING)
        return NULL;
    int fd = is_within_limit(bytes) ? make_here(name, bytes, why)
                                    : make_elsewhere(name, id, bytes, why);
    if (fd < 0) {
        give_back_bytes(bytes);
        if (*why == AB_SPOOL_RUNNING)
            *why = AB_SPOOL_NO_FILE;
        return NULL;
    }
    void *p = map(fd, bytes);
    syscall(SYS_close, fd);
    if (p == NULL) {
        *why = AB_SPOOL_NO_MEMORY;
        errno = 0;
    }
    return p;
}

static enum ab_spool_stop save_here(struct ab_file_id id, struct ab_spool_tail *tail)
{
    char name[NAME_BYTES];
    uint64_t bytes = tail->pack_bytes, at = AB_SPOOL_DATA + tail->data_bytes;
    if (!is_within_limit(at + bytes))
        return AB_SPOOL_FILE_LIMIT;
    name_file(name, id);
    int fd = open_file(name, O_WRONLY);
    if (fd < 0)
        return AB_SPOOL_NO_FILE;
    long n = syscall(SYS_pwrite64, fd, (char *)tail + AB_SPOOL_PACK, bytes, (long)at);
    syscall(SYS_close, fd);
    if (n != (long)bytes)
        return AB_SPOOL_NO_SPACE;
    __atomic_store_n(&tail->data_bytes, tail->data_bytes + bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&tail->pack_bytes, 0, __ATOMIC_RELEASE);
    return AB_SPOOL_RUNNING;
}

enum ab_spool_stop ab_files_save(struct ab_file_id id, struct ab_spool_tail *tail)
{
    enum ab_spool_stop why = take_bytes(tail->pack_bytes);
    if (why != AB_SPOOL_RUNNING)
        return why;
    why = save_here(id, tail);
    if (why == AB_SPOOL_FILE_LIMIT || why == AB_SPOOL_NO_FILE)
        why = ask(AB_SPOOL_SAVE, id, 0, why);
    return why;
}

void ab_files_look(struct ab_file_id image, bool is_end)
{
    int saved = errno;
    if (__atomic_load_n(&ab_control->stop, __ATOMIC_SEQ_CST) == AB_SPOOL_RUNNING)
        ask(is_end ? AB_SPOOL_LOOK_AT_END : AB_SPOOL_LOOK, image, 0, AB_SPOOL_RUNNING);
    errno = saved;
}
