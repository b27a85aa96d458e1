/* SPDX-License-Identifier: MIT */
#include "core/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];
static char target[128];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/allocbench-test-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(target, sizeof target, "%s/out.json", root);
    return 0;
}

static int remove_root(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *d = opendir(root);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *path, const char *wanted)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static void assert_refused(const char *path, const char *reason)
{
    struct ab_output out = {0};
    struct ab_err err = {0};
    assert_int_equal(ab_output_open(path, &out, &err), AB_USAGE);
    if (strstr(err.text, reason) == NULL)
        fail_msg("'%s' should say '%s'", err.text, reason);
    assert_null(out.to);
}

static void a_file_appears_with_the_commit_only(void **state)
{
    (void)state;
    struct ab_output out = {0};
    struct ab_err err;
    mode_t mask = umask(027);
    assert_int_equal(ab_output_open(target, &out, &err), AB_OK);
    umask(mask);
    fputs("whole\n", out.to);
    fflush(out.to);
    assert_int_not_equal(access(target, F_OK), 0);
    assert_in_range(count_files(), 0, 1); /* of a temporary name, where one is needed */
    assert_int_equal(ab_output_commit(&out, &err), AB_OK);
    assert_content(target, "whole\n");
    assert_int_equal(count_files(), 1);
    struct stat st;
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(ab_output_commit(&out, &err), AB_OK); /* ended: nothing to do */
    ab_output_abandon(&out);
}

static void an_old_result_survives_until_the_commit(void **state)
{
    (void)state;
    struct ab_output out = {0};
    struct ab_err err;
    put(target, "old");
    chmod(target, 0604);
    assert_int_equal(ab_output_open(target, &out, &err), AB_OK);
    fputs("new, unfinished", out.to);
    assert_content(target, "old");
    ab_output_abandon(&out);
    assert_content(target, "old");
    assert_int_equal(count_files(), 1);
    assert_int_equal(ab_output_open(target, &out, &err), AB_OK);
    fputs("new", out.to);
    assert_int_equal(ab_output_commit(&out, &err), AB_OK);
    assert_content(target, "new");
    struct stat st;
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
}

static void only_regular_files_are_replaced(void **state)
{
    char path[192];
    (void)state;
    put(target, "precious");
    assert_refused(root, "it is a directory");
    snprintf(path, sizeof path, "%s/link", root);
    assert_int_equal(symlink(target, path), 0);
    assert_refused(path, "it is a symbolic link");
    unlink(path);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_refused(path, "it is a symbolic link");
    snprintf(path, sizeof path, "%s/fifo", root);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, "it is a FIFO");
    assert_refused("/dev/null", "it is a device");
    assert_content(target, "precious");
}

static void an_unwritable_place_fails_at_open(void **state)
{
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/none/out.json", root);
    assert_refused(path, "No such file or directory");
    put(target, "");
    snprintf(path, sizeof path, "%s/out.json", target);
    assert_refused(path, "Not a directory");
    assert_refused("", "not a file name");
    snprintf(path, sizeof path, "%s/", root);
    assert_refused(path, "not a file name");
    assert_refused("/proc/allocbench.json", "cannot write '/proc/allocbench.json'");
    snprintf(path, sizeof path, "%s/%0300d", root, 0);
    assert_refused(path, "File name too long");
}

/* In a child without root's rights, where there are any to give up. */
static void files_without_write_permission_are_kept(void **state)
{
    (void)state;
    put(target, "old");
    chmod(target, 0444);
    chmod(root, 0777);
    pid_t child = fork();
    if (child == 0) {
        struct ab_output out = {0};
        struct ab_err err = {0};
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        _exit(ab_output_open(target, &out, &err) == AB_USAGE &&
                      strstr(err.text, "Permission denied") != NULL
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_long_name_leaves_room_for_the_temporary_one(void **state)
{
    char path[512];
    (void)state;
    struct ab_output out = {0};
    struct ab_err err;
    snprintf(path, sizeof path, "%s/%0255d", root, 0);
    assert_int_equal(ab_output_open(path, &out, &err), AB_OK);
    assert_int_equal(ab_output_commit(&out, &err), AB_OK);
    assert_int_equal(access(path, F_OK), 0);
}

static void a_full_disk_is_an_error_and_leaves_the_old_result(void **state)
{
    (void)state;
    struct ab_output out = {0};
    struct ab_err err;
    struct rlimit before, small = {4096, 4096};
    put(target, "old");
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(ab_output_open(target, &out, &err), AB_OK);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 100000; i++)
        fputc('x', out.to);
    enum ab_status status = ab_output_commit(&out, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, AB_SYSTEM);
    assert_non_null(strstr(err.text, "cannot write '"));
    assert_content(target, "old");
    assert_int_equal(count_files(), 1);
}

/* Runs a commit to standard output with `fd` as fd 1; returns its status. */
static int commit_to(int fd)
{
    pid_t child = fork();
    if (child == 0) {
        struct ab_output out = {0};
        struct ab_err err = {0};
        signal(SIGPIPE, SIG_IGN);
        dup2(fd, STDOUT_FILENO);
        if (ab_output_open("-", &out, &err) != AB_OK)
            _exit(100);
        fputs("text\n", out.to);
        _exit((int)ab_output_commit(&out, &err));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void standard_output_reports_what_it_could_not_write(void **state)
{
    int ends[2];
    (void)state;
    fflush(stdout);
    int closed = open("/dev/null", O_RDONLY); /* what stands in for a closed one */
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(commit_to(ends[1]), AB_SYSTEM); /* EPIPE */
    assert_int_equal(commit_to(full), AB_SYSTEM);    /* ENOSPC */
    assert_int_equal(commit_to(null), AB_OK);
    assert_int_equal(commit_to(closed), 100); /* not even opened */
    close(closed);
    close(ends[1]);
    close(full);
    close(null);
}

/* Opens both, asks, abandons both. */
static bool are_same(const char *a, const char *b)
{
    struct ab_output x = {0}, y = {0};
    struct ab_err err;
    assert_int_equal(ab_output_open(a, &x, &err), AB_OK);
    assert_int_equal(ab_output_open(b, &y, &err), AB_OK);
    bool is_same = ab_output_is_same(&x, &y);
    assert_int_equal(is_same, ab_output_is_same(&y, &x));
    ab_output_abandon(&x);
    ab_output_abandon(&y);
    return is_same;
}

static void two_outputs_into_one_file_are_seen(void **state)
{
    char other[192], dotted[192];
    (void)state;
    snprintf(other, sizeof other, "%s/other", root);
    snprintf(dotted, sizeof dotted, "%s/../%s/out.json", root, strrchr(root, '/') + 1);
    assert_true(are_same(target, target));
    assert_true(are_same(target, dotted));
    assert_false(are_same(target, other));
    put(target, "old");
    assert_false(are_same(target, other));
    assert_int_equal(link(target, other), 0);
    assert_true(are_same(target, other));
    assert_false(are_same(target, "-"));
    assert_true(are_same("-", "-"));
    struct ab_output none = {0};
    assert_false(ab_output_is_same(&none, &none));
}

/* ---- files that must be new ---- */

static void put_new(const char *stem, const char *text, const char *wanted_name)
{
    struct ab_output out;
    struct ab_err err = {.text = ""};
    char name[64], path[256];
    unsigned before = count_files();
    assert_int_equal(ab_output_open_new(root, &out, &err), AB_OK);
    fputs(text, out.to);
    assert_int_equal(count_files(), before); /* no name yet */
    assert_int_equal(ab_output_commit_new(&out, stem, name, sizeof name, &err), AB_OK);
    assert_string_equal(name, wanted_name);
    assert_int_equal(count_files(), before + 1);
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_content(path, text);
    ab_output_abandon(&out); /* does nothing any more */
    assert_int_equal(count_files(), before + 1);
}

static void a_new_file_takes_the_first_free_name_and_replaces_none(void **state)
{
    (void)state;
    put_new("r", "one", "r.json");
    put_new("r", "two", "r-2.json");
    put_new("r", "three", "r-3.json");
    put_new("s", "four", "s.json");
    snprintf(target, sizeof target, "%s/r.json", root);
    assert_content(target, "one");
}

static void a_name_that_is_taken_by_anything_is_taken(void **state)
{
    (void)state;
    snprintf(target, sizeof target, "%s/r.json", root);
    assert_int_equal(symlink("/nowhere", target), 0);
    snprintf(target, sizeof target, "%s/r-2.json", root);
    assert_int_equal(mkdir(target, 0700), 0);
    put_new("r", "text", "r-3.json");
}

static void a_new_file_that_is_abandoned_was_never_there(void **state)
{
    (void)state;
    struct ab_output out;
    struct ab_err err = {.text = ""};
    assert_int_equal(ab_output_open_new(root, &out, &err), AB_OK);
    fputs("text", out.to);
    ab_output_abandon(&out);
    assert_int_equal(count_files(), 0);
}

static void a_folder_that_is_none_is_refused(void **state)
{
    (void)state;
    struct ab_output out;
    struct ab_err err = {.text = ""};
    put(target, "a file");
    assert_int_equal(ab_output_open_new(target, &out, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "Not a directory"));
    assert_int_equal(ab_output_open_new("/nowhere/at/all", &out, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "cannot write to '/nowhere/at/all'"));
}

static void a_stem_that_cannot_be_a_name_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    struct ab_output out;
    struct ab_err err = {.text = ""};
    char name[512], stem[300];
    memset(stem, 'x', sizeof stem);
    stem[sizeof stem - 1] = 0;
    assert_int_equal(ab_output_open_new(root, &out, &err), AB_OK);
    assert_int_equal(ab_output_commit_new(&out, stem, name, sizeof name, &err), AB_SYSTEM);
    assert_non_null(strstr(err.text, "File name too long"));
    assert_int_equal(count_files(), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(a_file_appears_with_the_commit_only),
        TEST(an_old_result_survives_until_the_commit),
        TEST(only_regular_files_are_replaced),
        TEST(an_unwritable_place_fails_at_open),
        TEST(files_without_write_permission_are_kept),
        TEST(a_long_name_leaves_room_for_the_temporary_one),
        TEST(a_full_disk_is_an_error_and_leaves_the_old_result),
        TEST(standard_output_reports_what_it_could_not_write),
        TEST(two_outputs_into_one_file_are_seen),
        TEST(a_new_file_takes_the_first_free_name_and_replaces_none),
        TEST(a_name_that_is_taken_by_anything_is_taken),
        TEST(a_new_file_that_is_abandoned_was_never_there),
        TEST(a_folder_that_is_none_is_refused),
        TEST(a_stem_that_cannot_be_a_name_is_an_error_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
