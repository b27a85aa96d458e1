/* SPDX-License-Identifier: MIT
 *
 * prog_ends HOW ROUNDS THREADS: threads allocate without a pause, and while they do the process
 * ends, or becomes another, as HOW says: the others are cut off in the middle of a call. A thread
 * has only blocks of its own, so that a forked child's frees are of blocks that it made itself.
 *   kill abort _exit exit      ends so; exit codes 3 (_exit) and 4 (exit)
 *   exec                       becomes "after", one thread, exit code 7
 *   fork vfork                 a child allocates, too; both end by _exit, this one with 6
 *   wait                       reads standard input to its end, then _exit(8)
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 16, KEPT = 16 };

static long done[THREADS_MAX]; /* rounds of each; atomic */
static long n_threads;

static void turn(void **kept, long i)
{
    void **place = &kept[i % KEPT];
    free(*place);
    *place = i % 3 == 0 ? calloc(1, (size_t)(i % 400)) : malloc((size_t)(i % 700));
    if (i % 2 == 0)
        *place = realloc(*place, (size_t)(i % 900) + 1);
}

static void *work(void *user)
{
    long *rounds = user;
    void *kept[KEPT] = {NULL};
    for (long i = 0;; i++) {
        turn(kept, i);
        __atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void work_alone(long rounds)
{
    void *kept[KEPT] = {NULL};
    for (long i = 0; i < rounds; i++)
        turn(kept, i);
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
}

static void await_rounds(long more)
{
    for (long i = 0; i < n_threads; i++) {
        long until = __atomic_load_n(&done[i], __ATOMIC_RELAXED) + more;
        while (__atomic_load_n(&done[i], __ATOMIC_RELAXED) < until)
            sched_yield();
    }
}

static void with_child(int is_vfork, long rounds)
{
    pid_t pid = is_vfork ? vfork() : fork();
    if (pid == 0) {
        work_alone(is_vfork ? 10 : rounds);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    await_rounds(rounds);
    _exit(6);
}

static void wait_for_the_end(void)
{
    char c;
    while (read(0, &c, 1) > 0)
        ;
    _exit(8);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *how = argv[1];
    long rounds = atol(argv[2]);
    pthread_t thread;
    n_threads = atol(argv[3]);
    if (strcmp(argv[0], "after") == 0) {
        work_alone(rounds);
        return 7;
    }
    for (long i = 0; i < n_threads && i < THREADS_MAX; i++)
        if (pthread_create(&thread, NULL, work, &done[i]) != 0)
            return 2;
    await_rounds(rounds);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "exec") == 0)
        execl("/proc/self/exe", "after", "done", "500", "0", (char *)NULL);
    if (strcmp(how, "fork") == 0 || strcmp(how, "vfork") == 0)
        with_child(how[0] == 'v', rounds);
    if (strcmp(how, "wait") == 0)
        wait_for_the_end();
    exit(strcmp(how, "exit") == 0 ? 4 : 2);
}
