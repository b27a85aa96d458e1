/* SPDX-License-Identifier: MIT
 *
 * Compares stored results with the first of them.
 */
#ifndef AB_APP_COMPARE_FILES_H
#define AB_APP_COMPARE_FILES_H

#include "app/baselines.h"
#include "app/one_file.h"

struct ab_compare_request {
    struct ab_talk talk;
    struct ab_inputs inputs; /* the base, then the new results; all are suites if the base is one */
    struct ab_verdicts_wanted verdicts;
    struct ab_store_wanted store;
    struct ab_outputs_wanted outputs;
    const char *json; /* output file; NULL = none */
    /* Shows `n` new results, each with its comparison. `is_written`: True if all output files are
     * written. */
    void (*show)(void *user, const struct ab_base *news, size_t n, bool are_of_suites,
                 bool is_written);
    void *user;
};

/* Compares the results, writes the output files, has the comparisons shown, and sets *exit_code
 * from the verdicts. */
enum ab_status ab_compare_files(const struct ab_compare_request *asked, int *exit_code,
                                struct ab_err *err);

#endif
