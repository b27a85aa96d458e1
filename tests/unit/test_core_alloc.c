/* SPDX-License-Identifier: MIT
 *
 * What is left of a process that runs out of memory: each in a child of its own.
 */
#include "core/alloc.h"

#include "core/text.h"
#include "core/unfinished.h"
#include "support/cmocka.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t too_much = SIZE_MAX / 4;

/* What the child said, and its exit code. */
static int run_child(void (*act)(void), char *said, size_t cap)
{
    int link[2], status;
    assert_int_equal(pipe(link), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(link[1], STDERR_FILENO);
        act();
        _exit(99);
    }
    close(link[1]);
    size_t used = 0;
    for (ssize_t n; used < cap - 1 && (n = read(link[0], said + used, cap - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = 0;
    close(link[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The sanitizer of a build for tests adds lines of its own. */
static void expect_end(void (*act)(void), const char *bytes)
{
    char said[4096], line[128];
    snprintf(line, sizeof line, "allocbench: out of memory (asked for %s bytes)\n", bytes);
    assert_int_equal(run_child(act, said, sizeof said), 4);
    const char *found = strstr(said, line);
    assert_non_null(found);
    assert_null(strstr(found + 1, "allocbench:"));
}

static void take(void)
{
    ab_alloc(too_much);
}

static void take_zeroes(void)
{
    ab_alloc_zeroed(too_much / 8, 8);
}

static void take_more_than_a_number(void)
{
    ab_realloc(NULL, too_much, 8);
}

static void grow(void)
{
    uint64_t *items = NULL;
    size_t cap = 0;
    AB_GROW_ZEROED(items, cap, too_much / 8 - 1);
}

static void one_line_says_how_much_was_asked_for(void **state)
{
    char bytes[32];
    (void)state;
    snprintf(bytes, sizeof bytes, "%zu", too_much);
    expect_end(take, bytes);
    snprintf(bytes, sizeof bytes, "%zu", too_much / 8 * 8);
    expect_end(take_zeroes, bytes);
    expect_end(grow, bytes);
    snprintf(bytes, sizeof bytes, "%zu", SIZE_MAX);
    expect_end(take_more_than_a_number, bytes);
}

static void *take_in_thread(void *barrier)
{
    pthread_barrier_wait(barrier);
    take();
    return NULL;
}

static void take_in_threads(void)
{
    pthread_t threads[8];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, take_in_thread, &barrier);
    pthread_join(threads[0], NULL);
}

static void several_threads_say_it_once(void **state)
{
    char bytes[32];
    (void)state;
    snprintf(bytes, sizeof bytes, "%zu", too_much);
    expect_end(take_in_threads, bytes);
}

static char file[64];

static void take_with_file(void)
{
    strcpy(file, "/tmp/allocbench-test-XXXXXX");
    int fd = mkstemp(file), folder = open("/tmp", O_RDONLY | O_DIRECTORY);
    dprintf(STDERR_FILENO, "%s\n", file);
    if (fd < 0 || !ab_unfinished_enter(folder, strrchr(file, '/') + 1))
        _exit(98);
    take();
}

static void temporary_files_are_gone(void **state)
{
    char said[4096];
    (void)state;
    assert_int_equal(run_child(take_with_file, said, sizeof said), 4);
    said[strcspn(said, "\n")] = 0;
    assert_memory_equal(said, "/tmp/", 5);
    assert_int_equal(access(said, F_OK), -1);
}

static void end_otherwise(void)
{
    ssize_t ignored = write(STDERR_FILENO, "last words\n", 11);
    (void)ignored;
    _exit(125);
}

static void take_with_last_words(void)
{
    ab_memory_at_end(end_otherwise);
    take();
}

static void the_end_may_be_another(void **state)
{
    char said[4096];
    (void)state;
    assert_int_equal(run_child(take_with_last_words, said, sizeof said), 125);
    const char *line = strstr(said, "allocbench: out of memory");
    assert_non_null(line);
    assert_non_null(strstr(line, "\nlast words\n"));
}

static void copies_are_whole(void **state)
{
    (void)state;
    char *whole = ab_strdup("text"), *part = ab_strndup("text", 2), *all = ab_strndup("text", 9);
    char *made = ab_strdupf("%s %d", "text", 7);
    int *numbers = ab_memdup((int[]){1, 2}, 2 * sizeof(int));
    void *nothing = ab_alloc(0), *none = ab_alloc_zeroed(0, 8), *least = ab_realloc(NULL, 0, 8);
    assert_string_equal(whole, "text");
    assert_string_equal(part, "te");
    assert_string_equal(all, "text");
    assert_string_equal(made, "text 7");
    assert_int_equal(numbers[1], 2);
    assert_true(nothing != NULL && none != NULL && least != NULL);
    void *all_of_them[] = {whole, part, all, made, numbers, nothing, none, least};
    for (size_t i = 0; i < sizeof all_of_them / sizeof all_of_them[0]; i++)
        free(all_of_them[i]);
}

static void what_was_there_stays_while_an_array_grows(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        AB_GROW(items, cap, n);
        items[n] = n;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], n);
    assert_true(cap >= 1000 && cap < 2048);
    free(items);
}

static void one_step_reaches_any_index_and_zeroes_what_it_adds(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t cap = 0;
    AB_GROW_ZEROED(items, cap, 0);
    items[0] = 7;
    AB_GROW_ZEROED(items, cap, 5000);
    assert_int_equal(items[0], 7);
    for (size_t n = 1; n < cap; n++)
        assert_int_equal(items[n], 0);
    assert_true(cap > 5000);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_says_how_much_was_asked_for),
        cmocka_unit_test(several_threads_say_it_once),
        cmocka_unit_test(temporary_files_are_gone),
        cmocka_unit_test(the_end_may_be_another),
        cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(what_was_there_stays_while_an_array_grows),
        cmocka_unit_test(one_step_reaches_any_index_and_zeroes_what_it_adds),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
