/* SPDX-License-Identifier: MIT
 *
 * Runs a command under the recorder. Refuses, before it runs, what the recorder cannot get into.
 */
#ifndef AB_CLI_LAUNCH_H
#define AB_CLI_LAUNCH_H

#include "cli/progress.h"
#include "core/status.h"
#include "record/converter_live.h"
#include "record/relay.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* One line on a terminal while a command is recorded: for how long, how many calls, how fast, how
 * large the spool is, how much is converted. Redrawn once a second. */

struct ab_live_line { /* {0}: nothing is drawn */
    struct ab_progress_line line;
    uint64_t begin_ns, next_ns; /* of the recording; when it is drawn again */
    uint64_t looked_ns;         /* when there were n_calls */
    uint64_t n_calls;
};

/* Draws nothing where standard error is no terminal; nor where standard output is the same one,
 * since what the command writes would be between, unless that is asked for. */
void ab_live_line_begin(struct ab_live_line *l, bool is_quiet, bool is_asked_for);

/* Exit codes of our own failures, as env and nohup use them. */
enum { AB_LAUNCH_FAILED = 125, AB_LAUNCH_CANNOT_RUN = 126, AB_LAUNCH_NOT_FOUND = 127 };

struct ab_launch_end { /* what the system knows of the command when it has ended */
    char comm[16];     /* the last program that it was */
    uint64_t own_faults, children_faults; /* of it and of the children that it waited for */
    uint64_t wall_ns, wall_ticks;
    uint64_t cpu_ns; /* of all its processes; 0 = not known: some run on */
    bool has_left;   /* with takes_children: processes of it run on */
    bool has_frames; /* one was shown by a function of AB_FRAMES */
    bool is_known;   /* it has ended, with this code: its status, or */
    int code;        /* 128 + signal */
};

struct ab_launch {
    char program[4096];  /* found in PATH */
    char recorder[4096]; /* liballocbench-record.so */
    char frames[4096];   /* liballocbench-frames.so; "" = frames are not marked */
    char folder[1024];   /* private, the spool is in it; "" until it is made */
    int owner_fd;        /* the lock file of a temporary folder (core/unfinished.h); -1 = none */
    char inner[1064];    /* the same, or one in it with a name that cannot be guessed */
    char spool[1080];
    char part[1080];     /* the trace that is made meanwhile */
    bool takes_children; /* of the command, too; this and the next eight are set before it runs */
    bool is_waiting;     /* for those of them that outlive it */
    uint64_t most_events, duration_ns; /* that are recorded; 0 = no end */
    uint64_t most_bytes;               /* of the spool; 0 = half of what is free on its disk */
    uint32_t site_depth;               /* calls of each stack; 0 = no call sites */
    bool has_time;                     /* of each call */
    uint64_t along_bytes; /* of spool, or half of its bound where that is less: then it is converted
                             meanwhile; 0 = only at the end */
    bool is_eager;        /* for tests: it does not wait for a CPU that is free */
    bool is_kept;         /* the folder stays */
    bool is_stopped;      /* by ab_launch_stop */
    struct ab_live_line live;
    int pid; /* of the command */
    struct ab_launch_end end;
    uint64_t begin_ns, begin_ticks;
    struct ab_relay *relay;
    struct ab_live_converter *along; /* NULL = all is converted at the end */
    int n_signals, signal; /* that came for the command; the one that ended the recording */
    bool is_holding;       /* the signals that would leave the folder behind are blocked */
    sigset_t old_mask;
    struct sigaction old_child;
};

/* Can the recorder be loaded into it? */
enum ab_status ab_launch_check(const char *path, struct ab_err *err);

/* Finds the program and the recorder, checks that one can be loaded into the other, makes the
 * folder: `spool`, which must not be there yet, or a temporary one for NULL. On failure *exit_code
 * is one of the above. */
enum ab_status ab_launch_prepare(const char *command, const char *spool, struct ab_launch *out,
                                 int *exit_code, struct ab_err *err);
/* Frames will be marked. */
enum ab_status ab_launch_mark_frames(struct ab_launch *l, struct ab_err *err);
enum ab_status ab_launch_start(struct ab_launch *l, const char *const *argv, struct ab_err *err);
/* Until the recording is over: the command has ended, and those that are waited for; or what was
 * asked for is recorded, while it goes on. */
bool ab_launch_await(struct ab_launch *l); /* true: --duration is over before the command */
/* Ends the command and the processes that it has started: SIGTERM, and SIGKILL after 5 s. */
void ab_launch_stop(struct ab_launch *l);
/* Waits for the command where it goes on. Returns the exit code for it. */
int ab_launch_finish(struct ab_launch *l);

/* Removes the folder and what is in it, unless it is kept. Signals that are held are dropped. */
void ab_launch_clean(struct ab_launch *l);

#endif
