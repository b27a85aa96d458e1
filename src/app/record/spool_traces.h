/* SPDX-License-Identifier: MIT
 *
 * Converts a spool to traces, for `record` after the command has ended, and for `trace recover`,
 * which converts a spool that was left behind. A process that recorded nothing, was cut short or
 * cannot be converted does not affect the traces of the others.
 */
#ifndef AB_APP_RECORD_SPOOL_TRACES_H
#define AB_APP_RECORD_SPOOL_TRACES_H

#include "core/file_progress.h"
#include "core/output.h"
#include "record/convert.h"
#include "record/converter_live.h"

enum ab_spool_outcome {
    AB_SPOOL_WHOLE,  /* the trace has everything that was to be recorded of the process */
    AB_SPOOL_SHORT,  /* recording stopped early: the trace has only the calls before the stop */
    AB_SPOOL_EMPTY,  /* the process made no calls, so it has no trace */
    AB_SPOOL_FAILED, /* the trace could not be written, see `why`; the spool is still needed */
};

struct ab_spool_result { /* outcome for one program of one process */
    const struct ab_spool_entry *entry;
    char *path; /* path of the program's trace */
    enum ab_spool_outcome outcome;
    bool is_running; /* True if the program's process still runs */
    bool has_old;    /* True if an older trace was renamed to PATH.old */
    struct ab_convert_report report;
    char *why;
};

struct ab_spool_traces {
    /* folder: the spool; path: the command's trace, from whose name the other traces are named */
    const char *folder, *path;
    double ns_per_tick; /* 0 = unknown; measured when it is needed */
    double wall_ns;     /* duration of the command; 0 = unknown */
    double cpu_ns;      /* CPU time of all processes of the command; 0 = unknown */
    struct ab_file_progress progress;
    bool keeps_old;                  /* True to rename an existing file instead of replacing it */
    bool is_partial;                 /* True if a trace without its end is not a failure */
    const char *part;                /* unfinished trace next to the spool; NULL = none */
    struct ab_live_converter *along; /* conversion during the recording; NULL = none */
    const char *last_name;           /* name of the command's process at its end; NULL = unknown */
    /* True if the user named a folder: then other traces are named after their programs */
    bool has_folder;
    struct ab_spool_entry *images;
    size_t n_images;
    struct ab_forks *forks;            /* tells which image was forked from which */
    const struct ab_spool_entry *main; /* last program of the command with recorded calls */
    uint32_t n_programs;               /* number of programs of the command with recorded calls */
    struct ab_spool_result *results;
    size_t n_results, n_written, n_failed;
    size_t n_in_doubt; /* number of traces that may lack something that the spool has */
    bool is_written;   /* True if every trace was written or failed; false after a signal */
};

/* Lists the images of the processes in `folder`. The caller sets the members above `images`
 * before. */
enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err);
void ab_spool_traces_close(struct ab_spool_traces *t);

/* Writes the command's trace to `out`, which is open, and the traces of other programs if
 * requested. Fails if the command's own trace is not complete, or if there is no trace at all. Even
 * then, writes all other traces that it can. */
enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err);

/* Path of the command's trace. */
struct ab_trace_place {
    char path[4096];
    bool is_in_folder; /* True if the user named a folder and not a file */
};

/* Finds the path of the trace from the value of -o; NULL = not given. The value names a file or a
 * folder. It names a folder if that exists or if the value ends with '/', and then the folder is
 * made. The trace in a folder is called NAME.EXTENSION. */
enum ab_status ab_trace_place_find(const char *output, const char *name, const char *extension,
                                   struct ab_trace_place *out, struct ab_err *err);

/* True if children of the command were recorded too. */
static inline bool ab_spool_takes_children(const struct ab_spool_traces *t)
{
    return t->n_images > 0 && t->images[0].image.takes_children != 0;
}

/* Returns why recording had to stop before the program ended; NULL = it did not have to. */
const char *ab_spool_stop_text(uint32_t stop);
/* Returns the end of the recording that the user requested, such as "at --duration"; NULL =
 * none. */
const char *ab_spool_end_text(uint32_t stop);
/* Returns why the trace is shorter than the program's run; NULL = the trace is complete. */
const char *ab_spool_short_text(const struct ab_convert_report *report);

/* True if the image's process still has the file mapped, so that the process may write while we
 * read. */
bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *image);

#endif
