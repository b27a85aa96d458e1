/* SPDX-License-Identifier: MIT
 *
 * Converts a spool to traces, for `record` after the command has ended and for `trace recover`,
 * which converts what was left behind. Each process is independent: one that recorded nothing, was
 * cut short or cannot be converted does not affect the others.
 */
#ifndef AB_APP_RECORD_SPOOL_TRACES_H
#define AB_APP_RECORD_SPOOL_TRACES_H

#include "core/file_progress.h"
#include "core/output.h"
#include "record/convert.h"
#include "record/converter_live.h"

enum ab_spool_outcome {
    AB_SPOOL_WHOLE,  /* everything that the process did, or was to be recorded */
    AB_SPOOL_SHORT,  /* recording stopped early: the trace has the calls before that */
    AB_SPOOL_EMPTY,  /* no calls, so no trace */
    AB_SPOOL_FAILED, /* no trace, see `why`; the spool is still needed */
};

struct ab_spool_result { /* outcome for one program of one process */
    const struct ab_spool_entry *entry;
    char *path; /* path of its trace */
    enum ab_spool_outcome outcome;
    bool is_running; /* True if its process still runs */
    bool has_old;    /* True if an older trace was renamed to PATH.old */
    struct ab_convert_report report;
    char *why;
};

struct ab_spool_traces {
    const char *folder, *path; /* the spool; the command's trace, whose name begins those of the
                                  others */
    double ns_per_tick;        /* 0 = unknown: measured when needed */
    double wall_ns;            /* duration of the command; 0 = unknown */
    double cpu_ns;             /* CPU time of all its processes; 0 = unknown */
    struct ab_file_progress progress;
    bool keeps_old;                  /* True to rename an existing file instead of replacing it */
    bool is_partial;                 /* True if a short trace is no failure */
    const char *part;                /* unfinished trace next to the spool; NULL = none */
    struct ab_live_converter *along; /* conversion during the recording; NULL = none */
    const char *last_name;           /* name of the command's process at its end; NULL = unknown */
    bool has_folder; /* True if a folder was given: other traces are named after their
                              programs */
    struct ab_spool_entry *images;
    size_t n_images;
    struct ab_forks *forks;            /* forks among the images */
    const struct ab_spool_entry *main; /* last program of the command with recorded calls */
    uint32_t n_programs;               /* programs of the command with recorded calls */
    struct ab_spool_result *results;
    size_t n_results, n_written, n_failed;
    size_t n_in_doubt; /* traces that may lack something that the spool has */
    bool is_written;   /* True after each trace was written or failed; false after a signal */
};

/* Lists the processes in `folder`. The caller sets the fields above `images`. */
enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err);
void ab_spool_traces_close(struct ab_spool_traces *t);

/* Writes the command's trace to `out`, which is open, and those of other programs if requested.
 * Fails if the command's own trace is not complete, or there is none at all. Even then, writes all
 * other traces that it can. */
enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err);

/* Path of the command's trace. */
struct ab_trace_place {
    char path[4096];
    bool is_in_folder; /* True if only a folder was given */
};

/* Finds the path from -o, or from NULL. -o names a file or a folder. A folder exists, or ends with
 * '/' and is made; the trace becomes NAME.EXTENSION in it. */
enum ab_status ab_trace_place_find(const char *output, const char *name, const char *extension,
                                   struct ab_trace_place *out, struct ab_err *err);

/* True if children of the command were recorded too. */
static inline bool ab_spool_takes_children(const struct ab_spool_traces *t)
{
    return t->n_images > 0 && t->images[0].image.takes_children != 0;
}

/* Returns why recording had to stop before the program did; NULL = it had not. */
const char *ab_spool_stop_text(uint32_t stop);
/* Returns which end of the recording the user requested, "at --duration"; NULL = none. */
const char *ab_spool_end_text(uint32_t stop);
/* Returns why the trace is shorter than the program's run; NULL = it is not. */
const char *ab_spool_short_text(const struct ab_convert_report *report);

/* True if its process still has the file mapped, so that it may write while we read. */
bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *image);

#endif
