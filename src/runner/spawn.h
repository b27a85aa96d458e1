/* SPDX-License-Identifier: MIT
 *
 * Starts one worker: a fresh process with an environment that is built, not inherited, in a
 * process group of its own, tied to the parent's life.
 */
#ifndef AB_RUNNER_SPAWN_H
#define AB_RUNNER_SPAWN_H

#include "core/status.h"
#include "runner/case.h"

#include <stdbool.h>

#include <sys/types.h>

struct ab_spawn {
    const char *worker_path;
    int tape_fd, run_fd;      /* become AB_WORKER_FD_… */
    int stdout_fd, stderr_fd; /* captures */
    const char *preload;      /* library to preload, NULL = none */
    bool is_thp_off;          /* no transparent huge pages, by prctl */
    bool is_plugin;           /* dlopen needs more static TLS than the default */
    const char *const *env;   /* what the user adds, ends with NULL; NULL = nothing */
    const char *const *under; /* program that runs the worker, with its arguments; NULL = none */
    int calls_fd;             /* becomes AB_WORKER_FD_CALLS; 0 = none */
    int route_fd;             /* becomes AB_WORKER_FD_ROUTE; 0 = none */
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

/* LD_PRELOAD splits at spaces and colons and expands '$'. */
bool ab_spawn_needs_alias(const char *path);

/* Raises the soft limit on the stack, which workers inherit, to what allocbench and a worker need at
 * least: with less their own code would end them, and the back end would be blamed. AB_SYSTEM: the
 * hard limit is lower. */
enum ab_status ab_spawn_fit_stack(struct ab_err *err);

#endif
