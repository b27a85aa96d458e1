/* SPDX-License-Identifier: MIT
 *
 * The files that the options of `run`, `replay` and `report` ask for: opened together, before
 * anything is measured, and written together. At most one of them may be standard output.
 */
#ifndef AB_APP_OUTPUTS_H
#define AB_APP_OUTPUTS_H

#include "app/options.h"
#include "report/output.h"
#include "report/sinks/sinks.h"

struct ab_histogram_files { /* of a sink that writes one file for each histogram */
    char *folder;           /* NULL = not asked for */
    char *prefix;           /* of the names in it: "" or "PREFIX." */
};

struct ab_outputs { /* a sink has one or the other */
    struct ab_output files[AB_SINK_COUNT];
    struct ab_histogram_files histograms[AB_SINK_COUNT];
    const char *figures[AB_SINK_COUNT]; /* folders; borrowed */
    enum ab_embed embed;                /* of an HTML report */
};

/* The name of the option that asks for a file, the first there is; NULL = none. */
const char *ab_outputs_asked_for(const struct ab_options *o);
bool ab_outputs_use_stdout(const struct ab_options *o);

/* Abandon also after an error. */
enum ab_status ab_outputs_open(const struct ab_options *o, struct ab_outputs *out,
                               struct ab_err *err);
/* AB_USAGE where one of them would replace a workload or a trace among the arguments. */
enum ab_status ab_outputs_spare_inputs(const struct ab_outputs *outputs, const struct ab_options *o,
                                       struct ab_err *err);
/* Once it is known what will be measured: none of the names that histograms may need is taken. */
enum ab_status ab_outputs_check(const struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
/* One that fails is no reason to go without the others; the first error is the one that is told. */
enum ab_status ab_outputs_write(struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
/* The lines that are asked for; `to` is standard output, or standard error where the other has a
 * document. */
void ab_outputs_lines(const struct ab_options *o, const struct ab_session *session, FILE *to);
void ab_outputs_abandon(struct ab_outputs *outputs);

/* AB_USAGE: -v names a phase that is none of these n. */
enum ab_status ab_outputs_check_phase(const struct ab_options *o, const char *const *phases,
                                      uint32_t n, struct ab_err *err);

/* {trace} or {workload} in the name of an output: the name of the file that is measured without its
 * end, so that several have files of their own. */
struct ab_named_outputs {
    struct ab_options options; /* borrows all but the names of outputs */
    char *owned[AB_SINK_COUNT];
};

bool ab_outputs_is_of_each(const char *name);
/* What stands for it: the first character, and how many. */
const char *ab_outputs_stem(const char *path, size_t *n);
/* The options with that in their names, for the one argument of `o`. */
void ab_named_outputs_make(const struct ab_options *o, struct ab_named_outputs *out);
void ab_named_outputs_fini(struct ab_named_outputs *named);
/* AB_USAGE where such a name would be the same for two arguments. */
enum ab_status ab_named_outputs_check(const struct ab_options *o, struct ab_err *err);

#endif
