/* SPDX-License-Identifier: MIT
 *
 * Serves the clocks and the waits of the C library in virtual time. This code runs within any call
 * to the allocator. So it calls no malloc and no stdio, takes no lock, and keeps errno unless it
 * fails.
 */
#include "clock/virtual_clock.h"

#include "base/limits.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SECOND_NS UINT64_C(1000000000)
#define SHORT_NS UINT64_C(1000000) /* sleeps shorter than this are in real time */
#define NEVER_NS UINT64_MAX

static void enter(void), set_time(uint64_t time_ns);
static uint64_t next_due(void);
static uint32_t wake_due(void);

EXPORT struct ab_virtual_clock ab_clock_v2 = {
    .version = AB_VIRTUAL_CLOCK_VERSION,
    .enter = enter,
    .next = next_due,
    .set = set_time,
    .wake = wake_due,
};
static struct ab_virtual_clock *const state = &ab_clock_v2;

/* ---- system calls of this library ---- */

/* Makes a system call; no other function of this library does. The seccomp filter lets calls from
 * this address through. Returns the kernel's result: on failure the negative error number. Leaves
 * errno unchanged. */
long ab_clock_call(long number, long a, long b, long c, long d, long e, long f);
extern const char ab_clock_called[]; /* return address of these system calls */
#if defined(__x86_64__)
__asm__(".text\n.hidden ab_clock_call\n.globl ab_clock_call\n.type ab_clock_call, @function\n"
        ".hidden ab_clock_called\n.globl ab_clock_called\n"
        "ab_clock_call:\n\tendbr64\n"
        "\tmov %rdi, %rax\n\tmov %rsi, %rdi\n\tmov %rdx, %rsi\n\tmov %rcx, %rdx\n"
        "\tmov %r8, %r10\n\tmov %r9, %r8\n\tmov 8(%rsp), %r9\n\tsyscall\n"
        "ab_clock_called:\n\tret\n.size ab_clock_call, . - ab_clock_call\n");
#define MACHINE AUDIT_ARCH_X86_64
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#else
__asm__(".text\n.hidden ab_clock_call\n.globl ab_clock_call\n.type ab_clock_call, %function\n"
        ".hidden ab_clock_called\n.globl ab_clock_called\n"
        "ab_clock_call:\n\thint #34\n"
        "\tmov x8, x0\n\tmov x0, x1\n\tmov x1, x2\n\tmov x2, x3\n\tmov x3, x4\n"
        "\tmov x4, x5\n\tmov x5, x6\n\tsvc #0\n"
        "ab_clock_called:\n\tret\n.size ab_clock_call, . - ab_clock_call\n");
#define MACHINE AUDIT_ARCH_AARCH64
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif
#define CALL(number, a, b, c, d, e, f) \
    ab_clock_call((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static pid_t thread_now(void)
{
    return (pid_t)CALL(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static bool is_first_thread(void)
{
    return thread_now() == CALL(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* ---- the time ---- */

enum { N_IDS = CLOCK_TAI + 1 };
enum { FRESH, FILLING, READY };
static uint32_t stage;        /* atomic */
static uint64_t begin[N_IDS]; /* value of each clock when the process first asked */

/* True for clocks that tell the time; false for clocks of CPU time. */
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
    CALL(SYS_clock_gettime, id, &t, 0, 0, 0, 0);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Notes the values at which all clocks begin, once. This cannot be a constructor, because the
 * allocator's constructors run before those of a library that is preloaded ahead of it. */
static void begin_clocks(void)
{
    uint32_t fresh = FRESH;
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
        CALL(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static uint64_t time_now(void)
{
    begin_clocks();
    __atomic_store_n(&state->is_used, 1, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&state->time_ns, 1, __ATOMIC_ACQ_REL);
}

static void set_time(uint64_t time_ns)
{
    uint64_t now = __atomic_load_n(&state->time_ns, __ATOMIC_ACQUIRE);
    while (now < time_ns && !__atomic_compare_exchange_n(&state->time_ns, &now, time_ns, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

/* Converts to nanoseconds; returns NEVER_NS if the time is too far away for the type. */
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

/* Returns the nanoseconds from now until clock `id` shows `at`. */
static uint64_t until(clockid_t id, const struct timespec *at)
{
    uint64_t ns = of_timespec(at), now = time_now() + begin[id];
    return ns == NEVER_NS ? NEVER_NS : ns > now ? ns - now : 0;
}

/* ---- functions that return 0 or a negative error number, as the kernel does ---- */
static long serve_clock_gettime(clockid_t id, struct timespec *out)
{
    if (!tells_time(id))
        return CALL(SYS_clock_gettime, id, out, 0, 0, 0, 0);
    uint64_t now = time_now();
    *out = to_timespec(begin[id] + now);
    return 0;
}

static long serve_gettimeofday(struct timeval *out, struct timezone *zone)
{
    uint64_t now = time_now() + begin[CLOCK_REALTIME];
    if (zone != NULL)
        *zone = (struct timezone){0, 0};
    if (out != NULL)
        *out = (struct timeval){(time_t)(now / SECOND_NS), (suseconds_t)(now % SECOND_NS / 1000)};
    return 0;
}

static long serve_time(time_t *out)
{
    time_t now = (time_t)((time_now() + begin[CLOCK_REALTIME]) / SECOND_NS);
    if (out != NULL)
        *out = now;
    return now;
}

/* Converts a result of the kernel to a result of the C library, and sets errno on failure. */
static long returned(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    return (int)returned(serve_clock_gettime(id, out));
}

EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    return (int)serve_gettimeofday(out, zone);
}

EXPORT time_t time(time_t *out)
{
    return serve_time(out);
}

/* ---- sleepers ---- */

enum { SLEEPERS_MAX = 256 };
enum { FREE, TAKEN, ASLEEP };

static struct sleeper {
    _Alignas(64) uint32_t state; /* atomic */
    /* atomic: tells the sleeper to get up; used if it waits neither on a condition nor in a system
     * call */
    uint32_t is_woken;
    uint64_t due_ns;
    pthread_cond_t *condition;
    /* thread that sleeps in a system call, which a signal ends; 0 = it sleeps in another way */
    pid_t thread;
} sleepers[SLEEPERS_MAX];

/* Makes the pages of the table resident before the memory pass takes its baseline. */
static void touch_sleepers(void)
{
    for (unsigned i = 0; i < SLEEPERS_MAX; i++)
        __atomic_fetch_or(&sleepers[i].state, 0, __ATOMIC_RELAXED);
}

/* Adds a sleeper. Returns NULL if the table is full. */
static struct sleeper *fall_asleep(uint64_t due_ns, pthread_cond_t *condition, pid_t thread)
{
    for (struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++) {
        uint32_t none = FREE;
        if (!__atomic_compare_exchange_n(&s->state, &none, TAKEN, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        s->due_ns = due_ns;
        s->condition = condition;
        s->thread = thread;
        __atomic_store_n(&s->is_woken, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&state->n_asleep, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&s->state, ASLEEP, __ATOMIC_RELEASE);
        return s;
    }
    return NULL;
}

static void get_up(struct sleeper *s)
{
    __atomic_store_n(&s->state, FREE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&state->n_asleep, 1, __ATOMIC_RELAXED);
}

/* ---- timerfd ---- */

enum { TIMERS_MAX = 64 };

/* A timerfd that a thread of the allocator has set. The kernel's timer behind it stays off until
 * the virtual clock reaches `due_ns`; then it is set to expire at once. */
static struct timer {
    _Alignas(64) uint32_t state; /* atomic: FREE, TAKEN, or ASLEEP while the timer is set */
    int fd;
    uint64_t due_ns, interval_ns;
    bool has_expired; /* the kernel's timer has expired; the reading thread may not have run yet */
} timers[TIMERS_MAX];

/* Returns the entry of `fd`, or a free one, and marks it TAKEN; NULL = the table is full. */
static struct timer *take_timer(int fd)
{
    struct timer *free_one = NULL;
    for (struct timer *t = timers; t < timers + TIMERS_MAX; t++) {
        uint32_t asleep = ASLEEP;
        if (t->fd == fd && __atomic_compare_exchange_n(&t->state, &asleep, TAKEN, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return t;
    }
    for (struct timer *t = timers; t < timers + TIMERS_MAX && free_one == NULL; t++) {
        uint32_t none = FREE;
        if (__atomic_compare_exchange_n(&t->state, &none, TAKEN, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            free_one = t;
    }
    return free_one;
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct timespec none = {0, 0};
    return CALL(SYS_ppoll, &p, 1, &none, 0, 0, 0) > 0;
}

/* Returns 1 while the timer is due and nobody has read its expiration, else 0. */
static uint32_t expire(struct timer *t, uint64_t now)
{
    uint32_t asleep = ASLEEP;
    if (!__atomic_compare_exchange_n(&t->state, &asleep, TAKEN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return 0;
    uint32_t is_due = 0;
    struct itimerspec at_once = {.it_value = {0, 1}};
    if (t->has_expired) {
        is_due = is_readable(t->fd);
        if (!is_due) {
            t->has_expired = false;
            t->due_ns = t->interval_ns == 0 ? NEVER_NS : t->due_ns + t->interval_ns;
        }
    } else if (t->due_ns <= now) {
        t->has_expired = CALL(SYS_timerfd_settime, t->fd, 0, &at_once, 0, 0, 0) == 0;
        if (!t->has_expired)
            t->due_ns = NEVER_NS; /* the descriptor was closed */
        is_due = t->has_expired;
    }
    __atomic_store_n(&t->state, t->due_ns == NEVER_NS ? FREE : ASLEEP, __ATOMIC_RELEASE);
    return is_due;
}

static uint64_t next_timer(void)
{
    uint64_t next = NEVER_NS;
    for (const struct timer *t = timers; t < timers + TIMERS_MAX; t++)
        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == ASLEEP && t->due_ns < next)
            next = t->due_ns;
    return next;
}

static uint64_t next_due(void)
{
    uint64_t next = next_timer();
    if (__atomic_load_n(&state->n_asleep, __ATOMIC_ACQUIRE) == 0)
        return next;
    for (const struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++)
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == ASLEEP && s->due_ns < next)
            next = s->due_ns;
    return next;
}

static uint32_t wake_due(void)
{
    uint64_t now = __atomic_load_n(&state->time_ns, __ATOMIC_ACQUIRE);
    uint32_t n = 0;
    for (struct timer *t = timers; t < timers + TIMERS_MAX; t++)
        n += expire(t, now);
    if (__atomic_load_n(&state->n_asleep, __ATOMIC_ACQUIRE) == 0)
        return n;
    for (struct sleeper *s = sleepers; s < sleepers + SLEEPERS_MAX; s++) {
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != ASLEEP || s->due_ns > now)
            continue;
        n++;
        if (s->condition != NULL) {
            pthread_cond_broadcast(s->condition);
        } else if (s->thread != 0) {
            CALL(SYS_tgkill, CALL(SYS_getpid, 0, 0, 0, 0, 0, 0), s->thread, SIGSYS, 0, 0, 0);
        } else {
            __atomic_store_n(&s->is_woken, 1, __ATOMIC_RELEASE);
            CALL(SYS_futex, &s->is_woken, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
        }
    }
    return n;
}

static __thread __attribute__((tls_model("initial-exec"))) bool is_of_harness;
/* True while the thread is in a timed wait of the C library that runs in real time. */
static __thread __attribute__((tls_model("initial-exec"))) bool waits_really;

static void enter(void)
{
    is_of_harness = true;
}

/* True in a thread of the harness. The process's first thread is one, even while it runs
 * constructors. */
static bool is_harness(void)
{
    return is_of_harness || is_first_thread();
}

/* True if a sleep of `ns` by this thread is in real time. */
static bool sleeps_really(uint64_t ns)
{
    return ns < SHORT_NS || is_harness();
}

static void begin_short(void)
{
    __atomic_add_fetch(&state->n_short, !is_of_harness, __ATOMIC_RELAXED);
}

/* Ends a sleep in real time of `slept_ns`. A sleep of the harness advances the virtual clock.
 * Sleeps of other threads do not, because several threads may sleep at once. */
static void end_short(uint64_t slept_ns)
{
    if (is_harness())
        __atomic_add_fetch(&state->time_ns, slept_ns, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&state->n_short, !is_of_harness, __ATOMIC_RELAXED);
}

/* Sleeps in real time. Returns 0 or an error number; on an error, writes the remaining time to
 * *left. */
static int sleep_really(uint64_t ns, struct timespec *left)
{
    struct timespec t = to_timespec(ns < NEVER_NS ? ns : (uint64_t)INT64_MAX), rest = {0, 0};
    begin_short();
    int error = -(int)CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, &rest, 0, 0);
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
        s = fall_asleep(ns > NEVER_NS - now ? NEVER_NS : now + ns, NULL, 0);
    if (s == NULL)
        return sleep_really(ns, left);
    while (__atomic_load_n(&s->is_woken, __ATOMIC_ACQUIRE) == 0)
        CALL(SYS_futex, &s->is_woken, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    get_up(s);
    return 0;
}

/* Sleeps in virtual or real time, as nanosleep does. Returns 0 or an error number. */
static int serve_nanosleep(const struct timespec *t, struct timespec *left)
{
    return is_valid(t) && t->tv_sec >= 0 ? sleep_for(of_timespec(t), left) : EINVAL;
}

EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    return (int)returned(-serve_nanosleep(t, left));
}

EXPORT int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    if (!tells_time(id) || !is_valid(t))
        return -(int)CALL(SYS_clock_nanosleep, id, flags, t, left, 0, 0);
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

/* ---- condition variables ---- */

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
    waits_really = true;
    int error = wait(condition, mutex, CLOCK_MONOTONIC, &at);
    waits_really = false;
    end_short(error == ETIMEDOUT ? ns : 0);
    return error;
}

static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t ns)
{
    uint64_t now = time_now(), due = ns > NEVER_NS - now ? NEVER_NS : now + ns;
    struct sleeper *s = sleeps_really(ns) ? NULL : fall_asleep(due, condition, 0);
    if (s == NULL)
        return wait_really(condition, mutex, ns);
    int error = pthread_cond_wait(condition, mutex);
    get_up(s);
    return error != 0                                                  ? error
           : __atomic_load_n(&state->time_ns, __ATOMIC_ACQUIRE) >= due ? ETIMEDOUT
                                                                       : 0;
}

/* Returns the clock of a condition's deadline. Only the C library knows which one it is. But the
 * two clocks are decades apart, so the deadline itself shows it. */
static clockid_t clock_of(const struct timespec *at)
{
    uint64_t ns = of_timespec(at), middle = begin[CLOCK_REALTIME] / 2 + begin[CLOCK_MONOTONIC] / 2;
    return ns > middle ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict at)
{
    begin_clocks();
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

/* ---- system calls that bypass the C library ---- */

/* A system call that the filter caught. */
struct trapped {
    long number, a[6];
};

static long pass_on(const struct trapped *t)
{
    return CALL(t->number, t->a[0], t->a[1], t->a[2], t->a[3], t->a[4], t->a[5]);
}

/* Makes the system call in real time, because the virtual clock does not serve it. */
static long leave_to_kernel(const struct trapped *t)
{
    uint32_t none = 0;
    if (!is_of_harness)
        __atomic_compare_exchange_n(&state->unmanaged, &none, (uint32_t)t->number + 1, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return pass_on(t);
}

/* Waits until `ns` of virtual time have passed. Sleeps in the call `forever`, which has no timeout.
 * A thread that must sleep in real time makes the call `really`, which has the timeout. Returns the
 * kernel's result, or `timed_out`. */
static long wait_in(const struct trapped *forever, const struct trapped *really, uint64_t ns,
                    long timed_out)
{
    uint64_t now = time_now(), due = ns > NEVER_NS - now ? NEVER_NS : now + ns;
    struct sleeper *s = sleeps_really(ns) ? NULL : fall_asleep(due, NULL, thread_now());
    long result;
    if (s == NULL) {
        begin_short();
        result = pass_on(really);
        end_short(result == timed_out ? ns : 0);
        return result;
    }
    result = pass_on(forever);
    get_up(s);
    bool is_over = __atomic_load_n(&state->time_ns, __ATOMIC_ACQUIRE) >= due;
    return result == -EINTR && is_over ? timed_out : result;
}

static long serve_futex(const struct trapped *t)
{
    const struct timespec *at = (const void *)t->a[3];
    const long command = t->a[1] & FUTEX_CMD_MASK;
    const clockid_t id = (t->a[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (waits_really || !is_valid(at))
        return pass_on(t);
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
        return leave_to_kernel(t);
    uint64_t ns = command == FUTEX_WAIT ? of_timespec(at) : until(id, at);
    struct timespec for_ns = to_timespec(ns < NEVER_NS ? ns : (uint64_t)INT64_MAX);
    struct trapped forever = *t, really = *t;
    forever.a[3] = 0;
    really.a[1] = FUTEX_WAIT | (t->a[1] & FUTEX_PRIVATE_FLAG);
    really.a[3] = (long)&for_ns;
    return wait_in(&forever, &really, ns, -ETIMEDOUT);
}

/* Serves a system call whose argument `k` is a timeout in milliseconds. */
static long serve_ms(const struct trapped *t, int k)
{
    struct trapped forever = *t;
    int ms = (int)t->a[k];
    forever.a[k] = -1;
    return ms <= 0 ? pass_on(t) : wait_in(&forever, t, (uint64_t)ms * (SECOND_NS / 1000), 0);
}

/* Serves a system call whose argument `k` points to a timespec, or (select) to a timeval. */
static long serve_span(const struct trapped *t, int k, bool is_timeval)
{
    struct trapped forever = *t;
    struct timespec span;
    if (t->a[k] == 0)
        return pass_on(t);
    memcpy(&span, (const void *)t->a[k], sizeof span);
    span.tv_nsec *= is_timeval ? 1000 : 1;
    forever.a[k] = 0;
    if (!is_valid(&span) || span.tv_sec < 0 || (span.tv_sec == 0 && span.tv_nsec == 0))
        return pass_on(t);
    return wait_in(&forever, t, of_timespec(&span), 0);
}

static long serve_timerfd(const struct trapped *t)
{
    const struct itimerspec *to = (const void *)t->a[2], none = {{0, 0}, {0, 0}};
    struct timer *timer;
    struct trapped disarm = *t;
    bool is_absolute = (t->a[1] & TFD_TIMER_ABSTIME) != 0;
    if (is_of_harness && is_first_thread())
        return pass_on(t);
    if (to == NULL || !is_valid(&to->it_value) || !is_valid(&to->it_interval))
        return pass_on(t);
    if ((timer = take_timer((int)t->a[0])) == NULL)
        return leave_to_kernel(t);
    disarm.a[1] = 0;
    disarm.a[2] = (long)&none;
    long result = pass_on(&disarm);
    bool is_set = result == 0 && (to->it_value.tv_sec != 0 || to->it_value.tv_nsec != 0);
    clockid_t id = of_timespec(&to->it_value) > begin[CLOCK_REALTIME] / 2 ? CLOCK_REALTIME
                                                                          : CLOCK_MONOTONIC;
    uint64_t ns = !is_set ? 0 : is_absolute ? until(id, &to->it_value) : of_timespec(&to->it_value);
    timer->fd = (int)t->a[0];
    timer->due_ns = time_now() + ns;
    timer->interval_ns = of_timespec(&to->it_interval);
    timer->has_expired = false;
    __atomic_store_n(&timer->state, is_set ? ASLEEP : FREE, __ATOMIC_RELEASE);
    return result;
}

static long serve_clock_nanosleep(const struct trapped *t)
{
    const struct timespec *at = (const void *)t->a[2];
    if (!tells_time((clockid_t)t->a[0]))
        return pass_on(t);
    return -clock_nanosleep((clockid_t)t->a[0], (int)t->a[1], at, (struct timespec *)t->a[3]);
}

static long serve(const struct trapped *t)
{
    switch (t->number) {
    case SYS_clock_gettime:
        return serve_clock_gettime((clockid_t)t->a[0], (struct timespec *)t->a[1]);
    case SYS_gettimeofday:
        return serve_gettimeofday((struct timeval *)t->a[0], (struct timezone *)t->a[1]);
    case SYS_nanosleep:
        return -serve_nanosleep((const struct timespec *)t->a[0], (struct timespec *)t->a[1]);
    case SYS_clock_nanosleep:
        return serve_clock_nanosleep(t);
    case SYS_futex:
        return serve_futex(t);
    case SYS_ppoll:
        return serve_span(t, 2, false);
    case SYS_pselect6:
        return serve_span(t, 4, false);
    case SYS_epoll_pwait:
        return serve_ms(t, 3);
    case SYS_epoll_pwait2:
        return serve_span(t, 3, false);
    case SYS_timerfd_settime:
        return serve_timerfd(t);
#ifdef SYS_time
    case SYS_time:
        return serve_time((time_t *)t->a[0]);
    case SYS_poll:
        return serve_ms(t, 2);
    case SYS_select:
        return serve_span(t, 4, true);
    case SYS_epoll_wait:
        return serve_ms(t, 3);
#endif
    default:
        return leave_to_kernel(t);
    }
}

static void on_trap(int signal, siginfo_t *info, void *user)
{
    ucontext_t *context = user;
    (void)signal;
    if (info->si_code != 1 /* SYS_SECCOMP */)
        return; /* the signal was sent only to end a wait */
    int before = errno;
    struct trapped t = {.number = info->si_syscall};
#if defined(__x86_64__)
    const greg_t *r = context->uc_mcontext.gregs;
    const long a[6] = {(long)r[REG_RDI], (long)r[REG_RSI], (long)r[REG_RDX],
                       (long)r[REG_R10], (long)r[REG_R8],  (long)r[REG_R9]};
    memcpy(t.a, a, sizeof a);
#else
    memcpy(t.a, context->uc_mcontext.regs, sizeof t.a);
#endif
    long result = serve(&t);
    errno = before;
    RESULT(context) = result;
}

#define LOAD_HALF(member, half) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
             (uint32_t)(offsetof(struct seccomp_data, member) + 4 * (half)))
#define SKIP_IF(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (n), 0)
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (n))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define TRAP(number) SKIP_UNLESS(number, 1), RETURN(SECCOMP_RET_TRAP)

/* Installs a filter in all threads that raises SIGSYS for system calls that tell the time or wait
 * with a timeout. Calls of this library, and calls marked AB_CALL_OF_OURS, pass. Returns false if
 * the system forbids the filter. */
static bool install_filter(void)
{
    const uint64_t ours = (uint64_t)(uintptr_t)ab_clock_called;
    /* Both supported processors are little-endian: half 0 is the low one. */
    struct sock_filter rules[] = {
        LOAD_HALF(arch, 0),
        SKIP_IF(MACHINE, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(args[5], 0),
        SKIP_UNLESS(AB_CALL_OF_OURS, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(instruction_pointer, 0),
        SKIP_UNLESS(ours, 3),
        LOAD_HALF(instruction_pointer, 1),
        SKIP_UNLESS(ours >> 32, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(nr, 0),
        SKIP_UNLESS(SYS_futex, 13),
        /* futex: only operations that take a timeout, because in others this argument means
         * something else */
        LOAD_HALF(args[1], 0),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)FUTEX_CMD_MASK),
        SKIP_IF(FUTEX_WAIT, 4),
        SKIP_IF(FUTEX_WAIT_BITSET, 3),
        SKIP_IF(FUTEX_LOCK_PI, 2),
        SKIP_IF(FUTEX_WAIT_REQUEUE_PI, 1),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD_HALF(args[3], 0),
        SKIP_UNLESS(0, 2),
        LOAD_HALF(args[3], 1),
        SKIP_IF(0, 1),
        RETURN(SECCOMP_RET_TRAP),
        RETURN(SECCOMP_RET_ALLOW),
        TRAP(SYS_clock_gettime),
        TRAP(SYS_gettimeofday),
        TRAP(SYS_nanosleep),
        TRAP(SYS_clock_nanosleep),
        TRAP(SYS_ppoll),
        TRAP(SYS_pselect6),
        TRAP(SYS_epoll_pwait),
        TRAP(SYS_epoll_pwait2),
        TRAP(SYS_timerfd_settime),
        TRAP(SYS_timer_settime),
        TRAP(SYS_setitimer),
        TRAP(SYS_rt_sigtimedwait),
        TRAP(SYS_semtimedop),
        TRAP(SYS_mq_timedsend),
        TRAP(SYS_mq_timedreceive),
        TRAP(SYS_recvmmsg),
        TRAP(SYS_io_getevents),
        TRAP(SYS_io_pgetevents),
        TRAP(449 /* futex_waitv */),
#ifdef SYS_time
        TRAP(SYS_time),
        TRAP(SYS_poll),
        TRAP(SYS_select),
        TRAP(SYS_epoll_wait),
        TRAP(SYS_alarm),
#endif
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &trap, NULL) != 0)
        return false;
    return CALL(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program, 0, 0,
                0) == 0;
}

/* Changes the signal mask, but never blocks SIGSYS. Some allocators' threads block all signals, and
 * could not be woken otherwise. */
static int mask_signals(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t but_ours;
    if (set != NULL && how != SIG_UNBLOCK) {
        but_ours = *set;
        sigdelset(&but_ours, SIGSYS);
        set = &but_ours;
    }
    return -(int)CALL(SYS_rt_sigprocmask, how, set, old, _NSIG / 8, 0, 0);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return mask_signals(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return (int)returned(-mask_signals(how, set, old));
}

static __attribute__((constructor)) void begin_serving(void)
{
    touch_sleepers();
    begin_clocks();
    state->is_filtered = install_filter();
}
