/* SPDX-License-Identifier: MIT */
#include "result/environment.h"
#include "support/system_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void this_machine_is_described(void **state)
{
    (void)state;
    struct ab_host h;
    ab_environment_read(&h);
    assert_true(h.cpus_online >= 1 && h.cpus_allowed >= 1);
    assert_true(h.page_bytes >= 4096 && h.memory_bytes > 1 << 20);
    assert_int_equal(strncmp(h.kernel, "Linux ", 6), 0);
    assert_int_equal(strncmp(h.libc, "glibc ", 6), 0);
    assert_string_not_equal(h.virt, "KVMKVMKVM"); /* as the CPU says it */
    assert_int_equal(strlen(h.fingerprint), 64);
    assert_int_equal(strspn(h.fingerprint, "0123456789abcdef"), 64);
}

static void what_cannot_be_read_is_unknown(void **state)
{
    (void)state;
    struct ab_host h;
    ab_environment_read_below("/nonexistent", &h);
    assert_string_equal(h.cpu, "");
    assert_string_equal(h.governor, "");
    assert_string_equal(h.thp, "");
    assert_string_equal(h.os, "");
    assert_int_equal(h.memory_bytes, 0);
    assert_true(isnan(h.load_1min));
    assert_int_equal(strlen(h.fingerprint), 64);
}

static void files_are_read_as_the_kernel_writes_them(void **state)
{
    (void)state;
    struct ab_host h;
    fake_system_put("/proc/cpuinfo", "processor\t: 0\n"
                                     "model name\t: Imaginary  CPU @ 3.00GHz \nmodel name\t: b\n");
    fake_system_put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");
    fake_system_put("/proc/loadavg", "0.52 0.40 0.30 1/200 4711\n");
    fake_system_put("/proc/sys/kernel/randomize_va_space", "2\n");
    fake_system_put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    fake_system_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    fake_system_put("/etc/os-release",
                    "NAME=\"X\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    ab_environment_read_below(fake_system_root, &h);
    assert_string_equal(h.cpu, "Imaginary  CPU @ 3.00GHz");
    assert_true(h.memory_bytes == UINT64_C(8) << 30);
    assert_true(h.load_1min == 0.52);
    assert_true(strcmp(h.aslr, "full") == 0 || strcmp(h.aslr, "off") == 0);
    assert_string_equal(h.thp, "madvise");
    assert_string_equal(h.governor, "performance");
    assert_string_equal(h.os, "Debian GNU/Linux 12 (bookworm)");
}

static void hostile_files_do_no_harm(void **state)
{
    (void)state;
    struct ab_host h;
    char *big = malloc(100001);
    assert_non_null(big);
    memset(big, 'x', 100000);
    big[100000] = 0;
    memcpy(big, "model name: \033[2J", 16);
    fake_system_put("/proc/cpuinfo", big);
    fake_system_put("/proc/meminfo", "MemTotal: 99999999999999999999999999999999999 kB\n");
    fake_system_put("/proc/loadavg", "many\n");
    fake_system_put("/sys/kernel/mm/transparent_hugepage/enabled", "] [\n");
    ab_environment_read_below(fake_system_root, &h);
    assert_int_equal(strncmp(h.cpu, "\\x1b[2J", 7), 0);
    assert_true(strlen(h.cpu) < sizeof h.cpu);
    assert_int_equal(h.memory_bytes, 0);
    assert_true(isnan(h.load_1min));
    assert_string_equal(h.thp, "");
    free(big);
}

static void the_fingerprint_names_the_machine_not_the_moment(void **state)
{
    (void)state;
    struct ab_host a, b;
    fake_system_put("/proc/cpuinfo", "model name: A\n");
    fake_system_put("/proc/loadavg", "1.00 1 1\n");
    ab_environment_read_below(fake_system_root, &a);
    fake_system_put("/proc/loadavg", "2.00 1 1\n");
    ab_environment_read_below(fake_system_root, &b);
    assert_string_equal(a.fingerprint, b.fingerprint);
    fake_system_put("/proc/cpuinfo", "model name: B\n");
    ab_environment_read_below(fake_system_root, &b);
    assert_string_not_equal(a.fingerprint, b.fingerprint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine_is_described),
        cmocka_unit_test(what_cannot_be_read_is_unknown),
        cmocka_unit_test(files_are_read_as_the_kernel_writes_them),
        cmocka_unit_test(hostile_files_do_no_harm),
        cmocka_unit_test(the_fingerprint_names_the_machine_not_the_moment),
    };
    return cmocka_run_group_tests(tests, fake_system_make, fake_system_remove);
}
