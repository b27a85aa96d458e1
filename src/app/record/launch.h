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
    uint64_t spent_ns;    /* time since the start of the command */
    uint64_t n_calls;     /* calls of all processes */
    uint64_t n_events;    /* the same calls as events of a trace */
    uint64_t n_converted; /* events converted so far; 0 = all are converted at the end */
    uint64_t spool_bytes;
    bool is_ended; /* True if the command goes on without being recorded */
};

struct ab_launch_watch { /* receiver of the progress; {0} = none */
    void *user;
    /* Shows the progress, about once a second. NULL = progress is not shown. */
    void (*show)(void *user, const struct ab_launch_progress *p);
    void (*end)(void *user);
};

/* Exit codes of allocbench's own failures, the same as those of env and nohup. */
enum { AB_LAUNCH_FAILED = 125, AB_LAUNCH_CANNOT_RUN = 126, AB_LAUNCH_NOT_FOUND = 127 };

struct ab_launch_end { /* facts about the ended command */
    char comm[16];     /* name of the last program that the command executed */
    /* page faults of the command itself, and of the children that it waited for */
    uint64_t own_faults, children_faults;
    uint64_t wall_ns, wall_ticks;
    /* CPU time of all processes of the command; 0 = unknown, because some still run */
    uint64_t cpu_ns;
    bool has_left;   /* with takes_children: True if processes of the command still run */
    bool has_frames; /* True if a function of AB_FRAMES marked a frame */
    bool is_known;   /* True if the command has ended; then `code` is set */
    int code;        /* exit status, or 128 + signal */
};

struct ab_launch {
    char program[4096];  /* path of the program, found in PATH */
    char recorder[4096]; /* path of liballocbench-record.so */
    char frames[4096];   /* path of liballocbench-frames.so; "" = frames are not marked */
    char folder[1024];   /* private folder of the spool; "" until it is made */
    /* descriptor of the lock file of a temporary folder (core/unfinished.h); -1 = none */
    int owner_fd;
    char inner[1064]; /* `folder`, or a folder in it with an unguessable name */
    char spool[1080];
    char part[1080]; /* path of the trace that is converted during the recording */
    /* True to record children too. The caller sets the members from here to stdin_path, and
     * `watch`, before the start */
    bool takes_children;
    bool is_waiting;                   /* True to wait for children that outlive the command */
    uint64_t most_events, duration_ns; /* limits of the recording; 0 = no limit */
    uint64_t most_bytes;               /* limit of the spool; 0 = half of the free disk space */
    uint32_t site_depth;               /* frames per stack; 0 = no call sites */
    bool has_time;                     /* True to record the time of each call */
    bool marks_frames; /* True to load the library that marks frames into the command */
    /* size of the spool from which conversion runs during the recording, or half of the spool's
     * limit if that is less; 0 = convert only at the end */
    uint64_t along_bytes;
    bool is_eager; /* for tests: True to convert without waiting for a free CPU */
    /* True if the command has a process group of its own and its output is discarded; then the
     * first signal to us ends the recording */
    bool is_contained;
    const char *stdin_path; /* standard input of a contained command; NULL = /dev/null */
    bool is_kept;           /* True to keep the folder */
    bool is_stopped;        /* True after ab_launch_stop() */
    struct ab_launch_watch watch;
    uint64_t next_show_ns;
    int pid; /* process id of the command */
    struct ab_launch_end end;
    uint64_t begin_ns, begin_ticks;
    struct ab_relay *relay;
    /* conversion during the recording; NULL = everything is converted at the end */
    struct ab_live_converter *along;
    /* n_signals: signals received for the command; signal: the one that ended the recording */
    int n_signals, signal;
    bool is_holding; /* True while signals are blocked that would leave the folder behind */
    sigset_t old_mask;
    struct sigaction old_child;
};

/* Fails if the recorder cannot be loaded into the program at `path`. */
enum ab_status ab_launch_check(const char *path, struct ab_err *err);

struct ab_launch_folder {
    /* path of the folder to make for the spool, which is kept; NULL = a temporary folder */
    const char *kept;
    const char *in; /* where the temporary folder is made; NULL = in $TMPDIR */
};

/* Finds the program and the recorder, checks that the recorder can be loaded, and makes the folder.
 * On failure sets *exit_code to one of the AB_LAUNCH codes. */
enum ab_status ab_launch_prepare(const char *command, struct ab_launch_folder folder,
                                 struct ab_launch *out, int *exit_code, struct ab_err *err);
enum ab_status ab_launch_start(struct ab_launch *l, const char *const *argv, struct ab_err *err);
/* Waits until the recording is over. It is over when the command and the processes to wait for have
 * ended, or when a limit is reached while the command goes on. Returns true if --duration ended
 * before the command. */
bool ab_launch_await(struct ab_launch *l);
/* Ends the command and its descendants: sends SIGTERM, and SIGKILL after 5 s. */
void ab_launch_stop(struct ab_launch *l);
/* Waits for the command if it still runs. Returns its exit code, or 128 + the signal that ended the
 * recording. */
int ab_launch_finish(struct ab_launch *l);

/* Removes the folder with its files, unless it is kept. Discards blocked signals. If the recording
 * is contained, stores the first of them in l->signal. */
void ab_launch_clean(struct ab_launch *l);

#endif
