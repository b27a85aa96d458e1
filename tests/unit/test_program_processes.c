/* SPDX-License-Identifier: MIT
 *
 * The processes below us and their memory, with children whose memory is known.
 */
#include "program/program.h"

#include "base/clock.h"
#include "runner/supervise.h"
#include "support/cmocka.h"

#include <math.h>
#include <signal.h>
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
    ab_processes_fini(&t);
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
    ab_processes_fini(&t);
}

static void a_mean_of_too_few_looks_is_not_known(void **state)
{
    struct ab_processes t = {.n = 0};
    (void)state;
    for (uint64_t ns = 0; ns < 4; ns++)
        ab_processes_update(&t, 1000 + ns);
    assert_true(isnan(ab_processes_mean_bytes(&t, 2000)));
    ab_processes_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_all_is_added_up),
        cmocka_unit_test(the_mean_is_over_time),
        cmocka_unit_test(a_mean_of_too_few_looks_is_not_known),
    };
    ab_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
