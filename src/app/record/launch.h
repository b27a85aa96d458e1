/* SPDX-License-Identifier: MIT
 *
 * Runs a command under the recorder. Before that, refuses programs into which the recorder cannot
 * be loaded.
 */
#ifndef AB_APP_RECORD_LAUNCH_H
#define AB_APP_RECORD_LAUNCH_H

#include "core/status.h"
#include "record/converter_live.h"
#include "record/relay.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ab_launch_progress {
    uint64_t spent_ns;    /* since the start of the command */
    uint64_t n_calls;     /* calls of all processes */
    uint64_t n_events;    /* the same, in events of a trace */
    uint64_t n_converted; /* events; 0 = all are converted at the end */
    uint64_t spool_bytes;
    bool is_ended; /* True if the command goes on without being recorded */
};

struct ab_launch_watch { /* {0} = nobody watches */
    void *user;
    /* Shows the progress, about once a second. NULL = it is not shown. */
    void (*show)(void *user, const struct ab_launch_progress *p);
    void (*end)(void *user);
};

/* Exit codes of our own failures, as for env and nohup. */
enum { AB_LAUNCH_FAILED = 125, AB_LAUNCH_CANNOT_RUN = 126, AB_LAUNCH_NOT_FOUND = 127 };

struct ab_launch_end {                    /* facts about the ended command */
    char comm[16];                        /* name of the last program that it executed */
    uint64_t own_faults, children_faults; /* page faults of the command; of children it waited
                                             for */
    uint64_t wall_ns, wall_ticks;
    uint64_t cpu_ns; /* CPU time of all its processes; 0 = unknown, because some still run */
    bool has_left;   /* with takes_children: True if processes of it still run */
    bool has_frames; /* True if a function of AB_FRAMES marked a frame */
    bool is_known;   /* True if it has ended; `code` is set then */
    int code;        /* exit status, or 128 + signal */
};

struct ab_launch {
    char program[4096];  /* path, found in PATH */
    char recorder[4096]; /* liballocbench-record.so */
    char frames[4096];   /* liballocbench-frames.so; "" = frames are not marked */
    char folder[1024];   /* private folder of the spool; "" until it is made */
    int owner_fd;        /* the lock file of a temporary folder (core/unfinished.h); -1 = none */
    char inner[1064];    /* `folder`, or a folder in it with an unguessable name */
    char spool[1080];
    char part[1080];     /* the trace converted during the recording */
    bool takes_children; /* True to record children too; set this, the next eleven and `watch`
                            before the start */
    bool is_waiting;     /* True to wait for children that outlive the command */
    uint64_t most_events, duration_ns; /* limits of the recording; 0 = no limit */
    uint64_t most_bytes;               /* limit of the spool; 0 = half of the free disk space */
    uint32_t site_depth;               /* frames per stack; 0 = no call sites */
    bool has_time;                     /* True to record the time of each call */
    bool marks_frames;      /* True to load the library that marks frames into the command */
    uint64_t along_bytes;   /* size of the spool (or half of its limit, if less) from which
                             conversion runs during the recording; 0 = only at the end */
    bool is_eager;          /* for tests: True to convert without waiting for a free CPU */
    bool is_contained;      /* True if the command is in a process group of its own, its output is
                             discarded, and the first signal to us ends the recording */
    const char *stdin_path; /* is_contained: its standard input; NULL = /dev/null */
    bool is_kept;           /* True to keep the folder */
    bool is_stopped;        /* True after ab_launch_stop() */
    struct ab_launch_watch watch;
    uint64_t next_show_ns;
    int pid; /* process id of the command */
    struct ab_launch_end end;
    uint64_t begin_ns, begin_ticks;
    struct ab_relay *relay;
    struct ab_live_converter *along; /* NULL = convert everything at the end */
    int n_signals, signal;           /* signals received for the command; the signal that ended the
                              recording */
    bool is_holding; /* True while signals are blocked that would leave the folder behind */
    sigset_t old_mask;
    struct sigaction old_child;
};

/* Fails if the recorder cannot be loaded into the program at `path`. */
enum ab_status ab_launch_check(const char *path, struct ab_err *err);

struct ab_launch_folder {
    const char *kept; /* folder to make for the spool, which stays; NULL = a temporary one */
    const char *in;   /* where the temporary one is made; NULL = in $TMPDIR */
};

/* Finds the program and the recorder, checks that the recorder can be loaded, and makes the folder.
 * On failure sets *exit_code to one of the codes above. */
enum ab_status ab_launch_prepare(const char *command, struct ab_launch_folder folder,
                                 struct ab_launch *out, int *exit_code, struct ab_err *err);
enum ab_status ab_launch_start(struct ab_launch *l, const char *const *argv, struct ab_err *err);
/* Waits until the recording is over: the command and the processes to wait for have ended, or a
 * limit of the recording is reached while the command goes on. */
bool ab_launch_await(struct ab_launch *l); /* true if --duration ended before the command */
/* Ends the command and its descendants: SIGTERM, and SIGKILL after 5 s. */
void ab_launch_stop(struct ab_launch *l);
/* Waits for the command if it still runs. Returns the exit code. */
int ab_launch_finish(struct ab_launch *l);

/* Removes the folder with its files, unless it is kept. Drops signals that are blocked, but notes
 * the first one to a contained recording in l->signal. */
void ab_launch_clean(struct ab_launch *l);

#endif
