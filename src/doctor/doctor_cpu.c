/* SPDX-License-Identifier: MIT
 *
 * Frequency, threads of a core, which CPUs there are for the measurement.
 */
#include "doctor/doctor.h"

#include "core/system_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU "/sys/devices/system/cpu"

void ab_doctor_governor(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *governor = view->host.governor;
    if (governor[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "",
                              "the kernel does not set the frequency here%s",
                              strcmp(view->host.virt, "none") == 0 ? "" : ": the host does");
    else if (strcmp(governor, "performance") == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s", governor);
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING, "sudo cpupower frequency-set -g performance",
                              "%s", governor);
}

void ab_doctor_turbo(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double no_turbo = ab_system_file_number(view->root, CPU "/intel_pstate/no_turbo");
    double boost = ab_system_file_number(view->root, CPU "/cpufreq/boost");
    if (isnan(no_turbo) && isnan(boost))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (no_turbo == 1 || boost == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "off");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING,
                              !isnan(no_turbo) ? "echo 1 | sudo tee " CPU "/intel_pstate/no_turbo"
                                               : "echo 0 | sudo tee " CPU "/cpufreq/boost",
                              "on");
}

/* "0,2,4": of each core the first of its threads; the first 16 cores. */
static void list_cores(const char *root, char *buf, size_t cap)
{
    size_t n = 0;
    buf[0] = 0;
    for (int cpu = 0, n_cores = 0; cpu < 1024 && n_cores < 16; cpu++) {
        char path[128];
        snprintf(path, sizeof path, CPU "/cpu%d/topology/thread_siblings_list", cpu);
        double first = ab_system_file_number(root, path);
        if (!(first == cpu) || n + 8 > cap)
            continue;
        n += (size_t)snprintf(buf + n, cap - n, "%s%d", n_cores == 0 ? "" : ",", cpu);
        n_cores++;
    }
}

void ab_doctor_smt(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double active = ab_system_file_number(view->root, CPU "/smt/active");
    char cores[128], remedy[256];
    if (isnan(active))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (active == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s",
                              strcmp(view->host.virt, "none") == 0
                                  ? "off"
                                  : "not seen by this machine; its host may use it");
    if (!(active > 0))
        return;
    list_cores(view->root, cores, sizeof cores);
    snprintf(remedy, sizeof remedy, "echo off | sudo tee " CPU "/smt/control; or --cpus %s",
             cores[0] != 0 ? cores : "LIST, one CPU of each core");
    ab_doctor_finding_set(out, AB_DOCTOR_WARNING, remedy, "on: CPUs come in pairs of one core");
}

void ab_doctor_cpus(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    unsigned allowed = view->host.cpus_allowed, online = view->host.cpus_online;
    if (allowed == 0 || online == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (allowed < 2)
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING,
                              online > 1 ? "taskset -pc 0-$(($(nproc --all) - 1)) $$" : "",
                              "this process may use %u of %u", allowed, online);
    else
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "this process may use %u of %u", allowed,
                              online);
}

void ab_doctor_isolated(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char isolated[128], remedy[192];
    ab_system_file_text(view->root, CPU "/isolated", isolated, sizeof isolated);
    if (!ab_system_file_exists(view->root, CPU "/isolated")) {
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    } else if (isolated[0] == 0) {
        ab_doctor_finding_set(
            out, AB_DOCTOR_NOTE,
            view->host.cpus_online > 2 ? "boot with isolcpus=2 nohz_full=2, then --cpus 2" : "",
            "no CPU is isolated");
    } else {
        snprintf(remedy, sizeof remedy, "--cpus %s", isolated);
        ab_doctor_finding_set(out, AB_DOCTOR_NOTE, remedy, "CPUs %s", isolated);
    }
}

void ab_doctor_numa(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char nodes[128];
    ab_system_file_text(view->root, "/sys/devices/system/node/online", nodes, sizeof nodes);
    if (nodes[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (strpbrk(nodes, ",-") == NULL)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "one node");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING,
                              "numactl --cpunodebind=0 --membind=0 allocbench …", "nodes %s",
                              nodes);
}
