/* SPDX-License-Identifier: MIT
 *
 * Temporary folders: whose they are, what a signal takes with it, and what a later start removes.
 * tests: unfinished.c
 */
#include "core/unfinished.h"

#include "support/cmocka.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/allocbench-test-XXXXXX");
    return mkdtemp(root) != NULL && setenv("TMPDIR", root, 1) == 0 ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];
    (void)state;
    unsetenv("TMPDIR");
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void make_file(const char *in, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", in, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void make_folder(const char *in, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", in, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* A child makes a folder with files in it and in a folder below, says where, and gets the signal. */
static void end_owner(int number, bool has_spool, char path[1024])
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ab_temporary t;
        if (ab_temporary_make("unit", &t, NULL) != AB_OK)
            _exit(1);
        make_file(t.path, "a");
        make_folder(t.path, "below");
        make_file(t.path, "below/b");
        make_folder(t.path, "below/further");
        if (has_spool)
            make_folder(t.path, "below/further/spool");
        if (write(ends[1], t.path, sizeof t.path) != (ssize_t)sizeof t.path)
            _exit(1);
        raise(number);
        _exit(2);
    }
    assert_int_equal(read(ends[0], path, 1024), 1024);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

static void note(const char *path, void *user)
{
    snprintf(user, 1200, "%s", path);
}

static void a_folder_is_private_and_goes_with_what_is_in_it(void **state)
{
    struct ab_temporary t;
    struct stat st;
    (void)state;
    assert_int_equal(ab_temporary_make("unit", &t, NULL), AB_OK);
    assert_int_equal(stat(t.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    make_folder(t.path, "below");
    make_file(t.path, "below/b");
    char path[sizeof t.path];
    strcpy(path, t.path);
    ab_temporary_remove(&t);
    assert_false(is_there(path));
    ab_temporary_remove(&t); /* there is none */
}

static void a_link_in_it_is_not_followed(void **state)
{
    struct ab_temporary t;
    char link[1200];
    (void)state;
    assert_int_equal(ab_temporary_make("unit", &t, NULL), AB_OK);
    make_folder(root, "precious");
    make_file(root, "precious/file");
    snprintf(link, sizeof link, "%s/link", t.path);
    assert_int_equal(symlink("../precious", link), 0);
    ab_temporary_remove(&t);
    snprintf(link, sizeof link, "%s/precious/file", root);
    assert_true(is_there(link));
}

static void a_signal_takes_it_along(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char path[1024];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        end_owner(signals[i], true, path);
        assert_false(is_there(path));
    }
}

static void what_a_killed_process_leaves_goes_at_the_next_start(void **state)
{
    char path[1024], kept[1200] = "";
    (void)state;
    end_owner(SIGKILL, false, path);
    assert_true(is_there(path));
    ab_temporary_sweep("spool", note, kept);
    assert_false(is_there(path));
    assert_string_equal(kept, "");
}

static void a_folder_with_a_spool_stays_and_is_named(void **state)
{
    char path[1024], kept[1200] = "", wanted[1200];
    (void)state;
    end_owner(SIGKILL, true, path);
    ab_temporary_sweep("spool", note, kept);
    assert_true(is_there(path));
    snprintf(wanted, sizeof wanted, "%s/below/further", path);
    assert_string_equal(kept, wanted);
}

static void what_is_in_use_or_has_no_lock_file_stays(void **state)
{
    struct ab_temporary t;
    char kept[1200] = "", path[200];
    (void)state;
    make_folder(root, "allocbench-unit-older");
    assert_int_equal(ab_temporary_make("unit", &t, NULL), AB_OK);
    pid_t pid = fork(); /* another process looks: a lock belongs to who opened the file */
    if (pid == 0) {
        ab_temporary_sweep("spool", note, kept);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(is_there(t.path));
    snprintf(path, sizeof path, "%s/allocbench-unit-older", root);
    assert_true(is_there(path));
    ab_temporary_remove(&t);
}

static void a_folder_of_another_host_stays(void **state)
{
    char path[1024], lock[1200], kept[1200] = "";
    (void)state;
    end_owner(SIGKILL, false, path);
    snprintf(lock, sizeof lock, "%s/.owner", path);
    FILE *f = fopen(lock, "w");
    assert_non_null(f);
    fputs("host: another\n", f);
    fclose(f);
    ab_temporary_sweep("spool", note, kept);
    assert_true(is_there(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_is_private_and_goes_with_what_is_in_it, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_link_in_it_is_not_followed, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_signal_takes_it_along, make_root, remove_root),
        cmocka_unit_test_setup_teardown(what_a_killed_process_leaves_goes_at_the_next_start,
                                        make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_folder_with_a_spool_stays_and_is_named, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(what_is_in_use_or_has_no_lock_file_stays, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_folder_of_another_host_stays, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
