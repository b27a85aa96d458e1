/* SPDX-License-Identifier: MIT
 *
 * Lists children only when the system has started a process since: a look at a program of one
 * process is one small read.
 */
#include "program/processes.h"

#include "core/grow.h"
#include "program/proc.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
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
    if (ab_processes_find(t, pid) == NULL && AB_GROW(t->items, t->cap, t->n))
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
