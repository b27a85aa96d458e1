/* SPDX-License-Identifier: MIT
 *
 * Watches one worker (or a measured program) until it and all processes that it started are gone.
 * Handles the deadline, the memory limit and interruptions. Ends the whole process group with TERM,
 * a grace period, then KILL. Orphans become children of this process (subreaper).
 */
#ifndef AB_RUNNER_SUPERVISE_H
#define AB_RUNNER_SUPERVISE_H

#include "core/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum ab_end { /* reason why a worker ended */
              AB_END_ITSELF,
              AB_END_DEADLINE,
              AB_END_MEMORY,
              AB_END_INTERRUPTED,
};

struct ab_ending {
    enum ab_end end;
    int wait_status;
    bool ignored_term; /* KILL was necessary */
    unsigned n_left;   /* number of processes that the worker left running; they were killed */
    int sent_signal;   /* signal that the worker sent to this process to end it; 0 = none */
    bool oom_killed;   /* the kernel's OOM killer killed some process while the worker ran */
    /* resident memory of the worker at the last reading; for AB_END_MEMORY */
    uint64_t rss_bytes;
    uint64_t gone_ns;      /* ab_clock_now_ns() when the worker's end was noticed */
    uint64_t maxrss_bytes; /* ru_maxrss, over the worker and the children that it waited for */
    struct rusage usage;   /* all resources that they used */
};

/* Callbacks while a process runs. They continue while it is being ended, because it may still need
 * answers before it can exit. */
struct ab_watch {
    struct pollfd *fds; /* descriptors that end a wait; set to −1 when they are finished */
    unsigned n_fds;
    int period_ms; /* longest time between two wake-ups, in ms */
    /* time that the process waited for this process; the deadline is later by this time */
    const uint64_t *held_ns;
    /* called after each wait; the revents of fds are those of this wait */
    void (*on_wake)(void *user);
    void *user;
};
enum { AB_WATCH_FDS_MAX = 6 };

/* Prepares supervision, once, before the first worker. Orphans of workers become our children.
 * SIGINT, SIGTERM and SIGHUP set a flag instead of ending this process. */
void ab_supervise_begin(void);
/* Names the worker whose signals, and those of its children, do not count as requests to stop. Call
 * it with signals blocked, before the worker can send any. ab_supervise calls it if nobody has. */
void ab_supervise_expect(pid_t worker);

struct ab_ending ab_supervise(pid_t worker, uint64_t deadline_ns, uint64_t memory_limit_bytes);
/* Like ab_supervise, with callbacks and without a memory limit. */
struct ab_ending ab_supervise_watched(pid_t worker, uint64_t deadline_ns,
                                      const struct ab_watch *watch);
/* True if this child existed before ab_supervise_begin. */
bool ab_supervise_is_inherited(pid_t pid);

/* Starts one worker: a fresh process with a constructed environment (not inherited), in its own
 * process group, that dies with its parent. */

struct ab_spawn {
    const char *worker_path;
    int tape_fd, run_fd;      /* descriptors that become AB_WORKER_FD_TAPE and AB_WORKER_FD_RUN */
    int stdout_fd, stderr_fd; /* destinations of the worker's standard output and standard error */
    const char *preload;      /* library to preload; NULL = none */
    /* library of the virtual clock, preloaded before `preload`; NULL = none */
    const char *clock;
    bool is_thp_off; /* disable transparent huge pages with prctl */
    /* a library is opened with dlopen, which needs more static TLS than the default */
    bool is_plugin;
    /* variables of the user, added to the constructed environment; ends with NULL; NULL = none */
    const char *const *env;
    const char *const *under; /* program that runs the worker, with arguments; NULL = none */
    int calls_fd;             /* descriptor that becomes AB_WORKER_FD_CALLS; 0 = none */
    int placement_fd;         /* descriptor that becomes AB_WORKER_FD_PLACEMENT; 0 = none */
    int owners_fd;            /* descriptor that becomes AB_WORKER_FD_OWNERS; 0 = none */
    bool is_layout_fixed;     /* disable address randomization */
};

enum ab_status ab_spawn(const struct ab_spawn *spawn, pid_t *out, struct ab_err *err);

/* Turns this process into the worker, with its own standard output and error. Returns only on
 * failure. */
enum ab_status ab_spawn_become(const struct ab_spawn *spawn, struct ab_err *err);

/* Finds a file that belongs to this binary (the worker, the recorder): beside it in the build tree,
 * or where `make install` puts it. */
enum ab_status ab_companion_path(const char *name, char *out, size_t cap, struct ab_err *err);
#define AB_WORKER_NAME "allocbench-worker"
#define AB_RECORDER_NAME "liballocbench-record.so"
#define AB_FRAMES_NAME "liballocbench-frames.so"
#define AB_CLOCK_NAME "liballocbench-clock.so"

/* ---- functions that a child calls between fork and exec, whatever program it becomes; safe in a
 * vfork child ---- */

/* Prepares a child. Creates a process group, and has the kernel kill the child when `parent` ends.
 * Forbids new privileges and core files, and makes the child the first victim when memory runs
 * out. */
void ab_spawn_detach(pid_t parent);
/* Resets signals to the state in which a shell would start a program. */
void ab_spawn_reset_signals(void);
/* Writes errno to `error_pipe`, for ab_spawn_await_exec in the parent, and exits. */
_Noreturn void ab_spawn_give_up(int error_pipe);

/* Waits until the child has called exec, and returns 0, or has called ab_spawn_give_up, and returns
 * its errno. */
int ab_spawn_await_exec(int listen);

/* Receives a byte and the descriptor that was sent with it. *fd is unchanged if none was sent.
 * Returns false if the other end has closed. */
bool ab_receive_descriptor(int from, int *fd);

struct ab_notice { /* a system call of another process, which waits for our answer */
    uint64_t id;
    pid_t thread;
    int call;
    uint64_t first; /* first argument of the call */
};
/* Lets the caller and this process run alternately on one CPU without idle time, if the kernel can
 * do so (Linux 6.6). */
void ab_notice_take_turns(int listener);
/* Gets the next notice; call it when the listener is readable. Returns false, with errno set, if
 * there is none because the caller was killed. */
bool ab_notice_next(int listener, struct ab_notice *out);
void ab_notice_go_on(int listener, const struct ab_notice *notice);

/* True if the path cannot be in LD_PRELOAD, which is split at spaces and colons and in which '$' is
 * expanded. /proc/self/fd/N is used instead. */
bool ab_spawn_needs_alias(const char *path);

#endif
