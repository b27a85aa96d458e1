/* SPDX-License-Identifier: MIT
 *
 * Pages, swap, and the limits on memory, CPU time and files.
 */
#include "doctor/doctor.h"

#include "core/control_group.h"
#include "core/system_file.h"
#include "core/units_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ab_doctor_thp(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *thp = view->host.thp;
    if (thp[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (strcmp(thp, "always") == 0)
        ab_doctor_finding_set(
            out, AB_DOCTOR_WARNING,
            "--thp never; or echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
            "always");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s", thp);
}

void ab_doctor_aslr(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *aslr = view->host.aslr;
    if (aslr[0] == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (strcmp(aslr, "full") == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "%s", aslr);
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING,
                              "sudo sysctl kernel.randomize_va_space=2, without setarch -R", "%s",
                              aslr);
}

static double meminfo(const char *root, const char *key)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file_value(value, sizeof value, ab_system_file(root, "/proc/meminfo", buf), key, ':');
    return 1024 * ab_system_file_parse(value);
}

void ab_doctor_swap(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double total = meminfo(view->root, "SwapTotal"), free = meminfo(view->root, "SwapFree");
    char used[32], all[32];
    if (isnan(total) || isnan(free))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (total == 0)
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "none");
    else
        ab_doctor_finding_set(out, total > free ? AB_DOCTOR_WARNING : AB_DOCTOR_NOTE,
                              "sudo swapoff -a", "%s of %s used",
                              ab_units_bytes(used, sizeof used, total - free),
                              ab_units_bytes(all, sizeof all, total));
}

void ab_doctor_overcommit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double mode = ab_system_file_number(view->root, "/proc/sys/vm/overcommit_memory");
    if (isnan(mode))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else
        ab_doctor_finding_set(out, mode == 2 ? AB_DOCTOR_WARNING : AB_DOCTOR_OK,
                              mode == 2 ? "sudo sysctl vm.overcommit_memory=0" : "",
                              "vm.overcommit_memory is %.0f", mode);
}

void ab_doctor_memory_limit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    enum { PLENTY = 1 << 30 }; /* for the workloads that come with allocbench */
    uint64_t limit = ab_control_group_memory(view->root), all = view->host.memory_bytes;
    char shown[32], total[32];
    if (limit == UINT64_MAX || (all > 0 && limit >= all))
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "none");
    else
        ab_doctor_finding_set(
            out, limit < PLENTY ? AB_DOCTOR_WARNING : AB_DOCTOR_NOTE,
            limit < PLENTY ? "docker run --memory 2g …; or systemd-run -p MemoryMax=2G …" : "",
            "%s of %s", ab_units_bytes(shown, sizeof shown, (double)limit),
            all > 0 ? ab_units_bytes(total, sizeof total, (double)all) : "an unknown amount");
}

void ab_doctor_cpu_limit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double limit = ab_control_group_cpus(view->root);
    if (!isfinite(limit))
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "none");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING,
                              "docker run --cpuset-cpus 0,1 … without --cpus; or systemd-run -p "
                              "CPUQuota= …",
                              "the time of %.3g CPUs", limit);
}

/* The soft limit in /proc/self/limits; INFINITY = none, NaN = not known. */
static double soft_limit(const char *root, const char *name)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    const char *line = strstr(ab_system_file(root, "/proc/self/limits", buf), name);
    if (line == NULL)
        return NAN;
    line += strlen(name);
    line += strspn(line, " ");
    return strncmp(line, "unlimited", 9) == 0 ? (double)INFINITY : ab_system_file_parse(line);
}

void ab_doctor_address_space(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double limit = soft_limit(view->root, "\nMax address space");
    char shown[32];
    if (isnan(limit))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (isinf(limit))
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "unlimited");
    else
        ab_doctor_finding_set(out, AB_DOCTOR_WARNING, "ulimit -v unlimited", "%s",
                              ab_units_bytes(shown, sizeof shown, limit));
}

void ab_doctor_open_files(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    enum { PLENTY = 256 };
    double limit = soft_limit(view->root, "\nMax open files");
    if (isnan(limit))
        ab_doctor_finding_set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say");
    else if (isinf(limit))
        ab_doctor_finding_set(out, AB_DOCTOR_OK, "", "unlimited");
    else
        ab_doctor_finding_set(out, limit < PLENTY ? AB_DOCTOR_WARNING : AB_DOCTOR_OK,
                              limit < PLENTY ? "ulimit -n 4096" : "", "%.0f", limit);
}
