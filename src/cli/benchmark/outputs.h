/* SPDX-License-Identifier: MIT
 *
 * The files that the options of `run`, `replay` and `report` ask for: opened together, before
 * anything is measured, and written together. At most one of them may be standard output.
 */
#ifndef AB_CLI_BENCHMARK_OUTPUTS_H
#define AB_CLI_BENCHMARK_OUTPUTS_H

#include "cli/options.h"
#include "report/sink.h"

#include <time.h>

enum ab_output_kind {
    AB_OUTPUT_JSON,
    AB_OUTPUT_CSV,
    AB_OUTPUT_CSV_HIST,
    AB_OUTPUT_CSV_TIMELINE,
    AB_OUTPUT_HLOG,
    AB_OUTPUT_KIND_COUNT
};

struct ab_outputs {
    struct ab_output files[AB_OUTPUT_KIND_COUNT];
    time_t start;             /* told in the hlog; 0 = not known */
    char *hgrm_folder;        /* --hgrm; NULL = not asked for */
    char *hgrm_prefix;        /* of the names in it: "" or "PREFIX." */
};

/* The option that asks for a file, the first there is; NULL = none. */
const char *ab_outputs_asked_for(const struct ab_options *o);
bool ab_outputs_use_stdout(const struct ab_options *o);

/* `start` is when measuring begins. Abandon also after an error. */
enum ab_status ab_outputs_open(const struct ab_options *o, time_t start, struct ab_outputs *out,
                               struct ab_err *err);
/* Once it is known what will be measured: none of the names that --hgrm may need is taken. */
enum ab_status ab_outputs_check(const struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
/* One that fails is no reason to go without the others; the first error is the one that is told. */
enum ab_status ab_outputs_write(struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err);
void ab_outputs_abandon(struct ab_outputs *outputs);

#endif
