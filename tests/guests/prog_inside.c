/* SPDX-License-Identifier: MIT
 *
 * A program that makes 5,000 calls of each kind, three times as many frees, and ends by _exit:
 *   threads   10 threads make the same calls too
 *   forks     3 children of fork do, one of them again in a thread, and it does once more beside them
 *   signal    a child does, and ends by SIGKILL
 *   once      one malloc and one free, and no more
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

static void in_threads(int n)
{
    pthread_t threads[10];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void in_child(int has_thread, int has_signal)
{
    pid_t child = fork();
    if (child == 0) {
        call(NULL);
        if (has_thread)
            in_threads(1);
        if (has_signal)
            kill(getpid(), SIGKILL);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "once") == 0) {
        void *volatile p = malloc(10);
        free(p);
        return 0;
    }
    call(NULL);
    if (strcmp(how, "threads") == 0)
        in_threads(10);
    for (int i = 0; strcmp(how, "forks") == 0 && i < 3; i++)
        in_child(i == 0, 0);
    if (strcmp(how, "forks") == 0)
        call(NULL);
    if (strcmp(how, "signal") == 0)
        in_child(0, 1);
    while (wait(NULL) > 0) {
    }
    _exit(write(1, "done\n", 5) == 5 ? 0 : 1);
}
