/* SPDX-License-Identifier: MIT
 *
 * What a signal that ends the process takes with it: each in a child of its own.
 */
#include "core/unfinished.h"

#include "support/cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];
static int folder;

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/allocbench-test-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 ? -1 : 0;
}

static int remove_root(void **state)
{
    (void)state;
    unlinkat(folder, "a", 0);
    unlinkat(folder, "b", 0);
    close(folder);
    return rmdir(root);
}

static void make_file(const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_there(const char *name)
{
    return faccessat(folder, name, F_OK, 0) == 0;
}

/* In a child: enters "a" and "b", forgets "b", and gets the signal. Its wait status. */
static int end_child(int number, bool is_ignored)
{
    int status;
    struct rlimit none = {0, 0};
    make_file("a");
    make_file("b");
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &none);
        signal(number, is_ignored ? SIG_IGN : SIG_DFL);
        if (!ab_unfinished_enter(folder, "a") || !ab_unfinished_enter(folder, "b"))
            _exit(1);
        ab_unfinished_forget(folder, "b");
        raise(number);
        _exit(2);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void each_signal_removes_what_is_entered_and_ends_the_process(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        int status = end_child(signals[i], false);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_false(is_there("a"));
        assert_true(is_there("b"));
    }
}

static void a_signal_that_is_ignored_stays_ignored(void **state)
{
    (void)state;
    int status = end_child(SIGHUP, true);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_true(is_there("a"));
}

static void a_forked_child_removes_nothing(void **state)
{
    int status;
    (void)state;
    make_file("a");
    assert_true(ab_unfinished_enter(folder, "a"));
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGTERM);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_true(is_there("a"));
    ab_unfinished_remove();
    assert_false(is_there("a"));
    ab_unfinished_forget(folder, "a");
}

static void there_is_room_for_many_and_no_more(void **state)
{
    char name[64];
    int n = 0;
    (void)state;
    assert_false(ab_unfinished_enter(folder, "a-name-that-is-longer-than-any-that-we-ourselves-"
                                             "ever-give-to-a-file"));
    for (; n < 1000 && snprintf(name, sizeof name, "none-%d", n) > 0; n++)
        if (!ab_unfinished_enter(folder, name))
            break;
    assert_in_range(n, 16, 999);
    for (int i = 0; i < n && snprintf(name, sizeof name, "none-%d", i) > 0; i++)
        ab_unfinished_forget(folder, name);
    assert_true(ab_unfinished_enter(folder, "none"));
    ab_unfinished_forget(folder, "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_signal_removes_what_is_entered_and_ends_the_process),
        cmocka_unit_test(a_signal_that_is_ignored_stays_ignored),
        cmocka_unit_test(a_forked_child_removes_nothing),
        cmocka_unit_test(there_is_room_for_many_and_no_more),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
