/* SPDX-License-Identifier: MIT
 *
 * Watches one worker (or a program that is measured) until it is gone, with everything it may have
 * started: deadline, memory bound, interruption; TERM, grace, KILL of the whole group; orphans are
 * ours (subreaper).
 */
#ifndef AB_RUNNER_SUPERVISE_H
#define AB_RUNNER_SUPERVISE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum ab_end { /* why a worker ended */
              AB_END_ITSELF,
              AB_END_DEADLINE,
              AB_END_MEMORY,
              AB_END_INTERRUPTED,
};

struct ab_ending {
    enum ab_end end;
    int wait_status;
    bool ignored_term;     /* it took KILL */
    unsigned n_left;       /* processes it left behind, killed */
    int sent_signal;       /* that it sent us to end us, 0 = none */
    bool oom_killed;       /* the kernel's OOM killer was at work meanwhile */
    uint64_t rss_bytes;    /* last seen, of AB_END_MEMORY */
    uint64_t gone_ns;      /* ab_clock_now_ns when its end was seen */
    uint64_t maxrss_bytes; /* ru_maxrss of it and of the children it waited for */
};

/* Who looks on while a process runs: also while it is being ended, when it may still need answers
 * before it can go. */
struct ab_watch {
    struct pollfd *fds; /* wake it up; one that is done becomes −1 */
    unsigned n_fds;
    int period_ms;            /* the longest between two looks */
    void (*look)(void *user); /* after each wait; revents are fresh */
    void *user;
};
enum { AB_WATCH_FDS_MAX = 6 };

/* Once, before the first worker: orphans of workers become our children; SIGINT, SIGTERM and
 * SIGHUP set a flag instead of ending us. */
void ab_supervise_begin(void);
/* Signals from this worker, and from what it starts, do not count as a user's wish to stop. Call it
 * while signals are blocked, before its first; ab_supervise calls it where nobody has. */
void ab_supervise_expect(pid_t worker);
/* The signal that asked us to stop, 0 = none. */
int ab_supervise_signal(void);

struct ab_ending ab_supervise(pid_t worker, uint64_t deadline_ns, uint64_t memory_limit_bytes);
/* The same with somebody who looks on, and no bound on memory. */
struct ab_ending ab_supervise_watched(pid_t worker, uint64_t deadline_ns,
                                      const struct ab_watch *watch);
/* Was this child there before ab_supervise_begin? */
bool ab_supervise_is_inherited(pid_t pid);

#endif
