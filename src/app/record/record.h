/* SPDX-License-Identifier: MIT
 *
 * Records a command: runs it under the recorder, and converts its spool to traces or keeps it.
 */
#ifndef AB_APP_RECORD_RECORD_H
#define AB_APP_RECORD_RECORD_H

#include "app/record/launch.h"
#include "app/record/spool_facts.h"

struct ab_record_request {
    const char *const *args; /* the command and its arguments, ends with NULL */
    /* file for the trace, or folder for the traces; NULL = named after the command */
    const char *output;
    const char *spool_in; /* folder in which the folder of the spool is made; NULL = $TMPDIR */
    bool is_unconverted;  /* True if the spool is the result */
    bool takes_children, is_waiting, marks_frames, has_call_times; /* launch.h */
    bool is_contained; /* as in launch.h; True also to discard a spool that cannot be converted */
    const char *stdin_path;
    uint32_t site_depth;
    uint64_t most_events, most_bytes, duration_ns;
    bool stops_command; /* True to end the command after duration_ns */
    struct ab_launch_watch watch;
    struct ab_file_progress conversion;
    /* Called when the command runs; its spool is in `folder`. NULL = not called. */
    void (*begun)(const char *folder);
};

struct ab_recording { /* set by ab_record() or ab_recover() */
    struct ab_launch launch;
    struct ab_trace_place place;
    struct ab_spool_traces traces;
    struct ab_spool_facts facts; /* facts about `traces`; set by ab_spool_facts_find() */
    bool is_unconverted;         /* True if the spool is the result */
    uint64_t n_calls;            /* with is_unconverted: about the number of recorded events */
    bool is_started;
    /* set by ab_recover(): folder of the spool; unfinished trace next to the spool */
    char folder[4096], part[4096 + 16];
};

/* Runs the command and writes its traces. On failure sets *exit_code to the exit code of
 * allocbench. The caller ends with ab_recording_end(), also after a failure. */
enum ab_status ab_record(const struct ab_record_request *r, struct ab_recording *out,
                         int *exit_code, struct ab_err *err);

struct ab_recover_request {
    const char *spool;  /* folder of the spool, or the folder above it */
    const char *output; /* file for the trace, or folder for the traces */
    bool is_partial;    /* True if a trace without its end is not a failure */
    struct ab_file_progress progress;
};

/* Makes traces of a spool that a recording has left, and only reads the spool. The caller ends with
 * ab_recording_end(), also after a failure. */
enum ab_status ab_recover(const struct ab_recover_request *r, struct ab_recording *out,
                          struct ab_err *err);

/* Returns what the call sites of the program will have instead of lines: "functions" or
 * "addresses"; NULL = they will have lines, or it is unknown. */
const char *ab_recording_lineless(const struct ab_recording *r);
/* Waits for the command if it still runs, and removes the spool unless the spool is kept. Returns
 * the exit code of the command. */
int ab_recording_end(struct ab_recording *r);

#endif
