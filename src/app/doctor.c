/* SPDX-License-Identifier: MIT
 *
 * The checks of the machine, one function each, and a table of them in the order of the report. A
 * check that finds nothing leaves the state of its finding at "unknown".
 */
#include "app/doctor.h"

#include "backend/presets.h"
#include "backend/selection.h"
#include "base/bits.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/environment.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_doctor_state_names[AB_DOCTOR_STATE_COUNT] = {"ok", "note", "warning",
                                                                  "unknown"};

/* Sets all fields but id and why. Makes the texts printable and cuts them to the size of their
 * fields. */
static __attribute__((format(printf, 4, 5))) void set(struct ab_doctor_finding *f,
                                                      enum ab_doctor_state state,
                                                      const char *remedy, const char *found, ...)
{
    char text[sizeof f->found];
    va_list args;
    va_start(args, found);
    vsnprintf(text, sizeof text, found, args);
    va_end(args);
    f->state = state;
    ab_text_printable(f->found, sizeof f->found, text);
    ab_text_printable(f->remedy, sizeof f->remedy, remedy);
}

/* ---- frequency, threads of a core, CPUs for the measurement ---- */

#define CPU "/sys/devices/system/cpu"

static void look_at_governor(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *governor = view->host.governor;
    if (governor[0] == 0)
        set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not set the frequency here%s",
            strcmp(view->host.virt, "none") == 0 ? "" : ": the host does");
    else if (strcmp(governor, "performance") == 0)
        set(out, AB_DOCTOR_OK, "", "%s", governor);
    else
        set(out, AB_DOCTOR_WARNING, "sudo cpupower frequency-set -g performance", "%s", governor);
}

static void look_at_turbo(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double no_turbo = ab_system_file_number(view->root, CPU "/intel_pstate/no_turbo");
    double boost = ab_system_file_number(view->root, CPU "/cpufreq/boost");
    if (no_turbo == 1 || boost == 0)
        set(out, AB_DOCTOR_OK, "", "off");
    else if (!isnan(no_turbo) || !isnan(boost))
        set(out, AB_DOCTOR_WARNING,
            !isnan(no_turbo) ? "echo 1 | sudo tee " CPU "/intel_pstate/no_turbo"
                             : "echo 0 | sudo tee " CPU "/cpufreq/boost",
            "on");
}

/* Lists the first thread of each core, as "0,2,4"; at most 16 cores. */
static void list_cores(const char *root, char *buf, size_t cap)
{
    size_t n = 0;
    buf[0] = 0;
    for (int cpu = 0, n_cores = 0; cpu < 1024 && n_cores < 16; cpu++) {
        char path[128];
        AB_FIT(path, CPU "/cpu%d/topology/thread_siblings_list", cpu);
        double first = ab_system_file_number(root, path);
        if (!(first == cpu) || n + 8 > cap)
            continue;
        n += (size_t)snprintf(buf + n, cap - n, "%s%d", n_cores == 0 ? "" : ",", cpu);
        n_cores++;
    }
}

static void look_at_smt(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double active = ab_system_file_number(view->root, CPU "/smt/active");
    char cores[128], remedy[256];
    if (active == 0)
        set(out, AB_DOCTOR_OK, "", "%s",
            strcmp(view->host.virt, "none") == 0 ? "off"
                                                 : "not seen by this machine; its host may use it");
    if (!(active > 0))
        return;
    list_cores(view->root, cores, sizeof cores);
    AB_FIT(remedy, "echo off | sudo tee " CPU "/smt/control; or --cpus %s",
           cores[0] != 0 ? cores : "LIST, one CPU of each core");
    set(out, AB_DOCTOR_WARNING, remedy, "on: CPUs come in pairs of one core");
}

static void look_at_cpus(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    unsigned allowed = view->host.cpus_allowed, online = view->host.cpus_online;
    if (allowed == 0 || online == 0)
        return;
    if (allowed < 2)
        set(out, AB_DOCTOR_WARNING, online > 1 ? "taskset -pc 0-$(($(nproc --all) - 1)) $$" : "",
            "this process may use %u of %u", allowed, online);
    else
        set(out, AB_DOCTOR_OK, "", "this process may use %u of %u", allowed, online);
}

static void look_at_isolated(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char isolated[128], remedy[192];
    ab_system_file_text(view->root, CPU "/isolated", isolated, sizeof isolated);
    if (!ab_system_file_exists(view->root, CPU "/isolated"))
        return;
    if (isolated[0] == 0) {
        set(out, AB_DOCTOR_NOTE,
            view->host.cpus_online > 2 ? "boot with isolcpus=2 nohz_full=2, then --cpus 2" : "",
            "no CPU is isolated");
    } else {
        AB_FIT(remedy, "--cpus %s", isolated);
        set(out, AB_DOCTOR_NOTE, remedy, "CPUs %s", isolated);
    }
}

static void look_at_numa(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char nodes[128];
    ab_system_file_text(view->root, "/sys/devices/system/node/online", nodes, sizeof nodes);
    if (nodes[0] != 0 && strpbrk(nodes, ",-") == NULL)
        set(out, AB_DOCTOR_OK, "", "one node");
    else if (nodes[0] != 0)
        set(out, AB_DOCTOR_WARNING, "numactl --cpunodebind=0 --membind=0 allocbench …", "nodes %s",
            nodes);
}

/* ---- other work on this machine, and how time and instructions are counted ---- */

static void look_at_load(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double load = view->host.load_1min;
    if (!isnan(load))
        set(out, load < 0.5 ? AB_DOCTOR_OK : AB_DOCTOR_WARNING, load < 0.5 ? "" : "top",
            "%.2f processes ran or waited, mean of the last minute", load);
}

static void look_at_virt(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *virt = view->host.virt;
    if (virt[0] == 0)
        set(out, AB_DOCTOR_UNKNOWN, "", "not reported by the CPU");
    else if (strcmp(virt, "none") == 0)
        set(out, AB_DOCTOR_OK, "", "none");
    else
        set(out, AB_DOCTOR_NOTE, "--rounds 20 (of run, replay and exec)",
            "a virtual machine; its CPU says \"%s\"", virt);
}

/* Reads the share of stolen time since the machine started from the line "cpu user nice system idle
 * iowait irq softirq steal …". */
static void look_at_steal(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
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
    if (total > 0 && !isnan(steal))
        set(out, share < 0.005 ? AB_DOCTOR_OK : AB_DOCTOR_WARNING,
            share < 0.005 ? "" : "another host, or one with dedicated CPUs",
            "%.2f %% of the time since start", 100 * share);
}

static void look_at_clock_source(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
#define SOURCES "/sys/devices/system/clocksource/clocksource0/"
    static const char *const fast[] = {"tsc", "kvm-clock", "arch_sys_counter",
                                       "hyperv_clocksource_tsc_page"};
    char source[64];
    bool is_fast = false;
    ab_system_file_text(view->root, SOURCES "current_clocksource", source, sizeof source);
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        is_fast = is_fast || strcmp(source, fast[i]) == 0;
    if (source[0] != 0)
        set(out, is_fast ? AB_DOCTOR_OK : AB_DOCTOR_WARNING,
            is_fast ? "" : "echo tsc | sudo tee " SOURCES "current_clocksource", "%s", source);
}

/* True if the first line of flags in cpuinfo has the word `flag`. */
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

static void look_at_tsc(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(view->root, "/proc/cpuinfo", buf);
    bool is_constant = has_flag(buf, "constant_tsc"), is_nonstop = has_flag(buf, "nonstop_tsc");
    if (buf[0] == 0)
        return;
    if (strstr(buf, "\nflags") == NULL) /* aarch64, whose counter is constant by architecture */
        set(out, AB_DOCTOR_OK, "", "the architecture's counter");
    else if (is_constant && is_nonstop)
        set(out, AB_DOCTOR_OK, "", "constant_tsc, nonstop_tsc");
    else
        set(out, AB_DOCTOR_WARNING, "trust ns_per_op, not single latencies", "without %s%s%s",
            is_constant ? "" : "constant_tsc", is_constant || is_nonstop ? "" : ", ",
            is_nonstop ? "" : "nonstop_tsc");
}

static void look_at_counters(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double paranoid = ab_system_file_number(view->root, "/proc/sys/kernel/perf_event_paranoid");
    bool has_pmu = ab_system_file_exists(view->root, "/sys/bus/event_source/devices/cpu") ||
                   ab_system_file_exists(view->root, "/sys/bus/event_source/devices/cpu_core") ||
                   ab_system_file_exists(view->root, "/sys/bus/event_source/devices/armv8_pmuv3_0");
    char text[16];
    ab_system_file_text(view->root, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    if (!has_pmu)
        set(out, AB_DOCTOR_NOTE, "", "no hardware counters available");
    else if (text[0] == 0)
        set(out, AB_DOCTOR_UNKNOWN, "", "the kernel does not say who may use them");
    else if (paranoid > 2)
        set(out, AB_DOCTOR_WARNING, "sudo sysctl kernel.perf_event_paranoid=2",
            "for root alone (perf_event_paranoid %s)", text);
    else
        set(out, AB_DOCTOR_OK, "", "usable (perf_event_paranoid %s)", text);
}

/* ---- pages, swap, limits on memory, CPU time and files ---- */

static void look_at_thp(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *thp = view->host.thp;
    if (strcmp(thp, "always") == 0)
        set(out, AB_DOCTOR_WARNING,
            "--thp never; or echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
            "always");
    else if (thp[0] != 0)
        set(out, AB_DOCTOR_OK, "", "%s", thp);
}

static void look_at_aslr(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    const char *aslr = view->host.aslr;
    if (strcmp(aslr, "full") == 0)
        set(out, AB_DOCTOR_OK, "", "%s", aslr);
    else if (aslr[0] != 0)
        set(out, AB_DOCTOR_WARNING, "sudo sysctl kernel.randomize_va_space=2, without setarch -R",
            "%s", aslr);
}

static double meminfo(const char *root, const char *key)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file_value(value, sizeof value, ab_system_file(root, "/proc/meminfo", buf), key, ':');
    return 1024 * ab_system_file_parse(value);
}

static void look_at_swap(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double total = meminfo(view->root, "SwapTotal"), free = meminfo(view->root, "SwapFree");
    char used[32], all[32];
    if (isnan(total) || isnan(free))
        return;
    if (total == 0)
        set(out, AB_DOCTOR_OK, "", "none");
    else
        set(out, total > free ? AB_DOCTOR_WARNING : AB_DOCTOR_NOTE, "sudo swapoff -a",
            "%s of %s used", ab_units_bytes(used, sizeof used, total - free),
            ab_units_bytes(all, sizeof all, total));
}

static void look_at_overcommit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double mode = ab_system_file_number(view->root, "/proc/sys/vm/overcommit_memory");
    if (!isnan(mode))
        set(out, mode == 2 ? AB_DOCTOR_WARNING : AB_DOCTOR_OK,
            mode == 2 ? "sudo sysctl vm.overcommit_memory=0" : "", "vm.overcommit_memory is %.0f",
            mode);
}

static void look_at_memory_limit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    enum { PLENTY = 1 << 30 }; /* bytes that every workload of allocbench fits into */
    uint64_t limit = ab_control_group_memory(view->root), all = view->host.memory_bytes;
    char shown[32], total[32];
    if (limit == UINT64_MAX || (all > 0 && limit >= all))
        set(out, AB_DOCTOR_OK, "", "none");
    else
        set(out, limit < PLENTY ? AB_DOCTOR_WARNING : AB_DOCTOR_NOTE,
            limit < PLENTY ? "docker run --memory 2g …; or systemd-run -p MemoryMax=2G …" : "",
            "%s of %s", ab_units_bytes(shown, sizeof shown, (double)limit),
            all > 0 ? ab_units_bytes(total, sizeof total, (double)all) : "an unknown amount");
}

static void look_at_cpu_limit(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double limit = ab_control_group_cpus(view->root);
    if (!isfinite(limit))
        set(out, AB_DOCTOR_OK, "", "none");
    else
        set(out, AB_DOCTOR_WARNING,
            "docker run --cpuset-cpus 0,1 … without --cpus; or systemd-run -p CPUQuota= …",
            "the time of %.3g CPUs", limit);
}

/* Returns the soft limit `name` in /proc/self/limits; INFINITY = none, NaN = unknown. */
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

static void look_at_address_space(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    double limit = soft_limit(view->root, "\nMax address space");
    char shown[32];
    if (isinf(limit))
        set(out, AB_DOCTOR_OK, "", "unlimited");
    else if (!isnan(limit))
        set(out, AB_DOCTOR_WARNING, "ulimit -v unlimited", "%s",
            ab_units_bytes(shown, sizeof shown, limit));
}

static void look_at_open_files(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    enum { PLENTY = 256 };
    double limit = soft_limit(view->root, "\nMax open files");
    if (isinf(limit))
        set(out, AB_DOCTOR_OK, "", "unlimited");
    else if (!isnan(limit))
        set(out, limit < PLENTY ? AB_DOCTOR_WARNING : AB_DOCTOR_OK,
            limit < PLENTY ? "ulimit -n 4096" : "", "%.0f", limit);
}

/* ---- useful programs and libraries; a missing one is not a warning ---- */

static void find_tool(const struct ab_doctor_view *view, const char *name, const char *remedy,
                      struct ab_doctor_finding *out)
{
    char path[PATH_MAX];
    for (const char *s = view->path; s != NULL && *s != 0;) {
        size_t n = strcspn(s, ":");
        if (n > 0 && s[0] == '/' &&
            snprintf(path, sizeof path, "%.*s/%s", (int)n, s, name) < (int)sizeof path &&
            ab_system_file_exists(view->root, path)) {
            set(out, AB_DOCTOR_OK, "", "%s", path);
            return;
        }
        s += n + (s[n] == ':');
    }
    set(out, AB_DOCTOR_NOTE, remedy, "not installed");
}

static void look_at_valgrind(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    find_tool(view, "valgrind", "sudo apt install valgrind", out);
}

static bool look_at_library(size_t i, struct ab_doctor_finding *out)
{
    struct ab_selection_list list;
    struct ab_err err;
    char remedy[128];
    if (i >= ab_preset_count())
        return false;
    const struct ab_preset *p = ab_preset_at(i);
    *out = (struct ab_doctor_finding){.id = p->name,
                                      .why = "a malloc library that can be measured by its name"};
    if (ab_selection_parse(&p->name, 1, NULL, &list, &err) != AB_OK) {
        set(out, AB_DOCTOR_UNKNOWN, "", "%s", err.text);
        return true;
    }
    const struct ab_selection *s = &list.items[0];
    AB_FIT(remedy, "sudo apt install %s", p->package);
    if (s->state == AB_SELECTION_OK)
        set(out, AB_DOCTOR_OK, "", "%s", s->version[0] != 0 ? s->version : s->path);
    else
        set(out, AB_DOCTOR_NOTE, remedy, "%s",
            s->state == AB_SELECTION_ABSENT ? "not installed" : s->reason);
    ab_selection_list_fini(&list);
    return true;
}

/* ---- the table of all checks ---- */

/* The checks. Their ids must not change, because scripts select by them. `why` is a sentence that
 * is shown after "why:". */
static const struct {
    const char *id;
    void (*look)(const struct ab_doctor_view *view, struct ab_doctor_finding *out);
    const char *why;
} checks[] = {
    {"governor", look_at_governor,
     "a clock that follows the load makes the same work faster or slower from run to run"},
    {"turbo", look_at_turbo,
     "turbo frequencies depend on temperature and on how many cores are busy"},
    {"smt", look_at_smt,
     "two threads on one core share its caches and units: a neighbour slows the other "
     "by a third or more"},
    {"cpus", look_at_cpus, "with one CPU the measured process takes turns with everything else"},
    {"isolated", look_at_isolated, "the scheduler puts other work on CPUs that are not isolated"},
    {"numa", look_at_numa,
     "memory of another node is slower, and which node it comes from differs from run to run"},
    {"load", look_at_load, "other processes take CPU time, caches and memory bandwidth"},
    {"virtualization", look_at_virt,
     "other virtual machines of the host share caches and memory bandwidth, unseen"},
    {"steal", look_at_steal, "time in which the host ran something else is in every measured time"},
    {"clock-source", look_at_clock_source,
     "the kernel keeps a slow clock where it does not trust the CPU's counter, and times "
     "are read from that counter"},
    {"tsc", look_at_tsc,
     "latencies are ticks of the CPU's counter: it must run at one rate, in idle CPUs as well"},
    {"counters", look_at_counters,
     "instructions are counted by the CPU's counters; valgrind is slower and sees a "
     "part of the work"},
    {"thp", look_at_thp,
     "with huge pages for everything memory is resident in steps of 2 MiB, and times "
     "depend on whether such a page was free"},
    {"aslr", look_at_aslr,
     "with fixed addresses all rounds share one layout, a fast or a slow one"},
    {"swap", look_at_swap,
     "a page that was swapped out is not resident, and coming back it takes milliseconds"},
    {"overcommit", look_at_overcommit,
     "allocators reserve more address space than they use; strict accounting refuses it"},
    {"memory-limit", look_at_memory_limit,
     "the kernel kills what exceeds the limit of its control group"},
    {"cpu-limit", look_at_cpu_limit,
     "a process that has used its quota stands still until the next period, for up to 0.1 s"},
    {"address-space", look_at_address_space,
     "allocators reserve more address space than they use; ulimit -v counts it all"},
    {"open-files", look_at_open_files, "each run needs some files, each recorded thread as well"},
    {"valgrind", look_at_valgrind, "counts instructions where the CPU's counters cannot be read"},
};

void ab_doctor_look(const char *root, const char *path, struct ab_doctor_view *out)
{
    *out = (struct ab_doctor_view){.root = root, .path = path};
    ab_environment_read_below(root, &out->host);
}

size_t ab_doctor_run(const struct ab_doctor_view *view, struct ab_doctor_finding *out)
{
    size_t n = 0;
    for (; n < AB_ARRAY_LEN(checks); n++) {
        out[n] = (struct ab_doctor_finding){.id = checks[n].id,
                                            .why = checks[n].why,
                                            .state = AB_DOCTOR_UNKNOWN,
                                            .found = "the kernel does not say"};
        checks[n].look(view, &out[n]);
    }
    for (size_t i = 0; n < AB_DOCTOR_MAX && look_at_library(i, &out[n]); i++)
        n++;
    return n;
}

void ab_diagnosis_make(struct ab_diagnosis *d)
{
    const char *root = getenv("ALLOCBENCH_DOCTOR_ROOT"), *path = getenv("PATH");
    ab_doctor_look(root != NULL ? root : "", path != NULL ? path : "", &d->view);
    d->n = ab_doctor_run(&d->view, d->findings);
    for (size_t i = 0; i < d->n; i++)
        d->counts[d->findings[i].state]++;
}
