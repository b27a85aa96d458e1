/* SPDX-License-Identifier: MIT
 *
 * A program for `exec`: prog_exec HOW [N]. It allocates a little and prints "done", unless HOW says
 * otherwise.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *hold(size_t bytes)
{
    char *p = malloc(bytes + 1);
    memset(p, 1, bytes + 1);
    return p;
}

static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Under which allocator, as far as a program can see. */
static const char *preloaded(void)
{
    const char *s = getenv("LD_PRELOAD");
    return s != NULL ? s : "";
}

static int holds(long mib)
{
    for (long i = 0; i < 20; i++)
        free(hold((size_t)i * 1000));
    char *p = hold((size_t)mib << 20);
    rest(200);
    free(p);
    return 0;
}

static int forks(long mib)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            exit(holds(mib));
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* A child that is not waited for, in a session of its own. */
static int leaves(void)
{
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        rest(60000);
        _exit(0);
    }
    rest(50);
    return 0;
}

static int floods(long mib)
{
    static char page[65536];
    memset(page, 'x', sizeof page);
    for (long i = 0; i < mib * 16; i++)
        fwrite(page, 1, sizeof page, stdout);
    return 0;
}

static int works(long n)
{
    for (long i = 0; i < n; i++)
        free(hold((size_t)(i % 900)));
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int code = 0;
    free(hold(100));
    if (strcmp(how, "differs") == 0)
        printf("%s\n", preloaded());
    else if (strcmp(how, "random") == 0)
        printf("%d\n", (int)getpid());
    else if (strcmp(how, "fails-with") == 0)
        code = strstr(preloaded(), argv[2]) != NULL ? 3 : 0;
    else if (strcmp(how, "crashes-with") == 0 && strstr(preloaded(), argv[2]) != NULL)
        raise(SIGSEGV);
    else if (strcmp(how, "holds") == 0)
        code = holds(n);
    else if (strcmp(how, "forks") == 0)
        code = forks(n);
    else if (strcmp(how, "leaves") == 0)
        code = leaves();
    else if (strcmp(how, "floods") == 0)
        code = floods(n);
    else if (strcmp(how, "works") == 0)
        code = works(n);
    else if (strcmp(how, "copies") == 0)
        for (int c; (c = getchar()) != EOF;)
            putchar(c);
    else if (strcmp(how, "clean") == 0) /* the same program, without its environment */
        execle(argv[0], argv[0], "works", "10", (char *)NULL, (char *[]){NULL});
    else if (strcmp(how, "deaf") == 0) {
        signal(SIGTERM, SIG_IGN);
        fprintf(stderr, "not yet\n");
        rest(argc > 2 ? n * 1000 : 60000);
    }
    printf("done\n");
    return code;
}
