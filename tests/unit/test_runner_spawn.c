/* SPDX-License-Identifier: MIT
 *
 * Workers as plain programs: what they are born with, and what is said when they cannot be.
 */
#include "runner/supervise.h"
#include "support/cmocka.h"
#include "tape/tape_file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/allocbench-spawn-XXXXXX";
static char script[256];
static char printed[4096];

static void write_script(const char *body)
{
    FILE *f = fopen(script, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", body);
    fclose(f);
    assert_int_equal(chmod(script, 0700), 0);
}

static int wait_status; /* how the script ended */

/* Runs the script as a worker; what it printed is in `printed`. */
static enum ab_status run_script(struct ab_spawn *spawn, struct ab_err *err)
{
    pid_t pid;
    int fds[4];
    for (int i = 0; i < 4; i++)
        assert_true((fds[i] = ab_memfd("test", 4096)) >= 0);
    spawn->worker_path = script;
    spawn->tape_fd = fds[0];
    spawn->run_fd = fds[1];
    spawn->stdout_fd = fds[2];
    spawn->stderr_fd = fds[3];
    enum ab_status result = ab_spawn(spawn, &pid, err);
    if (result == AB_OK)
        assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    memset(printed, 0, sizeof printed);
    assert_true(pread(fds[2], printed, sizeof printed - 1, 0) >= 0);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    return result;
}

static void the_environment_is_built_not_inherited(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    setenv("MALLOC_ARENA_MAX", "1", 1);
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    write_script("env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort");
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "LC_ALL=C\nPATH=/usr/local/bin:/usr/bin:/bin\n");
    spawn.is_plugin = true;
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_non_null(strstr(printed, "glibc.rtld.optional_static_tls="));
    unsetenv("MALLOC_ARENA_MAX");
    unsetenv("LD_LIBRARY_PATH");
}

static void variables_of_a_back_end_are_added_and_the_last_of_a_name_counts(void **state)
{
    (void)state;
    struct ab_err err = {0};
    const char *const env[] = {"A=1 2", "PATH=/usr/bin:/bin:/x", "GLIBC_TUNABLES=a.b.c=1", NULL};
    struct ab_spawn spawn = {.env = env};
    write_script("tr '\\0' '\\n' </proc/$$/environ | sort"); /* a shell would hide a second PATH */
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "A=1 2\nGLIBC_TUNABLES=a.b.c=1\nLC_ALL=C\n"
                                 "PATH=/usr/bin:/bin:/x\n");
    spawn.is_plugin = true;
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_non_null(strstr(printed, "\nGLIBC_TUNABLES=a.b.c=1:"
                                    "glibc.rtld.optional_static_tls=32768\n"));
}

static void a_worker_has_its_descriptors_and_no_others(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    int extra = open("/dev/null", O_RDONLY); /* not CLOEXEC */
    write_script("cd /proc/$$/fd && echo 0 1 2 3 4 5 6 7 8 9 | tr ' ' '\\n' | "
                 "while read n; do [ -e $n ] && readlink $n | cut -c1-12; done; true");
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_non_null(strstr(printed, "/dev/null\n"));
    unsigned memfds = 0;
    for (const char *s = printed; (s = strstr(s, "/memfd:")) != NULL; s++)
        memfds++;
    assert_int_equal(memfds, 4);
    close(extra);
}

static void a_worker_leads_its_group_and_cannot_gain_rights(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    write_script("set -- $(cat /proc/$$/stat); [ $1 = $5 ] && echo leads; "
                 "grep -c 'NoNewPrivs:.1' /proc/$$/status; cat /proc/$$/oom_score_adj; ulimit -c");
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "leads\n1\n800\n0\n");
}

static void huge_pages_can_be_switched_off_for_a_worker(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    write_script("grep THP_enabled /proc/$$/status");
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "THP_enabled:\t1\n");
    spawn.is_thp_off = true;
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "THP_enabled:\t0\n");
}

static void a_worker_that_cannot_be_started_says_why(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    unlink(script);
    assert_int_equal(run_script(&spawn, &err), AB_SYSTEM);
    assert_non_null(strstr(err.text, "No such file"));
}

static void a_preload_path_with_spaces_goes_in_as_a_descriptor(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {.preload = "/dev/null"};
    write_script("echo \"$LD_PRELOAD\"");
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "/dev/null\n");
    char odd[300];
    snprintf(odd, sizeof odd, "%s/a b:c", folder);
    close(open(odd, O_CREAT | O_WRONLY, 0600));
    spawn.preload = odd;
    assert_int_equal(run_script(&spawn, &err), AB_OK);
    assert_string_equal(printed, "/proc/self/fd/5\n");
    unlink(odd);
}

static void ignore(int signal)
{
    (void)signal;
}

/* As a ^C would come, to each of our group at once, but without an end. */
static pid_t start_signalling(void)
{
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    setpgid(0, 0); /* whoever runs the tests is no part of it */
    sigaction(SIGUSR1, &action, NULL);
    pid_t parent = getpid(), sender = fork();
    if (sender == 0) {
        signal(SIGUSR1, SIG_IGN);
        while (getppid() == parent)
            kill(0, SIGUSR1);
        _exit(0);
    }
    return sender;
}

static void a_signal_to_our_group_ends_no_worker_that_is_about_to_start(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_spawn spawn = {0};
    write_script("exit 0");
    pid_t sender = start_signalling();
    enum ab_status status = AB_OK;
    for (int i = 0; i < 50 && status == AB_OK; i++) {
        status = run_script(&spawn, &err);
        if (wait_status != 0)
            break;
    }
    kill(sender, SIGKILL);
    assert_int_equal(waitpid(sender, NULL, 0), sender);
    assert_int_equal(status, AB_OK);
    assert_int_equal(wait_status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_built_not_inherited),
        cmocka_unit_test(variables_of_a_back_end_are_added_and_the_last_of_a_name_counts),
        cmocka_unit_test(a_worker_has_its_descriptors_and_no_others),
        cmocka_unit_test(a_worker_leads_its_group_and_cannot_gain_rights),
        cmocka_unit_test(huge_pages_can_be_switched_off_for_a_worker),
        cmocka_unit_test(a_worker_that_cannot_be_started_says_why),
        cmocka_unit_test(a_preload_path_with_spaces_goes_in_as_a_descriptor),
        cmocka_unit_test(a_signal_to_our_group_ends_no_worker_that_is_about_to_start),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(script, sizeof script, "%s/worker", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(script);
    rmdir(folder);
    return failed;
}
