/* SPDX-License-Identifier: MIT
 *
 * The processes below us and their memory, with children whose memory is known.
 */
#include "program/processes.h"

#include "base/clock.h"
#include "runner/supervise.h"
#include "support/cmocka.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* A child that holds so much, and says when it does; its own child too, where `depth` > 0. */
static pid_t start(int mib, int depth)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process */
        char *p = malloc((size_t)mib * MIB);
        memset(p, 1, (size_t)mib * MIB);
        if (depth > 0)
            start(mib, depth - 1);
        if (write(ready[1], p, 1) == 1)
            pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void memory_of_all_is_added_up(void **state)
{
    struct ab_processes t = {.n = 0};
    (void)state;
    pid_t pid = start(20, 1);
    ab_processes_update(&t, ab_clock_now_ns());
    assert_int_equal(t.n, 2);
    assert_non_null(ab_processes_find(&t, pid));
    assert_false(t.is_blind);
    assert_true(t.bytes > 60.0 * MIB && t.bytes < 90.0 * MIB); /* the child's copy of 20 counts */
    pid_t other = start(10, 0);
    ab_processes_update(&t, ab_clock_now_ns());
    assert_int_equal(t.n, 3);
    double peak = t.peak_bytes;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    ab_processes_update(&t, ab_clock_now_ns());
    assert_int_equal(t.n, 2);
    assert_true(t.bytes < peak && t.peak_bytes == peak);
    kill(t.items[0].pid, SIGKILL);
    kill(t.items[1].pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(t.items);
}

/* A child that waits for its own child, which waits for a signal. With `others` it has another one that lives, and with
 * `runs` it computes meanwhile. Tells the id of its child. */
static pid_t start_pair(bool has_other, bool runs, pid_t *child)
{
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const pid_t parent = getpid();
        pid_t own = fork(), other = own != 0 && has_other ? fork() : -1;
        if (own == 0 || other == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent) /* else it has been killed already */
                pause();
            _exit(0);
        }
        if (write(told[1], &own, sizeof own) != sizeof own)
            _exit(1);
        while (runs)
            ;
        waitpid(own, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(told[0], child, sizeof *child), sizeof *child);
    close(told[0]);
    close(told[1]);
    return pid;
}

static void wait_until_asleep(pid_t pid)
{
    char path[64], text[200];
    for (const char *rest = NULL; rest == NULL || strncmp(rest, ") S", 3) != 0;) {
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        assert_non_null(fgets(text, sizeof text, f));
        fclose(f);
        rest = strrchr(text, ')');
        usleep(1000);
    }
}

static void only_what_all_others_wait_for_holds_the_program(void **state)
{
    (void)state;
    for (int is = 0; is < 3; is++) { /* alone, beside a sibling, beside its parent */
        struct ab_processes t = {.n = 0};
        pid_t child, pid = start_pair(is == 1, is == 2, &child);
        if (is != 2)
            wait_until_asleep(pid);
        assert_int_equal(ab_processes_wait_for(&t, child, pid), is == 0);
        assert_false(ab_processes_wait_for(&t, child, child)); /* our child is another one */
        pid_t beside = is == 0 ? start(1, 0) : 0;
        assert_false(ab_processes_wait_for(&t, child, pid));
        for (int i = 0; i < 2; i++)
            if ((i == 0 ? pid : beside) > 0) {
                kill(i == 0 ? pid : beside, SIGKILL);
                waitpid(i == 0 ? pid : beside, NULL, 0);
            }
        while (waitpid(-1, NULL, 0) > 0) /* those of the first are ours now */
            ;
        free(t.items);
    }
}

/* One child of about 32 MiB for the first half, nothing for the second. */
static void the_mean_is_over_time(void **state)
{
    struct ab_processes t = {.n = 0};
    (void)state;
    pid_t pid = start(32, 0);
    for (uint64_t ns = 0; ns <= 4; ns++)
        ab_processes_update(&t, 1000 + ns * 1000);
    double all = t.bytes;
    assert_true(fabs(ab_processes_mean_bytes(&t, 5000) - all) < MIB);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ab_processes_update(&t, 5000);
    double mean = ab_processes_mean_bytes(&t, 9000);
    assert_true(fabs(mean - all / 2) < MIB);
    free(t.items);
}

static void a_mean_of_too_few_looks_is_not_known(void **state)
{
    struct ab_processes t = {.n = 0};
    (void)state;
    for (uint64_t ns = 0; ns < 4; ns++)
        ab_processes_update(&t, 1000 + ns);
    assert_true(isnan(ab_processes_mean_bytes(&t, 2000)));
    free(t.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_all_is_added_up),
        cmocka_unit_test(the_mean_is_over_time),
        cmocka_unit_test(only_what_all_others_wait_for_holds_the_program),
        cmocka_unit_test(a_mean_of_too_few_looks_is_not_known),
    };
    ab_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
