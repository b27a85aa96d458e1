/* SPDX-License-Identifier: MIT
 *
 * Answers for the clocks and the waits of the C library. It runs within any call to the allocator, so
 * that nothing here calls malloc or stdio or takes a lock, and errno is kept where nothing fails.
 */
#include "clock/served_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SECOND_NS UINT64_C(1000000000)
#define SHORT_NS UINT64_C(1000000) /* less is slept in real time */
#define NEVER_NS UINT64_MAX

static void enter(void), set_time(uint64_t time_ns);
static uint64_t next_due(void);
static uint32_t wake_due(void);

EXPORT struct ab_served_clock ab_clock_v1 = {
    .version = AB_SERVED_CLOCK_VERSION,
    .enter = enter,
    .next = next_due,
    .set = set_time,
    .wake = wake_due,
};
static struct ab_served_clock *const served = &ab_clock_v1;

/* ---- what the time is ---- */

enum { N_IDS = CLOCK_TAI + 1 };
enum { FRESH, FILLING, READY };
static uint32_t stage;        /* atomic */
static uint64_t begin[N_IDS]; /* what each clock was when the process first asked */

/* Clocks of CPU time are none of them. */
static bool tells_time(clockid_t id)
{
    const unsigned ids = 1u << CLOCK_REALTIME | 1u << CLOCK_MONOTONIC | 1u << CLOCK_MONOTONIC_RAW |
                         1u << CLOCK_REALTIME_COARSE | 1u << CLOCK_MONOTONIC_COARSE |
                         1u << CLOCK_BOOTTIME | 1u << CLOCK_REALTIME_ALARM |
                         1u << CLOCK_BOOTTIME_ALARM | 1u << CLOCK_TAI;
    return id >= 0 && id < N_IDS && (ids >> id & 1) != 0;
}

static uint64_t real_ns(clockid_t id)
{
    struct timespec t = {0, 0};
    syscall(SYS_clock_gettime, id, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Constructors of the allocator run before those of what is preloaded ahead of it. */
static void begin_clocks(void)
{
    uint32_t fresh = FRESH;
    int error = errno;
    if (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) == READY)
        return;
    if (__atomic_compare_exchange_n(&stage, &fresh, FILLING, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        for (clockid_t id = 0; id < N_IDS; id++)
            if (tells_time(id))
                begin[id] = real_ns(id);
        __atomic_store_n(&stage, READY, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != READY)
        syscall(SYS_sched_yield);
    errno = error;
}

static uint64_t time_now(void)
{
    begin_clocks();
    __atomic_store_n(&served->is_used, 1, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&served->time_ns, 1, __ATOMIC_ACQ_REL);
}

static void set_time(uint64_t time_ns)
{
    uint64_t now = __atomic_load_n(&served->time_ns, __ATOMIC_ACQUIRE);
    while (now < time_ns && !__atomic_compare_exchange_n(&served->time_ns, &now, time_ns, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

/* NEVER_NS: so far away that it is not to be told. */
static uint64_t of_timespec(const struct timespec *t)
{
    if (t->tv_sec < 0)
        return 0;
    return (uint64_t)t->tv_sec >= NEVER_NS / SECOND_NS / 2
               ? NEVER_NS
               : (uint64_t)t->tv_sec * SECOND_NS + (uint64_t)t->tv_nsec;
}

static bool is_valid(const struct timespec *t)
{
    return t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND_NS;
}

/* How long it is from now until a clock shows that. */
static uint64_t until(clockid_t id, const struct timespec *at)
{
    uint64_t ns = of_timespec(at), now = time_now() + begin[id];
    return ns == NEVER_NS ? NEVER_NS : ns > now ? ns - now : 0;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    if (!tells_time(id))
        return (int)syscall(SYS_clock_gettime, id, out);
    uint64_t now = time_now();
    *out = to_timespec(begin[id] + now);
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    uint64_t now = time_now() + begin[CLOCK_REALTIME];
    if (zone != NULL)
        *(struct timezone *)zone = (struct timezone){0, 0};
    *out = (struct timeval){(time_t)(now / SECOND_NS), (suseconds_t)(now % SECOND_NS / 1000)};
    return 0;
}

EXPORT time_t time(time_t *out)
{
    time_t now = (time_t)((time_now() + begin[CLOCK_REALTIME]) / SECOND_NS);
    if (out != NULL)
        *out = now;
    return now;
}

/* ---- who sleeps ---- */

enum { SLEEPERS_MAX = 256 };
enum { FREE, TAKEN, ASLEEP };

static struct sleeper {
    _Alignas(64) uint32_t state; /* atomic */
    uint32_t is_woken;           /* atomic: where there is no condition */
    uint64_t due_ns;
    pthread_cond_t *condition;
} sleepers[SLEEPERS_MAX];

/* Its pages are there before anybody looks which are. */
static __attribute__((constructor)) void touch_sleepers(void)
{
    for (unsigned i = 0; i < SLEEPERS_MAX; i++)
        __atomic_fetch_or(&sleepers[i].state, 0, __ATOMIC_RELAXED);
    begin_clocks();
}

/* NULL: more sleep than there is room for. */
static struct sleeper *fall_asleep(uint64_t due_ns, pthread_cond_t *condition)
{
    for (struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++) {
        uint32_t none = FREE;
        if (!__atomic_compare_exchange_n(&s->state, &none, TAKEN, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        s->due_ns = due_ns;
        s->condition = condition;
        __atomic_store_n(&s->is_woken, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&served->n_asleep, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&s->state, ASLEEP, __ATOMIC_RELEASE);
        return s;
    }
    return NULL;
}

static void get_up(struct sleeper *s)
{
    __atomic_store_n(&s->state, FREE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&served->n_asleep, 1, __ATOMIC_RELAXED);
}

static uint64_t next_due(void)
{
    uint64_t next = NEVER_NS;
    if (__atomic_load_n(&served->n_asleep, __ATOMIC_ACQUIRE) == 0)
        return next;
    for (const struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++)
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == ASLEEP && s->due_ns < next)
            next = s->due_ns;
    return next;
}

static uint32_t wake_due(void)
{
    uint64_t now = __atomic_load_n(&served->time_ns, __ATOMIC_ACQUIRE);
    uint32_t n = 0;
    if (__atomic_load_n(&served->n_asleep, __ATOMIC_ACQUIRE) == 0)
        return 0;
    for (struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++) {
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != ASLEEP || s->due_ns > now)
            continue;
        n++;
        if (s->condition != NULL) {
            pthread_cond_broadcast(s->condition);
        } else {
            __atomic_store_n(&s->is_woken, 1, __ATOMIC_RELEASE);
            syscall(SYS_futex, &s->is_woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        }
    }
    return n;
}

static __thread bool is_of_harness;

static void enter(void)
{
    is_of_harness = true;
}

/* The first thread runs the constructors, and then it is the harness. */
static bool sleeps_really(uint64_t ns)
{
    return ns < SHORT_NS || is_of_harness || syscall(SYS_gettid) == getpid();
}

static void begin_short(void)
{
    __atomic_add_fetch(&served->n_short, !is_of_harness, __ATOMIC_RELAXED);
}

/* What the harness sleeps has passed for all; of other threads several may sleep at once. */
static void end_short(uint64_t slept_ns)
{
    if (is_of_harness || syscall(SYS_gettid) == getpid())
        __atomic_add_fetch(&served->time_ns, slept_ns, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&served->n_short, !is_of_harness, __ATOMIC_RELAXED);
}

/* 0 or the number of an error, and what is left of it. */
static int sleep_really(uint64_t ns, struct timespec *left)
{
    struct timespec t = to_timespec(ns < NEVER_NS ? ns : (uint64_t)INT64_MAX), rest = {0, 0};
    int before = errno, error = 0;
    begin_short();
    if (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, &rest) != 0)
        error = errno;
    errno = before;
    end_short(ns == NEVER_NS ? 0 : ns - of_timespec(&rest));
    if (error != 0 && left != NULL)
        *left = rest;
    return error;
}

static int sleep_for(uint64_t ns, struct timespec *left)
{
    uint64_t now = time_now();
    struct sleeper *s = NULL;
    if (!sleeps_really(ns))
        s = fall_asleep(ns > NEVER_NS - now ? NEVER_NS : now + ns, NULL);
    if (s == NULL)
        return sleep_really(ns, left);
    int before = errno;
    while (__atomic_load_n(&s->is_woken, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &s->is_woken, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    errno = before;
    get_up(s);
    return 0;
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    int error = is_valid(t) && t->tv_sec >= 0 ? sleep_for(of_timespec(t), left) : EINVAL;
    if (error != 0)
        errno = error;
    return error == 0 ? 0 : -1;
}

EXPORT int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    if (!tells_time(id) || !is_valid(t)) {
        int before = errno;
        int error = syscall(SYS_clock_nanosleep, id, flags, t, left) == 0 ? 0 : errno;
        errno = before;
        return error;
    }
    if ((flags & TIMER_ABSTIME) != 0)
        return sleep_for(until(id, t), NULL);
    return t->tv_sec >= 0 ? sleep_for(of_timespec(t), left) : EINVAL;
}

EXPORT int usleep(useconds_t us)
{
    struct timespec t = to_timespec((uint64_t)us * 1000);
    return nanosleep(&t, NULL);
}

EXPORT unsigned sleep(unsigned seconds)
{
    struct timespec left = {0, 0};
    return sleep_for(seconds * SECOND_NS, &left) == 0 ? 0 : (unsigned)left.tv_sec + 1;
}

/* ---- conditions ---- */

typedef int clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

static int wait_really(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t ns)
{
    static clockwait *real; /* atomic */
    clockwait *wait = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (wait == NULL) {
        *(void **)&wait = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
        __atomic_store_n(&real, wait, __ATOMIC_RELAXED);
    }
    uint64_t now = real_ns(CLOCK_MONOTONIC);
    struct timespec at = to_timespec(ns > INT64_MAX - now ? (uint64_t)INT64_MAX : now + ns);
    begin_short();
    int error = wait(condition, mutex, CLOCK_MONOTONIC, &at);
    end_short(error == ETIMEDOUT ? ns : 0);
    return error;
}

static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t ns)
{
    uint64_t now = time_now(), due = ns > NEVER_NS - now ? NEVER_NS : now + ns;
    struct sleeper *s = sleeps_really(ns) ? NULL : fall_asleep(due, condition);
    if (s == NULL)
        return wait_really(condition, mutex, ns);
    int error = pthread_cond_wait(condition, mutex);
    get_up(s);
    return error != 0                                                   ? error
           : __atomic_load_n(&served->time_ns, __ATOMIC_ACQUIRE) >= due ? ETIMEDOUT
                                                                        : 0;
}

/* Which clock a condition goes by is only known to the C library; the times that the two show are
 * decades apart, and the caller took his from one of them. */
static clockid_t clock_of(const struct timespec *at)
{
    uint64_t ns = of_timespec(at), middle = begin[CLOCK_REALTIME] / 2 + begin[CLOCK_MONOTONIC] / 2;
    return ns > middle ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict at)
{
    time_now();
    return is_valid(at) ? wait_for(condition, mutex, until(clock_of(at), at)) : EINVAL;
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex, clockid_t id,
                                  const struct timespec *restrict at)
{
    if (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC)
        return EINVAL;
    return is_valid(at) ? wait_for(condition, mutex, until(id, at)) : EINVAL;
}
