/* SPDX-License-Identifier: MIT
 *
 * tests: processes.c
 *
 * Waits for a CPU are counted where two want the same one, and are not known of what is not there.
 */
#include "program/processes.h"

#include "support/cmocka.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that wants the CPU all the time; or that sleeps. */
static pid_t start(int cpu, bool is_busy)
{
    pid_t pid = fork();
    if (pid == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)cpu, &set);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process */
        sched_setaffinity(0, sizeof set, &set);
        while (is_busy)
            __asm__ volatile("");
        pause();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET((unsigned)cpu, &set))
        cpu++;
    return cpu;
}

/* Grow as long as both run; one that has not run yet has no numbers. */
static void wait_for_delays(pid_t one, pid_t other)
{
    while (!(ab_run_delay_ns(one) > 10e6 && ab_run_delay_ns(other) > 10e6))
        usleep(1000);
}

/* Each of the two runs only while the other waits. */
static void what_shares_a_cpu_waits_for_it(void **state)
{
    (void)state;
    int cpu = first_cpu();
    if (isnan(ab_run_delay_ns(getpid())))
        skip();
    pid_t one = start(cpu, true), other = start(cpu, true);
    wait_for_delays(one, other);
    stop(one);
    stop(other);
}

static void *sleep_on(void *unused)
{
    pause();
    return unused;
}

static void of_every_thread_that_is_there(void **state)
{
    pthread_t thread;
    (void)state;
    double alone = ab_run_delay_ns(getpid());
    if (isnan(alone))
        skip();
    assert_int_equal(pthread_create(&thread, NULL, sleep_on, NULL), 0);
    double both = NAN;
    while (!(both >= alone)) /* one that has not run yet has no numbers */
        both = ab_run_delay_ns(getpid());
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void of_what_is_not_there_nothing_is_known(void **state)
{
    (void)state;
    pid_t pid = start(first_cpu(), false);
    stop(pid);
    assert_true(isnan(ab_run_delay_ns(pid)));
}

/* As many threads as want to end it: it is looked at each time, and counts once. */
static void a_process_counts_once(void **state)
{
    (void)state;
    struct ab_run_delays d = {0};
    int cpu = first_cpu();
    pid_t one = start(cpu, true), other = start(cpu, true);
    bool is_counted = !isnan(ab_run_delay_ns(getpid()));
    if (is_counted)
        wait_for_delays(one, other);
    ab_run_delays_add(&d, one);
    double first = d.ns;
    ab_run_delays_add(&d, one);
    assert_int_equal(d.n, 1);
    assert_true(!is_counted || d.ns == first);
    ab_run_delays_add(&d, other);
    assert_int_equal(d.n, 2);
    assert_true(!is_counted || d.ns > first);
    stop(one);
    stop(other);
    ab_run_delays_add(&d, getpid()); /* those that are gone are forgotten */
    assert_int_equal(d.n, 1);
    assert_int_equal(d.ends[0].pid, getpid());
    free(d.ends);
}

/* A later process with the id of one that was looked at. */
static void another_process_with_the_same_id_counts(void **state)
{
    (void)state;
    struct ab_run_delays d = {0};
    ab_run_delays_add(&d, getpid());
    d.ends[0].start--;
    d.ns = -1;
    ab_run_delays_add(&d, getpid());
    assert_int_equal(d.n, 1);
    assert_true(d.ns != -1);
    free(d.ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_shares_a_cpu_waits_for_it),
        cmocka_unit_test(of_every_thread_that_is_there),
        cmocka_unit_test(of_what_is_not_there_nothing_is_known),
        cmocka_unit_test(a_process_counts_once),
        cmocka_unit_test(another_process_with_the_same_id_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
