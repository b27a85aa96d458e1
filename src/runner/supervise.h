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
    bool ignored_term;     /* KILL was necessary */
    unsigned n_left;       /* processes that it left behind; they were killed */
    int sent_signal;       /* signal with which it tried to end this process; 0 = none */
    bool oom_killed;       /* the kernel's OOM killer was active meanwhile */
    uint64_t rss_bytes;    /* last reading, for AB_END_MEMORY */
    uint64_t gone_ns;      /* ab_clock_now_ns() when its end was noticed */
    uint64_t maxrss_bytes; /* ru_maxrss of the process and of the children that it waited for */
    struct rusage usage;   /* … and the rest of their usage */
};

/* Callbacks while a process runs. They continue while it is being ended, because it may still need
 * answers before it can exit. */
struct ab_watch {
    struct pollfd *fds; /* descriptors that wake the loop; a finished one becomes −1 */
    unsigned n_fds;
    int period_ms;               /* longest time between two wake-ups */
    const uint64_t *held_ns;     /* time that the process waited for us; not counted towards its
                                    deadline */
    void (*on_wake)(void *user); /* after each wait; revents are fresh */
    void *user;
};
enum { AB_WATCH_FDS_MAX = 6 };

/* Prepares supervision, once, before the first worker. Orphans of workers become our children.
 * SIGINT, SIGTERM and SIGHUP set a flag instead of ending this process. */
void ab_supervise_begin(void);
/* Ignores signals from this worker and its children as requests to stop. Call it with signals
 * blocked, before the worker can send any. ab_supervise calls it if nobody has. */
void ab_supervise_expect(pid_t worker);

struct ab_ending ab_supervise(pid_t worker, uint64_t deadline_ns, uint64_t memory_limit_bytes);
/* Watches with callbacks, without a memory limit. */
struct ab_ending ab_supervise_watched(pid_t worker, uint64_t deadline_ns,
                                      const struct ab_watch *watch);
/* True if this child existed before ab_supervise_begin. */
bool ab_supervise_is_inherited(pid_t pid);

/* Starts one worker: a fresh process with a constructed environment (not inherited), in its own
 * process group, that dies with its parent. */

struct ab_spawn {
    const char *worker_path;
    int tape_fd, run_fd;      /* become AB_WORKER_FD_… */
    int stdout_fd, stderr_fd; /* destinations of its output */
    const char *preload;      /* library to preload; NULL = none */
    const char *clock;        /* library of the virtual clock, preloaded before it; NULL = none */
    bool is_thp_off;          /* disable transparent huge pages with prctl */
    bool is_plugin;           /* dlopen needs more static TLS than the default */
    const char *const *env;   /* variables added by the user; ends with NULL; NULL = none */
    const char *const *under; /* program that runs the worker, with arguments; NULL = none */
    int calls_fd;             /* becomes AB_WORKER_FD_CALLS; 0 = none */
    int placement_fd;         /* becomes AB_WORKER_FD_PLACEMENT; 0 = none */
    int owners_fd;            /* becomes AB_WORKER_FD_OWNERS; 0 = none */
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

/* ---- what a child does between fork and exec, whatever it becomes; safe in a vfork child ---- */

/* Creates a process group and ties the child to the life of `parent`. Sets no new privileges and no
 * core file, and makes it the first victim when memory runs out. */
void ab_spawn_detach(pid_t parent);
/* Resets signals to the state in which a shell would start a program. */
void ab_spawn_reset_signals(void);
/* Reports errno to the parent through a pipe that closes on exec, and exits. */
_Noreturn void ab_spawn_give_up(int error_pipe);

/* Blocks the parent until the child has called exec (returns 0) or has given up (returns its
 * errno). */
int ab_spawn_await_exec(int listen);

/* Reads a byte and the descriptor sent with it. *fd is unchanged if there is none. Returns false if
 * the other end has closed. */
bool ab_receive_descriptor(int from, int *fd);

struct ab_notice { /* a system call that waits for an answer */
    uint64_t id;
    pid_t thread;
    int call;
    uint64_t first; /* its first argument */
};
/* Lets the waiting caller and the supervisor take turns on one CPU without idle time, if the kernel
 * can do so (Linux 6.6). */
void ab_notice_take_turns(int listener);
/* Gets the next notice; call it when the listener is readable. Returns false, with errno set, if
 * there is none because the caller was killed. */
bool ab_notice_next(int listener, struct ab_notice *out);
void ab_notice_go_on(int listener, const struct ab_notice *notice);

/* True if the path must be passed by another name, because LD_PRELOAD splits at spaces and colons
 * and expands '$'. */
bool ab_spawn_needs_alias(const char *path);

#endif
