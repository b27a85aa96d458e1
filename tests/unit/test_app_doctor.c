/* SPDX-License-Identifier: MIT
 *
 * Machines that are made up: one on which nothing disturbs, one on which everything does, one that
 * says nothing.
 */
#include "app/doctor.h"
#include "support/system_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CPU "/sys/devices/system/cpu"

static struct ab_doctor_finding findings[AB_DOCTOR_MAX];
static size_t n_findings;

/* What the CPU and the scheduler say of the real machine is replaced. */
static void look(const char *virt, unsigned n_cpus)
{
    struct ab_doctor_view view;
    ab_doctor_look(fake_system_root, "/bin:relative::/usr/bin", &view);
    strcpy(view.host.virt, virt);
    view.host.cpus_allowed = view.host.cpus_online = n_cpus;
    if (view.host.aslr[0] != 0) /* of this process: it may run without */
        strcpy(view.host.aslr, n_cpus > 1 ? "full" : "off");
    n_findings = ab_doctor_run(&view, findings);
}

static const struct ab_doctor_finding *find(const char *id)
{
    for (size_t i = 0; i < n_findings; i++)
        if (strcmp(findings[i].id, id) == 0)
            return &findings[i];
    fail_msg("no check %s", id);
    return NULL;
}

static void expect(const char *id, enum ab_doctor_state state, const char *found,
                   const char *remedy)
{
    const struct ab_doctor_finding *f = find(id);
    if (f->state != state || strstr(f->found, found) == NULL || strstr(f->remedy, remedy) == NULL)
        fail_msg("%s: %s, \"%s\", \"%s\"", id, ab_doctor_state_names[f->state], f->found,
                 f->remedy);
    assert_true((state == AB_DOCTOR_OK || state == AB_DOCTOR_UNKNOWN) ? f->remedy[0] == 0 : true);
}

static void put_quiet_machine(void)
{
    fake_system_put(CPU "/cpu0/cpufreq/scaling_governor", "performance\n");
    fake_system_put(CPU "/intel_pstate/no_turbo", "1\n");
    fake_system_put(CPU "/smt/active", "0\n");
    fake_system_put(CPU "/isolated", "2-3\n");
    fake_system_put("/sys/devices/system/node/online", "0\n");
    fake_system_put("/proc/loadavg", "0.02 0.10 0.20 1/300 4711\n");
    fake_system_put("/proc/stat", "cpu  1000 0 1000 8000 0 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1\n");
    fake_system_put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    fake_system_put("/proc/cpuinfo",
                    "processor\t: 0\nflags\t\t: fpu constant_tsc nonstop_tsc sse\nbugs\t: x\n");
    fake_system_put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
    fake_system_put("/sys/bus/event_source/devices/cpu/type", "4\n");
    fake_system_put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    fake_system_put("/proc/sys/kernel/randomize_va_space", "2\n");
    fake_system_put("/proc/meminfo", "MemTotal: 8388608 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    fake_system_put("/proc/sys/vm/overcommit_memory", "0\n");
    fake_system_put("/proc/self/cgroup", "0::/user.slice\n");
    fake_system_put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    fake_system_put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    fake_system_put("/proc/self/limits", "Limit Soft\nMax open files            1024  4096  files\n"
                                         "Max address space         unlimited  unlimited  bytes\n");
    fake_system_put("/usr/bin/valgrind", "");
}

static void a_quiet_machine_has_no_warning(void **state)
{
    (void)state;
    put_quiet_machine();
    look("none", 4);
    for (size_t i = 0; i < n_findings; i++)
        assert_int_not_equal(findings[i].state, AB_DOCTOR_WARNING);
    expect("governor", AB_DOCTOR_OK, "performance", "");
    expect("turbo", AB_DOCTOR_OK, "off", "");
    expect("isolated", AB_DOCTOR_NOTE, "CPUs 2-3", "--cpus 2-3");
    expect("steal", AB_DOCTOR_OK, "0.00 %", "");
    expect("tsc", AB_DOCTOR_OK, "constant_tsc", "");
    expect("counters", AB_DOCTOR_OK, "paranoid -1", "");
    expect("thp", AB_DOCTOR_OK, "madvise", "");
    expect("swap", AB_DOCTOR_OK, "none", "");
    expect("memory-limit", AB_DOCTOR_OK, "none", "");
    expect("cpu-limit", AB_DOCTOR_OK, "none", "");
    expect("address-space", AB_DOCTOR_OK, "unlimited", "");
    expect("open-files", AB_DOCTOR_OK, "1024", "");
    expect("valgrind", AB_DOCTOR_OK, "/usr/bin/valgrind", "");
}

static void put_loud_machine(void)
{
    fake_system_put(CPU "/cpu0/cpufreq/scaling_governor", "powersave\n");
    fake_system_put(CPU "/cpufreq/boost", "1\n");
    fake_system_put(CPU "/smt/active", "1\n");
    fake_system_put(CPU "/isolated", "\n");
    fake_system_put(CPU "/cpu0/topology/thread_siblings_list", "0,1\n");
    fake_system_put(CPU "/cpu1/topology/thread_siblings_list", "0,1\n");
    fake_system_put(CPU "/cpu2/topology/thread_siblings_list", "2,3\n");
    fake_system_put(CPU "/cpu3/topology/thread_siblings_list", "2,3\n");
    fake_system_put("/sys/devices/system/node/online", "0-1\n");
    fake_system_put("/proc/loadavg", "3.50 0.10 0.20 1/300 4711\n");
    fake_system_put("/proc/stat", "cpu  1000 0 1000 7000 0 0 0 1000 0 0\n");
    fake_system_put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    fake_system_put("/proc/cpuinfo",
                    "processor\t: 0\nflags\t\t: fpu not_constant_tsc constant_tscx\n");
    fake_system_put("/proc/sys/kernel/perf_event_paranoid", "4\n");
    fake_system_put("/sys/bus/event_source/devices/cpu/type", "4\n");
    fake_system_put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    fake_system_put("/proc/sys/kernel/randomize_va_space", "0\n");
    fake_system_put("/proc/meminfo",
                    "MemTotal: 8388608 kB\nSwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n");
    fake_system_put("/proc/sys/vm/overcommit_memory", "2\n");
    fake_system_put("/proc/self/cgroup", "0::/a/b\n");
    fake_system_put("/sys/fs/cgroup/a/memory.max", "536870912\n");
    fake_system_put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    fake_system_put("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    fake_system_put("/proc/self/limits",
                    "Limit Soft\nMax open files            64  4096  files\n"
                    "Max address space         1073741824  unlimited  bytes\n");
}

static void a_loud_machine_is_told_what_helps(void **state)
{
    (void)state;
    put_loud_machine();
    look("KVMKVMKVM", 1);
    expect("governor", AB_DOCTOR_WARNING, "powersave", "cpupower frequency-set -g performance");
    expect("turbo", AB_DOCTOR_WARNING, "on", "echo 0 | sudo tee " CPU "/cpufreq/boost");
    expect("smt", AB_DOCTOR_WARNING, "on", "--cpus 0,2");
    expect("cpus", AB_DOCTOR_WARNING, "1 of 1", "");
    expect("isolated", AB_DOCTOR_NOTE, "no CPU is isolated", "");
    expect("numa", AB_DOCTOR_WARNING, "0-1", "numactl");
    expect("load", AB_DOCTOR_WARNING, "3.50", "top");
    expect("virtualization", AB_DOCTOR_NOTE, "KVM", "--rounds");
    expect("steal", AB_DOCTOR_WARNING, "10.00 %", "");
    expect("clock-source", AB_DOCTOR_WARNING, "hpet", "echo tsc");
    expect("tsc", AB_DOCTOR_WARNING, "without constant_tsc, nonstop_tsc", "");
    expect("counters", AB_DOCTOR_WARNING, "paranoid 4", "perf_event_paranoid=2");
    expect("thp", AB_DOCTOR_WARNING, "always", "--thp never");
    expect("aslr", AB_DOCTOR_WARNING, "off", "randomize_va_space=2");
    expect("swap", AB_DOCTOR_WARNING, "1.00 GiB of 2.00 GiB", "swapoff");
    expect("overcommit", AB_DOCTOR_WARNING, "2", "overcommit_memory=0");
    expect("memory-limit", AB_DOCTOR_WARNING, "512 MiB of 8.00 GiB", "--memory");
    expect("cpu-limit", AB_DOCTOR_WARNING, "1.5 CPUs", "--cpuset-cpus");
    expect("address-space", AB_DOCTOR_WARNING, "1.00 GiB", "ulimit -v");
    expect("open-files", AB_DOCTOR_WARNING, "64", "ulimit -n");
    expect("valgrind", AB_DOCTOR_NOTE, "not installed", "apt install valgrind");
    fake_system_put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu constant_tsc\n");
    look("KVMKVMKVM", 1);
    expect("tsc", AB_DOCTOR_WARNING, "without nonstop_tsc", "");
}

static void what_is_not_said_is_unknown_and_no_warning(void **state)
{
    (void)state;
    look("", 0);
    for (size_t i = 0; i < n_findings; i++)
        assert_int_not_equal(findings[i].state, AB_DOCTOR_WARNING);
    static const char *const unknown[] = {
        "governor", "turbo",          "smt",        "cpus",          "isolated",  "numa",
        "load",     "virtualization", "steal",      "clock-source",  "tsc",       "thp",
        "aslr",     "swap",           "overcommit", "address-space", "open-files"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(find(unknown[i])->state, AB_DOCTOR_UNKNOWN);
    expect("counters", AB_DOCTOR_NOTE, "no hardware counters", "");
}

static void every_check_has_an_id_of_its_own_and_a_reason(void **state)
{
    (void)state;
    look("none", 4);
    assert_true(n_findings > 20);
    for (size_t i = 0; i < n_findings; i++) {
        assert_true(strlen(findings[i].why) > 10 && findings[i].found[0] != 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(findings[i].id, findings[k].id);
    }
    assert_non_null(find("jemalloc"));
}

static void hostile_files_are_shown_printable(void **state)
{
    (void)state;
    fake_system_put(CPU "/cpu0/cpufreq/scaling_governor", "\033[2Jevil\n");
    fake_system_put("/proc/self/cgroup", "0::/a\n:::::\n\n4:cpu,memory\n");
    fake_system_put("/proc/stat", "cpu 1 2\n");
    look("none", 4);
    expect("governor", AB_DOCTOR_WARNING, "\\x1b[2Jevil", "");
    expect("steal", AB_DOCTOR_UNKNOWN, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_quiet_machine_has_no_warning, fake_system_make,
                                        fake_system_remove),
        cmocka_unit_test_setup_teardown(a_loud_machine_is_told_what_helps, fake_system_make,
                                        fake_system_remove),
        cmocka_unit_test_setup_teardown(what_is_not_said_is_unknown_and_no_warning,
                                        fake_system_make, fake_system_remove),
        cmocka_unit_test_setup_teardown(every_check_has_an_id_of_its_own_and_a_reason,
                                        fake_system_make, fake_system_remove),
        cmocka_unit_test_setup_teardown(hostile_files_are_shown_printable, fake_system_make,
                                        fake_system_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
