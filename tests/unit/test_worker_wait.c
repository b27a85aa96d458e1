/* SPDX-License-Identifier: MIT
 *
 * Waits of lanes: they end when what is wanted is there, sleep rather than burn the CPU, and are
 * told apart from it; who sleeps is woken, though late where all CPUs are busy.
 */
#include "base/clock.h"
#include "support/cmocka.h"
#include "worker/wait.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ab_run_page *page;
static struct ab_tape_image image;
static struct ab_worker w;
static struct ab_lane *lanes; /* 0 goes ahead, 1 … wait */
static uint32_t all;

static void begin(uint32_t n_lanes, uint32_t n_cpus)
{
    image.n_lanes = n_lanes;
    w = (struct ab_worker){
        .page = page, .image = &image, .lanes = lanes, .n_cpus = n_cpus, .n_awake = n_lanes};
    all = n_lanes;
    for (uint32_t i = 0; i < 4; i++) {
        lanes[i] = (struct ab_lane){.w = &w, .index = i, .is_crowded = n_lanes > n_cpus};
        ab_gauge_reset(&lanes[i].published, 0);
        ab_gauge_reset(&lanes[i].frame, 0);
        ab_gauge_reset(&lanes[i].turn, 0);
    }
}

struct waiter {
    pthread_t thread;
    struct ab_lane *lane;
    struct ab_gauge *gauge;
    uint32_t first, last;
    uint64_t cpu_ns, wall_ns;
};

static void *wait_in_thread(void *user)
{
    struct waiter *x = user;
    uint64_t cpu = ab_clock_thread_cpu_ns(), wall = ab_clock_now_ns();
    for (uint32_t i = x->first; i <= x->last; i++)
        if (ab_gauge_read(x->gauge) < i)
            ab_wait_for(x->lane, x->gauge, i);
    x->cpu_ns = ab_clock_thread_cpu_ns() - cpu;
    x->wall_ns = ab_clock_now_ns() - wall;
    return NULL;
}

static void start(struct waiter *x, uint32_t lane, struct ab_gauge *gauge, uint32_t first,
                  uint32_t last)
{
    *x = (struct waiter){.lane = &lanes[lane], .gauge = gauge, .first = first, .last = last};
    assert_int_equal(pthread_create(&x->thread, NULL, wait_in_thread, x), 0);
}

static void await_sleepers(uint32_t n)
{
    while (__atomic_load_n(&w.n_awake, __ATOMIC_RELAXED) != all - n)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* One waits for 60 ms; was it asleep for most of it? */
static bool sleeps_while_it_waits(uint32_t n_cpus)
{
    struct waiter x;
    begin(2, n_cpus);
    start(&x, 1, &lanes[0].published, 5, 5);
    await_sleepers(1);
    nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
    ab_gauge_set(&lanes[0], &lanes[0].published, 5);
    ab_wait_wake_all(&lanes[0]);
    pthread_join(x.thread, NULL);
    assert_int_equal(w.n_awake, all);
    assert_true(lanes[1].wait_ticks > 0 && lanes[1].awake_ticks <= lanes[1].wait_ticks);
    assert_int_equal(lanes[1].asleep_cpu_ns > 0, n_cpus == 1);
    assert_true(lanes[1].asleep_cpu_ns <= x.cpu_ns);
    return x.cpu_ns < x.wall_ns / 2 && lanes[1].awake_ticks <= lanes[1].wait_ticks / 2;
}

static void who_waits_sleeps_and_it_is_told_what_that_took(void **state)
{
    (void)state;
    for (uint32_t n_cpus = 1; n_cpus <= 2; n_cpus++) {
        unsigned tries = 1; /* a machine that halts makes what is short long: not each time */
        while (!sleeps_while_it_waits(n_cpus) && tries < 20)
            tries++;
        assert_true(tries < 20);
    }
}

/* Three who want different things of one lane, all far apart: nobody is forgotten. */
static void each_is_woken_for_what_it_wants(void **state)
{
    (void)state;
    for (uint32_t n_cpus = 1; n_cpus <= 8; n_cpus += 7) {
        struct waiter x[3];
        begin(4, n_cpus);
        for (uint32_t i = 0; i < 3; i++)
            start(&x[i], i + 1, &lanes[0].published, 700 * i + 1, 20000);
        for (uint32_t i = 1; i <= 20000; i++) {
            ab_gauge_set(&lanes[0], &lanes[0].published, i);
            if (i % 500 == 0)
                sched_yield();
        }
        ab_wait_wake_all(&lanes[0]);
        for (uint32_t i = 0; i < 3; i++)
            pthread_join(x[i].thread, NULL);
        assert_int_equal(w.n_awake, all);
        assert_true(lanes[0].wait_ticks == 0);
    }
}

/* Two lanes, each of which may go a step ahead of the other. */
static void *leapfrog(void *user)
{
    struct ab_lane *lane = user, *other = lane == &lanes[0] ? &lanes[1] : &lanes[0];
    for (uint32_t i = 1; i <= 3000; i++) {
        ab_gauge_set(lane, &lane->published, i);
        if (ab_gauge_read(&other->published) < i)
            ab_wait_for(lane, &other->published, i);
    }
    ab_wait_wake_all(lane);
    return NULL;
}

static void two_that_wait_for_each_other_come_to_an_end(void **state)
{
    (void)state;
    for (uint32_t n_cpus = 1; n_cpus <= 2; n_cpus++) {
        pthread_t thread;
        begin(2, n_cpus);
        assert_int_equal(pthread_create(&thread, NULL, leapfrog, &lanes[1]), 0);
        leapfrog(&lanes[0]);
        pthread_join(thread, NULL);
        assert_int_equal(lanes[0].published.count, 3000);
        assert_int_equal(lanes[1].published.count, 3000);
        assert_int_equal(w.n_awake, 2);
    }
}

/* The gauge still says that it is wanted: nobody has been woken. */
static bool is_wanted(const struct ab_gauge *gauge)
{
    return __atomic_load_n(&gauge->wanted, __ATOMIC_RELAXED) != AB_NOT_WANTED;
}

static void sleepers_sleep_on_for_a_while_where_no_cpu_is_idle(void **state)
{
    (void)state;
    begin(4, 2);
    lanes[0].published.wanted = 10;
    w.n_awake = 3; /* of four, on two CPUs */
    ab_gauge_set(&lanes[0], &lanes[0].published, 11);
    assert_true(is_wanted(&lanes[0].published));
    ab_gauge_set(&lanes[0], &lanes[0].published, 11 + 512);
    assert_false(is_wanted(&lanes[0].published));

    lanes[0].published.wanted = 600;
    ab_gauge_set(&lanes[0], &lanes[0].published, 599);
    ab_wait_wake_all(&lanes[0]);
    assert_true(is_wanted(&lanes[0].published));
    ab_gauge_set(&lanes[0], &lanes[0].published, 600);
    assert_true(is_wanted(&lanes[0].published));
    ab_wait_wake_all(&lanes[0]); /* it falls asleep itself */
    assert_false(is_wanted(&lanes[0].published));

    w.n_awake = 1; /* one CPU is idle */
    lanes[0].frame.wanted = 3;
    lanes[0].frame.wanted_on = AB_NO_CPU;
    ab_gauge_set(&lanes[0], &lanes[0].frame, 3);
    assert_false(is_wanted(&lanes[0].frame));

    w.n_awake = 3;
    lanes[0].frame.wanted = 3; /* and is not set again */
    ab_gauge_set(&lanes[0], &lanes[0].frame, 3);
    assert_true(is_wanted(&lanes[0].frame));
    lanes[2].turn.wanted = 7; /* a turn is wanted by nobody else */
    ab_gauge_set(&lanes[0], &lanes[2].turn, 7);
    assert_false(is_wanted(&lanes[2].turn));
}

/* It was let sleep on while all CPUs were busy; then one is not, and who kept it from it is at work
 * without telling anything for long. */
static void who_falls_asleep_wakes_those_that_may_go_on(void **state)
{
    (void)state;
    struct waiter x, y;
    begin(3, 2);
    start(&x, 1, &lanes[0].published, 5, 5);
    await_sleepers(1);
    __atomic_store_n(&w.n_awake, 3, __ATOMIC_RELAXED); /* as if a third were at work */
    ab_gauge_set(&lanes[0], &lanes[0].published, 5);
    assert_true(is_wanted(&lanes[0].published));
    __atomic_store_n(&w.n_awake, 1, __ATOMIC_RELAXED);
    start(&y, 2, &lanes[1].published, 1, 1); /* waits for what lane 1 does then */
    for (int i = 0; i < 5000 && is_wanted(&lanes[0].published); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_false(is_wanted(&lanes[0].published));
    pthread_join(x.thread, NULL);
    ab_gauge_set(&lanes[1], &lanes[1].published, 1);
    ab_wait_wake_all(&lanes[1]);
    pthread_join(y.thread, NULL);
}

/* Two lanes of one CPU, another one idle: nothing can be there before the other lane runs. */
static void a_cpu_goes_at_once_to_who_is_waited_for(void **state)
{
    (void)state;
    cpu_set_t allowed, one;
    uint64_t awake[2];
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* threads inherit it */
    for (int is_told = 0; is_told < 2; is_told++) {
        awake[is_told] = UINT64_MAX;
        for (int i = 0; i < 20; i++) {
            struct waiter x;
            begin(2, 2);
            ab_gauge_set(&lanes[0], &lanes[0].published, 1);
            if (!is_told)
                lanes[0].published.cpu = AB_NO_CPU; /* as if it ran elsewhere */
            start(&x, 1, &lanes[0].published, 2, 2);
            await_sleepers(1);
            ab_gauge_set(&lanes[0], &lanes[0].published, 2);
            assert_true(is_wanted(&lanes[0].published)); /* it would take this CPU: not yet */
            ab_wait_wake_all(&lanes[0]);
            pthread_join(x.thread, NULL);
            if (lanes[1].awake_ticks < awake[is_told])
                awake[is_told] = lanes[1].awake_ticks;
        }
    }
    assert_true(awake[1] < awake[0] / 4);
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_sleeps_and_it_is_told_what_that_took),
        cmocka_unit_test(each_is_woken_for_what_it_wants),
        cmocka_unit_test(two_that_wait_for_each_other_come_to_an_end),
        cmocka_unit_test(sleepers_sleep_on_for_a_while_where_no_cpu_is_idle),
        cmocka_unit_test(who_falls_asleep_wakes_those_that_may_go_on),
        cmocka_unit_test(a_cpu_goes_at_once_to_who_is_waited_for),
    };
    page = calloc(1, sizeof *page);
    lanes = aligned_alloc(64, 4 * sizeof lanes[0]);
    page->request.tail_1us_ticks = 3000;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(lanes);
    free(page);
    return failed;
}
