/* SPDX-License-Identifier: MIT
 *
 * Who else computes here, and how time and instructions are counted.
 */
#include "doctor/doctor.h"

#include "core/system_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ab_doctor_load(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double load = view->host.load_1min;
    if (isnan(load))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else
        ab_doctor_finding_set(out, load < 0.5 ? AB_DOCTOR_OK : AB_DOCTOR_WARNING,
                              load < 0.5 ? "" : "top",
                              "%.2f processes ran or waited, mean of the last minute", load);
}

void ab_doctor_virt(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *virt = view->host.virt;
    if (virt[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "not reported by the CPU");
    else if (strcmp(virt, "none") == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "none");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_NOTE, "--rounds 20 (of run, replay and exec)",
                              "a virtual machine; its CPU says \"%s\"", virt);
}

/* Since the machine started: "cpu  user nice system idle iowait irq softirq steal …". */
void ab_doctor_steal(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char buf[AB_SYSTEM_FILE_BYTES], *rest = NULL;
    double total = 0, steal = NAN;
    ab_system_file(view->root, "/proc/stat", buf);
    buf[strcspn(buf, "\n")] = 0;
    char *word = strtok_r(buf, " ", &rest);
    for (int i = 0; word != NULL && i < 8; i++) {
        word = strtok_r(NULL, " ", &rest);
        double ticks = word != NULL ? ab_system_file_parse(word) : (double)NAN;
        total += ticks;
        steal = i == 7 ? ticks : steal;
    }
    double share = steal / total;
    if (!(total > 0) || isnan(steal))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else
        ab_doctor_finding_set(out, share < 0.005 ? AB_DOCTOR_OK : AB_DOCTOR_WARNING,
                              share < 0.005 ? "" : "another host, or one with dedicated CPUs",
                              "%.2f %% of the time since start", 100 * share);
}

void ab_doctor_clock_source(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
#define SOURCES "/sys/devices/system/clocksource/clocksource0/"
    static const char *const fast[] = {"tsc", "kvm-clock", "arch_sys_counter",
                                       "hyperv_clocksource_tsc_page"};
    char source[64];
    bool is_fast = false;
    ab_system_file_text(view->root, SOURCES "current_clocksource", source, sizeof source);
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        is_fast = is_fast || strcmp(source, fast[i]) == 0;
    if (source[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else
        ab_doctor_finding_set(out, is_fast ? AB_DOCTOR_OK : AB_DOCTOR_WARNING,
                              is_fast ? "" : "echo tsc | sudo tee " SOURCES "current_clocksource",
                              "%s", source);
}

/* The words of a line of cpuinfo. */
static bool has_flag(const char *cpuinfo, const char *flag)
{
    size_t n = strlen(flag);
    const char *line = strstr(cpuinfo, "\nflags");
    const char *end = line != NULL ? strchrnul(line + 1, '\n') : NULL;
    for (const char *s = line != NULL ? strstr(line, flag) : NULL; s != NULL && s < end;
         s = strstr(s + 1, flag))
        if (s[-1] == ' ' && (s[n] == ' ' || s[n] == '\n' || s[n] == 0))
            return true;
    return false;
}

void ab_doctor_tsc(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(view->root, "/proc/cpuinfo", buf);
    bool is_constant = has_flag(buf, "constant_tsc"), is_nonstop = has_flag(buf, "nonstop_tsc");
    if (buf[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (strstr(buf, "\nflags") == NULL) /* of aarch64: constant by architecture */
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "the architecture's counter");
    else if (is_constant && is_nonstop)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "constant_tsc, nonstop_tsc");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING, "trust ns_per_op, not single latencies",
                              "without %s%s%s", is_constant ? "" : "constant_tsc",
                              is_constant || is_nonstop ? "" : ", ",
                              is_nonstop ? "" : "nonstop_tsc");
}

void ab_doctor_counters(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double paranoid = ab_system_file_number(view->root, "/proc/sys/kernel/perf_event_paranoid");
    bool has_pmu = ab_system_file_exists(view->root, "/sys/bus/event_source/devices/cpu") ||
                   ab_system_file_exists(view->root, "/sys/bus/event_source/devices/cpu_core") ||
                   ab_system_file_exists(view->root, "/sys/bus/event_source/devices/armv8_pmuv3_0");
    char text[16];
    ab_system_file_text(view->root, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    if (!has_pmu)
        ab_doctor_finding_set(out, AB_DOCTOR_NOTE, "", "no hardware counters available");
    else if (text[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "",
                              "the kernel does not say who may use them");
    else if (paranoid > 2)
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING, "sudo sysctl kernel.perf_event_paranoid=2",
                              "for root alone (perf_event_paranoid %s)", text);
    else
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "usable (perf_event_paranoid %s)", text);
}
