/* SPDX-License-Identifier: MIT
 *
 * Processes of a running program, as /proc shows them: the started child, its descendants, and
 * orphans of those, which become our children. Resident memory is summed at each sample; a page
 * that several processes share counts for each.
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
    uint32_t n_looks;  /* samples in a trial */
    uint64_t first_ns; /* time of the first sample */
};

struct ab_processes { /* zero-initialize it, free `items` */
    struct ab_process *items;
    size_t n, cap;
    /* newest process id on the system when the children were last listed; 0 = not known */
    uint64_t last_pid;
    uint64_t first_ns, last_ns;
    double bytes;      /* resident memory at the last sample */
    double byte_ns;    /* sum of bytes over time, for the mean */
    double peak_bytes; /* maximum of the resident memory over all samples */
    uint32_t n_looks;
    pid_t others;  /* process group of a server's load, which is not counted; 0 = none */
    bool is_blind; /* True if the system does not list children */
};

/* Samples the memory of all processes. Removes processes that are gone and adds new ones. */
void ab_processes_update(struct ab_processes *t, uint64_t now_ns);
/* Returns the mean memory since the first sample. NaN if there were too few samples, or children
 * are not listed. */
double ab_processes_mean_bytes(const struct ab_processes *t, uint64_t end_ns);
/* True if no process of the program can run while `pid` is held. Its ancestors up to `root`, our
 * child, wait for their children, and no other child of theirs or ours is alive. */
bool ab_processes_wait_for(const struct ab_processes *t, pid_t pid, pid_t root);
/* Returns NULL if `pid` is not in the list. */
struct ab_process *ab_processes_find(struct ab_processes *t, pid_t pid);

/* Time that a process could have run but had no CPU, as the kernel counts it. It is the second
 * number of /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst of Linux). */

/* Returns the time without a CPU of all current threads of a process together, in ns; NaN = the
 * system does not count it. */
double ab_run_delay_ns(pid_t pid);

struct ab_run_delay_end { /* a process that was already added and may still exist */
    pid_t pid;
    uint64_t start; /* start time of the process, because a later process can have the same id */
};
/* Sum of the times without a CPU, over processes that are about to end. Zero-initialize it, free
 * `ends`. */
struct ab_run_delays {
    double ns;
    struct ab_run_delay_end *ends;
    size_t n, cap;
};
/* Adds the time without a CPU of a process that is about to end. Adds it once, even if several of
 * its threads end the process. Returns false if it was already added. */
bool ab_run_delays_add(struct ab_run_delays *d, pid_t pid);

#endif
