/* SPDX-License-Identifier: MIT
 *
 * The malloc of liballocbench-slab.so: frees of what is no block end the process with one line; all
 * others keep errno.
 */
#include "allocators/slab_malloc/slab_malloc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
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

/* ---- wrong frees that nobody thought of ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIVE = 256, SOME = 50, MANY = 1000 }; /* a fork is dear */
#else
enum { LIVE = 256, SOME = 200, MANY = 10000 };
#endif

static struct { /* one mistake */
    unsigned char *blocks[LIVE];
    void *wrong;
    bool is_twice, is_remote;
} drawn;

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Sizes of all kinds, odd ones too: a few bytes, slabs, runs, mappings. */
static size_t draw_size(uint64_t *state)
{
    static const size_t most[] = {64, 1024, 40000, AB_RUN_BYTES, 4 * AB_RUN_BYTES};
    uint64_t r = draw(state), kind = r % 64;
    return 1 + (r >> 8) % most[kind < 40 ? 0 : kind < 54 ? 1 : kind < 61 ? 2 : kind < 63 ? 3 : 4];
}

static void make_mistake(void)
{
    pthread_t thread;
    if (drawn.is_twice && drawn.is_remote) {
        pthread_create(&thread, NULL, free_it, drawn.wrong);
        pthread_join(thread, NULL);
    } else if (drawn.is_twice) {
        ab_block_free(drawn.wrong);
    }
    ab_block_free(drawn.wrong);
}

/* Within a block, twice the same one, or what this allocator never gave. */
static void draw_mistake(uint64_t *state)
{
    unsigned char *block = drawn.blocks[draw(state) % LIVE];
    uint64_t kind = draw(state) % 4;
    drawn.is_remote = draw(state) % 4 == 0;
    drawn.is_twice = kind == 0;
    drawn.wrong = kind == 0   ? block
                  : kind == 1 ? block + 1 + draw(state) % ab_block_usable(block)
                  : kind == 2 ? (unsigned char *)&drawn + draw(state) % sizeof drawn
                              : (void *)(uintptr_t)(draw(state) >> 16 | 1);
}

/* The byte behind a block may be the begin of the next one. */
static bool is_block(const void *p)
{
    for (int i = 0; i < LIVE; i++)
        if (drawn.blocks[i] == p)
            return true;
    return false;
}

static void any_wrong_free_ends_the_process(void **state)
{
    (void)state;
    int n = getenv("AB_FULL") != NULL ? MANY : SOME;
    uint64_t random = 20260726;
    for (int i = 0; i < LIVE; i++)
        drawn.blocks[i] = take(draw_size(&random));
    for (int i = 0; i < n; i++) {
        size_t size = draw_size(&random), at = draw(&random) % LIVE;
        ab_block_free(drawn.blocks[at]);
        drawn.blocks[at] = take(size);
        draw_mistake(&random);
        if (drawn.is_twice || !is_block(drawn.wrong))
            expect_end(make_mistake, "slab_malloc: cannot free ");
    }
    for (int i = 0; i < LIVE; i++)
        ab_block_free(drawn.blocks[i]);
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
        cmocka_unit_test(any_wrong_free_ends_the_process),
        cmocka_unit_test(free_keeps_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
