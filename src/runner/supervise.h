/* SPDX-License-Identifier: MIT
 *
 * Watches one worker (or a program that is measured) until it is gone, with everything it may have
 * started: deadline, memory bound, interruption; TERM, grace, KILL of the whole group; orphans are
 * ours (subreaper).
 */
#ifndef AB_RUNNER_SUPERVISE_H
#define AB_RUNNER_SUPERVISE_H

#include "core/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
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
    struct rusage usage;   /* … and all else of these */
};

/* Who looks on while a process runs: also while it is being ended, when it may still need answers
 * before it can go. */
struct ab_watch {
    struct pollfd *fds; /* wake it up; one that is done becomes −1 */
    unsigned n_fds;
    int period_ms;               /* the longest between two looks */
    const uint64_t *held_ns;     /* that the process waited for us: not counted for its deadline */
    void (*on_wake)(void *user); /* after each wait; revents are fresh */
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

/* Starts one worker: a fresh process with an environment that is built, not inherited, in a
 * process group of its own, tied to the parent's life. */

struct ab_spawn {
    const char *worker_path;
    int tape_fd, run_fd;      /* become AB_WORKER_FD_… */
    int stdout_fd, stderr_fd; /* captures */
    const char *preload;      /* library to preload, NULL = none */
    const char *clock;        /* one ahead of it that tells the time, NULL = none */
    bool is_thp_off;          /* no transparent huge pages, by prctl */
    bool is_plugin;           /* dlopen needs more static TLS than the default */
    const char *const *env;   /* what the user adds, ends with NULL; NULL = nothing */
    const char *const *under; /* program that runs the worker, with its arguments; NULL = none */
    int calls_fd;             /* becomes AB_WORKER_FD_CALLS; 0 = none */
    int placement_fd;         /* becomes AB_WORKER_FD_PLACEMENT; 0 = none */
    int owners_fd;            /* becomes AB_WORKER_FD_OWNERS; 0 = none */
    bool is_layout_fixed;     /* no random addresses */
};

enum ab_status ab_spawn(const struct ab_spawn *spawn, pid_t *out, struct ab_err *err);

/* This process becomes the worker, with its own standard output and error; comes back only when it
 * cannot. */
enum ab_status ab_spawn_become(const struct ab_spawn *spawn, struct ab_err *err);

/* Path of a file that belongs to this binary (the worker, the recorder): beside it in the build
 * tree, or where `make install` puts it. */
enum ab_status ab_companion_path(const char *name, char *out, size_t cap, struct ab_err *err);
#define AB_WORKER_NAME "allocbench-worker"
#define AB_RECORDER_NAME "liballocbench-record.so"
#define AB_FRAMES_NAME "liballocbench-frames.so"
#define AB_CLOCK_NAME "liballocbench-clock.so"

/* ---- what a child does between fork and exec, whatever it becomes; safe in a vfork child ---- */

/* A group of its own, tied to the life of `parent`; no new privileges, no core file, first to go
 * where memory runs out. */
void ab_spawn_detach(pid_t parent);
/* As a shell would start it. */
void ab_spawn_reset_signals(void);
/* Reports errno to the parent, through a pipe that closes on exec, and ends. */
_Noreturn void ab_spawn_give_up(int told);

/* In the parent: blocks until the child has become what it should (0) or has given up (its
 * errno). */
int ab_spawn_await_exec(int listen);

/* A byte, and the descriptor beside it: *fd stays as it is where there is none. False: the other end
 * has gone. */
bool ab_receive_descriptor(int from, int *fd);

struct ab_notice { /* a system call that waits for our answer */
    uint64_t id;
    pid_t thread;
    int call;
    uint64_t first; /* its first argument */
};
/* Lets who waits for an answer and who gives it take turns on one CPU, without a wait in between, where the kernel can
 * (Linux 6.6). */
void ab_notice_take_turns(int listener);
/* False with errno: there is none, because who called was killed. To be called when the listener is
 * readable. */
bool ab_notice_next(int listener, struct ab_notice *out);
void ab_notice_go_on(int listener, const struct ab_notice *notice);

/* LD_PRELOAD splits at spaces and colons and expands '$'. */
bool ab_spawn_needs_alias(const char *path);

/* Raises the soft limit on the stack, which workers inherit, to what allocbench and a worker need at
 * least: with less their own code would end them, and the back end would be blamed. AB_SYSTEM: the
 * hard limit is lower. */
enum ab_status ab_spawn_fit_stack(struct ab_err *err);

#endif
