/* SPDX-License-Identifier: MIT
 *
 * Adds up over the threads of a process. Where the kernel does not count, the file is not there or
 * all of it is 0.
 */
#include "program/run_delay.h"

#include "core/grow.h"
#include "program/proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
