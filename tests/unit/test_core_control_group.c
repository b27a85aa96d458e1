/* SPDX-License-Identifier: MIT
 *
 * Limits of control groups of both versions, in a made-up /proc and /sys; and the small files that
 * they are read from.
 */
#include "core/control_group.h"
#include "core/system_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/allocbench-test-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_group_is_bound_by_all_that_it_lies_in(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
    put("/sys/fs/cgroup/a/memory.max", "2000000\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    assert_int_equal(ab_control_group_memory(root), 1000000);
    assert_true(ab_control_group_cpus(root) == 0.5);
}

static void version_1_has_a_hierarchy_for_each_controller(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:memory:/docker/x\n3:cpu,cpuacct:/docker/y\n2:cpuset:/z\n0::/\n");
    put("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "4096\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/y/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/y/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/z/cpu.cfs_quota_us", "1\n");
    put("/sys/fs/cgroup/cpuset/z/cpu.cfs_period_us", "100000\n");
    assert_int_equal(ab_control_group_memory(root), 4096);
    assert_true(ab_control_group_cpus(root) == 3);
}

static void no_limit_is_no_number(void **state)
{
    (void)state;
    assert_int_equal(ab_control_group_memory(root), UINT64_MAX);
    assert_true(isinf(ab_control_group_cpus(root)));
    put("/proc/self/cgroup", "9:memory:/\n3:cpu:/\nnonsense\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(ab_control_group_memory(root), UINT64_MAX);
    assert_true(isinf(ab_control_group_cpus(root)));
}

static void files_are_text_or_numbers(void **state)
{
    (void)state;
    char text[8], value[16] = "before";
    put("/a", " \"one two\" \n");
    put("/b", "1.25 0.5\n");
    put("/c", "-1\n");
    assert_string_equal(ab_system_file_text(root, "/a", text, sizeof text), "one two");
    assert_string_equal(ab_system_file_text(root, "/none", text, sizeof text), "");
    assert_true(ab_system_file_number(root, "/b") == 1.25);
    assert_true(isnan(ab_system_file_number(root, "/c")));
    assert_true(isnan(ab_system_file_number(root, "/none")));
    assert_true(ab_system_file_exists(root, "/a"));
    assert_false(ab_system_file_exists(root, "/none"));
    ab_system_file_value(value, sizeof value, "x\nKey no\nKey: 7 kB\nKey: 8\n", "Key", ':');
    assert_string_equal(value, "7 kB");
    ab_system_file_value(value, sizeof value, "x: 1\n", "Key", ':');
    assert_string_equal(value, "7 kB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_group_is_bound_by_all_that_it_lies_in, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(version_1_has_a_hierarchy_for_each_controller, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(no_limit_is_no_number, make_root, remove_root),
        cmocka_unit_test_setup_teardown(files_are_text_or_numbers, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
