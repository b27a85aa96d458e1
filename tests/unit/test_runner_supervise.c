/* SPDX-License-Identifier: MIT
 *
 * Real processes: what ends by itself, what must be ended, and what it leaves behind.
 */
#include "base/clock.h"
#include "core/unfinished.h"
#include "runner/supervise.h"
#include "support/cmocka.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static int ready[2]; /* open for writing in each process that is not yet as it is to be met */

/* As ab_spawn does: what it sends us from its first moment on is known for its own. Returns when it
 * and all that it starts are ready, or gone. */
static pid_t start(void (*body)(void))
{
    sigset_t all, before;
    char nothing;
    sigfillset(&all);
    assert_int_equal(pipe(ready), 0);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        body();
        _exit(0);
    }
    setpgid(pid, pid);
    ab_supervise_expect(pid);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ready[1]);
    while (read(ready[0], &nothing, 1) < 0)
        assert_int_equal(errno, EINTR);
    close(ready[0]);
    return pid;
}

static struct ab_ending watch(void (*body)(void), uint64_t timeout_ns, uint64_t memory)
{
    struct ab_ending ending = ab_supervise(start(body), ab_clock_now_ns() + timeout_ns, memory);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
    assert_int_equal(errno, ECHILD);
    return ending;
}

static void exit_seven(void)
{
    _exit(7);
}

static void be_killed(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void sleep_long(void)
{
    close(ready[1]);
    sleep(1000);
}

/* As a back end that wants to end us would, and one that it starts. */
static void signal_parent(void)
{
    pid_t target = getppid();
    kill(target, SIGTERM);
    pid_t child = fork();
    if (child == 0) {
        kill(target, SIGTERM); /* a second one ends us at once, were it somebody else's */
        _exit(0);
    }
    siginfo_t
        info; /* seen to be over, but not reaped: who sent a signal is known while there is a pid */
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
}

static void ignore_term(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        sleep_long();
}

static void leave_children(void)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            if (i == 1)
                setsid(); /* out of the group */
            if (i == 1 && fork() != 0)
                _exit(0); /* and orphaned */
            sleep_long();
        }
}

static void eat_memory(void)
{
    size_t n = 256u << 20;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    sleep_long();
}

static void ends_are_told_as_they_were(void **state)
{
    (void)state;
    struct ab_ending e = watch(exit_seven, 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_ITSELF);
    assert_true(WIFEXITED(e.wait_status) && WEXITSTATUS(e.wait_status) == 7);
    assert_int_equal(e.n_left, 0);
    e = watch(be_killed, 30 * SECOND, UINT64_MAX);
    assert_true(WIFSIGNALED(e.wait_status) && WTERMSIG(e.wait_status) == SIGSEGV);
}

static void a_deadline_ends_what_sleeps_and_what_ignores_term(void **state)
{
    (void)state;
    struct ab_ending e;
    int tries = 0;
    do { /* its grace is short where the machine is busy */
        e = watch(sleep_long, SECOND / 5, UINT64_MAX);
        assert_int_equal(e.end, AB_END_DEADLINE);
    } while (e.ignored_term && ++tries < 20);
    assert_false(e.ignored_term);
    e = watch(ignore_term, SECOND / 5, UINT64_MAX);
    assert_int_equal(e.end, AB_END_DEADLINE);
    assert_true(e.ignored_term);
    assert_int_equal(WTERMSIG(e.wait_status), SIGKILL);
}

static void children_in_and_out_of_the_group_are_killed_and_counted(void **state)
{
    (void)state;
    struct ab_ending e = watch(leave_children, 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_ITSELF);
    assert_true(e.n_left >= 2);
}

static void too_much_memory_is_stopped(void **state)
{
    (void)state;
    struct ab_ending e = watch(eat_memory, 30 * SECOND, 64u << 20);
    assert_int_equal(e.end, AB_END_MEMORY);
    assert_true(e.rss_bytes > 64u << 20);
}

static void shared_memory_is_ours_and_does_not_count(void **state)
{
    (void)state;
    size_t n = 128u << 20;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    struct ab_ending e = watch(exit_seven, 30 * SECOND, 64u << 20);
    assert_int_equal(e.end, AB_END_ITSELF);
    munmap(p, n);
}

static void a_worker_that_signals_us_is_held_to_it_and_stops_nothing(void **state)
{
    (void)state;
    struct ab_ending e = watch(signal_parent, 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_ITSELF);
    assert_int_equal(e.sent_signal, SIGTERM);
    assert_int_equal(ab_stop_signal, 0);
    assert_int_equal(watch(exit_seven, 30 * SECOND, UINT64_MAX).sent_signal, 0);
}

/* A worker that somebody else has ended with this signal. */
static pid_t start_stopped(int signal)
{
    siginfo_t info;
    pid_t worker = start(sleep_long);
    kill(worker, signal);
    assert_int_equal(waitid(P_PID, (id_t)worker, &info, WEXITED | WNOWAIT), 0);
    return worker;
}

static void a_signal_to_a_worker_alone_is_its_own_end(void **state)
{
    (void)state;
    struct ab_ending e = ab_supervise(start_stopped(SIGTERM), ab_clock_now_ns() + 30 * SECOND,
                                      UINT64_MAX);
    assert_int_equal(e.end, AB_END_ITSELF);
    assert_int_equal(WTERMSIG(e.wait_status), SIGTERM);
}

static void a_signal_to_a_worker_and_then_to_us_interrupts(void **state)
{
    (void)state;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGINT};
    struct itimerspec soon = {.it_value.tv_nsec = 20000000};
    pid_t worker = start_stopped(SIGINT);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
    struct ab_ending e = ab_supervise(worker, ab_clock_now_ns() + 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_INTERRUPTED);
    assert_int_equal(ab_stop_signal, SIGINT);
    timer_delete(timer);
}

static void a_signal_interrupts_what_runs(void **state)
{
    (void)state; /* it came in the test before this one */
    assert_int_equal(ab_stop_signal, SIGINT);
    struct ab_ending e = watch(sleep_long, 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_INTERRUPTED);
    e = ab_supervise(start_stopped(SIGINT), ab_clock_now_ns() + 30 * SECOND, UINT64_MAX);
    assert_int_equal(e.end, AB_END_INTERRUPTED);
}

static void sleep_half_a_second(void)
{
    close(ready[1]);
    usleep(500000);
}

static void look_on(void *user)
{
    (void)user;
}

static void time_that_it_was_held_is_not_counted_for_its_deadline(void **state)
{
    (void)state;
    for (int is_held = 0; is_held < 2; is_held++) {
        const uint64_t held_ns = is_held ? 600 * SECOND : 0;
        struct ab_watch watch = {
            .period_ms = 10, .held_ns = &held_ns, .on_wake = look_on, .user = NULL};
        pid_t pid = start(sleep_half_a_second);
        struct ab_ending e = ab_supervise_watched(pid, ab_clock_now_ns() + SECOND / 50, &watch);
        assert_int_equal(e.end, is_held ? AB_END_ITSELF : AB_END_DEADLINE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_told_as_they_were),
        cmocka_unit_test(a_deadline_ends_what_sleeps_and_what_ignores_term),
        cmocka_unit_test(time_that_it_was_held_is_not_counted_for_its_deadline),
        cmocka_unit_test(children_in_and_out_of_the_group_are_killed_and_counted),
        cmocka_unit_test(too_much_memory_is_stopped),
        cmocka_unit_test(shared_memory_is_ours_and_does_not_count),
        cmocka_unit_test(a_worker_that_signals_us_is_held_to_it_and_stops_nothing),
        cmocka_unit_test(a_signal_to_a_worker_alone_is_its_own_end),
        cmocka_unit_test(a_signal_to_a_worker_and_then_to_us_interrupts), /* last: the flag stays */
        cmocka_unit_test(a_signal_interrupts_what_runs),
    };
    ab_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
