/* SPDX-License-Identifier: MIT
 *
 * Opens and writes the output files of `run`, `replay` and `report`. All are opened before anything
 * is measured, and are written together. At most one of them may be standard output.
 */
#ifndef AB_APP_OUTPUTS_H
#define AB_APP_OUTPUTS_H

#include "app/one_file.h"
#include "core/output.h"
#include "report/sinks/sinks.h"

struct ab_histogram_files { /* where a sink writes one file per histogram */
    char *folder;           /* NULL = not requested */
    char *prefix;           /* beginning of file names in `folder`: "" or "PREFIX." */
};

struct ab_outputs { /* opened outputs; each sink uses either `files` or `histograms` */
    struct ab_output files[AB_SINK_COUNT];
    struct ab_histogram_files histograms[AB_SINK_COUNT];
    const char *figures[AB_SINK_COUNT]; /* folders; borrowed */
    enum ab_embed embed;                /* parts that an HTML report embeds */
};

/* Returns the name of the first given option that requests a file; NULL = none. */
const char *ab_outputs_asked_for(const struct ab_outputs_wanted *wanted);
bool ab_outputs_use_stdout(const struct ab_outputs_wanted *wanted);

/* Opens all outputs. Call ab_outputs_abandon() even after an error. */
enum ab_status ab_outputs_open(const struct ab_outputs_wanted *wanted, struct ab_outputs *out,
                               struct ab_err *err);
/* Fails with AB_USAGE if an output would replace a workload or trace among the arguments. */
enum ab_status ab_outputs_spare_inputs(const struct ab_outputs *outputs,
                                       const struct ab_outputs_wanted *wanted,
                                       const struct ab_inputs *inputs, struct ab_err *err);
/* Checks that no histogram file that `session` may write exists yet. */
enum ab_status ab_outputs_check(const struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
/* Writes all outputs, even if one fails. Returns the first error. */
enum ab_status ab_outputs_write(struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
void ab_outputs_abandon(struct ab_outputs *outputs);

/* Fails with AB_USAGE if -v names a phase that is not among the n phases. */
enum ab_status ab_outputs_check_phase(const char *phase, const char *const *phases, uint32_t n,
                                      struct ab_err *err);

/* Replaces {trace} or {workload} in names of outputs by the name of the measured file, without
 * extension, so that each of several files gets its own outputs. */
struct ab_named_outputs {
    struct ab_outputs_wanted wanted;
    char *owned[AB_SINK_COUNT];
};

bool ab_outputs_is_of_each(const char *name);
/* Returns the text that replaces {trace} or {workload} within `path`, and sets *n to its length. */
const char *ab_outputs_stem(const char *path, size_t *n);
/* Copies the wanted outputs and, if there is a single argument, replaces the placeholders in their
 * names. */
void ab_named_outputs_make(const struct ab_outputs_wanted *wanted, const char *const *args,
                           size_t n_args, struct ab_named_outputs *out);
void ab_named_outputs_fini(struct ab_named_outputs *named);
/* Fails with AB_USAGE if two arguments would get the same output name. */
enum ab_status ab_named_outputs_check(const struct ab_outputs_wanted *wanted,
                                      const char *const *args, size_t n_args, struct ab_err *err);

#endif
