/* SPDX-License-Identifier: MIT
 *
 * The thread that serves recorded processes. It makes and saves files for processes that can no
 * longer do so, cleans up after dead processes, and can stop the recording. Progress is read from
 * the files, without the help of the processes.
 */
#include "record/relay.h"

#include "base/clock.h"
#include "core/alloc.h"
#include "core/text.h"
#include "record/bypass.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct ab_relay {
    int folder; /* descriptor of the spool */
    struct ab_spool_control *control;
    pthread_t thread;
    bool has_thread;
    bool is_ending; /* atomic */
};

enum { SAMPLE_NS = 50000000 }; /* time between two samples of the memory of processes */

/* True if a file may grow to `end` bytes. Otherwise sets errno. The write is not even tried,
 * because the system would send a signal that ends this process. */
static bool is_within_limit(uint64_t end)
{
    struct rlimit limit;
    bool is = getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
              end <= limit.rlim_cur;
    if (!is)
        errno = EFBIG; /* "File too large" */
    return is;
}

static void *map_file(int folder, const char *name, size_t bytes)
{
    struct stat st;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    bool is_whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)bytes;
    void *p = is_whole ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

/* ---- all files of the spool ---- */

/* Visits the files of the folder whose names begin with a digit and have n_dots dots. */
static void for_each(const struct ab_relay *r, int n_dots, size_t bytes,
                     void (*visit)(void *file, void *user), void *user)
{
    int fd = openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        int dots = 0;
        for (const char *p = e->d_name; *p != 0; p++)
            dots += *p == '.';
        if (e->d_name[0] < '0' || e->d_name[0] > '9' || dots != n_dots)
            continue;
        void *file = map_file(r->folder, e->d_name, bytes);
        if (file == NULL)
            continue;
        visit(file, user);
        munmap(file, bytes);
    }
    if (dir != NULL)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* ---- requests ---- */

static void name_file(char *name, size_t cap, const struct ab_spool_request *r)
{
    int n = snprintf(name, cap, "%u.%u", r->pid, r->generation);
    if (r->slot >= 0)
        snprintf(name + n, cap - (size_t)n, ".%d", r->slot);
}

/* Appends the packed chunks of the pack area to the file. The process waits, so that nobody else
 * changes the area meanwhile. Checks its numbers, because they are untrusted. */
static enum ab_spool_stop save(const struct ab_relay *r, const char *name,
                               struct ab_spool_tail *tail)
{
    uint64_t bytes = tail->pack_bytes, at = AB_SPOOL_DATA + tail->data_bytes;
    if (bytes > AB_SPOOL_PACK_BYTES || tail->data_bytes > INT64_MAX / 2)
        return AB_SPOOL_NO_FILE;
    if (!is_within_limit(at + bytes))
        return AB_SPOOL_FILE_LIMIT;
    int fd = openat(r->folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return AB_SPOOL_NO_FILE;
    ssize_t n = pwrite(fd, (char *)tail + AB_SPOOL_PACK, bytes, (off_t)at);
    close(fd);
    if (n != (ssize_t)bytes)
        return AB_SPOOL_NO_SPACE;
    __atomic_store_n(&tail->data_bytes, tail->data_bytes + bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&tail->pack_bytes, 0, __ATOMIC_RELEASE);
    return AB_SPOOL_RUNNING;
}

static enum ab_spool_stop save_slot(const struct ab_relay *r, const char *name)
{
    struct ab_spool_tail *tail = map_file(r->folder, name, AB_SPOOL_DATA);
    if (tail == NULL)
        return AB_SPOOL_NO_FILE;
    enum ab_spool_stop why = tail->magic == AB_SPOOL_MAGIC ? save(r, name, tail) : AB_SPOOL_NO_FILE;
    munmap(tail, AB_SPOOL_DATA);
    return why;
}

/* Creates a file. Its mode allows the process to use it also as another user; the folder around it
 * is private. */
static enum ab_spool_stop make(const struct ab_relay *r, const char *name, uint64_t bytes)
{
    if (bytes > AB_SPOOL_DATA || !is_within_limit(bytes))
        return AB_SPOOL_FILE_LIMIT;
    int fd = openat(r->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return AB_SPOOL_NO_FILE;
    bool is_made = fchmod(fd, 0666) == 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0;
    close(fd);
    if (!is_made)
        unlinkat(r->folder, name, 0);
    return is_made ? AB_SPOOL_RUNNING : AB_SPOOL_NO_SPACE;
}

static enum ab_spool_stop serve_request(const struct ab_relay *r,
                                        const struct ab_spool_request *request, const char *name)
{
    char bypass[80];
    if (request->kind == AB_SPOOL_SAVE)
        return save_slot(r, name);
    if (request->kind == AB_SPOOL_MAKE)
        return make(r, name, request->bytes);
    AB_FIT(bypass, AB_BYPASS_FILE ".%s", name);
    if (request->kind == AB_SPOOL_LOOK || request->kind == AB_SPOOL_LOOK_AT_END)
        ab_bypass_look((pid_t)request->pid, request->kind == AB_SPOOL_LOOK_AT_END, r->folder,
                       bypass);
    return AB_SPOOL_RUNNING;
}

static void answer(const struct ab_relay *r, struct ab_spool_request *request)
{
    char name[48];
    uint32_t asked = AB_SPOOL_ASKED;
    if (!__atomic_compare_exchange_n(&request->state, &asked, AB_SPOOL_AT_WORK, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    name_file(name, sizeof name, request);
    request->answer = serve_request(r, request, name);
    __atomic_store_n(&request->state, AB_SPOOL_ANSWERED, __ATOMIC_RELEASE);
    syscall(SYS_futex, &request->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Frees a request whose process was killed before it read the answer. */
static void clear_dead(struct ab_spool_request *request)
{
    uint32_t state = __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
    if (state == AB_SPOOL_ANSWERED && kill((pid_t)request->pid, 0) != 0 && errno == ESRCH)
        __atomic_compare_exchange_n(&request->state, &state, AB_SPOOL_FREE_PLACE, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void sample_image(void *file, void *user)
{
    struct ab_spool_image *image = file;
    const struct ab_relay *r = user;
    char name[48];
    if (image->magic != AB_SPOOL_MAGIC || image->has_exited != 0)
        return;
    AB_FIT(name, AB_BYPASS_FILE ".%u.%u", image->pid, image->generation);
    ab_bypass_sample((pid_t)image->pid, r->folder, name, &image->sampled_bytes);
}

/* Samples the memory of all recorded processes. Takes at most 2 % of the time. */
static void sample(const struct ab_relay *r, uint64_t *next_ns)
{
    uint64_t begin = ab_clock_now_ns();
    if (begin < *next_ns)
        return;
    for_each(r, 1, AB_SPOOL_PAGE, sample_image, (void *)(uintptr_t)r);
    uint64_t took = 50 * (ab_clock_now_ns() - begin), least = SAMPLE_NS;
    *next_ns = begin + (took > least ? took : least);
}

static void *serve(void *user)
{
    struct ab_relay *r = user;
    struct ab_spool_control *control = r->control;
    uint64_t next_ns = 0;
    while (!__atomic_load_n(&r->is_ending, __ATOMIC_ACQUIRE)) {
        uint32_t seen = __atomic_load_n(&control->n_asked, __ATOMIC_ACQUIRE);
        struct timespec most = {0, SAMPLE_NS};
        for (size_t i = 0; i < AB_SPOOL_REQUESTS; i++) {
            answer(r, &control->requests[i]);
            clear_dead(&control->requests[i]);
        }
        sample(r, &next_ns);
        syscall(SYS_futex, &control->n_asked, FUTEX_WAIT, seen, &most, NULL, 0);
    }
    return NULL;
}

/* ---- life ---- */

enum ab_status ab_relay_open(const char *folder, struct ab_relay_options options,
                             struct ab_relay **out, struct ab_err *err)
{
    struct ab_relay *r = ab_alloc_zeroed(1, sizeof *r);
    r->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = r->folder < 0
                 ? -1
                 : openat(r->folder, AB_SPOOL_CONTROL, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_limited = fd >= 0 && !is_within_limit(sizeof *r->control);
    bool is_made = fd >= 0 && !is_limited && fchmod(fd, 0666) == 0 &&
                   (errno = posix_fallocate(fd, 0, sizeof *r->control)) == 0;
    if (is_made)
        r->control = map_file(r->folder, AB_SPOOL_CONTROL, sizeof *r->control);
    enum ab_status status = r->control != NULL
                                ? AB_OK
                                : ab_fail_errno(err, AB_SYSTEM, "cannot write into the spool %s",
                                                folder);
    if (is_limited)
        ab_fail(err, status,
                "the limit on file sizes (ulimit -f) is too low for a recording, which needs at "
                "least %zu KiB",
                (sizeof *r->control >> 10) + 1);
    if (fd >= 0)
        close(fd);
    if (status != AB_OK) {
        ab_relay_close(r);
        return status;
    }
    r->control->server = (uint32_t)getpid();
    r->control->most_events = options.most_events;
    r->control->most_bytes = options.most_bytes;
    r->control->why_full = options.why_full;
    r->control->n_bytes = sizeof *r->control;
    r->control->site_depth = options.site_depth;
    r->control->has_time = options.has_time;
    r->control->begin_ns = ab_clock_now_ns();
    r->control->begin_ticks = ab_tick_end();
    r->control->magic = AB_SPOOL_MAGIC;
    *out = r;
    return AB_OK;
}

enum ab_status ab_relay_serve(struct ab_relay *r, struct ab_err *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    errno = pthread_create(&r->thread, NULL, serve, r);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    r->has_thread = errno == 0;
    return r->has_thread ? AB_OK : ab_fail_errno(err, AB_SYSTEM, "cannot serve the recorder");
}

bool ab_relay_has_mark(const struct ab_relay *r, const char *name)
{
    for (size_t i = 0; i < AB_SPOOL_MARK_NAMES; i++) {
        const struct ab_spool_mark_name *place = &r->control->mark_names[i];
        if (__atomic_load_n(&place->state, __ATOMIC_ACQUIRE) == AB_SPOOL_NAME_THERE &&
            strncmp(place->text, name, sizeof place->text) == 0)
            return true;
    }
    return false;
}

void ab_relay_close(struct ab_relay *r)
{
    if (r == NULL)
        return;
    if (r->has_thread) {
        __atomic_store_n(&r->is_ending, true, __ATOMIC_RELEASE);
        __atomic_fetch_add(&r->control->n_asked, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &r->control->n_asked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        pthread_join(r->thread, NULL);
        /* from here on no process waits for us */
        __atomic_store_n(&r->control->server, 0, __ATOMIC_RELEASE);
    }
    if (r->control != NULL)
        munmap(r->control, sizeof *r->control);
    if (r->folder >= 0)
        close(r->folder);
    free(r);
}

/* ---- progress ---- */

static void see_image(void *file, void *user)
{
    struct ab_relay_view *view = user;
    (void)file;
    view->spool_bytes += AB_SPOOL_PAGE;
}

/* Counts the calls in the half that is being filled. Calls in full halves are counted by the
 * threads themselves. */
static uint64_t calls_begun(const struct ab_spool_tail *tail)
{
    uint64_t a = __atomic_load_n(&tail->half_number[0], __ATOMIC_ACQUIRE);
    uint64_t b = __atomic_load_n(&tail->half_number[1], __ATOMIC_ACQUIRE);
    uint64_t half = a > b ? a : b, n = __atomic_load_n(&tail->n_events, __ATOMIC_RELAXED);
    uint64_t begin = half > 0 ? (half - 1) * AB_SPOOL_HALF_EVENTS : n;
    uint64_t n_new = n > begin ? n - begin : 0;
    uint64_t n_asides = __atomic_load_n(&tail->n_asides, __ATOMIC_RELAXED) -
                        __atomic_load_n(&tail->n_asides_counted, __ATOMIC_RELAXED);
    n_new = n_new < AB_SPOOL_HALF_EVENTS ? n_new : AB_SPOOL_HALF_EVENTS;
    return n_asides < n_new ? n_new - n_asides : 0;
}

static void see_slot(void *file, void *user)
{
    const struct ab_spool_tail *tail = file;
    struct ab_relay_view *view = user;
    view->spool_bytes += AB_SPOOL_DATA + __atomic_load_n(&tail->data_bytes, __ATOMIC_RELAXED);
    view->n_calls += calls_begun(tail);
    view->n_events += __atomic_load_n(&tail->n_events, __ATOMIC_RELAXED);
}

struct ab_relay_view ab_relay_look(const struct ab_relay *r)
{
    struct ab_relay_view view = {.spool_bytes = sizeof *r->control};
    for_each(r, 1, AB_SPOOL_PAGE, see_image, &view);
    for_each(r, 2, AB_SPOOL_TAIL, see_slot, &view);
    int64_t n = __atomic_load_n(&r->control->n_events, __ATOMIC_RELAXED) + (int64_t)view.n_calls;
    view.n_calls = n > 0 ? (uint64_t)n : 0;
    uint64_t n_freed = __atomic_load_n(&r->control->n_freed, __ATOMIC_RELAXED);
    view.spool_bytes -= n_freed < view.spool_bytes ? n_freed : view.spool_bytes;
    view.is_ended = __atomic_load_n(&r->control->stop, __ATOMIC_RELAXED) != AB_SPOOL_RUNNING;
    return view;
}

uint64_t ab_relay_bytes(const struct ab_relay *r)
{
    return __atomic_load_n(&r->control->n_bytes, __ATOMIC_RELAXED);
}

void ab_relay_give_back(struct ab_relay *r, uint64_t bytes)
{
    __atomic_fetch_add(&r->control->n_freed, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&r->control->n_bytes, bytes, __ATOMIC_RELAXED);
}

/* ---- the end of a recording while its processes go on ---- */

static void stop_image(void *file, void *user)
{
    struct ab_spool_image *image = file;
    uint32_t running = AB_SPOOL_RUNNING;
    const uint32_t *why = user;
    __atomic_compare_exchange_n(&image->stop, &running, *why, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
}

/* Sets *is_turning if a thread is handling a full half. Ignores dead threads, whose flag may still
 * be set. */
static void see_turning(void *file, void *user)
{
    struct ab_spool_tail *tail = file;
    bool is_alive = kill((pid_t)tail->owner, 0) == 0 || errno == EPERM;
    bool *is_turning = user;
    if (is_alive && __atomic_load_n(&tail->is_turning, __ATOMIC_SEQ_CST) != 0)
        *is_turning = true;
}

/* Stops the recording. A thread sets is_turning before it reads `stop`, and this function sets
 * `stop` before it reads is_turning, so that no thread is missed. */
void ab_relay_stop(struct ab_relay *r, enum ab_spool_stop why)
{
    enum { TRIES = 100 };
    uint32_t reason = why, running = AB_SPOOL_RUNNING;
    struct timespec pause = {0, 10000000};
    bool is_turning = true;
    __atomic_compare_exchange_n(&r->control->stop, &running, reason, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
    for_each(r, 1, AB_SPOOL_PAGE, stop_image, &reason);
    for (int i = 0; i < TRIES && is_turning; i++) {
        is_turning = false;
        /* a thread that has read `stop` before it was set writes one more event */
        nanosleep(&pause, NULL);
        for_each(r, 2, AB_SPOOL_TAIL, see_turning, &is_turning);
    }
}
