/* SPDX-License-Identifier: MIT
 *
 * When is an op the scheduler's? Made-up readings, and a real thread that spins, sleeps, and is
 * pushed off its CPU.
 */
#include "worker/preemption.h"

#include "support/cmocka.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void only_a_switch_and_lost_time_together_are_the_schedulers(void **state)
{
    (void)state;
    const struct ab_cpu_reading before = {.end_ns = 1000000, .cpu_ns = 500000, .switches = 7};
    static const struct {
        uint64_t wall, cpu, switches, ns;
        bool is_taken;
    } cases[] = {
        {4000000, 0, 1, 4000000, true},        /* a time slice */
        {4100000, 100000, 1, 4000000, true},   /* … after a tenth of a millisecond of other ops */
        {4000000, 4000000, 0, 4000000, false}, /* it computed */
        {4000000, 0, 0, 4000000, false},       /* it slept: a voluntary switch */
        {4000000, 4000000, 1, 4000000, false}, /* switched, but away for no time */
        {60000, 51000, 1, 50000, false},       /* the op's own 50 us, and a short switch */
        {60000, 30000, 1, 50000, true},        /* more than half of it elsewhere */
        {50000, 50100, 1, 50000, false},       /* clocks that disagree by a little */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ab_cpu_reading after = {.begin_ns = before.end_ns + cases[i].wall,
                                             .cpu_ns = before.cpu_ns + cases[i].cpu,
                                             .switches = before.switches + cases[i].switches};
        assert_int_equal(ab_preemption_took(&before, &after, cases[i].ns), cases[i].is_taken);
    }
}

/* An op of 50 ms with 5 ms of CPU time, after others or none. */
static void an_op_used_what_the_others_and_the_readings_did_not(void **state)
{
    (void)state;
    const struct ab_cpu_reading before = {
        .end_ns = 1000000, .cpu_ns = 499000, .cpu_end_ns = 500000, .switches = 7};
    static const struct {
        uint64_t wall, cpu, ns, least, most;
    } cases[] = {
        {50000000, 5000000, 50000000, 4980000, 5000000},    /* nothing before it */
        {90000000, 45000000, 50000000, 4970000, 5000000},   /* after 40 ms of other ops */
        {90000000, 5000000, 50000000, 0, 0},                /* … of which all used the CPU time */
        {50000000, 0, 50000000, 0, 0},                      /* never on a CPU */
        {5000000, 5001000, 5000000, 4990000, 5000000},      /* clocks that disagree by a little */
        {1000000000, 955000000, 50000000, 4700000, 5000000} /* after a second of other ops */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ab_cpu_reading after = {.begin_ns = before.end_ns + cases[i].wall,
                                       .cpu_ns = before.cpu_end_ns + cases[i].cpu,
                                       .switches = before.switches + 1};
        after.cpu_end_ns = after.cpu_ns + 2000;
        assert_in_range(ab_preemption_least(&before, &after, cases[i].ns), cases[i].least,
                        cases[i].most);
    }
}

static struct ab_run_page page;
static struct ab_worker worker = {.page = &page};

static struct ab_lane open_lane(double *ticks_per_ns)
{
    struct ab_clock clock;
    ab_clock_calibrate(&clock);
    *ticks_per_ns = 1 / clock.ns_per_tick;
    page.request.tail_10us_ticks = (uint64_t)(10000 * *ticks_per_ns);
    struct ab_lane lane = {.w = &worker, .look_ticks = page.request.tail_10us_ticks / 2};
    ab_preemption_look(&lane);
    return lane;
}

static void a_sleep_belongs_to_who_sleeps(void **state)
{
    (void)state;
    double ticks_per_ns;
    struct ab_lane lane = open_lane(&ticks_per_ns);
    struct ab_tail tail = {0};
    for (int i = 0; i < 20; i++) {
        ab_preemption_look(&lane);
        uint64_t begin = ab_tick_begin();
        usleep(2000);
        lane.delta = ab_tick_end() - begin;
        ab_preemption_count(&lane, &tail);
    }
    /* another program may end one of them with a switch */
    assert_in_range(tail.n_scheduler, 0, 5);
}

static void spin(double ns, double ticks_per_ns)
{
    uint64_t end = ab_tick_end() + (uint64_t)(ns * ticks_per_ns);
    while (ab_tick_end() < end) {
    }
}

/* One CPU for this thread and a child that never stops. */
static pid_t share_cpu(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
    pid_t child = fork();
    if (child == 0)
        for (volatile int i = 0;; i++) {
        }
    return child;
}

/* Pieces of 2 us, for half a second and until ten of them took a hundred times that (where others want
 * the CPU too, this thread is away for long and seldom): they had no CPU for most of it. */
static void a_thread_that_is_pushed_off_its_cpu_loses_no_reputation(void **state)
{
    (void)state;
    double ticks_per_ns;
    struct ab_lane lane = open_lane(&ticks_per_ns);
    struct ab_tail tail = {0};
    uint32_t n_long = 0, n_kept = 0;
    pid_t child = share_cpu();
    assert_true(child > 0);
    const uint64_t start_ns = ab_clock_now_ns(), half_a_second = 500000000, a_minute = 60000000000;
    ab_preemption_look(&lane);
    for (uint64_t now = start_ns;
         now < start_ns + half_a_second || (n_long < 10 && now < start_ns + a_minute);
         now = ab_clock_now_ns()) {
        ab_preemption_pass(&lane);
        uint64_t begin = ab_tick_begin();
        spin(2000, ticks_per_ns);
        lane.chain = ab_tick_end();
        lane.delta = lane.chain - begin;
        bool is_taken = ab_preemption_count(&lane, &tail);
        bool is_long = (double)lane.delta > 2e5 * ticks_per_ns;
        n_long += is_long;
        n_kept += is_long && !is_taken;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(n_long >= 10);
    assert_in_range(n_kept, 0, n_long / 10); /* a hypervisor may stop the whole machine */
    assert_true(tail.n_scheduler >= n_long - n_kept);
    assert_true((double)tail.scheduler_max_ticks > 2e5 * ticks_per_ns);
    /* each took 2 us of CPU time, and what a switch takes */
    assert_in_range(tail.n_least_100us, 0, n_long / 10);
    assert_in_range(tail.n_least_1us, tail.n_least_10us, tail.n_scheduler);
}

/* The same with pieces of 4 ms of CPU time, until three of them were interrupted. */
static void an_interrupted_thread_keeps_its_cpu_time(void **state)
{
    (void)state;
    double ticks_per_ns;
    struct ab_lane lane = open_lane(&ticks_per_ns);
    struct ab_tail tail = {0};
    pid_t children[] = {share_cpu(), share_cpu(), share_cpu()};
    const uint64_t start_ns = ab_clock_now_ns(), a_minute = 60000000000;
    ab_preemption_look(&lane);
    while (tail.n_scheduler < 3 && ab_clock_now_ns() < start_ns + a_minute) {
        ab_preemption_pass(&lane);
        uint64_t begin = ab_tick_begin(), end_ns = ab_clock_thread_cpu_ns() + 4000000;
        while (ab_clock_thread_cpu_ns() < end_ns)
            spin(2000, ticks_per_ns);
        lane.chain = ab_tick_end();
        lane.delta = lane.chain - begin;
        ab_preemption_count(&lane, &tail);
    }
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    assert_int_equal(tail.n_scheduler, 3);
    assert_int_equal(tail.n_least_100us, 3);
    assert_in_range(tail.max_least_ns, 3000000, 4400000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_switch_and_lost_time_together_are_the_schedulers),
        cmocka_unit_test(an_op_used_what_the_others_and_the_readings_did_not),
        cmocka_unit_test(a_sleep_belongs_to_who_sleeps),
        cmocka_unit_test(a_thread_that_is_pushed_off_its_cpu_loses_no_reputation),
        cmocka_unit_test(an_interrupted_thread_keeps_its_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
