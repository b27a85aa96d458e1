/* SPDX-License-Identifier: MIT
 *
 * The malloc of liballocbench-slab.so: frees of what is no block end the process with one line; all
 * others keep errno.
 */
#include "allocators/preload/preload.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static size_t units_dirty(void)
{
    size_t used, dirty;
    ab_page_heap_count(&used, &dirty);
    return dirty;
}

static void *take(size_t size)
{
    unsigned char *p = ab_block_alloc(size);
    assert_non_null(p);
    memset(p, (int)(size % 251), size);
    return p;
}

/* What a child that does this writes to standard error; it must die of SIGABRT. */
static void expect_end(void (*act)(void), const char *want)
{
    char text[512] = {0};
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t more; (more = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)more;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || strstr(text, want) == NULL)
        fail_msg("status %x, wrote \"%s\", wanted \"%s\"", (unsigned)status, text, want);
    assert_int_equal(strcspn(text, "\n") + 1, strlen(text));
}

static void free_twice(void)
{
    char *p = take(40), *q = take(40);
    ab_block_free(p);
    ab_block_free(q);
    ab_block_free(p);
}

static void *free_it(void *p)
{
    ab_block_free(p);
    return NULL;
}

static void free_twice_remotely(void)
{
    pthread_t thread;
    void *p = take(40);
    pthread_create(&thread, NULL, free_it, p);
    pthread_join(thread, NULL);
    ab_block_free(p);
}

static void free_medium_twice(void)
{
    char *p = take(100000);
    take(100000);
    ab_block_free(p);
    ab_block_free(p);
}

static void free_run_twice(void)
{
    void *p = take(AB_RUN_BYTES);
    ab_block_free(p);
    ab_block_free(p);
}

static void free_large_twice(void)
{
    void *p = take(4 * AB_RUN_BYTES);
    ab_block_free(p);
    ab_block_free(p);
}

static void free_inside(void)
{
    ab_block_free((char *)take(200) + 16);
}

/* A new slab has its first page linked. What an earlier one left at its end could be a mark. */
static void free_never_given(void)
{
    ab_threads_trim();
    char *first = take(1500);
    size_t bytes = ab_block_usable(first);
    char *last = first + (AB_UNIT_BYTES / bytes - 1) * bytes;
    memset(last, 0, bytes);
    ab_block_free(last);
}

static void free_inside_run(void)
{
    ab_block_free((char *)take(AB_RUN_BYTES) + AB_UNIT_BYTES);
}

static void free_stack(void)
{
    struct ab_free_block here[2] = {0};
    ab_block_free(here);
}

static void free_nowhere(void)
{
    ab_block_free((void *)0xdead00000000beef);
}

static void on_abort(int signal)
{
    (void)signal;
    alarm(10); /* for a lock that is held */
    ab_block_free(ab_block_alloc(4 * AB_RUN_BYTES));
}

static void free_nowhere_with_a_handler(void)
{
    signal(SIGABRT, on_abort);
    free_nowhere();
}

static void resize_freed(void)
{
    char *p = take(40);
    ab_block_free(p);
    ab_block_resize(p, 400);
}

static void wrong_frees_end_the_process_with_one_line(void **state)
{
    (void)state;
    expect_end(free_twice, "it was freed already");
    expect_end(free_twice_remotely, "it was freed already");
    expect_end(free_medium_twice, "it was freed already");
    expect_end(free_run_twice, "it is no block, or was freed already");
    expect_end(free_large_twice, "it is no block, or was freed already");
    expect_end(free_inside, "it is not the begin of a block");
    expect_end(free_inside_run, "it is not the begin of a block");
    expect_end(free_never_given, "it is not the begin of a block");
    expect_end(free_stack, "it is no block, or was freed already");
    expect_end(free_nowhere, "cannot free 0xdead00000000beef: it is no block");
    expect_end(free_nowhere_with_a_handler, "cannot free 0xdead00000000beef: it is no block");
    expect_end(resize_freed, "it was freed already");
}

/* Four blocks make a slab of 512 KiB; the free that empties it is of its first one, which is not
 * looked at closer. One page is locked, so that the system refuses what it is asked for then. */
static void free_keeps_errno(void **state)
{
    (void)state;
    enum { N = 4 * 80 };
    static char *blocks[N];
    ab_threads_trim();
    ab_page_heap_purge(0, true);
    for (int i = 0; i < N; i++)
        blocks[i] = take(AB_CLASS_BYTES);
    if (syscall(SYS_mlock, blocks[0], 4096) != 0) /* the sanitizers' mlock does nothing */
        skip();
    size_t most = 0;
    for (int i = 0; i < N; i++) {
        errno = 77;
        ab_block_free(blocks[N - 1 - i]);
        assert_int_equal(errno, 77);
        most = units_dirty() > most ? units_dirty() : most;
    }
    assert_true(most > 500); /* the limit was reached */
    ab_page_heap_purge(0, true);
    assert_true(units_dirty() > 0); /* it does refuse */
    syscall(SYS_munlock, blocks[0], 4096);
    ab_page_heap_purge(0, true);
    assert_int_equal(units_dirty(), 0);
}

int main(void)
{
    ab_fork_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_frees_end_the_process_with_one_line),
        cmocka_unit_test(free_keeps_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
