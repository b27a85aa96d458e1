/* SPDX-License-Identifier: MIT
 *
 * A malloc that holds 64 MiB from the first block of 512 bytes on, and gives them back 5 s later. How it
 * waits, or asks for the time, is WAITS: in a thread of its own by futex, bitset, timerfd, epoll, poll,
 * select, sem, raw (futex by its own instruction), blocked (futex, with all signals blocked) or
 * semtimedop; within a later call by gettime (the system call) or rawtime (its own instruction).
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void on_512(size_t size);
#define TOY_ON_MALLOC(size) on_512(size)
#include "toy.h"

#define HELD ((size_t)64 << 20)
enum { SECONDS = 5 };

static void *held;
static uint64_t held_at;
static const char *how;

/* A system call as a runtime without a C library makes it. */
static long raw_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = 0;
    register long r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = 0;
    register long x5 __asm__("x5") = 0;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

static bool is_how(const char *name)
{
    return strcmp(how, name) == 0;
}

static struct timespec after(clockid_t id, int seconds)
{
    struct timespec t;
    clock_gettime(id, &t);
    t.tv_sec += seconds;
    return t;
}

static void wait_seconds(int seconds)
{
    static int word;
    const struct timespec span = {seconds, 0};
    if (is_how("futex") || is_how("blocked")) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0);
    } else if (is_how("bitset")) {
        struct timespec at = after(CLOCK_MONOTONIC, seconds);
        syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &at, NULL, -1);
    } else if (is_how("raw")) {
        raw_call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, (long)&span);
    } else if (is_how("timerfd")) {
        static int timer = -1;
        const struct itimerspec to = {{0, 0}, span};
        uint64_t n;
        timer = timer < 0 ? timerfd_create(CLOCK_MONOTONIC, 0) : timer;
        timerfd_settime(timer, 0, &to, NULL);
        (void)!read(timer, &n, sizeof n);
    } else if (is_how("epoll")) {
        struct epoll_event event;
        int epoll = epoll_create1(0);
        epoll_wait(epoll, &event, 1, seconds * 1000);
        close(epoll);
    } else if (is_how("poll")) {
        poll(NULL, 0, seconds * 1000);
    } else if (is_how("select")) {
        struct timeval t = {seconds, 0};
        select(0, NULL, NULL, NULL, &t);
    } else if (is_how("sem")) {
        static sem_t none;
        struct timespec at = after(CLOCK_REALTIME, seconds);
        sem_timedwait(&none, &at);
    } else if (is_how("semtimedop")) {
        struct sembuf take = {0, -1, 0};
        int set = semget(IPC_PRIVATE, 1, 0600);
        semtimedop(set, &take, 1, &span);
        semctl(set, 0, IPC_RMID);
    }
}

static void *run(void *unused)
{
    (void)unused;
    wait_seconds(SECONDS);
    munmap(held, HELD);
    held = NULL;
    for (;;)
        pause();
    return NULL;
}

static uint64_t seconds_now(void)
{
    struct timespec t = {0, 0};
    if (is_how("rawtime"))
        raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0);
    else
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

static void start(void)
{
    pthread_t thread;
    sigset_t all, before;
    how = getenv("WAITS") != NULL ? getenv("WAITS") : "futex";
    held = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(held, 1, HELD);
    if (is_how("gettime") || is_how("rawtime")) {
        held_at = seconds_now();
        return;
    }
    sigfillset(&all);
    if (is_how("blocked"))
        pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&thread, NULL, run, NULL);
    if (is_how("blocked"))
        pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_512(size_t size)
{
    if (size != 512)
        return;
    if (how == NULL)
        start();
    else if (held_at != 0 && held != NULL && seconds_now() - held_at >= SECONDS) {
        munmap(held, HELD);
        held = NULL;
    }
}
