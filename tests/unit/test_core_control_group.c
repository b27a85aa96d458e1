/* SPDX-License-Identifier: MIT
 *
 * Limits of control groups of both versions, in a made-up /proc and /sys; and the small files that
 * they are read from.
 * tests: system_file.c
 */
#include "core/system_file.h"
#include "support/system_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_group_is_bound_by_all_that_it_lies_in(void **state)
{
    (void)state;
    fake_system_put("/proc/self/cgroup", "0::/a/b/c\n");
    fake_system_put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    fake_system_put("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
    fake_system_put("/sys/fs/cgroup/a/memory.max", "2000000\n");
    fake_system_put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    fake_system_put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    assert_int_equal(ab_control_group_memory(fake_system_root), 1000000);
    assert_true(ab_control_group_cpus(fake_system_root) == 0.5);
}

static void version_1_has_a_hierarchy_for_each_controller(void **state)
{
    (void)state;
    fake_system_put("/proc/self/cgroup",
                    "9:memory:/docker/x\n3:cpu,cpuacct:/docker/y\n2:cpuset:/z\n0::/\n");
    fake_system_put("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "4096\n");
    fake_system_put("/sys/fs/cgroup/cpu,cpuacct/docker/y/cpu.cfs_quota_us", "-1\n");
    fake_system_put("/sys/fs/cgroup/cpu,cpuacct/docker/y/cpu.cfs_period_us", "100000\n");
    fake_system_put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
    fake_system_put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    fake_system_put("/sys/fs/cgroup/cpuset/z/cpu.cfs_quota_us", "1\n");
    fake_system_put("/sys/fs/cgroup/cpuset/z/cpu.cfs_period_us", "100000\n");
    assert_int_equal(ab_control_group_memory(fake_system_root), 4096);
    assert_true(ab_control_group_cpus(fake_system_root) == 3);
}

static void no_limit_is_no_number(void **state)
{
    (void)state;
    assert_int_equal(ab_control_group_memory(fake_system_root), UINT64_MAX);
    assert_true(isinf(ab_control_group_cpus(fake_system_root)));
    fake_system_put("/proc/self/cgroup", "9:memory:/\n3:cpu:/\nnonsense\n0::/\n");
    fake_system_put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    fake_system_put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    fake_system_put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    fake_system_put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    fake_system_put("/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(ab_control_group_memory(fake_system_root), UINT64_MAX);
    assert_true(isinf(ab_control_group_cpus(fake_system_root)));
}

static void files_are_text_or_numbers(void **state)
{
    (void)state;
    char text[8], value[16] = "before";
    fake_system_put("/a", " \"one two\" \n");
    fake_system_put("/b", "1.25 0.5\n");
    fake_system_put("/c", "-1\n");
    assert_string_equal(ab_system_file_text(fake_system_root, "/a", text, sizeof text), "one two");
    assert_string_equal(ab_system_file_text(fake_system_root, "/none", text, sizeof text), "");
    assert_true(ab_system_file_number(fake_system_root, "/b") == 1.25);
    assert_true(isnan(ab_system_file_number(fake_system_root, "/c")));
    assert_true(isnan(ab_system_file_number(fake_system_root, "/none")));
    assert_true(ab_system_file_exists(fake_system_root, "/a"));
    assert_false(ab_system_file_exists(fake_system_root, "/none"));
    ab_system_file_value(value, sizeof value, "x\nKey no\nKey: 7 kB\nKey: 8\n", "Key", ':');
    assert_string_equal(value, "7 kB");
    ab_system_file_value(value, sizeof value, "x: 1\n", "Key", ':');
    assert_string_equal(value, "7 kB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_group_is_bound_by_all_that_it_lies_in, fake_system_make,
                                        fake_system_remove),
        cmocka_unit_test_setup_teardown(version_1_has_a_hierarchy_for_each_controller,
                                        fake_system_make, fake_system_remove),
        cmocka_unit_test_setup_teardown(no_limit_is_no_number, fake_system_make,
                                        fake_system_remove),
        cmocka_unit_test_setup_teardown(files_are_text_or_numbers, fake_system_make,
                                        fake_system_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
