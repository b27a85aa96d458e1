/* SPDX-License-Identifier: MIT
 *
 * The processes of a program. Lists children only if the system has started a process since the
 * last time, so that a sample of a program of one process is one small read.
 */
#include "program/processes.h"

#include "core/alloc.h"
#include "core/system_file.h"
#include "core/text.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOKS_LEAST = 5 };

struct ab_process *ab_processes_find(struct ab_processes *t, pid_t pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].pid == pid)
            return &t->items[i];
    return NULL;
}

static void add(struct ab_processes *t, pid_t pid, uint64_t now_ns)
{
    if (ab_processes_find(t, pid) != NULL)
        return;
    AB_GROW(t->items, t->cap, t->n);
    t->items[t->n++] = (struct ab_process){.pid = pid, .first_ns = now_ns};
}

/* Adds the children of one thread, from text such as "1234 1240 ". */
static void add_children(struct ab_processes *t, const char *task, uint64_t now_ns)
{
    char path[PATH_MAX], text[1 << 16];
    AB_FIT(path, "%s/children", task);
    if (ab_system_file_read(path, text, sizeof text) == 0)
        t->is_blind = t->is_blind || access(path, F_OK) != 0;
    char *s = text, *end;
    for (long pid; (pid = strtol(s, &end, 10)) > 0 && end != s; s = end)
        if (!ab_supervise_is_inherited((pid_t)pid) &&
            (t->others == 0 || getpgid((pid_t)pid) != t->others))
            add(t, (pid_t)pid, now_ns);
}

static void list_children(struct ab_processes *t, pid_t parent, uint64_t now_ns)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    AB_FIT(path, "/proc/%d/task", (int)parent);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            AB_FIT(task, "%s/%s", path, e->d_name);
            add_children(t, task, now_ns);
        }
    if (tasks != NULL)
        closedir(tasks);
}

/* Returns the newest process id, the last word of "0.00 0.01 0.05 1/123 4567". 0 = not known. */
static uint64_t newest_pid(void)
{
    char text[128];
    size_t n = ab_system_file_read("/proc/loadavg", text, sizeof text);
    const char *blank = n > 0 ? strrchr(text, ' ') : NULL;
    return blank != NULL ? strtoull(blank, NULL, 10) : 0;
}

static void list(struct ab_processes *t, uint64_t now_ns)
{
    uint64_t newest = newest_pid();
    if (newest != 0 && newest == t->last_pid)
        return;
    t->last_pid = newest;
    t->is_blind = false;
    list_children(t, getpid(), now_ns);
    /* t->n is read again each time, because the list grows during the loop */
    for (size_t i = 0; i < t->n; i++) {
        bool was_blind = t->is_blind;
        list_children(t, t->items[i].pid, now_ns);
        /* a process that has just ended has no file that lists its children; that does not make us
         * blind */
        t->is_blind = was_blind;
    }
}

/* Adds the resident memory of a process. Returns false if it is gone; a zombie has no memory. */
static bool add_resident(pid_t pid, double *bytes)
{
    char path[64], text[128];
    unsigned long long size, resident;
    AB_FIT(path, "/proc/%d/statm", (int)pid);
    if (ab_system_file_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu", &size, &resident) != 2)
        return false;
    *bytes += (double)resident * (double)sysconf(_SC_PAGESIZE);
    return true;
}

void ab_processes_update(struct ab_processes *t, uint64_t now_ns)
{
    double bytes = 0;
    size_t kept = 0;
    list(t, now_ns);
    for (size_t i = 0; i < t->n; i++)
        if (add_resident(t->items[i].pid, &bytes))
            t->items[kept++] = t->items[i];
    t->n = kept;
    if (t->n_looks == 0)
        t->first_ns = now_ns;
    else
        t->byte_ns += t->bytes * (double)(now_ns - t->last_ns);
    t->n_looks++;
    t->last_ns = now_ns;
    t->bytes = bytes;
    t->peak_bytes = fmax(t->peak_bytes, bytes);
}

double ab_processes_mean_bytes(const struct ab_processes *t, uint64_t end_ns)
{
    if (t->n_looks < LOOKS_LEAST || t->is_blind || end_ns <= t->first_ns)
        return NAN;
    double rest = end_ns > t->last_ns ? t->bytes * (double)(end_ns - t->last_ns) : 0;
    return (t->byte_ns + rest) / (double)(end_ns - t->first_ns);
}

/* Reads the state and the parent of a process or thread from its folder in /proc. Returns 0 if
 * it is gone. */
static char state_of(const char *folder, pid_t *parent)
{
    struct ab_process_stat stat;
    if (!ab_process_stat(folder, &stat))
        return 0;
    *parent = stat.parent;
    return stat.state;
}

static bool has_ended(pid_t pid)
{
    char folder[64];
    pid_t parent;
    AB_FIT(folder, "/proc/%d", (int)pid);
    char state = state_of(folder, &parent);
    return state == 0 || state == 'Z' || state == 'X';
}

/* True if `child` is the only living child of a thread. */
static bool has_no_other(const struct ab_processes *t, const char *task, pid_t child)
{
    char path[PATH_MAX], text[4096], *end;
    AB_FIT(path, "%s/children", task);
    size_t n = ab_system_file_read(path, text, sizeof text);
    if (n + 1 >= sizeof text)
        return false;
    char *s = text;
    for (long pid; n > 0 && (pid = strtol(s, &end, 10)) > 0 && end != s; s = end)
        if (pid != child && !ab_supervise_is_inherited((pid_t)pid) &&
            (t->others == 0 || getpgid((pid_t)pid) != t->others) && !has_ended((pid_t)pid))
            return false;
    return true;
}

/* True if no thread of `parent` runs, and `child` is its only living child. A thread that waits
 * for a child of vfork is in state D. */
static bool waits_for(const struct ab_processes *t, pid_t parent, pid_t child, const char *states)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    bool waits = true;
    pid_t ignored;
    AB_FIT(path, "/proc/%d/task", (int)parent);
    DIR *tasks = opendir(path);
    for (struct dirent *e; waits && tasks != NULL && (e = readdir(tasks)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        AB_FIT(task, "%s/%s", path, e->d_name);
        char state = state_of(task, &ignored);
        waits = (parent == getpid() || (state != 0 && strchr(states, state) != NULL)) &&
                has_no_other(t, task, child);
    }
    if (tasks != NULL)
        closedir(tasks);
    return waits && tasks != NULL;
}

enum { ANCESTORS_MOST = 64 };

bool ab_processes_wait_for(const struct ab_processes *t, pid_t pid, pid_t root)
{
    const char *states = "SD";
    for (int i = 0; pid != root && i < ANCESTORS_MOST; i++, states = "S") {
        char folder[64];
        pid_t parent = 0;
        AB_FIT(folder, "/proc/%d", (int)pid);
        if (state_of(folder, &parent) == 0 || parent == getpid() ||
            !waits_for(t, parent, pid, states))
            return false;
        pid = parent;
    }
    return pid == root && waits_for(t, getpid(), root, "");
}

/* ---- time without a CPU ----
 *
 * If the kernel does not count it, the file is missing or contains only zeroes. */

static double delay_of_thread(const char *task)
{
    char path[PATH_MAX], text[128];
    unsigned long long cpu_ns, delay_ns, n_slices;
    AB_FIT(path, "%s/schedstat", task);
    if (ab_system_file_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu %llu", &cpu_ns, &delay_ns, &n_slices) != 3 || n_slices == 0)
        return NAN;
    return (double)delay_ns;
}

double ab_run_delay_ns(pid_t pid)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    double ns = 0;
    unsigned n = 0;
    AB_FIT(path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            AB_FIT(task, "%s/%s", path, e->d_name);
            ns += delay_of_thread(task);
            n++;
        }
    if (tasks != NULL)
        closedir(tasks);
    return n > 0 ? ns : (double)NAN;
}

/* True if the delay of this process was already added. Removes processes that are gone from the
 * list, because no thread of theirs can come any more. */
static bool is_known(struct ab_run_delays *d, pid_t pid, uint64_t start)
{
    bool found = false;
    size_t kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct ab_run_delay_end end = d->ends[i];
        bool is_same = end.pid == pid;
        found = found || (is_same && end.start == start);
        if (is_same ? end.start == start : kill(end.pid, 0) == 0 || errno != ESRCH)
            d->ends[kept++] = end;
    }
    d->n = kept;
    return found;
}

bool ab_run_delays_add(struct ab_run_delays *d, pid_t pid)
{
    struct ab_process_stat stat;
    uint64_t start = ab_process_stat_of(pid, &stat) ? stat.start_ticks : 0;
    if (is_known(d, pid, start))
        return false;
    AB_GROW(d->ends, d->cap, d->n);
    d->ends[d->n++] = (struct ab_run_delay_end){pid, start};
    d->ns += ab_run_delay_ns(pid);
    return true;
}
