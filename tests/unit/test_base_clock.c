/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "support/cmocka.h"

static void ticks_and_nanoseconds_agree(void **state)
{
    (void)state;
    struct ab_clock clock;
    ab_clock_calibrate(&clock);
    assert_true(clock.ns_per_tick > 0.05 && clock.ns_per_tick < 1000);
    uint64_t before = ab_clock_now_ns(), ticks = ab_tick_begin(), begin = ab_clock_now_ns();
    while (ab_clock_now_ns() - begin < 20000000)
        ab_cpu_pause();
    uint64_t end = ab_clock_now_ns();
    double elapsed = (double)(ab_tick_end() - ticks) * clock.ns_per_tick;
    uint64_t behind = ab_clock_now_ns();
    /* between any two readings the process may have been halted */
    assert_true(elapsed > (double)(end - begin) * 0.98);
    assert_true(elapsed < (double)(behind - before) * 1.02);
}

static void the_quantum_is_at_least_one_tick_and_repeats(void **state)
{
    (void)state;
    struct ab_clock a, b;
    ab_clock_calibrate(&a);
    ab_clock_calibrate(&b);
    assert_true(a.quantum_ns >= a.ns_per_tick * 0.99);
    assert_true(a.quantum_ns < 1000 && b.quantum_ns < 1000);
    assert_true(a.ns_per_tick / b.ns_per_tick > 0.999 && a.ns_per_tick / b.ns_per_tick < 1.001);
}

static void cpu_time_does_not_run_ahead_of_the_clock(void **state)
{
    (void)state;
    uint64_t wall = ab_clock_now_ns(), cpu = ab_clock_thread_cpu_ns();
    for (volatile int i = 0; i < 1000000; i++)
        ;
    uint64_t cpu_spent = ab_clock_thread_cpu_ns() - cpu, wall_spent = ab_clock_now_ns() - wall;
    assert_true(cpu_spent > 0);
    assert_true(cpu_spent <= wall_spent + wall_spent / 10);
    assert_true(ab_clock_process_cpu_ns() >= ab_clock_thread_cpu_ns() / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_and_nanoseconds_agree),
        cmocka_unit_test(the_quantum_is_at_least_one_tick_and_repeats),
        cmocka_unit_test(cpu_time_does_not_run_ahead_of_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
