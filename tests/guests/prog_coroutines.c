/* SPDX-License-Identifier: MIT
 *
 * Calls of malloc on small stacks: prog_coroutines HOW N
 *   run     100 coroutines in turns, each on a stack of 4096 bytes from calloc with a guard below;
 *           in each of N rounds each makes one allocation, one resize and one free
 *   depth   the same calls on a stack that was painted before. Prints how many bytes of it they took:
 *           the first round of a thread, that of a forked child, N rounds, and a few after those
 * Exits with 0, and with 9 when something is wrong.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    COROUTINES = 100,
    GUARD = 8192,
    SMALL = 4096,
    LARGE = 65536,
    SIZE = 7001,
    USUAL = 3,
    PAINT = 0xa5
};

static ucontext_t scheduler, coroutines[COROUTINES];

static void expect(int is_true)
{
    if (!is_true)
        _exit(9);
}

static __attribute__((noinline)) void round_of_calls(void)
{
    char *p = malloc(SIZE);
    p[0] = 1;
    p = realloc(p, SIZE);
    p[0] = 2;
    free(p);
}

/* ---- run ---- */

static void work(int self)
{
    for (;;) {
        round_of_calls();
        swapcontext(&coroutines[self], &scheduler);
    }
}

static void begin(ucontext_t *c, char *stack, size_t bytes, void (*entry)(int), int argument)
{
    expect(getcontext(c) == 0);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = bytes;
    c->uc_link = &scheduler;
    makecontext(c, (void (*)(void))(void *)entry, 1, argument);
}

static void run(long n)
{
    char *stacks[COROUTINES];
    for (int i = 0; i < COROUTINES; i++) {
        stacks[i] = calloc(1, GUARD + SMALL);
        expect(stacks[i] != NULL);
        begin(&coroutines[i], stacks[i] + GUARD, SMALL, work, i);
    }
    for (long round = 0; round < n; round++)
        for (int i = 0; i < COROUTINES; i++)
            expect(swapcontext(&scheduler, &coroutines[i]) == 0);
    for (int i = 0; i < COROUTINES; i++)
        for (int at = 0; at < GUARD; at++)
            expect(stacks[i][at] == 0);
}

/* ---- depth ---- */

static char painted[LARGE];

static void some_rounds(int n)
{
    for (int i = 0; i < n; i++)
        round_of_calls();
}

static void measure(const char *name, int n)
{
    size_t unused = 0;
    memset(painted, PAINT, sizeof painted);
    begin(&coroutines[0], painted, sizeof painted, some_rounds, n);
    expect(swapcontext(&scheduler, &coroutines[0]) == 0);
    while (unused < sizeof painted && (unsigned char)painted[unused] == PAINT)
        unused++;
    dprintf(1, "%s %zu\n", name, sizeof painted - unused);
}

static void *first_of_thread(void *user)
{
    measure("first", 1);
    return user;
}

static void depth(int n)
{
    pthread_t t;
    int status = 0;
    round_of_calls(); /* the dynamic linker binds them */
    expect(pthread_create(&t, NULL, first_of_thread, NULL) == 0 && pthread_join(t, NULL) == 0);
    measure("all", n);
    measure("usual", USUAL);
    pid_t child = fork();
    if (child == 0) {
        measure("child", 1);
        _exit(0);
    }
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
    long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    expect(n > 0);
    if (strcmp(argv[1], "run") == 0)
        run(n);
    else
        depth((int)n);
    return 0;
}
