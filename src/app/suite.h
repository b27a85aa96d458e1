/* SPDX-License-Identifier: MIT
 *
 * `run` and `replay` of several files: all are checked before anything is measured, each is measured
 * by itself, and what came out is one document (report/suite.h).
 */
#ifndef AB_APP_SUITE_H
#define AB_APP_SUITE_H

#include "app/options.h"
#include "app/result_store.h"
#include "report/suite.h"

struct ab_suite_run {      /* begins as zeroes */
    struct ab_suite suite; /* whole once `n` is above 0 */
    struct ab_store store; /* where it was kept */
    char **owned;          /* texts of the suite, n_owned */
    size_t n_owned, cap_owned;
};

/* Measures the files among the arguments of `o`; `kind` is "workload" or "trace". *exit_code: the
 * worst of all. AB_INTERRUPTED: what is complete is in the suite and stored. End the run in any
 * case. */
enum ab_status ab_suite_measure(const struct ab_options *o, const char *kind,
                                struct ab_suite_run *run, int *exit_code, struct ab_err *err);
void ab_suite_run_fini(struct ab_suite_run *run);

/* Are these of several files: the arguments, or the result that is resumed? */
bool ab_suite_is_asked(const struct ab_options *o);
/* Is this the result of several? Of --baseline and the like also the name of a baseline. */
bool ab_suite_is_file(const struct ab_options *o, const char *name_or_file);
/* That one, unaltered. */
enum ab_status ab_suite_find_file(const struct ab_options *o, const char *name_or_file,
                                  struct ab_suite *out, struct ab_err *err);

/* The options of `o` that are for the suite as a whole: opens, writes and ends these outputs. */
enum ab_status ab_suite_outputs(const struct ab_options *o, const struct ab_suite *suite,
                                struct ab_err *err);

#endif
