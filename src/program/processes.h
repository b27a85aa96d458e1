/* SPDX-License-Identifier: MIT
 *
 * The processes of a program that runs, as /proc shows them: the child that was started, what it
 * started, and orphans of those, which are our children. Their resident memory is added up at each
 * look; pages that several share count for each.
 */
#ifndef AB_PROGRAM_PROCESSES_H
#define AB_PROGRAM_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_process {
    pid_t pid;
    bool is_proven;
    uint32_t n_doubts; /* looks at which it was not proven */
    uint64_t first_ns; /* first look */
};

struct ab_processes { /* begins as zeroes */
    struct ab_process *items;
    size_t n, cap;
    uint64_t last_pid; /* the newest on the system when children were listed */
    uint64_t first_ns, last_ns;
    double bytes;      /* resident at the last look */
    double byte_ns;    /* their sum over time */
    double peak_bytes; /* the most of all looks */
    uint32_t n_looks;
    bool is_blind; /* the system does not list children */
};

/* Adds up; processes that are gone leave the list, new ones join it. */
void ab_processes_look(struct ab_processes *t, uint64_t now_ns);
/* Mean since the first look; NaN where there were too few, or children are not listed. */
double ab_processes_mean_bytes(const struct ab_processes *t, uint64_t end_ns);
/* NULL = not in the list. */
struct ab_process *ab_processes_find(struct ab_processes *t, pid_t pid);
void ab_processes_fini(struct ab_processes *t);

/* Small reads of /proc, without stdio's buffers: they happen while a program is measured. */

/* At most cap − 1 bytes, terminated; how many, 0 = it cannot be read. */
size_t ab_proc_read(const char *path, char *buf, size_t cap);

/* How long a process could have run and had no CPU, as the kernel counts it: the second number of
 * /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux). */

/* ns, of the threads that it has now together; NaN where the system does not say. */
double ab_run_delay_ns(pid_t pid);

struct ab_run_delay_end { /* a process that has been looked at and may still be there */
    pid_t pid;
    uint64_t start; /* of a process: a later one can have the same id */
};
struct ab_run_delays { /* of processes that are about to end; begins as zeroes */
    double ns;
    struct ab_run_delay_end *ends;
    size_t n, cap;
};
/* Adds that of a process once, however many of its threads end it. */
void ab_run_delays_add(struct ab_run_delays *d, pid_t pid);
void ab_run_delays_fini(struct ab_run_delays *d);

#endif
