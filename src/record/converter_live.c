/* SPDX-License-Identifier: MIT
 *
 * The thread of the live converter. It sleeps, checks the size of the spool, and converts events
 * whose order is known. It stops only between two of these rounds, so that another thread can
 * convert the rest.
 */
#include "record/converter_live.h"

#include "base/clock.h"
#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct ab_live_converter {
    struct ab_live_converter_options options;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* protects is_ending */
    pthread_cond_t ended;
    bool is_ending;
    bool has_begun, has_failed;
    struct ab_spool_entry image;
    FILE *part;
    struct ab_convert_report report;
    struct ab_conversion v;
    uint64_t n_freed;
    uint64_t n_done; /* number of converted events; atomic */
    enum ab_status status;
    struct ab_err err; /* reason of a failure */
};

/* ---- one image ---- */

static void drop(struct ab_live_converter *a)
{
    if (a->has_begun)
        ab_conversion_end(&a->v);
    if (a->part != NULL)
        fclose(a->part);
    a->part = NULL;
    a->has_begun = false;
    __atomic_store_n(&a->n_done, 0, __ATOMIC_RELAXED);
}

/* Begins the trace of an image. The encoder gets no thread, because a CPU that is free now may be
 * busy later. */
static enum ab_status begin(struct ab_live_converter *a, const struct ab_spool_entry *image)
{
    drop(a);
    a->image = *image;
    a->report = (struct ab_convert_report){0};
    a->n_freed = 0;
    a->v = (struct ab_conversion){0};
    int fd = open(a->options.part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    a->part = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (a->part == NULL)
        return ab_fail_errno(&a->err, AB_SYSTEM, "cannot write '%s'", a->options.part);
    a->has_begun = true;
    ab_converter_open_live(&a->v.c, a->options.folder, &a->image, &a->report);
    return ab_conversion_begin(&a->v, a->part, false, &a->err);
}

/* Finds the last program of the command's process that has recorded events and is newer than the
 * current image. Returns false if there is none. */
static bool find_newer(const struct ab_live_converter *a, struct ab_spool_entry *image)
{
    struct ab_spool_entry next;
    bool is_found = false;
    uint32_t k = a->has_begun ? a->image.generation + 1 : 0;
    for (; ab_spool_find(a->options.folder, a->options.command, k, &next); k++)
        if (next.n_events > 0) {
            *image = next;
            is_found = true;
        }
    return is_found;
}

/* Frees converted space of the spool. First writes all whole chunks of the trace to its file. */
static enum ab_status give_back(struct ab_live_converter *a)
{
    uint64_t bytes = 0;
    if (fflush(a->part) != 0)
        return ab_fail_errno(&a->err, AB_SYSTEM, "cannot write '%s'", a->options.part);
    for (uint32_t i = 0; i < a->v.c.n_lanes; i++)
        bytes += ab_spool_free_read(&a->v.c.lanes[i].stream);
    a->n_freed += bytes;
    ab_relay_give_back(a->options.relay, bytes);
    return AB_OK;
}

static bool is_ending(struct ab_live_converter *a)
{
    pthread_mutex_lock(&a->mutex);
    bool is_over = a->is_ending;
    pthread_mutex_unlock(&a->mutex);
    return is_over;
}

static enum ab_status convert_known(struct ab_live_converter *a)
{
    enum { STEP = 1 << 13, STEPS = 64 };
    bool is_over = false;
    AB_TRY(ab_converter_refresh(&a->v.c, &a->image, &a->err));
    ab_convert_marks_refresh(&a->v.marks, a->options.folder);
    for (unsigned i = 1; !is_over && !is_ending(a); i++) {
        AB_TRY(ab_converter_run(&a->v.c, STEP, &is_over, &a->err));
        __atomic_store_n(&a->n_done, a->v.c.n_done, __ATOMIC_RELAXED);
        if (i % STEPS == 0 || is_over)
            AB_TRY(give_back(a));
    }
    return AB_OK;
}

/* Does one round of work. A failure before any space was freed does no harm, because everything is
 * then converted at the end of the recording. */
static void work(struct ab_live_converter *a)
{
    struct ab_spool_entry newer;
    enum ab_status status = AB_OK;
    bool is_large = ab_relay_bytes(a->options.relay) >= a->options.from_bytes;
    if (a->has_failed || (!a->has_begun && !is_large))
        return;
    if (find_newer(a, &newer))
        status = begin(a, &newer);
    if (status == AB_OK && a->has_begun)
        status = convert_known(a);
    a->has_failed = status != AB_OK;
    a->status = status;
}

/* ---- the thread ---- */

static void lower_priority(void)
{
    struct sched_param none = {0};
    setpriority(PRIO_PROCESS, 0, 19); /* for this thread only */
    sched_setscheduler(0, SCHED_IDLE, &none);
}

static bool sleep_until_ending(struct ab_live_converter *a)
{
    enum { POLL_NS = 100000000, SECOND_NS = 1000000000 };
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += POLL_NS;
    at.tv_sec += at.tv_nsec / SECOND_NS;
    at.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&a->mutex);
    if (!a->is_ending)
        pthread_cond_timedwait(&a->ended, &a->mutex, &at);
    bool is_over = a->is_ending;
    pthread_mutex_unlock(&a->mutex);
    return is_over;
}

static void *run(void *user)
{
    struct ab_live_converter *a = user;
    if (!a->options.is_eager)
        lower_priority();
    while (!sleep_until_ending(a))
        work(a);
    return NULL;
}

/* Initializes the condition variable with the monotonic clock, because the real-time clock may be
 * set while the thread waits. */
static void open_wait(struct ab_live_converter *a)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->ended, &clock);
    pthread_condattr_destroy(&clock);
}

struct ab_live_converter *ab_live_converter_start(const struct ab_live_converter_options *options)
{
    sigset_t all, old;
    struct ab_live_converter *a = ab_alloc_zeroed(1, sizeof *a);
    a->options = *options;
    open_wait(a);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    a->has_thread = pthread_create(&a->thread, NULL, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return a; /* without the thread, everything is converted at the end */
}

uint64_t ab_live_converter_events(const struct ab_live_converter *a)
{
    return a != NULL ? __atomic_load_n(&a->n_done, __ATOMIC_RELAXED) : 0;
}

void ab_live_converter_stop(struct ab_live_converter *a)
{
    if (a == NULL || !a->has_thread)
        return;
    pthread_mutex_lock(&a->mutex);
    a->is_ending = true;
    pthread_cond_signal(&a->ended);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->thread, NULL);
    a->has_thread = false;
}

/* ---- the end ---- */

bool ab_live_converter_has(const struct ab_live_converter *a, const struct ab_spool_entry *image)
{
    return a != NULL && a->has_begun && (!a->has_failed || a->n_freed > 0) &&
           a->image.image.pid == image->image.pid && a->image.generation == image->generation;
}

static enum ab_status copy_part(struct ab_live_converter *a, FILE *to, struct ab_err *err)
{
    static char buffer[1 << 16];
    size_t n = 0;
    errno = 0;
    bool is_read = fflush(a->part) == 0 && fseeko(a->part, 0, SEEK_SET) == 0;
    while (is_read && (n = fread(buffer, 1, sizeof buffer, a->part)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return ab_fail_errno(err, AB_SYSTEM, "cannot write the trace");
    return is_read && ferror(a->part) == 0
               ? AB_OK
               : ab_fail_errno(err, AB_SYSTEM, "cannot write '%s'", a->options.part);
}

struct listener { /* passes progress on to the caller; ignores the caller's answer if is_needed */
    ab_convert_progress *progress;
    void *user;
    bool is_needed;
};

static bool pass_on(void *user, uint64_t done, uint64_t total)
{
    const struct listener *l = user;
    return l->progress == NULL || l->progress(l->user, done, total) || l->is_needed;
}

static enum ab_status convert_rest(struct ab_live_converter *a, struct listener *listener,
                                   struct ab_err *err)
{
    ab_convert_marks_refresh(&a->v.marks, a->options.folder);
    ab_converter_settle(&a->v.c);
    AB_TRY(ab_conversion_take_all(&a->v, pass_on, listener, err));
    return ab_conversion_close(&a->v, err);
}

enum ab_status ab_live_converter_finish(struct ab_live_converter *a,
                                        const struct ab_spool_entry *image, FILE *to,
                                        struct ab_convert_report *report,
                                        ab_convert_progress *progress, void *user,
                                        struct ab_err *err)
{
    struct listener listener = {progress, user, a->n_freed > 0};
    enum ab_status status = a->status;
    a->image = *image;
    ab_conversion_take_image(&a->report, &image->image);
    if (status != AB_OK)
        *err = a->err;
    else
        status = convert_rest(a, &listener, err);
    if (status == AB_OK)
        status = copy_part(a, to, err);
    fflush(a->part);
    *report = a->report;
    return status;
}

void ab_live_converter_close(struct ab_live_converter *a)
{
    if (a == NULL)
        return;
    ab_live_converter_stop(a);
    drop(a);
    pthread_mutex_destroy(&a->mutex);
    pthread_cond_destroy(&a->ended);
    free(a);
}

/* ---- lanes of a running program ----
 *
 * If an event is not stored yet, all events that depend on its call are stored later still. All
 * stored events with older stamps can therefore be ordered without it. */

/* Adds lanes for threads that are new. */
static void add_lanes(struct ab_converter *c)
{
    uint32_t n = c->image->image.n_slots;
    if (n > c->n_lanes)
        ab_converter_make_room(c, n);
    for (; c->n_lanes < n; c->n_lanes++)
        ab_stream_open_live(&c->lanes[c->n_lanes].stream, c->folder, c->image, c->n_lanes);
}

void ab_converter_open_live(struct ab_converter *c, const char *folder,
                            struct ab_spool_entry *image, struct ab_convert_report *report)
{
    *c = (struct ab_converter){.folder = folder,
                               .image = image,
                               .first_stamp = UINT64_MAX,
                               .is_live = true,
                               .report = report};
    ab_converter_make_room(c, image->image.n_slots);
    ab_address_map_init(&c->live);
    ab_address_map_init(&c->large);
}

static void look_again(struct ab_converter *c, uint32_t i)
{
    struct ab_convert_lane *lane = &c->lanes[i];
    lane->stream.is_done = false;
    ab_stream_seek(&lane->stream);
    if (!lane->stream.is_done)
        ab_converter_push_lane(c, i);
    else if (lane->stream.has_gap && lane->stamp < c->limit)
        c->limit = lane->stamp;
}

/* Reads new events. The time is read before them, so that events older than the limit are already
 * stored. */
enum ab_status ab_converter_refresh(struct ab_converter *c, struct ab_spool_entry *image,
                                    struct ab_err *err)
{
    uint64_t now = ab_tick_end();
    c->limit = now > AB_LIVE_LAG_TICKS ? now - AB_LIVE_LAG_TICKS : 0;
    if (!ab_spool_look_again(c->folder, image))
        return ab_fail(err, AB_INPUT, "the spool is gone");
    add_lanes(c);
    for (uint32_t i = 0; i < c->n_lanes; i++)
        if (c->lanes[i].stream.is_done)
            look_again(c, i);
    return AB_OK;
}

void ab_converter_settle(struct ab_converter *c)
{
    add_lanes(c);
    c->is_live = false;
    c->limit = UINT64_MAX;
    for (uint32_t i = 0; i < c->n_lanes; i++) {
        struct ab_stream *s = &c->lanes[i].stream;
        bool was_done = s->is_done;
        ab_stream_settle(s);
        if (was_done && !s->is_done)
            ab_converter_push_lane(c, i);
    }
}

/* ---- holes in the files of streams ----
 *
 * Freeing space leaves a hole in a file. The data after a hole stays at its offset, so that the
 * recorder's numbers about the file stay valid. */

uint64_t ab_spool_free_read(struct ab_stream *s)
{
    enum { LEAST = 65536 };
    char path[PATH_MAX];
    uint64_t end = s->chunks_read < s->data_bytes ? s->chunks_read : s->data_bytes;
    end -= end % AB_SPOOL_PAGE;
    if (end < s->freed_bytes + LEAST)
        return 0;
    ab_spool_slot_path(path, sizeof path, s->folder, s->image, s->slot);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    uint64_t bytes = end - s->freed_bytes;
    off_t at = (off_t)(AB_SPOOL_DATA + s->freed_bytes);
    bool is_freed = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, (off_t)bytes) ==
                    0;
    close(fd);
    if (is_freed)
        s->freed_bytes = end;
    return is_freed ? bytes : 0;
}

/* True if space of the slot's file was freed. Freed space starts at the first chunk, and a written
 * chunk is never empty, so that an empty first chunk means a hole. */
static bool is_slot_freed(const char *path)
{
    struct ab_spool_tail tail;
    struct ab_spool_chunk chunk;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool is_freed = pread(fd, &tail, sizeof tail, 0) == (ssize_t)sizeof tail &&
                    tail.magic == AB_SPOOL_MAGIC && tail.data_bytes > 0 &&
                    pread(fd, &chunk, sizeof chunk, AB_SPOOL_DATA) == (ssize_t)sizeof chunk &&
                    chunk.bytes == 0;
    close(fd);
    return is_freed;
}

bool ab_spool_is_freed(const char *folder, const struct ab_spool_entry *image)
{
    char path[PATH_MAX];
    for (uint32_t slot = 0; slot < image->image.n_slots; slot++) {
        ab_spool_slot_path(path, sizeof path, folder, image, slot);
        if (is_slot_freed(path))
            return true;
    }
    return false;
}
