/* SPDX-License-Identifier: MIT
 *
 * In trees of files that look like /proc and /sys/fs/cgroup of either version.
 */
#include "runner/estimate.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIB (UINT64_C(1) << 20)

static char root[64];

static void put(const char *path, const char *text)
{
    char full[300];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/ab-available-XXXXXX");
    assert_non_null(mkdtemp(root));
    put("/proc/meminfo", "MemTotal:  8388608 kB\nMemFree: 1 kB\nMemAvailable:  4194304 kB\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void without_a_group_it_is_what_the_system_says(void **state)
{
    (void)state;
    assert_int_equal(ab_available_memory_of(root), 4096 * MIB);
    put("/proc/self/cgroup", "0::/user.slice\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    assert_int_equal(ab_available_memory_of(root), 4096 * MIB);
}

static void a_group_bounds_it_and_those_above_do_too(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    assert_int_equal(ab_available_memory_of(root), 1024 * MIB);
    put("/sys/fs/cgroup/a/memory.max", "536870912\n");
    assert_int_equal(ab_available_memory_of(root), 512 * MIB);
}

static void version_1_is_read_as_well(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n");
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "268435456\n");
    assert_int_equal(ab_available_memory_of(root), 256 * MIB);
    put("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(ab_available_memory_of(root), 4096 * MIB);
}

static void here_there_is_some(void **state)
{
    (void)state;
    assert_true(ab_available_memory() > MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_group_it_is_what_the_system_says, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_group_bounds_it_and_those_above_do_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(version_1_is_read_as_well, set_up, tear_down),
        cmocka_unit_test(here_there_is_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
