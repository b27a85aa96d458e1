/* SPDX-License-Identifier: MIT
 *
 * A program that makes 5,000 calls of each kind, three times as many frees, and ends by _exit:
 *   threads   10 threads make the same calls too
 *   many      300 threads do, 50 at a time
 *   forks     3 children of fork do, one of them again in a thread, and it does once more beside them
 *   storm     200 children do, 20 at a time
 *   signal    a child does, and ends by SIGKILL
 *   handlers  so often that a timer interrupts it 100 times, whose handler allocates and frees
 *   longest   a thread makes 2,000 mallocs and frees more, every second one of 1 MiB
 *   chase     in the beginning it walks over 20,000 blocks in random order, 30 times
 *   slow      200,000 mallocs and frees of 16 bytes, and no more
 *   once      one malloc and one free, and no more
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void *call(void *unused)
{
    for (size_t i = 0; i < 5000; i++) {
        void *volatile p = malloc(i % 700);
        void *q = NULL;
        p = realloc(p, i % 900 + 1);
        free(p);
        p = calloc(3, i % 50 + 1);
        free(p);
        if (posix_memalign(&q, 64, i % 300 + 1) == 0)
            free(q);
        free(NULL); /* no call */
    }
    return unused;
}

static void in_threads(int n, void *(*function)(void *))
{
    pthread_t threads[50];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, function, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void in_child(int has_thread, int has_signal)
{
    pid_t child = fork();
    if (child == 0) {
        call(NULL);
        if (has_thread)
            in_threads(1, call);
        if (has_signal)
            kill(getpid(), SIGKILL);
        _exit(0);
    }
}

static void wait_all(void)
{
    while (wait(NULL) > 0) {
    }
}

static volatile sig_atomic_t n_signals;

static void handle(int signal)
{
    (void)signal;
    for (int i = 0; i < 100; i++)
        free(calloc(1, 100));
    n_signals++;
}

static void with_handlers(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    while (n_signals < 100)
        call(NULL);
    setitimer(ITIMER_PROF, &never, NULL);
}

static void *call_large(void *unused)
{
    for (size_t i = 0; i < 2000; i++) {
        void *volatile p = malloc(i % 2 == 1 ? 1 << 20 : 16);
        free(p);
    }
    return unused;
}

struct link {
    struct link *next;
    uint64_t more[5];
};

static void chase(void)
{
    enum { N = 20000, TIMES = 30 };
    struct link **blocks = calloc(N, sizeof blocks[0]);
    uint64_t x = 1;
    for (int i = 0; i < N; i++)
        blocks[i] = malloc(sizeof blocks[0][0]);
    for (int i = N - 1; i > 0; i--) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int k = (int)((x >> 33) % (uint64_t)(i + 1));
        struct link *other = blocks[k];
        blocks[k] = blocks[i];
        blocks[i] = other;
    }
    for (int i = 0; i < N; i++)
        blocks[i]->next = blocks[(i + 1) % N];
    struct link *volatile at = blocks[0];
    for (int i = 0; i < N * TIMES; i++)
        at = at->next;
    for (int i = 0; i < N; i++)
        free(blocks[i]);
    free(blocks);
}

static int run_alone(const char *how)
{
    int n = strcmp(how, "once") == 0 ? 1 : strcmp(how, "slow") == 0 ? 200000 : 0;
    for (int i = 0; i < n; i++) {
        void *volatile p = malloc(16);
        free(p);
    }
    return n > 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (run_alone(how))
        return 0;
    if (strcmp(how, "chase") == 0)
        chase();
    call(NULL);
    if (strcmp(how, "threads") == 0)
        in_threads(10, call);
    for (int i = 0; strcmp(how, "many") == 0 && i < 6; i++)
        in_threads(50, call);
    for (int i = 0; strcmp(how, "forks") == 0 && i < 3; i++)
        in_child(i == 0, 0);
    if (strcmp(how, "forks") == 0)
        call(NULL);
    for (int i = 0; strcmp(how, "storm") == 0 && i < 200; i++) {
        in_child(0, 0);
        if (i % 20 == 19)
            wait_all();
    }
    if (strcmp(how, "signal") == 0)
        in_child(0, 1);
    if (strcmp(how, "handlers") == 0)
        with_handlers();
    if (strcmp(how, "longest") == 0)
        in_threads(1, call_large);
    wait_all();
    _exit(write(1, "done\n", 5) == 5 ? 0 : 1);
}
