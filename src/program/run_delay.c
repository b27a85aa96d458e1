/* SPDX-License-Identifier: MIT
 *
 * Adds up over the threads of a process. Where the kernel does not count, the file is not there or
 * all of it is 0.
 */
#include "program/run_delay.h"

#include "program/proc.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

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
