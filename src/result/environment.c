/* SPDX-License-Identifier: MIT
 *
 * Reads the description of the machine from /proc, /sys, the CPU itself and system calls.
 */
#include "result/environment.h"

#include "core/system_file.h"
#include "core/text.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <sched.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static void read_cpu(const char *root, struct ab_host *host)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(root, "/proc/cpuinfo", buf);
    ab_system_file_value(host->cpu, sizeof host->cpu, buf, "model name", ':');
    if (host->cpu[0] != 0)
        return;
    /* boards without "model name" have their name here */
    ab_system_file_text(root, "/sys/firmware/devicetree/base/model", host->cpu, sizeof host->cpu);
}

static void read_kernel(struct ab_host *host)
{
    struct utsname u;
    if (uname(&u) == 0)
        AB_FIT(host->kernel, "%s %s %s", u.sysname, u.release, u.machine);
    AB_FIT(host->libc, "glibc %s", gnu_get_libc_version());
}

static void read_governor(const char *root, struct ab_host *host)
{
    ab_system_file_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                        host->governor, sizeof host->governor);
}

/* Reads the name of the hypervisor from the CPU ("KVM", "VMwareVMware"); "none" = no hypervisor; ""
 * = it cannot be determined. */
static void read_virt(struct ab_host *host)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    char name[13] = "";
    AB_FIT(host->virt, "none");
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31 & 1) == 0)
        return;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(name, &b, 4);
    memcpy(name + 4, &c, 4);
    memcpy(name + 8, &d, 4);
    ab_system_file_trim(host->virt, sizeof host->virt, name, strlen(name));
    if (strcmp(host->virt, "KVMKVMKVM") == 0)
        host->virt[3] = 0; /* the text that the CPU gives is padded to twelve characters */
    if (host->virt[0] == 0)
        AB_FIT(host->virt, "unnamed hypervisor");
#else
    host->virt[0] = 0;
#endif
}

/* Reads the choice that is in brackets in "always [madvise] never". */
static void read_thp(const char *root, struct ab_host *host)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(root, "/sys/kernel/mm/transparent_hugepage/enabled", buf);
    const char *begin = strchr(buf, '['), *end = strchr(buf, ']');
    if (begin != NULL && end != NULL && begin < end)
        ab_system_file_trim(host->thp, sizeof host->thp, begin + 1, (size_t)(end - begin - 1));
}

static void read_aslr(const char *root, struct ab_host *host)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    const char *name = "";
    int persona = personality(0xffffffff);
    switch (ab_system_file(root, "/proc/sys/kernel/randomize_va_space", buf)[0]) {
    case '0':
        name = "off";
        break;
    case '1':
        name = "partial";
        break;
    case '2':
        name = "full";
        break;
    }
    if (persona >= 0 && (persona & ADDR_NO_RANDOMIZE) != 0)
        name = "off";
    AB_COPY(host->aslr, name);
}

static void read_os(const char *root, struct ab_host *host)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(root, "/etc/os-release", buf);
    ab_system_file_value(host->os, sizeof host->os, buf, "PRETTY_NAME", '=');
}

static void read_cpus(struct ab_host *host)
{
    enum { CPUS_MAX = 1 << 16 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    host->cpus_online = online > 0 ? (uint32_t)online : 0;
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    if (set != NULL && sched_getaffinity(0, bytes, set) == 0)
        host->cpus_allowed = (uint32_t)CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
}

static void read_memory(const char *root, struct ab_host *host)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file(root, "/proc/meminfo", buf);
    ab_system_file_value(value, sizeof value, buf, "MemTotal", ':');
    double kib = ab_system_file_parse(value);
    host->memory_bytes = kib >= 0 && kib < 0x1p50 ? (uint64_t)kib * 1024 : 0;
    long page = sysconf(_SC_PAGESIZE);
    host->page_bytes = page > 0 ? (uint64_t)page : 0;
    host->load_1min = ab_system_file_number(root, "/proc/loadavg");
}

static void take_fingerprint(struct ab_host *host)
{
    char text[sizeof host->cpu + sizeof host->kernel + sizeof host->libc + 64];
    int n = snprintf(text, sizeof text, "cpu %s\ncpus %u\nkernel %s\nlibc %s\n", host->cpu,
                     host->cpus_online, host->kernel, host->libc);
    SHA256Data((const uint8_t *)text, (size_t)n, host->fingerprint);
}

void ab_environment_read_below(const char *root, struct ab_host *out)
{
    *out = (struct ab_host){.load_1min = NAN};
    read_cpu(root, out);
    read_kernel(out);
    read_governor(root, out);
    read_virt(out);
    read_thp(root, out);
    read_aslr(root, out);
    read_os(root, out);
    read_cpus(out);
    read_memory(root, out);
    take_fingerprint(out);
}

void ab_environment_read_name(struct ab_host *out)
{
    struct utsname u;
    if (uname(&u) == 0)
        ab_text_printable(out->name, sizeof out->name, u.nodename);
}

void ab_environment_read(struct ab_host *out)
{
    ab_environment_read_below("", out);
}
