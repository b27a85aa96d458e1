/* SPDX-License-Identifier: MIT
 *
 * Lists children only when the system has started a process since: a look at a program of one
 * process is one small read.
 */
#include "program/processes.h"

#include "core/grow.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
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

/* Those that one thread has started: "1234 1240 ". */
static void add_children(struct ab_processes *t, const char *task, uint64_t now_ns)
{
    char path[PATH_MAX], text[1 << 16];
    snprintf(path, sizeof path, "%s/children", task);
    if (ab_proc_read(path, text, sizeof text) == 0)
        t->is_blind = t->is_blind || access(path, F_OK) != 0;
    char *s = text, *end;
    for (long pid; (pid = strtol(s, &end, 10)) > 0 && end != s; s = end)
        if (!ab_supervise_is_inherited((pid_t)pid))
            add(t, (pid_t)pid, now_ns);
}

static void list_children(struct ab_processes *t, pid_t parent, uint64_t now_ns)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(task, sizeof task, "%s/%s", path, e->d_name);
            add_children(t, task, now_ns);
        }
    if (tasks != NULL)
        closedir(tasks);
}

/* "0.00 0.01 0.05 1/123 4567": the last. 0 = not known. */
static uint64_t newest_pid(void)
{
    char text[128];
    size_t n = ab_proc_read("/proc/loadavg", text, sizeof text);
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
    for (size_t i = 0; i < t->n; i++) { /* grows behind i */
        bool was_blind = t->is_blind;
        list_children(t, t->items[i].pid, now_ns);
        t->is_blind = was_blind; /* one that has just ended shows nothing */
    }
}

/* False: it is gone. A process that has ended and was not waited for has none. */
static bool add_resident(pid_t pid, double *bytes)
{
    char path[64], text[128];
    unsigned long long size, resident;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (ab_proc_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu", &size, &resident) != 2)
        return false;
    *bytes += (double)resident * (double)sysconf(_SC_PAGESIZE);
    return true;
}

void ab_processes_look(struct ab_processes *t, uint64_t now_ns)
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

void ab_processes_fini(struct ab_processes *t)
{
    free(t->items);
    *t = (struct ab_processes){0};
}

/* Reads to the end: files of /proc come in parts. */

size_t ab_proc_read(const char *path, char *buf, size_t cap)
{
    size_t n = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n + 1 < cap && (got = read(fd, buf + n, cap - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    buf[n] = 0;
    return n;
}

/* Adds up over the threads of a process. Where the kernel does not count, the file is not there or
 * all of it is 0. */

static double delay_of_thread(const char *task)
{
    char path[PATH_MAX], text[128];
    unsigned long long cpu_ns, delay_ns, n_slices;
    snprintf(path, sizeof path, "%s/schedstat", task);
    if (ab_proc_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu %llu", &cpu_ns, &delay_ns, &n_slices) != 3 || n_slices == 0)
        return NAN;
    return (double)delay_ns;
}

double ab_run_delay_ns(pid_t pid)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    double ns = 0;
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(task, sizeof task, "%s/%s", path, e->d_name);
            ns += delay_of_thread(task);
            n++;
        }
    if (tasks != NULL)
        closedir(tasks);
    return n > 0 ? ns : (double)NAN;
}

/* The 22nd field of /proc/PID/stat; the second, a name, may have anything in it. 0 = not known. */
static uint64_t start_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ab_proc_read(path, text, sizeof text);
    const char *rest = strrchr(text, ')');
    if (rest == NULL || sscanf(rest + 1,
                               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %*s %llu",
                               &start) != 1)
        return 0;
    return start;
}

/* A process is remembered no longer than it is there: only so long can one of its threads come. */
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

void ab_run_delays_add(struct ab_run_delays *d, pid_t pid)
{
    uint64_t start = start_of(pid);
    if (is_known(d, pid, start))
        return;
    AB_GROW(d->ends, d->cap, d->n);
    d->ends[d->n++] = (struct ab_run_delay_end){pid, start};
    d->ns += ab_run_delay_ns(pid);
}

void ab_run_delays_fini(struct ab_run_delays *d)
{
    free(d->ends);
    *d = (struct ab_run_delays){0};
}
