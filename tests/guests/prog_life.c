/* SPDX-License-Identifier: MIT
 *
 * Lives and deaths of a program: prog_life HOW N allocates and frees N blocks (every other one of
 * them by resize too) and ends, or goes on, as HOW says.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void *kept[64];
static volatile int handled;

static void work(long n)
{
    for (long i = 0; i < n; i++) {
        void **place = &kept[i % 64];
        free(*place);
        *place = malloc((size_t)(i % 500));
        if (i % 2 == 0)
            *place = realloc(*place, (size_t)(i % 700) + 1);
    }
}

/* Only with a malloc behind that allows it: libbump. */
static void handler(int signal)
{
    int saved = errno;
    (void)signal;
    handled++;
    free(realloc(malloc(100), 200));
    errno = saved;
}

static void *in_thread(void *arg)
{
    free(malloc(100));
    return arg;
}

/* Works until 300 handlers have interrupted it; says how many calls it made of each kind. */
static void interrupted(void)
{
    struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    char text[100];
    long rounds = 0;
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, NULL);
    for (; handled < 300; rounds++)
        free(malloc(50));
    setitimer(ITIMER_REAL, &never, NULL);
    int n = snprintf(text, sizeof text, "%ld %d %ld\n", rounds + handled, handled,
                     rounds + handled);
    if (write(1, text, (size_t)n) != n)
        _exit(2);
    _exit(0);
}

static void forked(long n)
{
    work(n);
    pid_t pid = fork();
    if (pid == 0) {
        work(n); /* frees what it inherited */
        _exit(0);
    }
    work(n);
    waitpid(pid, NULL, 0);
    work(n);
}

static void vforked(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        free(malloc(10)); /* the parent's heap: one call of each kind that counts */
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    long n = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(how, "fork") == 0) {
        forked(n);
        return 0;
    }
    if (strcmp(how, "closed") == 0)
        for (int fd = 3; fd < 256; fd++)
            close(fd);
    if (strcmp(how, "moved") == 0 && chdir("/") != 0)
        return 2;
    if (strcmp(how, "signals") == 0)
        interrupted();
    work(n);
    if (strcmp(how, "vfork") == 0)
        vforked();
    if (strcmp(how, "thread") == 0) {
        pthread_t t;
        pthread_create(&t, NULL, in_thread, NULL);
        pthread_join(t, NULL);
    }
    if (strcmp(how, "exec") == 0)
        execl(argv[0], argv[0], "exit", argc > 3 ? argv[3] : "100", (char *)NULL);
    if (strcmp(how, "status") == 0)
        return 42;
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "term") == 0) {
        kill(getppid(), SIGTERM); /* is passed back to us */
        sleep(5);
        return 9;
    }
    return 0;
}
