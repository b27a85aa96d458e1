/* SPDX-License-Identifier: MIT
 *
 * From a spool to its traces, and what is told of them: the same for `record`, which converts when
 * the command has ended, and for `trace recover`, which converts what was left.
 */
#ifndef AB_CLI_SPOOL_TRACES_H
#define AB_CLI_SPOOL_TRACES_H

#include "cli/options.h"
#include "record/stream.h"
#include "report/sink.h"

struct ab_spool_traces {
    const char *folder, *path; /* the spool; the trace of the command, others are named after it */
    double ns_per_tick;        /* 0 = not known: it is measured when it is needed */
    double wall_ns;            /* that the command took; 0 = not known */
    bool is_quiet;
    bool is_partial;           /* a recording that had to stop is kept as far as it goes */
    struct ab_spool_entry *images;
    size_t n_images;
    const struct ab_spool_entry *main; /* the last program of the command that recorded anything */
    uint32_t n_programs;               /* of the command, that recorded anything */
};

/* Finds what is in `folder`; the fields above `images` are the caller's. */
enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err);
void ab_spool_traces_close(struct ab_spool_traces *t);

/* Writes the command's trace to `out`, which is open, and those of the other programs that were
 * recorded on request. AB_INPUT when there is none at all. */
enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err);

/* Does its process still have the file mapped? Then it goes on writing while we read. */
bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *image);

/* Why recording ended before the program did; NULL = it did not. */
const char *ab_spool_stop_text(uint32_t stop);

#endif
