/* SPDX-License-Identifier: MIT
 *
 * From a spool to its traces: the same for `record`, which converts when the command has ended, and
 * for `trace recover`, which converts what was left. Each process is a matter of its own: one that
 * recorded nothing, was cut short or cannot be converted takes nothing from the others.
 */
#ifndef AB_CLI_SPOOL_TRACES_H
#define AB_CLI_SPOOL_TRACES_H

#include "app/options.h"
#include "record/convert.h"
#include "record/converter_live.h"
#include "report/output.h"

enum ab_spool_outcome {
    AB_SPOOL_WHOLE,  /* all that the process did, or all that was asked for */
    AB_SPOOL_SHORT,  /* recording had to stop: the trace holds what came before */
    AB_SPOOL_EMPTY,  /* no call: no trace */
    AB_SPOOL_FAILED, /* no trace, for the reason in `why`: the spool is needed */
};

struct ab_spool_result { /* what became of one program of one process */
    const struct ab_spool_entry *entry;
    char *path; /* of its trace */
    enum ab_spool_outcome outcome;
    bool is_running; /* its process goes on */
    bool has_old;    /* a trace of this name was there, and is PATH.old now */
    struct ab_convert_report report;
    char *why;
};

struct ab_spool_traces {
    const char *folder, *path; /* the spool; the trace of the command, others are named after it */
    double ns_per_tick;        /* 0 = not known: it is measured when it is needed */
    double wall_ns;            /* that the command took; 0 = not known */
    double cpu_ns;             /* of all its processes; 0 = not known */
    bool is_quiet;
    bool keeps_old;   /* a file in the place of a trace is renamed, not replaced */
    bool is_partial;  /* that a trace is short is no failure */
    const char *part; /* the trace that was being made beside it; NULL = none */
    struct ab_live_converter
        *along;            /* what was converted while it was recorded; NULL = nothing was */
    const char *last_name; /* by which the system knew the command at its end; NULL = not known */
    bool has_successor;    /* said at the end: the command's own process became another program that
                              was not recorded */
    bool has_folder;       /* path was given as a folder: other traces get their program's name */
    struct ab_spool_entry *images;
    size_t n_images;
    struct ab_forks *forks;            /* of the images */
    const struct ab_spool_entry *main; /* the last program of the command that recorded anything */
    uint32_t n_programs;               /* of the command, that recorded anything */
    struct ab_spool_result *results;
    size_t n_results, n_written, n_failed;
    size_t n_in_doubt; /* of which the spool may say more than the traces do */
};

/* Finds what is in `folder`; the fields above `images` are the caller's. */
enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err);
void ab_spool_traces_close(struct ab_spool_traces *t);

/* Writes the command's trace to `out`, which is open, and those of the other programs that were
 * recorded on request. Fails when the command's own is not whole, or there is none at all; also
 * then all others have been written that can be. */
enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err);

/* The file for the trace of the command. */
struct ab_trace_place {
    char path[4096];
    bool is_in_folder; /* it was only said in which folder */
};

/* From what -o says, or NULL: a file; or a folder (it is one, or ends with '/' and is made), where
 * it becomes NAME.EXTENSION. */
enum ab_status ab_trace_place_find(const char *output, const char *name, const char *extension,
                                   struct ab_trace_place *out, struct ab_err *err);

/* Returns the folder of a spool as its user names it: buf or `given`. */
const char *ab_spool_folder(const char *given, char *buf, size_t cap);

/* Returns, in buf, the path of the trace that was being made next to the spool. */
const char *ab_spool_part(const char *spool_folder, char *buf, size_t cap);

/* Were the children of the command recorded too? */
static inline bool ab_spool_takes_children(const struct ab_spool_traces *t)
{
    return t->n_images > 0 && t->images[0].image.takes_children != 0;
}

/* Does its process still have the file mapped? Then it goes on writing while we read. */
bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *image);

#endif
