/* SPDX-License-Identifier: MIT
 *
 * Runs `run` and `replay` for several files. All files are checked before anything is measured, and
 * each is measured by itself. The results form one document (document/suite_document.h).
 */
#ifndef AB_APP_MEASURE_SUITE_H
#define AB_APP_MEASURE_SUITE_H

#include "app/one_file.h"
#include "app/request.h"
#include "app/result_store.h"
#include "document/suite_document.h"

struct ab_suite_run {      /* begins as {0} */
    struct ab_suite suite; /* results of all files; valid if suite.n > 0 */
    struct ab_store store; /* where the suite's document is stored */
    char **owned;          /* n_owned strings that the suite points to */
    size_t n_owned, cap_owned;
};

/* Measures the files among the arguments; `kind`: workloads or traces. Sets *exit_code to the worst
 * of all files. After AB_INTERRUPTED, the suite has the results of the finished files and is
 * stored. Call ab_suite_run_fini() in any case. */
enum ab_status ab_suite_measure(const struct ab_measure_request *asked, enum ab_session_kind kind,
                                struct ab_suite_run *run, int *exit_code, struct ab_err *err);
void ab_suite_run_fini(struct ab_suite_run *run);

/* Opens, writes and closes the outputs that show the suite as a whole. */
enum ab_status ab_suite_outputs(const struct ab_outputs_wanted *wanted,
                                const struct ab_inputs *inputs, const struct ab_suite *suite,
                                struct ab_err *err);

#endif
