/* SPDX-License-Identifier: MIT
 *
 * A library that registers what it does around a fork as soon as it is loaded, as a logger does: it
 * takes its mutex. Its thread asks for memory while it holds that.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4 << 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *volatile block;

static void before(void)
{
    pthread_mutex_lock(&mutex);
}

static void after(void)
{
    pthread_mutex_unlock(&mutex);
}

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        usleep(1000); /* a fork begins meanwhile */
        block = malloc(BYTES);
        free(block);
        pthread_mutex_unlock(&mutex);
        usleep(100);
    }
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    sigset_t all, old;
    pthread_atfork(before, after, after);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are the program's */
    if (pthread_create(&thread, NULL, work, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}
