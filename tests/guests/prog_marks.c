/* SPDX-License-Identifier: MIT
 *
 * Sets marks and says where: prog_marks frames|threads|signals|names N. It prints a line for each
 * mark in the order they were set: the name and how many calls of malloc and free it had made by
 * then, counted from the mark "begin". Nothing else in it allocates between the first mark and the
 * last.
 */
#include "src/record/mark.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MARKS_MOST = 100000 };

static struct {
    const char *name;
    long calls;
} set[MARKS_MOST];
static long n_set, n_calls, n_rounds;

/* The two counts move together: whoever calls this holds the lock, or is alone. */
static void mark(const char *name)
{
    set[n_set].name = name;
    set[n_set++].calls = n_calls;
    allocbench_mark(name);
}

static void work(unsigned n)
{
    void *volatile blocks[16];
    for (unsigned i = 0; i < n; i++)
        blocks[i] = malloc(16 + i * 24);
    for (unsigned i = 0; i < n; i++)
        free(blocks[i]);
    n_calls += 2 * n;
}

static void frames(void)
{
    for (long i = 0; i < n_rounds; i++) {
        work(1 + (unsigned)(i % 13));
        mark("frame");
    }
}

/* ---- threads, one after the other behind a lock ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *run(void *user)
{
    static const char *const names[THREADS] = {"one", "two", "three", "four"};
    long self = (long)user;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* "begin" is set */
    for (long i = 0; i < n_rounds; i++) {
        pthread_mutex_lock(&lock);
        work(1 + (unsigned)((i + self) % 7));
        mark(names[self]);
        pthread_mutex_unlock(&lock);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, run, (void *)i);
    pthread_barrier_wait(&barrier);
    mark("begin");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
}

/* ---- from a signal handler ---- */

static void handle(int number)
{
    (void)number;
    mark("signal");
}

static void signals(void)
{
    signal(SIGUSR1, handle);
    mark("begin");
    for (long i = 0; i < n_rounds; i++) {
        work(3);
        raise(SIGUSR1);
    }
}

/* ---- what names can be ---- */

static void names(void)
{
    char own[16], longer[300];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    strcpy(own, "first");
    work(1);
    allocbench_mark(own);
    strcpy(own, "second"); /* the same place */
    allocbench_mark(own);
    allocbench_mark("");
    allocbench_mark("a b\n\033[1m");
    allocbench_mark(longer);
    work(1);
}

int main(int argc, char **argv)
{
    n_rounds = argc > 2 ? atol(argv[2]) : 100;
    const char *what = argc > 1 ? argv[1] : "frames";
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "signals") == 0)
        signals();
    else if (strcmp(what, "names") == 0)
        names();
    else {
        mark("begin");
        frames();
    }
    for (long i = 0; i < n_set; i++)
        printf("%s %ld\n", set[i].name, set[i].calls);
    return 0;
}
