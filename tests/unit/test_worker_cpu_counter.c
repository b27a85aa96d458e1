/* SPDX-License-Identifier: MIT
 *
 * The kernel's counters, by one that every machine has (page faults); that of instructions where the
 * processor has it.
 */
#include "support/cmocka.h"
#include "wire/run_page.h"
#include "worker/counts.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

static void counts_from_start_to_stop(void **state)
{
    (void)state;
    int fd = ab_cpu_counter_open_as(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
    if (fd < 0)
        skip();
    char *p = mmap(NULL, 128 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    madvise(p, 128 * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < 50; i++)
        p[i * 4096] = 1;
    for (int times = 0; times < 2; times++) { /* the second begins at 0 again */
        ab_cpu_counter_start(fd);
        for (int i = 0; i < 30; i++)
            p[(50 + times * 30 + i) * 4096] = 1;
        uint64_t n = ab_cpu_counter_stop(fd);
        assert_true(n >= 30 && n < 45);
    }
    munmap(p, 128 * 4096);
    close(fd);
}

static void what_cannot_be_read_is_not_counted(void **state)
{
    (void)state;
    assert_true(ab_cpu_counter_stop(-1) == AB_NOT_COUNTED);
    assert_int_equal(ab_cpu_counter_open_as(12345, 0), -1);
}

static void instructions_of_a_known_loop(void **state)
{
    (void)state;
    int fd = ab_cpu_counter_open();
    if (fd < 0)
        skip();
    uint64_t n = 1000000;
    ab_cpu_counter_start(fd);
#if defined(__x86_64__)
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#endif
    uint64_t counted = ab_cpu_counter_stop(fd);
    assert_true(counted >= 2000000 && counted < 2010000);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_from_start_to_stop),
        cmocka_unit_test(what_cannot_be_read_is_not_counted),
        cmocka_unit_test(instructions_of_a_known_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
