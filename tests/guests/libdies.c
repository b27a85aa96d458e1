/* SPDX-License-Identifier: MIT
 *
 * Dies in the way that the variable DIES names, each in a function whose name is known, once some
 * calls of the check have gone well. That it has the C library call it before main does no harm.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define TOY_OWN_FREE
#define TOY_OWN_MALLOC
#define TOY_OWN_REALLOC
#include "toy.h"

enum { CALLS = 100 };
static volatile int *volatile nowhere = (int *)8;
static const char *way = "";
static unsigned n_calls[3];

__attribute__((constructor)) static void look(void)
{
    const char *text = getenv("DIES");
    way = text != NULL ? text : "";
}

static int is_now(const char *name, unsigned which)
{
    return strcmp(way, name) == 0 && ++n_calls[which] == CALLS;
}

__attribute__((noinline)) static void write_nowhere(void)
{
    *nowhere = 1;
}

__attribute__((noinline)) static void complain(void)
{
    static const char text[] = "dies: corrupted list\n";
    if (write(2, text, sizeof text - 1) > 0)
        abort();
}

static void *die_elsewhere(void *unused)
{
    (void)unused;
    write_nowhere();
    return NULL;
}

static void *wait_for_it(void *unused)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, die_elsewhere, NULL) == 0)
        pthread_join(thread, NULL);
    return unused;
}

__attribute__((noinline)) static int descend(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = *above;
    return *above != 0 ? 0 : descend(frame) + frame[0];
}

/* The stack pointer is gone before anything can be pushed. */
__attribute__((noinline)) static void smash_stack(void)
{
#if defined(__x86_64__)
    __asm__ volatile("mov $16, %%rsp\n\tpush %%rax" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov x9, #16\n\tmov sp, x9\n\tstr x9, [sp]" ::: "x9", "memory");
#endif
}

/* Behind the newest block: nothing there is anybody's yet. */
__attribute__((noinline)) static void overrun(char *block, size_t size)
{
    char *page = (char *)(((uintptr_t)block + size + 4095) & ~(uintptr_t)4095);
    if (mprotect(page, 4096, PROT_NONE) == 0)
        *page = 1;
}

void *malloc(size_t size)
{
    char top = 0;
    if (is_now("malloc", 0))
        write_nowhere();
    if (is_now("thread", 0))
        wait_for_it(NULL);
    if (is_now("stack", 0))
        top = (char)descend(&top);
    if (is_now("smash", 0))
        smash_stack();
    if (is_now("jump", 0))
        ((void (*)(void))(uintptr_t)0x123450)();
    if (is_now("hang", 0))
        for (volatile int spins = 1; spins;)
            ;
    static char *newest;
    if (is_now("overrun", 0))
        overrun(newest, toy_head(newest)->size);
    return newest = toy_alloc(0, size);
}

void free(void *p)
{
    if (is_now("free", 1))
        write_nowhere();
    toy_free(p);
}

void *realloc(void *p, size_t size)
{
    if (is_now("realloc", 2))
        write_nowhere();
    if (is_now("abort", 2))
        complain();
    void *moved = toy_alloc(0, size);
    if (moved == NULL || p == NULL)
        return moved;
    size_t old = toy_head(p)->size;
    memcpy(moved, p, old < size ? old : size);
    toy_free(p);
    return moved;
}
