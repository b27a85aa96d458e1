/* SPDX-License-Identifier: MIT
 *
 * Programs that are hard to record, each with a known number of calls of its own: prog_hard HOW N
 *   forks       four threads allocate while N children are forked one after another; each child
 *               makes 20 calls, with blocks of 7001 bytes
 *   handler     N signals, each of whose handlers forks a child that ends at once; 2 N calls
 *   steps       N + 1 times 2 calls, with blocks of 7001 bytes; after each instruction of the last 2 N
 *               a signal handler forks a child, which goes on from there to the end of the 2 and no
 *               further (x86-64 only)
 *   clone       2 calls, then N children that share this memory (CLONE_VM | CLONE_VFORK), 2 each
 *   sigwait     N signals are waited for by sigwait; exits with 9 when there is a second thread
 *   execs       becomes itself N times, with an exec that fails before each: 4 calls each time
 *   cancel      N threads are cancelled while they allocate
 *   altstack    N calls in a signal handler on a stack of 16 KiB, with all of it checked
 *   keys        N detached threads, one after another, whose keys' destructors allocate and free
 *   threads     N threads, one after another, 2 calls each, with blocks of 7001 bytes
 * Exits with 0, and with 9 when anything but the counts is wrong.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 7001, THREADS = 4, KEPT = 8 };

static void expect(int is_true)
{
    if (!is_true)
        _exit(9);
}

static void pairs(long n, size_t size)
{
    for (long i = 0; i < n; i++) {
        volatile char *p = malloc(size);
        p[0] = 1;
        free((void *)p);
    }
}

static void reap(pid_t pid)
{
    int status = 0;
    expect(pid > 0);
    while (waitpid(pid, &status, 0) < 0)
        expect(errno == EINTR);
    expect(status == 0);
}

/* ---- forks ---- */

static atomic_bool is_over;

static void *work(void *user)
{
    void *kept[KEPT] = {NULL};
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        free(kept[i % KEPT]);
        kept[i % KEPT] = malloc(i % 400);
        if (i % 256 == 0)
            sched_yield();
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return user;
}

static void forks(long n)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        expect(pthread_create(&t[i], NULL, work, NULL) == 0);
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pairs(10, SIZE);
            _exit(0);
        }
        reap(pid);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t n_handled;

static void fork_in_handler(int signal)
{
    int saved = errno;
    pid_t pid = fork();
    (void)signal;
    if (pid == 0)
        _exit(0);
    reap(pid);
    n_handled++;
    errno = saved;
}

/* The signals come from within, between two calls: malloc itself need not be safe here. */
static void handler(long n)
{
    signal(SIGUSR1, fork_in_handler);
    for (long i = 0; i < n; i++) {
        pairs(1, SIZE);
        raise(SIGUSR1);
    }
    expect(n_handled == n);
}

#if defined(__x86_64__)
#include <ucontext.h>

enum { TRAP = 0x100 }; /* of the flags: a signal after each instruction */
static volatile sig_atomic_t is_child;

static void fork_at_step(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    pid_t pid = fork();
    (void)signal;
    (void)info;
    if (pid == 0) {
        is_child = 1;
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    } else {
        reap(pid);
        n_handled++;
    }
    errno = saved;
}

static inline void set_trap(bool is_on)
{
    long flags;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; popq %0; lea 128(%%rsp), %%rsp"
                     : "=r"(flags)
                     :
                     : "memory");
    flags = is_on ? flags | TRAP : flags & ~TRAP;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushq %0; popfq; lea 128(%%rsp), %%rsp"
                     :
                     : "r"(flags)
                     : "memory", "cc");
}

static void steps(long n)
{
    struct sigaction action = {.sa_sigaction = fork_at_step, .sa_flags = SA_SIGINFO};
    expect(sigaction(SIGTRAP, &action, NULL) == 0);
    pairs(1, SIZE); /* the recorder is ready, and the heap */
    for (long i = 0; i < n; i++) {
        set_trap(true);
        pairs(1, SIZE);
        set_trap(false);
        if (is_child)
            _exit(0);
    }
    expect(n_handled > 100 * n);
}
#else
static void steps(long n)
{
    (void)n;
    expect(false);
}
#endif

static int count_threads(void)
{
    char text[4096], *at;
    FILE *f = fopen("/proc/self/status", "r");
    size_t got = f == NULL ? 0 : fread(text, 1, sizeof text - 1, f);
    expect(got > 0);
    fclose(f);
    text[got] = 0;
    at = strstr(text, "Threads:");
    return at == NULL ? 0 : atoi(at + 8);
}

static void wait_for_signals(long n)
{
    sigset_t set;
    int got = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (long i = 0; i < n; i++) {
        kill(getpid(), SIGTERM);
        pairs(1, SIZE);
        expect(sigwait(&set, &got) == 0 && got == SIGTERM);
    }
    expect(count_threads() == 1);
}

static unsigned char *small_stack;
enum { STACK = 16384, GUARD = 2048 };

static void allocate_in_handler(int signal)
{
    (void)signal;
    pairs(1, SIZE);
    n_handled++;
}

/* The deep end of the stack is never used: so much is left to others. */
static void altstack(long n)
{
    small_stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(small_stack != MAP_FAILED);
    memset(small_stack, 0xa5, GUARD);
    stack_t stack = {.ss_sp = small_stack, .ss_size = STACK};
    struct sigaction action = {.sa_handler = allocate_in_handler, .sa_flags = SA_ONSTACK};
    expect(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    for (long i = 0; i < n; i++)
        raise(SIGUSR1);
    expect(n_handled == n);
    for (int i = 0; i < GUARD; i++)
        expect(small_stack[i] == 0xa5);
}

/* ---- processes ---- */

static int in_clone(void *user)
{
    (void)user;
    pairs(1, SIZE);
    return 0;
}

static void clones(long n)
{
    static _Alignas(16) char stack[65536];
    pairs(1, SIZE);
    for (long i = 0; i < n; i++)
        reap(clone(in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
}

static void execs(char **argv, long n)
{
    char left[24], *next[] = {argv[0], argv[1], left, NULL}, *none[] = {"none", NULL};
    pairs(1, SIZE);
    expect(execve("/no/such/program", none, none) == -1 && errno == ENOENT);
    pairs(1, SIZE);
    if (n <= 1)
        return;
    snprintf(left, sizeof left, "%ld", n - 1);
    execv("/proc/self/exe", next);
    expect(0);
}

/* ---- threads ---- */

static atomic_long n_begun;

static void *be_cancelled(void *user)
{
    atomic_fetch_add(&n_begun, 1);
    for (;;) {
        pairs(1, SIZE);
        pthread_testcancel();
    }
    return user;
}

static void cancel(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_t t;
        void *result;
        expect(pthread_create(&t, NULL, be_cancelled, NULL) == 0);
        while (atomic_load(&n_begun) <= i)
            sched_yield();
        expect(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0);
        expect(result == PTHREAD_CANCELED);
    }
}

static pthread_key_t key;
static atomic_long n_destroyed;

static void destroy(void *block)
{
    free(block);
    pairs(1, SIZE);
    atomic_fetch_add(&n_destroyed, 1);
}

static void *with_key(void *user)
{
    expect(pthread_setspecific(key, malloc(SIZE)) == 0);
    return user;
}

static void keys(long n)
{
    expect(pthread_key_create(&key, destroy) == 0);
    for (long i = 0; i < n; i++) {
        pthread_t t;
        expect(pthread_create(&t, NULL, with_key, NULL) == 0 && pthread_detach(t) == 0);
        while (atomic_load(&n_destroyed) <= i)
            sched_yield();
    }
    usleep(50000); /* the last one has still to end */
}

static void *one_pair(void *user)
{
    pairs(1, SIZE);
    return user;
}

static void threads(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_t t;
        expect(pthread_create(&t, NULL, one_pair, NULL) == 0 && pthread_join(t, NULL) == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *how;
        void (*run)(long);
    } ways[] = {{"forks", forks},
                {"handler", handler},
                {"steps", steps},
                {"clone", clones},
                {"sigwait", wait_for_signals},
                {"cancel", cancel},
                {"altstack", altstack},
                {"keys", keys},
                {"threads", threads}};
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "execs") == 0) {
        execs(argv, atol(argv[2]));
        return 0;
    }
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].how) == 0) {
            ways[i].run(atol(argv[2]));
            return 0;
        }
    return 2;
}
